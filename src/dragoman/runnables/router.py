"""`RouterRunnable`: the step that the input names."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from typing_extensions import TypedDict, override

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.runnables._batch import configs_for, limit_of
from dragoman.runnables._fields import ConfigurableFieldSpec, get_unique_config_specs
from dragoman.runnables._stream import aclose_all
from dragoman.runnables.coerce import coerce_to_runnable
from dragoman.runnables.config import RunnableConfig
from dragoman.runnables.runnable import Runnable, RunnableLike
from dragoman.runnables.serializable import RunnableSerializable
from dragoman.runnables.utils import Output

__all__ = ["RouterInput", "RouterRunnable"]


class RouterInput(TypedDict):
    """The key of a step, and its input."""

    key: str
    input: Any


class RouterRunnable(RunnableSerializable[RouterInput, Output]):
    """Steps by key; the input is `{"key": ..., "input": ...}`.

    >>> RouterRunnable({"up": str.upper}).invoke({"key": "up", "input": "a"})
    'A'
    """

    runnables: Mapping[str, Runnable[Any, Output]]

    def __init__(self, runnables: Mapping[str, RunnableLike]) -> None:
        super().__init__(
            runnables={key: coerce_to_runnable(step) for key, step in runnables.items()}
        )

    @classmethod
    @override
    def is_lc_serializable(cls) -> bool:
        return True

    @classmethod
    @override
    def get_lc_namespace(cls) -> list[str]:
        return ["langchain", "schema", "runnable"]

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call: of every step."""
        steps = self.runnables.values()
        return get_unique_config_specs(spec for step in steps for spec in step.config_specs)

    def _step(self, key: str) -> Runnable[Any, Output]:
        if key not in self.runnables:
            text = f"No runnable associated with key '{key}'"
            raise ValueError(text)
        return self.runnables[key]

    @override
    def invoke(
        self, input: RouterInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        return self._step(input["key"]).invoke(input["input"], config, **kwargs)

    @override
    async def ainvoke(
        self, input: RouterInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        return await self._step(input["key"]).ainvoke(input["input"], config, **kwargs)

    async def _batch(
        self, door: Door, inputs: list[RouterInput], config: Any, kwargs: Any, *, keep: bool
    ) -> list[Any]:
        """Return the outputs in order; the keys of all inputs are checked before any is run."""
        steps = [self._step(value["key"]) for value in inputs]
        configs = configs_for(config, len(inputs))

        async def one(at: int) -> Any:
            try:
                return await door.invoke(steps[at], inputs[at]["input"], configs[at], **kwargs)
            except Exception as error:
                if not keep:
                    raise
                return error

        def body(at: int) -> Callable[[], Any]:
            return lambda: one(at)

        return await door.gather([body(at) for at in range(len(inputs))], limit_of(configs))

    @override
    def batch(
        self,
        inputs: list[RouterInput],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Output]:
        return run(self._batch(SYNC, inputs, config, kwargs, keep=return_exceptions))

    @override
    async def abatch(
        self,
        inputs: list[RouterInput],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Output]:
        return await self._batch(ASYNC, inputs, config, kwargs, keep=return_exceptions)

    @override
    def stream(
        self, input: RouterInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        yield from self._step(input["key"]).stream(input["input"], config, **kwargs)

    @override
    async def astream(
        self, input: RouterInput, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        output = self._step(input["key"]).astream(input["input"], config, **kwargs)
        try:
            async for piece in output:
                yield piece
        finally:
            await aclose_all([output])
