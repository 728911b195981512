"""`WrappedChatModel`: a `langchain_core` chat model that asks one of ours.

Callbacks, caches and run ids are LangChain's; the request, the reply and what is wrong with them
are ours. A reply keeps the provider's id; where there is none LangChain gives the run's.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel as TheirChatModel
from langchain_core.messages import BaseMessage as TheirMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable as TheirRunnable
from langchain_core.tools import BaseTool as TheirTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field
from typing_extensions import override

from dragoman.compat.answers import AnswerThere
from dragoman.compat.faults import faults_out
from dragoman.compat.messages import message_in, message_out
from dragoman.language_models.chat_models import BaseChatModel
from dragoman.messages import LC_ID_PREFIX, BaseMessage
from dragoman.runnables.binding import RunnableBindingBase

__all__ = ["WrappedChatModel", "wrapped"]


def wrapped(model: Any, options: dict[str, Any]) -> Any:
    """Return `model` for LangChain; one that came from there is itself again."""
    from dragoman.compat.adopted import AdoptedChatModel

    if isinstance(model, str):
        return WrappedChatModel(model=model, **options)
    if isinstance(model, AdoptedChatModel) and not options:
        return model.langchain_model
    if not isinstance(model, BaseChatModel) or options:
        text = f"wrap_model takes a chat model alone, or a name with options, not {type(model).__name__}"
        raise TypeError(text)
    return WrappedChatModel(dragoman_model=model)


class WrappedChatModel(TheirChatModel):
    """A LangChain chat model over a dragoman model.

    Args:
        dragoman_model: The model; or else what `init_chat_model` takes.

    Attributes:
        dragoman_model: The model that is asked.
    """

    dragoman_model: Any = Field(exclude=True)

    def __init__(self, *, dragoman_model: BaseChatModel | None = None, **options: Any) -> None:
        own = {name: options.pop(name) for name in TheirChatModel.model_fields if name in options}
        if dragoman_model is None:
            from dragoman.chat_models import init_chat_model

            dragoman_model = cast("BaseChatModel", init_chat_model(**options))
            options = {}
        inner: Any = dragoman_model
        own.setdefault("disable_streaming", inner.disable_streaming)
        if inner.profile:
            own.setdefault("profile", dict(inner.profile))
        fields: dict[str, Any] = {"dragoman_model": inner, **own, **options}
        super().__init__(**fields)

    @property
    @override
    def _llm_type(self) -> str:
        return f"dragoman-{self.dragoman_model._llm_type}"

    @property
    @override
    def _identifying_params(self) -> dict[str, Any]:
        return dict(self.dragoman_model._identifying_params)

    @override
    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return dict(self.dragoman_model._get_ls_params(stop, **kwargs))

    # Calls ---------------------------------------------------------------------------------

    @override
    def _generate(
        self,
        messages: list[TheirMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with faults_out():
            reply = self.dragoman_model.invoke(_ours(messages), stop=stop, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=_theirs(reply))])

    @override
    async def _agenerate(
        self,
        messages: list[TheirMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with faults_out():
            reply = await self.dragoman_model.ainvoke(_ours(messages), stop=stop, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=_theirs(reply))])

    @override
    def _stream(
        self,
        messages: list[TheirMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        with (
            faults_out(),
            self.dragoman_model.stream(_ours(messages), stop=stop, **kwargs) as stream,
        ):
            for chunk in stream:
                made = ChatGenerationChunk(message=_theirs(chunk))
                if run_manager is not None:
                    run_manager.on_llm_new_token(str(chunk.text), chunk=made)
                yield made

    @override
    async def _astream(
        self,
        messages: list[TheirMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        with faults_out():
            stream = self.dragoman_model.astream(_ours(messages), stop=stop, **kwargs)
            async with stream:
                async for chunk in stream:
                    made = ChatGenerationChunk(message=_theirs(chunk))
                    if run_manager is not None:
                        await run_manager.on_llm_new_token(str(chunk.text), chunk=made)
                    yield made

    # Bound models --------------------------------------------------------------------------

    @override
    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | TheirTool],
        *,
        tool_choice: Any = None,
        **kwargs: Any,
    ) -> TheirRunnable[Any, Any]:
        """Return this model with tools: LangChain's, ours, functions, classes or dicts."""
        given = [convert_to_openai_tool(t) if isinstance(t, TheirTool) else t for t in tools]
        return self._bound(self.dragoman_model.bind_tools(given, tool_choice=tool_choice, **kwargs))

    @override
    def with_structured_output(
        self, schema: Any, *, include_raw: bool = False, **kwargs: Any
    ) -> TheirRunnable[Any, Any]:
        """Return this model answering with objects of `schema`; `method` and `strict` are taken.

        Raises:
            ValueError: If an option is unknown, or the schema is none.
        """
        made: Any = self.dragoman_model.with_structured_output(
            schema, include_raw=include_raw, **kwargs
        )
        return self._bound(made.first) | AnswerThere(made.last)

    def _bound(self, bound: Any) -> Any:
        """Return this model with what `bound` binds to ours."""
        if isinstance(bound, RunnableBindingBase) and bound.bound is self.dragoman_model:
            return self.bind(**bound.kwargs)
        if isinstance(bound, RunnableBindingBase):
            return wrapped(bound.bound, {}).bind(**bound.kwargs)
        return wrapped(bound, {})

    @override
    def get_num_tokens(self, text: str) -> int:
        """Return the tokens of a text, as our model counts them."""
        return self.dragoman_model.get_num_tokens(text)

    @override
    def get_num_tokens_from_messages(
        self, messages: Sequence[TheirMessage], tools: Sequence[Any] | None = None
    ) -> int:
        """Return the tokens of messages, as our model counts them."""
        given = [convert_to_openai_tool(tool) for tool in tools or ()]
        return self.dragoman_model.get_num_tokens_from_messages(_ours(messages), given or None)


def _ours(messages: Sequence[TheirMessage]) -> list[BaseMessage]:
    return [message_in(message, f"$[{i}]") for i, message in enumerate(messages)]


def _theirs(reply: BaseMessage) -> Any:
    made = message_out(reply, "$")
    if made.id is not None and made.id.startswith(LC_ID_PREFIX):
        made.id = None  # the id of our run; LangChain's callbacks know the call by another
    return made
