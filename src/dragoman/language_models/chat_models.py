"""`BaseChatModel`: the one way a chat model is called, whatever writes its replies.

A subclass says how one reply, or one stream, comes about (`hooks`); this class adds what all calls
share: input forms, callbacks, cache, rate limiter, ids, output versions, streams that can be
closed. A call without callbacks, cache and limiter pays for none of them.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal
from uuid import UUID
from warnings import warn

from pydantic import Field, model_validator

from dragoman._door import ASYNC, SYNC, run
from dragoman.callbacks import Callbacks
from dragoman.language_models.base import (
    BaseLanguageModel,
    LangSmithParams,
    LanguageModelInput,
)
from dragoman.language_models.calls import (
    Exhausted,
    bare_hook,
    generate_all,
    produce_one,
    sync_manager,
)
from dragoman.language_models.hooks import Hooks, hooks_of
from dragoman.language_models.inputs import standard_inputs, to_messages
from dragoman.language_models.model_profile import ModelProfile
from dragoman.language_models.replies import (
    agenerate_from_stream,
    generate_from_stream,
    identified,
)
from dragoman.language_models.streaming import astream_reply, stream_reply
from dragoman.language_models.streams import AsyncMessageStream, MessageStream
from dragoman.messages import AIMessage, BaseMessage
from dragoman.outputs import ChatGeneration, ChatGenerationChunk, ChatResult, LLMResult
from dragoman.prompt_values import PromptValue
from dragoman.rate_limiters import BaseRateLimiter
from dragoman.runnables import Runnable, RunnableConfig
from dragoman.runnables.config import run_in_executor

__all__ = [
    "BaseChatModel",
    "SimpleChatModel",
    "agenerate_from_stream",
    "generate_from_stream",
]


class BaseChatModel(BaseLanguageModel[AIMessage], ABC):
    """The base of chat models: messages in, an `AIMessage` out.

    A subclass writes `_generate` and `_llm_type`, and where it can `_agenerate`, `_stream`,
    `_astream` and `bind_tools`.

    Attributes:
        rate_limiter: Asked before each call.
        disable_streaming: True: `stream` gives the reply in one piece. `"tool_calling"`: only for
            calls with tools.
        output_version: `"v1"` makes the content of replies a list of standard blocks; the
            environment variable `LC_OUTPUT_VERSION` sets the default.
        profile: What the model can do.

    >>> class Echo(BaseChatModel):
    ...     def _generate(self, messages, stop=None, run_manager=None, **kwargs):
    ...         reply = AIMessage(messages[-1].text)
    ...         return ChatResult(generations=[ChatGeneration(message=reply)])
    ...
    ...     @property
    ...     def _llm_type(self):
    ...         return "echo"
    >>> Echo().invoke("Hi").content
    'Hi'
    """

    rate_limiter: BaseRateLimiter | None = Field(default=None, exclude=True)
    disable_streaming: bool | Literal["tool_calling"] = False
    output_version: str | None = None
    profile: ModelProfile | None = Field(default=None, exclude=True)

    _hooks: ClassVar[Hooks] = Hooks(None, None, None, None)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls._hooks = hooks_of(cls, BaseChatModel)

    @model_validator(mode="after")
    def _set_version(self) -> Any:
        if self.output_version is None:
            self.output_version = os.environ.get("LC_OUTPUT_VERSION") or None
        return self

    @model_validator(mode="after")
    def _set_profile(self) -> Any:
        if self.profile is None:
            try:
                self.profile = self._resolve_model_profile()
            except Exception:  # noqa: BLE001 - a profile is a convenience; a user's lookup must not stop the model
                self.profile = None
        unknown = sorted(set(self.profile or {}) - set(ModelProfile.__annotations__))
        if unknown:
            message = f"Unknown keys in the profile of `{type(self).__name__}`: {unknown}"
            warn(message, UserWarning, stacklevel=2)
        return self

    def _resolve_model_profile(self) -> ModelProfile | None:
        """Return what is known of this model, for subclasses that know; errors count as None."""
        return None

    @property
    def OutputType(self) -> Any:  # noqa: N802 - the established name
        """The type of outputs, for schemas."""
        return AIMessage

    # One call ------------------------------------------------------------------------------

    def invoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """Return the reply to `input`.

        Args:
            input: A string, a prompt value, or a list of message-likes.
            config: Callbacks, tags, metadata, run name and run id of this call.
            stop: Strings that end the reply.
            kwargs: Passed to the model.

        Raises:
            ValueError: If `input` is something else.
            ModelError: As the model says.
        """
        messages = to_messages(input)
        name = bare_hook(self, self._hooks.reply, config, kwargs)
        if name is not None:
            reply = getattr(self, name)(standard_inputs(messages), stop=stop, **kwargs)
            return identified(reply)
        try:
            return run(produce_one(self, SYNC, messages, config, stop, kwargs))
        except Exhausted as error:
            raise error.stop from None

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """Return the reply to `input`, as `invoke` does."""
        messages = to_messages(input)
        name = bare_hook(self, self._hooks.areply, config, kwargs)
        if name is not None:
            reply = await getattr(self, name)(standard_inputs(messages), stop=stop, **kwargs)
            return identified(reply)
        return await produce_one(self, ASYNC, messages, config, stop, kwargs)

    def stream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> MessageStream:
        """Return the reply to `input` as a stream of chunks; nothing happens before the first is asked for.

        A model that cannot stream, or must not, gives its whole reply as one item.
        """
        return MessageStream(stream_reply(self, input, config, stop, kwargs))

    def astream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AsyncMessageStream:
        """Return the reply to `input` as an async stream, as `stream` does."""
        return AsyncMessageStream(astream_reply(self, input, config, stop, kwargs))

    # Many calls ----------------------------------------------------------------------------

    def generate(
        self,
        messages: list[list[BaseMessage]],
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
        *,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        run_name: str | None = None,
        run_id: UUID | None = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return the candidates for each history, one call after the other; the first error ends it."""
        config = _config(callbacks, tags, metadata, run_name, run_id)
        batches = [to_messages(one) for one in messages]
        try:
            return run(generate_all(self, SYNC, batches, config, stop, kwargs))
        except Exhausted as error:
            raise error.stop from None

    async def agenerate(
        self,
        messages: list[list[BaseMessage]],
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
        *,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        run_name: str | None = None,
        run_id: UUID | None = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return the candidates for each history, all calls at once; the first error is raised after all ended."""
        config = _config(callbacks, tags, metadata, run_name, run_id)
        batches = [to_messages(one) for one in messages]
        return await generate_all(self, ASYNC, batches, config, stop, kwargs)

    def generate_prompt(
        self,
        prompts: list[PromptValue],
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return the candidates for each prompt value."""
        return self.generate([p.to_messages() for p in prompts], stop, callbacks, **kwargs)

    async def agenerate_prompt(
        self,
        prompts: list[PromptValue],
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return the candidates for each prompt value."""
        return await self.agenerate([p.to_messages() for p in prompts], stop, callbacks, **kwargs)

    # What a subclass writes ----------------------------------------------------------------

    @property
    @abstractmethod
    def _llm_type(self) -> str:
        """A word for the kind of model, for logs and cache keys."""

    @abstractmethod
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        """Return the candidates for one history."""

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        """Return the candidates for one history; runs `_generate` in a thread unless overridden."""
        if self._hooks.reply is not None and self._hooks.reply.takes_manager:
            kwargs["run_manager"] = sync_manager(run_manager)
        return await run_in_executor(None, self._generate, messages, stop=stop, **kwargs)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        """Yield the chunks of one reply, for models that can."""
        message = f"`{type(self).__name__}` does not stream; write `_stream`"
        raise NotImplementedError(message)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        """Yield the chunks of one reply; runs `_stream` in a thread, item by item, unless overridden."""
        from dragoman.language_models.streaming import in_thread

        async for chunk in in_thread(self._stream(messages, stop=stop, **kwargs)):
            yield chunk

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | Any],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return this model with tools, for models that take them.

        `language_models.binding.ToolBinding` is the usual way to write it.

        Raises:
            NotImplementedError: Unless a subclass overrides it.
        """
        message = f"`{type(self).__name__}` takes no tools: bind_tools is not implemented for it"
        raise NotImplementedError(message)

    def with_structured_output(
        self,
        schema: Any,
        *,
        include_raw: bool = False,
        method: Literal["function_calling", "json_schema", "json_mode"] | None = None,
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, Any]:
        """Return this model answering with objects of `schema`.

        Args:
            schema: A pydantic class or dataclass (the answer is an object of it), a TypedDict or
                JSON Schema (the answer is a dict).
            include_raw: Whether the answer is `{"raw", "parsed", "parsing_error"}`, errors
                included, instead of the object alone.
            method: `function_calling` makes the schema a tool that must be called, `json_schema`
                the provider's response format, `json_mode` asks for any JSON object. By default
                what `_structured_method` says.
            strict: Whether the provider is to enforce the schema.
            kwargs: None are known.

        Returns:
            A runnable; its stream gives growing dicts, or one object at the end.

        Raises:
            ValueError: If an option is unknown, or the schema is none of these.
            NotImplementedError: If the model takes no tools and the method needs them.
        """
        if kwargs:
            raise ValueError(f"Received unsupported arguments {kwargs}")
        from dragoman.language_models.structured import structured_model

        chosen = method or self._structured_method()
        return structured_model(self, schema, method=chosen, include_raw=include_raw, strict=strict)

    def _structured_method(self) -> str:
        """The default `method` of `with_structured_output`, for subclasses that know better."""
        return "function_calling"

    # What handlers and caches are told -------------------------------------------------------

    def _combine_llm_outputs(self, llm_outputs: list[dict[str, Any] | None]) -> dict[str, Any]:
        """Return one `llm_output` for several calls."""
        return {}

    def asdict(self) -> dict[str, Any]:
        """Return what identifies this model, and its `_type`."""
        return {**self._identifying_params, "_type": self._llm_type}

    def dict(self, **kwargs: Any) -> Any:
        """Return `asdict()`; the older name."""
        warn("`dict` is deprecated; use `asdict`", DeprecationWarning, stacklevel=2)
        return self.asdict()

    def _get_invocation_params(
        self, stop: list[str] | None = None, **kwargs: Any
    ) -> Mapping[str, Any]:
        return {**self.asdict(), "stop": stop, **kwargs}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        name = type(self).__name__
        if name.startswith("Chat"):
            name = name[4:]
        params: Any = {
            "ls_provider": name.removesuffix("Chat").lower(),
            "ls_model_type": "chat",
        }
        if stop:
            params["ls_stop"] = stop
        for key, sources in _LS_SOURCES.items():
            for source in sources:
                value = kwargs.get(source, getattr(self, source, None))
                if isinstance(value, (str, int, float)) and not isinstance(value, bool):
                    params[key] = value
                    break
        return params

    def _get_llm_string(self, stop: list[str] | None = None, **kwargs: Any) -> str:
        """Return the part of a cache key that says which model with which settings."""
        from dragoman.language_models.cache_keys import model_key

        return model_key(self, stop, kwargs)


_LS_SOURCES = {
    "ls_model_name": ("model", "model_name"),
    "ls_temperature": ("temperature",),
    "ls_max_tokens": ("max_tokens",),
}


def _config(
    callbacks: Callbacks,
    tags: list[str] | None,
    metadata: dict[str, Any] | None,
    run_name: str | None,
    run_id: UUID | None,
) -> dict[str, Any] | None:
    """Return the config that the arguments of `generate` mean, or None when they say nothing."""
    given = {
        "callbacks": callbacks,
        "tags": tags,
        "metadata": metadata,
        "run_name": run_name,
        "run_id": run_id,
    }
    return {key: value for key, value in given.items() if value} or None


class SimpleChatModel(BaseChatModel):
    """A chat model that writes its reply as a text: a subclass writes `_call`."""

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        text = self._call(messages, stop=stop, run_manager=run_manager, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=text))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        manager = sync_manager(run_manager)
        return await run_in_executor(
            None, self._generate, messages, stop=stop, run_manager=manager, **kwargs
        )

    @abstractmethod
    def _call(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> str:
        """Return the text of the reply."""
