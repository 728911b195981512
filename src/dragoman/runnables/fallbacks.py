"""`RunnableWithFallbacks`: others to try when a runnable fails."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, ClassVar, cast

from pydantic import ConfigDict
from typing_extensions import override

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.runnables._addable import Accumulator
from dragoman.runnables._fields import ConfigurableFieldSpec, get_unique_config_specs
from dragoman.runnables._one_body import Streaming
from dragoman.runnables._runs_of_batch import close_runs, fail_runs, open_runs
from dragoman.runnables._scope import Scope
from dragoman.runnables._stream import aclose_all, close_all
from dragoman.runnables.config import RunnableConfig
from dragoman.runnables.runnable import Runnable
from dragoman.runnables.serializable import RunnableSerializable
from dragoman.runnables.utils import Input, Output

__all__ = ["RunnableWithFallbacks"]

_NOTHING: Any = object()


class RunnableWithFallbacks(RunnableSerializable[Input, Output], Streaming[Input, Output]):
    """A runnable and others to try in order; if all fail, the first one's error is raised.

    A stream falls back only before its first piece. With `exception_key` the last error stands under
    that key in the dict that the next one gets. What it does not know itself is asked of the first
    runnable; a method that returns a runnable is called on all of them, and gives fallbacks again.
    """

    runnable: Runnable[Any, Any]
    fallbacks: Sequence[Runnable[Any, Any]]
    exceptions_to_handle: tuple[type[BaseException], ...] = (Exception,)
    exception_key: str | None = None

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    @classmethod
    @override
    def is_lc_serializable(cls) -> bool:
        return True

    @classmethod
    @override
    def get_lc_namespace(cls) -> list[str]:
        return ["langchain", "schema", "runnable"]

    @property
    def runnables(self) -> Iterator[Runnable[Any, Any]]:
        """The runnable and its fallbacks, in order."""
        yield self.runnable
        yield from self.fallbacks

    @property
    @override
    def InputType(self) -> Any:
        """The type of the runnable's input."""
        return self.runnable.InputType

    @property
    @override
    def OutputType(self) -> Any:
        """The type of the runnable's output."""
        return self.runnable.OutputType

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        return self.runnable.get_input_schema(config)

    @override
    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        return self.runnable.get_output_schema(config)

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call: of every runnable."""
        return get_unique_config_specs(spec for one in self.runnables for spec in one.config_specs)

    # ------------------------------------------------------------ calls

    def _check(self, value: Any) -> None:
        if self.exception_key is not None and not isinstance(value, dict):
            text = (
                "If 'exception_key' is specified then input must be a dictionary."
                f"However found a type of {type(value)} for input"
            )
            raise ValueError(text)

    def _told(self, value: Any, error: BaseException | None) -> Any:
        """Return the input for the next one: with the last error if it is to know it."""
        if error is None or self.exception_key is None:
            return value
        return {**value, self.exception_key: error}

    @override
    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        self._check(value)
        first: BaseException | None = None
        last: BaseException | None = None
        for step in self.runnables:
            try:
                return await door.invoke(step, self._told(value, last), scope.to(step), **kwargs)
            except self.exceptions_to_handle as error:
                first = first or error
                last = error
        assert first is not None
        raise first

    @override
    def batch(
        self,
        inputs: list[Input],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Output]:
        return run(self._batch(SYNC, inputs, config, kwargs, keep=return_exceptions))

    @override
    async def abatch(
        self,
        inputs: list[Input],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Output]:
        return await self._batch(ASYNC, inputs, config, kwargs, keep=return_exceptions)

    async def _batch(
        self, door: Door, inputs: list[Any], config: Any, kwargs: dict[str, Any], *, keep: bool
    ) -> list[Any]:
        """Return the outputs in order; each runnable gets the inputs that failed so far."""
        if not inputs:
            return []
        for value in inputs:
            self._check(value)
        scopes = await open_runs(door, self, inputs, config)
        outputs: list[Any] = [None] * len(inputs)
        first: dict[int, BaseException] = {}
        last: dict[int, BaseException] = {}
        left = list(range(len(inputs)))
        try:
            for step in self.runnables:
                done = await door.tell(
                    step.abatch if door.is_async else step.batch,
                    [self._told(inputs[at], last.get(at)) for at in left],
                    [cast("RunnableConfig", scopes[at].to(step) or {}) for at in left],
                    return_exceptions=True,
                    **kwargs,
                )
                failed: list[int] = []
                for at, output in zip(left, done, strict=True):
                    outputs[at] = output
                    if isinstance(output, self.exceptions_to_handle):
                        failed.append(at)
                        first.setdefault(at, output)
                        last[at] = output
                    elif isinstance(output, BaseException) and not keep:
                        raise output
                left = failed
                if not left:
                    break
            for at in left:
                outputs[at] = first[at]
            if left and not keep:
                raise first[left[0]]
        except BaseException as error:
            await fail_runs(door, scopes, error)
            raise
        await close_runs(door, scopes, outputs)
        return outputs

    # ------------------------------------------------------------ streams

    @override
    def _flow(self, inputs: Any, scope: Scope, kwargs: dict[str, Any]) -> list[Any]:
        pieces = self._apieces if scope.is_async else self._pieces
        return [pieces(inputs, scope, kwargs)]

    def _pieces(self, inputs: Iterator[Any], scope: Scope, kwargs: dict[str, Any]) -> Iterator[Any]:
        total = Accumulator()
        for piece in inputs:
            total.feed(piece)
        if total.is_empty:
            return
        self._check(total.value)
        first: BaseException | None = None
        last: BaseException | None = None
        for step in self.runnables:
            value = self._told(total.value, last)
            output = None
            try:
                output = iter(step.stream(value, cast("Any", scope.to(step)), **kwargs))
                piece = next(output, _NOTHING)
            except self.exceptions_to_handle as error:
                close_all([output])
                first = first or error
                last = error
                continue
            try:
                if piece is not _NOTHING:
                    yield piece
                    yield from output
            finally:
                close_all([output])
            return
        assert first is not None
        raise first

    async def _apieces(
        self, inputs: AsyncIterator[Any], scope: Scope, kwargs: dict[str, Any]
    ) -> AsyncIterator[Any]:
        total = Accumulator()
        async for piece in inputs:
            total.feed(piece)
        if total.is_empty:
            return
        self._check(total.value)
        first: BaseException | None = None
        last: BaseException | None = None
        for step in self.runnables:
            value = self._told(total.value, last)
            output = None
            try:
                output = aiter(step.astream(value, cast("Any", scope.to(step)), **kwargs))
                piece = await anext(output, _NOTHING)
            except self.exceptions_to_handle as error:
                await aclose_all([output])
                first = first or error
                last = error
                continue
            try:
                if piece is not _NOTHING:
                    yield piece
                    async for piece in output:
                        yield piece
            finally:
                await aclose_all([output])
            return
        assert first is not None
        raise first

    # ------------------------------------------------------------ the first runnable's own things

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "runnable" not in self.__dict__:
            return super().__getattr__(name)  # pyright: ignore[reportAttributeAccessIssue]
        attribute = getattr(self.runnable, name)
        return self._on_all(name, attribute) if callable(attribute) else attribute

    def _on_all(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            if not isinstance(result, Runnable):
                return result
            others = [getattr(other, name)(*args, **kwargs) for other in self.fallbacks]
            return self.model_copy(update={"runnable": result, "fallbacks": others})

        return call
