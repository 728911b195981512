"""Several calls told to the handlers as the children of one group."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Self
from uuid import UUID

from typing_extensions import override

from dragoman.callbacks.base import BaseCallbackManager
from dragoman.callbacks.manager import AsyncCallbackManager, CallbackManager
from dragoman.callbacks.runs import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun

__all__ = [
    "AsyncCallbackManagerForChainGroup",
    "CallbackManagerForChainGroup",
    "atrace_as_chain_group",
    "trace_as_chain_group",
]


class _Group(BaseCallbackManager):
    """What both colours share: a manager that remembers the run of its group."""

    parent_run_manager: Any
    ended: bool

    def __init__(self, *args: Any, parent_run_manager: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.parent_run_manager = parent_run_manager
        self.ended = False

    @override
    def copy(self) -> Self:
        """Return a group with the same handlers whose lists are its own."""
        return type(self)(
            self.handlers.copy(),
            self.inheritable_handlers.copy(),
            self.parent_run_id,
            tags=self.tags.copy(),
            inheritable_tags=self.inheritable_tags.copy(),
            metadata=self.metadata.copy(),
            inheritable_metadata=self.inheritable_metadata.copy(),
            parent_run_manager=self.parent_run_manager,
        )

    @classmethod
    def around(cls, child: BaseCallbackManager, run: Any) -> Self:
        """Return the group of `run` with what its child manager holds."""
        return cls(
            child.handlers,
            child.inheritable_handlers,
            child.parent_run_id,
            tags=child.tags,
            inheritable_tags=child.inheritable_tags,
            metadata=child.metadata,
            inheritable_metadata=child.inheritable_metadata,
            parent_run_manager=run,
        )


class CallbackManagerForChainGroup(_Group, CallbackManager):
    """The manager of a group under sync."""

    ended: bool

    def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        """End the group."""
        self.ended = True
        self.parent_run_manager.on_chain_end(outputs, **kwargs)

    def on_chain_error(self, error: BaseException, **kwargs: Any) -> None:
        """End the group with an error."""
        self.ended = True
        self.parent_run_manager.on_chain_error(error, **kwargs)


class AsyncCallbackManagerForChainGroup(_Group, AsyncCallbackManager):
    """The manager of a group under async."""

    ended: bool

    async def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        """End the group."""
        self.ended = True
        await self.parent_run_manager.on_chain_end(outputs, **kwargs)

    async def on_chain_error(self, error: BaseException, **kwargs: Any) -> None:
        """End the group with an error."""
        self.ended = True
        await self.parent_run_manager.on_chain_error(error, **kwargs)


def _configured(kind: type[Any], callback_manager: Any, tags: Any, metadata: Any) -> Any:
    return kind.configure(callback_manager, inheritable_tags=tags, inheritable_metadata=metadata)


@contextmanager
def trace_as_chain_group(
    group_name: str,
    callback_manager: CallbackManager | None = None,
    *,
    inputs: dict[str, Any] | None = None,
    run_id: UUID | None = None,
    tags: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> Generator[CallbackManagerForChainGroup, None, None]:
    """Yield a manager to pass as `callbacks`; what is called with it belongs to one group."""
    manager: CallbackManager = _configured(CallbackManager, callback_manager, tags, metadata)
    run: CallbackManagerForChainRun = manager.on_chain_start(
        None, inputs or {}, run_id=run_id, name=group_name
    )
    group = CallbackManagerForChainGroup.around(run.get_child(), run)
    try:
        yield group
    except Exception as error:
        if not group.ended:
            run.on_chain_error(error)
        raise
    if not group.ended:
        run.on_chain_end({})


@asynccontextmanager
async def atrace_as_chain_group(
    group_name: str,
    callback_manager: AsyncCallbackManager | None = None,
    *,
    inputs: dict[str, Any] | None = None,
    run_id: UUID | None = None,
    tags: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> AsyncGenerator[AsyncCallbackManagerForChainGroup, None]:
    """Yield a manager to pass as `callbacks`; what is called with it belongs to one group."""
    manager: AsyncCallbackManager = _configured(
        AsyncCallbackManager, callback_manager, tags, metadata
    )
    run: AsyncCallbackManagerForChainRun = await manager.on_chain_start(
        None, inputs or {}, run_id=run_id, name=group_name
    )
    group = AsyncCallbackManagerForChainGroup.around(run.get_child(), run)
    try:
        yield group
    except Exception as error:
        if not group.ended:
            await run.on_chain_error(error)
        raise
    if not group.ended:
        await run.on_chain_end({})
