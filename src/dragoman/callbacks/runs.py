"""The manager of one run: what a running chain, model, tool or retriever tells its handlers with.

Each class is a row of events under one of two colours; `_told` and `_atold` make the methods from the
event's name, so that there is one way to tell a handler something.
"""

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Self
from uuid import UUID, uuid4

from dragoman._door import ASYNC, SYNC, run
from dragoman.callbacks.base import BaseCallbackHandler, RunManagerMixin
from dragoman.callbacks.events import tell_handlers

__all__ = [
    "AsyncCallbackManagerForChainRun",
    "AsyncCallbackManagerForLLMRun",
    "AsyncCallbackManagerForRetrieverRun",
    "AsyncCallbackManagerForToolRun",
    "AsyncParentRunManager",
    "AsyncRunManager",
    "BaseRunManager",
    "CallbackManagerForChainRun",
    "CallbackManagerForLLMRun",
    "CallbackManagerForRetrieverRun",
    "CallbackManagerForToolRun",
    "ParentRunManager",
    "RunManager",
]


class BaseRunManager(RunManagerMixin):
    """One run: its id, its handlers, tags and metadata."""

    def __init__(
        self,
        *,
        run_id: UUID,
        handlers: list[BaseCallbackHandler],
        inheritable_handlers: list[BaseCallbackHandler],
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        inheritable_tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        inheritable_metadata: dict[str, Any] | None = None,
    ) -> None:
        self.run_id = run_id
        self.handlers = handlers
        self.inheritable_handlers = inheritable_handlers
        self.parent_run_id = parent_run_id
        self.tags: list[str] = tags or []
        self.inheritable_tags: list[str] = inheritable_tags or []
        self.metadata: dict[str, Any] = metadata or {}
        self.inheritable_metadata: dict[str, Any] = inheritable_metadata or {}

    @classmethod
    def get_noop_manager(cls) -> Self:
        """Return a manager without handlers."""
        return cls(run_id=uuid4(), handlers=[], inheritable_handlers=[])

    def as_class(self, kind: type[Any]) -> Any:
        """Return this run under the manager class `kind`, the handlers shared."""
        return kind(
            run_id=self.run_id,
            handlers=self.handlers,
            inheritable_handlers=self.inheritable_handlers,
            parent_run_id=self.parent_run_id,
            tags=self.tags,
            inheritable_tags=self.inheritable_tags,
            metadata=self.metadata,
            inheritable_metadata=self.inheritable_metadata,
        )

    def _said(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        return {
            "run_id": self.run_id,
            "parent_run_id": self.parent_run_id,
            "tags": self.tags,
            **kwargs,
        }


def _told(event: str) -> Callable[..., None]:
    def tell(self: BaseRunManager, *args: Any, **kwargs: Any) -> None:
        if self.handlers:
            run(tell_handlers(SYNC, self.handlers, event, *args, **self._said(kwargs)))

    return _named(tell, event)


def _atold(event: str) -> Callable[..., Awaitable[None]]:
    async def tell(self: BaseRunManager, *args: Any, **kwargs: Any) -> None:
        if self.handlers:
            await tell_handlers(ASYNC, self.handlers, event, *args, **self._said(kwargs))

    return _named(tell, event)


def _named(method: Any, event: str) -> Any:
    method.__name__ = method.__qualname__ = event
    method.__doc__ = f"Tell the handlers `{event}`."
    return method


class RunManager(BaseRunManager):
    """A run under sync."""

    on_text: ClassVar[Callable[..., None]] = _told("on_text")
    on_retry: ClassVar[Callable[..., None]] = _told("on_retry")


class AsyncRunManager(BaseRunManager):
    """A run under async."""

    on_text: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_text")
    on_retry: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_retry")

    def get_sync(self) -> Any:
        """Return the sync manager of the same run."""
        return self.as_class(_SYNC_OF[type(self)])


class ParentRunManager(RunManager):
    """A run that calls others, under sync."""

    def get_child(self, tag: str | None = None) -> Any:
        """Return the manager for what this run calls; `tag` is on the called run only."""
        from dragoman.callbacks.manager import CallbackManager

        return CallbackManager.of_parent(self, tag)


class AsyncParentRunManager(AsyncRunManager):
    """A run that calls others, under async."""

    def get_child(self, tag: str | None = None) -> Any:
        """Return the manager for what this run calls; `tag` is on the called run only."""
        from dragoman.callbacks.manager import AsyncCallbackManager

        return AsyncCallbackManager.of_parent(self, tag)


class CallbackManagerForLLMRun(RunManager):
    """A model's run under sync."""

    on_llm_new_token: ClassVar[Callable[..., None]] = _told("on_llm_new_token")
    on_llm_end: ClassVar[Callable[..., None]] = _told("on_llm_end")
    on_llm_error: ClassVar[Callable[..., None]] = _told("on_llm_error")
    on_stream_event: ClassVar[Callable[..., None]] = _told("on_stream_event")


class AsyncCallbackManagerForLLMRun(AsyncRunManager):
    """A model's run under async."""

    on_llm_new_token: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_llm_new_token")
    on_llm_end: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_llm_end")
    on_llm_error: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_llm_error")
    on_stream_event: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_stream_event")


class CallbackManagerForChainRun(ParentRunManager):
    """A chain's run under sync."""

    on_chain_end: ClassVar[Callable[..., None]] = _told("on_chain_end")
    on_chain_error: ClassVar[Callable[..., None]] = _told("on_chain_error")
    on_agent_action: ClassVar[Callable[..., None]] = _told("on_agent_action")
    on_agent_finish: ClassVar[Callable[..., None]] = _told("on_agent_finish")


class AsyncCallbackManagerForChainRun(AsyncParentRunManager):
    """A chain's run under async."""

    on_chain_end: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_chain_end")
    on_chain_error: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_chain_error")
    on_agent_action: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_agent_action")
    on_agent_finish: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_agent_finish")


class CallbackManagerForToolRun(ParentRunManager):
    """A tool's run under sync."""

    on_tool_end: ClassVar[Callable[..., None]] = _told("on_tool_end")
    on_tool_error: ClassVar[Callable[..., None]] = _told("on_tool_error")


class AsyncCallbackManagerForToolRun(AsyncParentRunManager):
    """A tool's run under async."""

    on_tool_end: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_tool_end")
    on_tool_error: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_tool_error")


class CallbackManagerForRetrieverRun(ParentRunManager):
    """A retriever's run under sync."""

    on_retriever_end: ClassVar[Callable[..., None]] = _told("on_retriever_end")
    on_retriever_error: ClassVar[Callable[..., None]] = _told("on_retriever_error")


class AsyncCallbackManagerForRetrieverRun(AsyncParentRunManager):
    """A retriever's run under async."""

    on_retriever_end: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_retriever_end")
    on_retriever_error: ClassVar[Callable[..., Awaitable[None]]] = _atold("on_retriever_error")


_SYNC_OF: dict[type[Any], type[Any]] = {
    AsyncRunManager: RunManager,
    AsyncParentRunManager: ParentRunManager,
    AsyncCallbackManagerForLLMRun: CallbackManagerForLLMRun,
    AsyncCallbackManagerForChainRun: CallbackManagerForChainRun,
    AsyncCallbackManagerForToolRun: CallbackManagerForToolRun,
    AsyncCallbackManagerForRetrieverRun: CallbackManagerForRetrieverRun,
}
