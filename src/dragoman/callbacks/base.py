"""What a handler may be told, and the list of handlers a call carries along.

A handler overrides the methods it cares for; every other one does nothing. Handlers of
`AsyncCallbackHandler` are awaited; a sync handler under async runs in a worker thread unless it
sets `run_inline`. A handler that raises is logged and skipped unless it sets `raise_error`.
"""

from collections.abc import Sequence
from typing import Any, Self, TypeAlias
from uuid import UUID

__all__ = [
    "AsyncCallbackHandler",
    "BaseCallbackHandler",
    "BaseCallbackManager",
    "CallbackManagerMixin",
    "Callbacks",
    "ChainManagerMixin",
    "LLMManagerMixin",
    "RetrieverManagerMixin",
    "RunManagerMixin",
    "StreamingHandler",
    "ToolManagerMixin",
]


class RetrieverManagerMixin:
    """What is told about a retriever that runs."""

    def on_retriever_error(
        self,
        error: BaseException,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told when a retriever failed."""

    def on_retriever_end(
        self,
        documents: Sequence[Any],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told when a retriever ended."""


class LLMManagerMixin:
    """What is told about a model that runs."""

    def on_llm_new_token(
        self,
        token: Any,
        *,
        chunk: Any = None,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told of each chunk of a streamed reply; `chunk` is the whole chunk."""

    def on_llm_end(
        self,
        response: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told when a model ended, with its `LLMResult`."""

    def on_llm_error(
        self,
        error: BaseException,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told when a model failed."""

    def on_stream_event(
        self,
        event: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told of each event of a stream that speaks in events."""


class ChainManagerMixin:
    """What is told about a chain that runs."""

    def on_chain_end(
        self, outputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> Any:
        """Told when a chain ended."""

    def on_chain_error(
        self,
        error: BaseException,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told when a chain failed."""

    def on_agent_action(
        self, action: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> Any:
        """Told when an agent chose an action."""

    def on_agent_finish(
        self, finish: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> Any:
        """Told when an agent finished."""


class ToolManagerMixin:
    """What is told about a tool that runs."""

    def on_tool_end(
        self, output: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> Any:
        """Told when a tool ended."""

    def on_tool_error(
        self,
        error: BaseException,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told when a tool failed."""


class CallbackManagerMixin:
    """What is told when something starts."""

    def on_llm_start(
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told when a completion model starts."""

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told when a chat model starts; without an override `on_llm_start` is told instead."""
        text = f"{type(self).__name__} does not implement `on_chat_model_start`"
        raise NotImplementedError(text)

    def on_retriever_start(
        self,
        serialized: dict[str, Any],
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told when a retriever starts."""

    def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told when a chain starts."""

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told when a tool starts."""


class RunManagerMixin:
    """What is told about any run."""

    def on_text(
        self, text: str, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> Any:
        """Told of free text."""

    def on_retry(
        self, retry_state: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> Any:
        """Told when something is tried again."""

    def on_custom_event(
        self,
        name: str,
        data: Any,
        *,
        run_id: UUID,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Told of an event that user code dispatched."""


class BaseCallbackHandler(
    LLMManagerMixin,
    ChainManagerMixin,
    ToolManagerMixin,
    RetrieverManagerMixin,
    CallbackManagerMixin,
    RunManagerMixin,
):
    """The base of handlers.

    Attributes:
        raise_error: Whether an error in the handler stops the run.
        run_inline: Whether a sync handler runs on the event loop instead of in a thread.
    """

    raise_error: bool = False
    run_inline: bool = False

    @property
    def ignore_llm(self) -> bool:
        """Whether events of models are not for this handler."""
        return False

    @property
    def ignore_retry(self) -> bool:
        """Whether retries are not for this handler."""
        return False

    @property
    def ignore_chain(self) -> bool:
        """Whether events of chains are not for this handler."""
        return False

    @property
    def ignore_agent(self) -> bool:
        """Whether events of agents and tools are not for this handler."""
        return False

    @property
    def ignore_retriever(self) -> bool:
        """Whether events of retrievers are not for this handler."""
        return False

    @property
    def ignore_chat_model(self) -> bool:
        """Whether starts of chat models are not for this handler."""
        return False

    @property
    def ignore_custom_event(self) -> bool:
        """Whether custom events are not for this handler."""
        return False


class StreamingHandler(BaseCallbackHandler):
    """A handler that wants to see every chunk: models stream for it even when they are invoked."""

    run_inline = True
    wants_tokens = True

    def tap_chunk(self, run_id: UUID, chunk: Any) -> None:
        """Told, on the spot, of each chunk that a chain's stream yields."""


class AsyncCallbackHandler(BaseCallbackHandler):
    """The base of handlers whose methods are coroutines."""

    async def on_llm_start(
        self, serialized: dict[str, Any], prompts: list[str], **kwargs: Any
    ) -> None:
        """Told when a completion model starts."""

    async def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[Any]], **kwargs: Any
    ) -> Any:
        """Told when a chat model starts; without an override `on_llm_start` is told instead."""
        text = f"{type(self).__name__} does not implement `on_chat_model_start`"
        raise NotImplementedError(text)

    async def on_llm_new_token(self, token: Any, *, chunk: Any = None, **kwargs: Any) -> None:
        """Told of each chunk of a streamed reply."""

    async def on_llm_end(self, response: Any, **kwargs: Any) -> None:
        """Told when a model ended."""

    async def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        """Told when a model failed."""

    async def on_stream_event(self, event: Any, **kwargs: Any) -> None:
        """Told of each event of a stream that speaks in events."""

    async def on_chain_start(self, serialized: dict[str, Any], inputs: Any, **kwargs: Any) -> None:
        """Told when a chain starts."""

    async def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        """Told when a chain ended."""

    async def on_chain_error(self, error: BaseException, **kwargs: Any) -> None:
        """Told when a chain failed."""

    async def on_tool_start(
        self, serialized: dict[str, Any], input_str: str, **kwargs: Any
    ) -> None:
        """Told when a tool starts."""

    async def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        """Told when a tool ended."""

    async def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        """Told when a tool failed."""

    async def on_text(self, text: str, **kwargs: Any) -> None:
        """Told of free text."""

    async def on_retry(self, retry_state: Any, **kwargs: Any) -> Any:
        """Told when something is tried again."""

    async def on_agent_action(self, action: Any, **kwargs: Any) -> None:
        """Told when an agent chose an action."""

    async def on_agent_finish(self, finish: Any, **kwargs: Any) -> None:
        """Told when an agent finished."""

    async def on_retriever_start(
        self, serialized: dict[str, Any], query: str, **kwargs: Any
    ) -> None:
        """Told when a retriever starts."""

    async def on_retriever_end(self, documents: Sequence[Any], **kwargs: Any) -> None:
        """Told when a retriever ended."""

    async def on_retriever_error(self, error: BaseException, **kwargs: Any) -> None:
        """Told when a retriever failed."""

    async def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        """Told of an event that user code dispatched."""


class BaseCallbackManager(CallbackManagerMixin):
    """Handlers, tags and metadata of a call; the inheritable ones go on to what it calls."""

    def __init__(
        self,
        handlers: list[BaseCallbackHandler],
        inheritable_handlers: list[BaseCallbackHandler] | None = None,
        parent_run_id: UUID | None = None,
        *,
        tags: list[str] | None = None,
        inheritable_tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        inheritable_metadata: dict[str, Any] | None = None,
    ) -> None:
        self.handlers: list[BaseCallbackHandler] = handlers
        self.inheritable_handlers: list[BaseCallbackHandler] = inheritable_handlers or []
        self.parent_run_id = parent_run_id
        self.tags: list[str] = tags or []
        self.inheritable_tags: list[str] = inheritable_tags or []
        self.metadata: dict[str, Any] = metadata or {}
        self.inheritable_metadata: dict[str, Any] = inheritable_metadata or {}

    def copy(self) -> Self:
        """Return a manager with the same handlers whose lists are its own."""
        return type(self)(
            self.handlers.copy(),
            self.inheritable_handlers.copy(),
            self.parent_run_id,
            tags=self.tags.copy(),
            inheritable_tags=self.inheritable_tags.copy(),
            metadata=self.metadata.copy(),
            inheritable_metadata=self.inheritable_metadata.copy(),
        )

    def merge(self, other: "BaseCallbackManager") -> Self:
        """Return a manager that holds what both hold, each handler and tag once."""
        merged = self.copy()
        for handler in other.handlers:
            merged.add_handler(handler, inherit=False)
        for handler in other.inheritable_handlers:
            if handler not in merged.inheritable_handlers:
                merged.inheritable_handlers.append(handler)
        merged.parent_run_id = self.parent_run_id or other.parent_run_id
        merged.tags = list(dict.fromkeys(self.tags + other.tags))
        merged.inheritable_tags = list(
            dict.fromkeys(self.inheritable_tags + other.inheritable_tags)
        )
        merged.metadata = {**self.metadata, **other.metadata}
        merged.inheritable_metadata = {**self.inheritable_metadata, **other.inheritable_metadata}
        return merged

    @property
    def is_async(self) -> bool:
        """Whether the methods are coroutines."""
        return False

    def add_handler(self, handler: BaseCallbackHandler, inherit: bool = True) -> None:
        """Add a handler, once."""
        if handler not in self.handlers:
            self.handlers.append(handler)
        if inherit and handler not in self.inheritable_handlers:
            self.inheritable_handlers.append(handler)

    def remove_handler(self, handler: BaseCallbackHandler) -> None:
        """Remove a handler if it is there."""
        for handlers in (self.handlers, self.inheritable_handlers):
            if handler in handlers:
                handlers.remove(handler)

    def set_handlers(self, handlers: list[BaseCallbackHandler], inherit: bool = True) -> None:
        """Replace all handlers."""
        self.handlers = []
        self.inheritable_handlers = []
        for handler in handlers:
            self.add_handler(handler, inherit)

    def set_handler(self, handler: BaseCallbackHandler, inherit: bool = True) -> None:
        """Replace all handlers by one."""
        self.set_handlers([handler], inherit)

    def add_tags(self, tags: list[str], inherit: bool = True) -> None:
        """Add tags at the end, each once."""
        self.tags = [tag for tag in self.tags if tag not in tags] + tags
        if inherit:
            kept = [tag for tag in self.inheritable_tags if tag not in tags]
            self.inheritable_tags = kept + tags

    def remove_tags(self, tags: list[str]) -> None:
        """Remove tags."""
        self.tags = [tag for tag in self.tags if tag not in tags]
        self.inheritable_tags = [tag for tag in self.inheritable_tags if tag not in tags]

    def add_metadata(self, metadata: dict[str, Any], inherit: bool = True) -> None:
        """Merge metadata in."""
        self.metadata.update(metadata)
        if inherit:
            self.inheritable_metadata.update(metadata)

    def remove_metadata(self, keys: list[str]) -> None:
        """Remove metadata keys."""
        for key in keys:
            self.metadata.pop(key, None)
            self.inheritable_metadata.pop(key, None)


Callbacks: TypeAlias = list[BaseCallbackHandler] | BaseCallbackManager | None
