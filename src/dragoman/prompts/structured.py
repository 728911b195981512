"""`StructuredPrompt`: a chat prompt that knows the schema of the answer.

Piped to a model, it asks the model for that schema.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field

from dragoman.prompts.chat import ChatPromptTemplate, MessageLikeRepresentation
from dragoman.prompts.string import PromptTemplateFormat
from dragoman.runnables.base import RunnableSequence, RunnableSerializable

__all__ = ["StructuredPrompt"]


class StructuredPrompt(ChatPromptTemplate):
    """A chat prompt with the schema of the answer.

    Attributes:
        schema_: A JSON schema, or a class (pydantic, TypedDict).
        structured_output_kwargs: Passed to the model's `with_structured_output`.
    """

    schema_: dict[str, Any] | type
    structured_output_kwargs: dict[str, Any] = Field(default_factory=dict)

    def __init__(
        self,
        messages: Sequence[MessageLikeRepresentation],
        schema_: dict[str, Any] | type[BaseModel] | None = None,
        *,
        structured_output_kwargs: dict[str, Any] | None = None,
        template_format: PromptTemplateFormat = "f-string",
        **kwargs: Any,
    ) -> None:
        """Build from messages and a schema; unknown keywords go to the model.

        Raises:
            ValueError: If there is no schema.
        """
        schema = schema_ or kwargs.pop("schema", None)
        kwargs.pop("schema", None)
        if not schema:
            message = f"Must pass in a non-empty structured output schema. Received: {schema!r}"
            raise ValueError(message)
        fields = type(self).model_fields
        extras = {key: kwargs.pop(key) for key in list(kwargs) if key not in fields}
        super().__init__(
            messages,
            template_format=template_format,
            schema_=schema,
            structured_output_kwargs={**(structured_output_kwargs or {}), **extras},
            **kwargs,
        )

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain_core", "prompts", "structured"]

    @classmethod
    def from_messages_and_schema(
        cls,
        messages: Sequence[MessageLikeRepresentation],
        schema: dict[str, Any] | type,
        **kwargs: Any,
    ) -> ChatPromptTemplate:
        """Return a prompt for what a list may hold, and a schema."""
        return cls(messages, schema, **kwargs)

    def __or__(self, other: Any) -> RunnableSerializable[dict[str, Any], Any]:
        """Return the sequence of this prompt and a model bound to the schema."""
        return self.pipe(other)

    def pipe(
        self, *others: Any, name: str | None = None
    ) -> RunnableSerializable[dict[str, Any], Any]:
        """Return the sequence of this prompt, a model bound to the schema, and what follows.

        Raises:
            NotImplementedError: If what comes first is no model.
        """
        if (others and hasattr(others[0], "with_structured_output")) is not True:
            message = "Structured prompts need to be piped to a language model."
            raise NotImplementedError(message)
        model = others[0].with_structured_output(self.schema_, **self.structured_output_kwargs)
        return RunnableSequence(self, model, *others[1:], name=name)
