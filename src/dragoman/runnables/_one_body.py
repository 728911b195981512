"""The two doors of a runnable whose behaviour is one body, and whose stream is one flow.

A subclass writes `_run` (an `async def` that awaits only the door) and, if it can work on a stream of
inputs, `_flow`, which opens the stages of the stream in the scope's colour and returns them.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from typing_extensions import override

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.runnables._scope import Scope, traced
from dragoman.runnables._stream import aonce, astream_traced, stream_traced
from dragoman.runnables.config import RunnableConfig
from dragoman.runnables.runnable import Runnable
from dragoman.runnables.utils import Input, Output

__all__ = ["OneBody", "Streaming"]


class OneBody(Runnable[Input, Output]):
    """A runnable with one body for `invoke` and `ainvoke`."""

    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _said(self) -> dict[str, Any]:
        """Return what handlers are told besides when a run starts."""
        return {}

    @override
    def invoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        return run(traced(SYNC, self, input, config, self._run, kwargs, **self._said()))

    @override
    async def ainvoke(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        return await traced(ASYNC, self, input, config, self._run, kwargs, **self._said())


class Streaming(OneBody[Input, Output]):
    """A runnable that works on a stream of inputs as well."""

    def _flow(self, inputs: Any, scope: Scope, kwargs: dict[str, Any]) -> list[Any]:
        raise NotImplementedError

    @override
    def transform(
        self, input: Iterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        return stream_traced(self, input, config, self._flow, kwargs, **self._said())

    @override
    def atransform(
        self, input: AsyncIterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        return astream_traced(self, input, config, self._flow, kwargs, **self._said())

    @override
    def stream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        return self.transform(iter((input,)), config, **kwargs)

    @override
    def astream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        return self.atransform(aonce(input), config, **kwargs)
