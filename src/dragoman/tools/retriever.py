"""A retriever as a tool."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from dragoman.tools.structured import StructuredTool

__all__ = ["RetrieverInput", "create_retriever_tool"]


class RetrieverInput(BaseModel):
    """Input to the retriever."""

    query: str = Field(description="query to look up in retriever")


def create_retriever_tool(
    retriever: Any,
    name: str,
    description: str,
    *,
    document_prompt: Any = None,
    document_separator: str = "\n\n",
    response_format: Literal["content", "content_and_artifact"] = "content",
) -> StructuredTool:
    """Return a tool that looks up a query and gives the texts of the documents found.

    Args:
        retriever: A runnable that gives documents for a text.
        name: The tool's name.
        description: The tool's description.
        document_prompt: A prompt that renders one document; its page content by default.
        document_separator: What stands between documents.
        response_format: `"content_and_artifact"` gives the documents as artifact.
    """

    def rendered(documents: Any) -> Any:
        texts = [
            document.page_content
            if document_prompt is None
            else document_prompt.format(
                **{"page_content": document.page_content, **document.metadata}
            )
            for document in documents
        ]
        content = document_separator.join(texts)
        return content if response_format == "content" else (content, documents)

    def look_up(query: str, callbacks: Any = None) -> Any:
        return rendered(retriever.invoke(query, {"callbacks": callbacks}))

    async def alook_up(query: str, callbacks: Any = None) -> Any:
        return rendered(await retriever.ainvoke(query, {"callbacks": callbacks}))

    return StructuredTool(
        name=name,
        description=description,
        func=look_up,
        coroutine=alook_up,
        args_schema=RetrieverInput,
        response_format=response_format,
    )
