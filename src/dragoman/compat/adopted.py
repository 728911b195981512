"""`AdoptedChatModel`: a chat model of ours that asks a LangChain one.

What is bound to it (tools, response formats) is in the form its LangChain class chose. Callbacks
and caches of this side see the call; those that the LangChain model has of its own see it too.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, closing
from typing import Any

from langchain_core.language_models import BaseChatModel as TheirChatModel
from langchain_core.messages import AIMessageChunk as TheirChunk
from pydantic import Field
from typing_extensions import override

from dragoman.compat.faults import faults_in
from dragoman.compat.messages import message_in, message_out
from dragoman.compat.tools import tool_out
from dragoman.compat.wrapped import WrappedChatModel
from dragoman.language_models.chat_models import BaseChatModel
from dragoman.messages import AIMessage, AIMessageChunk, BaseMessage
from dragoman.outputs import ChatGeneration, ChatResult
from dragoman.runnables import Runnable
from dragoman.tools import BaseTool

__all__ = ["AdoptedChatModel", "adopted"]


def adopted(model: Any) -> Any:
    """Return LangChain's `model` as one of ours; one that came from here is itself again."""
    if isinstance(model, WrappedChatModel):
        return model.dragoman_model
    if not isinstance(model, TheirChatModel):
        text = f"from_langchain_model takes a langchain_core chat model, not {type(model).__name__}"
        raise TypeError(text)
    known: Any = getattr(model, "profile", None)
    profile: Any = dict(known) if known else None
    return AdoptedChatModel(langchain_model=model, profile=profile)


class AdoptedChatModel(BaseChatModel):
    """A chat model over a LangChain chat model.

    Attributes:
        langchain_model: The model that is asked.
    """

    langchain_model: Any = Field(exclude=True)

    @property
    @override
    def _llm_type(self) -> str:
        return f"langchain-{self.langchain_model._llm_type}"

    @property
    @override
    def _identifying_params(self) -> dict[str, Any]:
        return dict(self.langchain_model._identifying_params)

    @override
    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return dict(self.langchain_model._get_ls_params(stop, **kwargs))

    # Calls ---------------------------------------------------------------------------------

    def _reply(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any
    ) -> AIMessage:
        with faults_in():
            return _whole(self.langchain_model.invoke(_theirs(messages), stop=stop, **kwargs))

    async def _areply(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any
    ) -> AIMessage:
        with faults_in():
            reply = await self.langchain_model.ainvoke(_theirs(messages), stop=stop, **kwargs)
        return _whole(reply)

    def _chunks(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any
    ) -> Iterator[AIMessageChunk]:
        stream = self.langchain_model.stream(_theirs(messages), stop=stop, **kwargs)
        with faults_in(), closing(stream):
            for chunk in stream:
                yield _piece(chunk)

    async def _achunks(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any
    ) -> AsyncIterator[AIMessageChunk]:
        stream = self.langchain_model.astream(_theirs(messages), stop=stop, **kwargs)
        with faults_in():
            async with aclosing(stream):
                async for chunk in stream:
                    yield _piece(chunk)

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = self._reply(messages, stop, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    # Bound models --------------------------------------------------------------------------

    @override
    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | Any],
        *,
        tool_choice: Any = None,
        **kwargs: Any,
    ) -> Runnable[Any, AIMessage]:
        """Return this model with tools, in the form of its LangChain class.

        Raises:
            NotImplementedError: If that class takes no tools.
        """
        given = [tool_out(tool) if isinstance(tool, BaseTool) else tool for tool in tools]
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        bound = self.langchain_model.bind_tools(given, **kwargs)
        inner = getattr(bound, "bound", bound)
        model = self if inner is self.langchain_model else adopted(inner)
        return model.bind(**getattr(bound, "kwargs", {}))


def _theirs(messages: Sequence[BaseMessage]) -> list[Any]:
    return [message_out(message, f"$[{i}]") for i, message in enumerate(messages)]


def _whole(reply: Any) -> Any:
    return message_in(reply, "$")


def _piece(chunk: Any) -> Any:
    """Return a chunk; a model that cannot stream gives its whole reply instead."""
    made: Any = message_in(chunk, "$", is_streamed=True)
    if isinstance(chunk, TheirChunk):
        return made
    fields = {name: value for name, value in made.model_dump().items() if name != "type"}
    return AIMessageChunk(**fields, chunk_position="last")
