"""Callback managers: what a call starts its run with.

A manager is only built when `requested` says that somebody listens. The `on_..._start` methods tell the
handlers that a run starts and return the run's own manager (`runs.py`).
"""

from collections.abc import Mapping
from typing import Any, Self
from uuid import UUID, uuid4

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.callbacks.ambient import ambient_handlers, register_configure_hook
from dragoman.callbacks.base import BaseCallbackManager, Callbacks
from dragoman.callbacks.custom import adispatch_custom_event, dispatch_custom_event
from dragoman.callbacks.events import ahandle_event, handle_event, tell_handlers
from dragoman.callbacks.runs import (
    AsyncCallbackManagerForChainRun,
    AsyncCallbackManagerForLLMRun,
    AsyncCallbackManagerForRetrieverRun,
    AsyncCallbackManagerForToolRun,
    AsyncParentRunManager,
    AsyncRunManager,
    BaseRunManager,
    CallbackManagerForChainRun,
    CallbackManagerForLLMRun,
    CallbackManagerForRetrieverRun,
    CallbackManagerForToolRun,
    ParentRunManager,
    RunManager,
)

__all__ = [
    "AsyncCallbackManager",
    "AsyncCallbackManagerForChainRun",
    "AsyncCallbackManagerForLLMRun",
    "AsyncCallbackManagerForRetrieverRun",
    "AsyncCallbackManagerForToolRun",
    "AsyncParentRunManager",
    "AsyncRunManager",
    "BaseRunManager",
    "CallbackManager",
    "CallbackManagerForChainRun",
    "CallbackManagerForLLMRun",
    "CallbackManagerForRetrieverRun",
    "CallbackManagerForToolRun",
    "Callbacks",
    "ParentRunManager",
    "RunManager",
    "adispatch_custom_event",
    "ahandle_event",
    "dispatch_custom_event",
    "handle_event",
    "register_configure_hook",
]


class _Starter(BaseCallbackManager):
    """What both colours share."""

    async def _start(
        self,
        door: Door,
        kind: type[Any],
        event: str,
        args: tuple[Any, ...],
        *,
        run_id: UUID | None,
        kwargs: dict[str, Any],
    ) -> Any:
        run_id = run_id or uuid4()
        if self.handlers:
            await tell_handlers(
                door,
                self.handlers,
                event,
                *args,
                run_id=run_id,
                parent_run_id=self.parent_run_id,
                tags=self.tags,
                metadata=self.metadata,
                **kwargs,
            )
        return kind(
            run_id=run_id,
            handlers=self.handlers,
            inheritable_handlers=self.inheritable_handlers,
            parent_run_id=self.parent_run_id,
            tags=self.tags,
            inheritable_tags=self.inheritable_tags,
            metadata=self.metadata,
            inheritable_metadata=self.inheritable_metadata,
        )

    async def _start_each(
        self,
        door: Door,
        kind: type[Any],
        event: str,
        serialized: Any,
        values: list[Any],
        *,
        run_id: UUID | None,
        kwargs: dict[str, Any],
    ) -> list[Any]:
        """Start one run for each value; `run_id` is that of the first."""
        runs: list[Any] = []
        for value in values:
            args = (serialized, [value])
            runs.append(await self._start(door, kind, event, args, run_id=run_id, kwargs=kwargs))
            run_id = None
        return runs

    async def _custom(
        self, door: Door, name: str, data: Any, run_id: UUID | None, kwargs: Any
    ) -> None:
        if self.handlers:
            await tell_handlers(
                door,
                self.handlers,
                "on_custom_event",
                name,
                data,
                run_id=run_id or uuid4(),
                tags=self.tags,
                metadata=self.metadata,
                **kwargs,
            )

    @classmethod
    def of_parent(cls, parent: BaseRunManager, tag: str | None = None) -> Self:
        """Return the manager for what the run `parent` calls."""
        inherited = parent.inheritable_tags
        return cls(
            list(parent.inheritable_handlers),
            list(parent.inheritable_handlers),
            parent.run_id,
            tags=[*inherited, tag] if tag is not None else list(inherited),
            inheritable_tags=list(inherited),
            metadata=dict(parent.inheritable_metadata),
            inheritable_metadata=dict(parent.inheritable_metadata),
        )

    @classmethod
    def configure(
        cls,
        inheritable_callbacks: Callbacks = None,
        local_callbacks: Callbacks = None,
        verbose: bool = False,
        inheritable_tags: list[str] | None = None,
        local_tags: list[str] | None = None,
        inheritable_metadata: dict[str, Any] | None = None,
        local_metadata: dict[str, Any] | None = None,
        *,
        langsmith_inheritable_metadata: Mapping[str, Any] | None = None,
        langsmith_inheritable_tags: list[str] | None = None,
    ) -> Self:
        """Return a manager that holds the given handlers and those in force.

        `verbose` adds a `StdOutCallbackHandler`. The `langsmith_...` arguments are accepted and not used.
        """
        manager = cls([])
        if isinstance(inheritable_callbacks, BaseCallbackManager):
            source = inheritable_callbacks
            manager = cls(
                source.handlers.copy(),
                source.inheritable_handlers.copy(),
                source.parent_run_id,
                tags=source.tags.copy(),
                inheritable_tags=source.inheritable_tags.copy(),
                metadata=source.metadata.copy(),
                inheritable_metadata=source.inheritable_metadata.copy(),
            )
        elif inheritable_callbacks:
            manager = cls(inheritable_callbacks.copy(), inheritable_callbacks.copy())
        local = (
            local_callbacks.handlers
            if isinstance(local_callbacks, BaseCallbackManager)
            else local_callbacks
        )
        for handler in local or ():
            manager.add_handler(handler, inherit=False)
        for tags, inherit in ((inheritable_tags, True), (local_tags, False)):
            if tags:
                manager.add_tags(tags, inherit)
        for metadata, inherit in ((inheritable_metadata, True), (local_metadata, False)):
            if metadata:
                manager.add_metadata(metadata, inherit)
        for handler, inherit in ambient_handlers():
            manager.add_handler(handler, inherit)
        if verbose:
            from dragoman.callbacks.stdout import StdOutCallbackHandler

            if not any(isinstance(handler, StdOutCallbackHandler) for handler in manager.handlers):
                manager.add_handler(StdOutCallbackHandler(), inherit=False)
        return manager


class CallbackManager(_Starter):
    """Starts runs under sync."""

    def on_llm_start(
        self, serialized: Any, prompts: list[str], run_id: UUID | None = None, **kwargs: Any
    ) -> list[CallbackManagerForLLMRun]:
        """Return the managers of the started runs, one a prompt."""
        kind = CallbackManagerForLLMRun
        return run(
            self._start_each(
                SYNC, kind, "on_llm_start", serialized, prompts, run_id=run_id, kwargs=kwargs
            )
        )

    def on_chat_model_start(
        self, serialized: Any, messages: list[list[Any]], run_id: UUID | None = None, **kwargs: Any
    ) -> list[CallbackManagerForLLMRun]:
        """Return the managers of the started runs, one a list of messages."""
        kind = CallbackManagerForLLMRun
        return run(
            self._start_each(
                SYNC,
                kind,
                "on_chat_model_start",
                serialized,
                messages,
                run_id=run_id,
                kwargs=kwargs,
            )
        )

    def on_chain_start(
        self, serialized: Any, inputs: Any, run_id: UUID | None = None, **kwargs: Any
    ) -> CallbackManagerForChainRun:
        """Return the manager of the started run."""
        kind, args = CallbackManagerForChainRun, (serialized, inputs)
        return run(self._start(SYNC, kind, "on_chain_start", args, run_id=run_id, kwargs=kwargs))

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        run_id: UUID | None = None,
        parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> CallbackManagerForToolRun:
        """Return the manager of the started run."""
        kind, args, kwargs = (
            CallbackManagerForToolRun,
            (serialized, input_str),
            {**kwargs, "inputs": inputs},
        )
        return run(self._start(SYNC, kind, "on_tool_start", args, run_id=run_id, kwargs=kwargs))

    def on_retriever_start(
        self,
        serialized: Any,
        query: str,
        run_id: UUID | None = None,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> CallbackManagerForRetrieverRun:
        """Return the manager of the started run."""
        kind, args = CallbackManagerForRetrieverRun, (serialized, query)
        return run(
            self._start(SYNC, kind, "on_retriever_start", args, run_id=run_id, kwargs=kwargs)
        )

    def on_custom_event(
        self, name: str, data: Any, run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Tell the handlers of an event of the user's own."""
        run(self._custom(SYNC, name, data, run_id, kwargs))


class AsyncCallbackManager(_Starter):
    """Starts runs under async."""

    @property
    def is_async(self) -> bool:
        """Whether the methods are coroutines."""
        return True

    async def on_llm_start(
        self, serialized: Any, prompts: list[str], run_id: UUID | None = None, **kwargs: Any
    ) -> list[AsyncCallbackManagerForLLMRun]:
        """Return the managers of the started runs, one a prompt."""
        kind = AsyncCallbackManagerForLLMRun
        return await self._start_each(
            ASYNC, kind, "on_llm_start", serialized, prompts, run_id=run_id, kwargs=kwargs
        )

    async def on_chat_model_start(
        self, serialized: Any, messages: list[list[Any]], run_id: UUID | None = None, **kwargs: Any
    ) -> list[AsyncCallbackManagerForLLMRun]:
        """Return the managers of the started runs, one a list of messages."""
        kind = AsyncCallbackManagerForLLMRun
        return await self._start_each(
            ASYNC, kind, "on_chat_model_start", serialized, messages, run_id=run_id, kwargs=kwargs
        )

    async def on_chain_start(
        self, serialized: Any, inputs: Any, run_id: UUID | None = None, **kwargs: Any
    ) -> AsyncCallbackManagerForChainRun:
        """Return the manager of the started run."""
        kind, args = AsyncCallbackManagerForChainRun, (serialized, inputs)
        return await self._start(ASYNC, kind, "on_chain_start", args, run_id=run_id, kwargs=kwargs)

    async def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        run_id: UUID | None = None,
        parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> AsyncCallbackManagerForToolRun:
        """Return the manager of the started run."""
        kind, args = AsyncCallbackManagerForToolRun, (serialized, input_str)
        kwargs = {**kwargs, "inputs": inputs}
        return await self._start(ASYNC, kind, "on_tool_start", args, run_id=run_id, kwargs=kwargs)

    async def on_retriever_start(
        self,
        serialized: Any,
        query: str,
        run_id: UUID | None = None,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> AsyncCallbackManagerForRetrieverRun:
        """Return the manager of the started run."""
        kind, args = AsyncCallbackManagerForRetrieverRun, (serialized, query)
        return await self._start(
            ASYNC, kind, "on_retriever_start", args, run_id=run_id, kwargs=kwargs
        )

    async def on_custom_event(
        self, name: str, data: Any, run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Tell the handlers of an event of the user's own."""
        await self._custom(ASYNC, name, data, run_id, kwargs)


def __getattr__(name: str) -> Any:
    # LangChain's place for the groups, which stand on the managers above.
    if name in {
        "AsyncCallbackManagerForChainGroup",
        "CallbackManagerForChainGroup",
        "atrace_as_chain_group",
        "trace_as_chain_group",
    }:
        from dragoman.callbacks import groups

        return getattr(groups, name)
    text = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(text)
