"""`RunnableBranch`: the first step whose condition holds."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, cast

from typing_extensions import override

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.runnables._addable import Accumulator
from dragoman.runnables._fields import ConfigurableFieldSpec, get_unique_config_specs
from dragoman.runnables._one_body import Streaming
from dragoman.runnables._scope import Scope
from dragoman.runnables._stream import aclose_all
from dragoman.runnables.coerce import coerce_to_runnable
from dragoman.runnables.config import RunnableConfig
from dragoman.runnables.runnable import Runnable, RunnableLike
from dragoman.runnables.serializable import RunnableSerializable
from dragoman.runnables.utils import Input, Output

__all__ = ["RunnableBranch"]


class RunnableBranch(RunnableSerializable[Input, Output], Streaming[Input, Output]):
    """Pairs of condition and step, and a default step.

    >>> branch = RunnableBranch((lambda x: x > 0, lambda x: "up"), lambda x: "down")
    >>> branch.invoke(1), branch.invoke(-1)
    ('up', 'down')
    """

    branches: Sequence[tuple[Runnable[Any, bool], Runnable[Any, Any]]]
    default: Runnable[Any, Any]

    def __init__(self, *branches: Any) -> None:
        """Build from pairs, the default last.

        Raises:
            ValueError: If there are fewer than two arguments.
            TypeError: If the default is no step, or a branch is no pair.
        """
        if len(branches) < 2:
            text = "RunnableBranch requires at least two branches"
            raise ValueError(text)
        *pairs, default = branches
        if not (isinstance(default, (Runnable, Mapping)) or callable(default)):
            text = "RunnableBranch default must be Runnable, callable or mapping."
            raise TypeError(text)
        super().__init__(
            branches=[_pair(pair) for pair in pairs], default=coerce_to_runnable(default)
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
    def _steps(self) -> list[Runnable[Any, Any]]:
        return [self.default, *(step for pair in self.branches for step in pair)]

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        for step in self._steps:
            schema = step.get_input_schema(config)
            if schema.model_json_schema().get("type") is not None:
                return schema
        return super().get_input_schema(config)

    @property
    @override
    def InputType(self) -> Any:
        """The first type that the default or a branch names."""
        return next((t for step in self._steps if (t := step.InputType) is not Any), Any)

    @property
    @override
    def OutputType(self) -> Any:
        """The first type that the default or a branch names."""
        steps = [self.default, *(step for _, step in self.branches)]
        return next((t for step in steps if (t := step.OutputType) is not Any), Any)

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call: of every condition and step."""
        return get_unique_config_specs(spec for step in self._steps for spec in step.config_specs)

    async def _chosen(self, door: Door, value: Any, scope: Scope) -> tuple[Runnable[Any, Any], Any]:
        """Return the step to take, and the config for it."""
        for number, (condition, step) in enumerate(self.branches, 1):
            if await door.invoke(condition, value, scope.to(condition, "condition:", number)):
                return step, scope.to(step, "branch:", number)
        return self.default, scope.to(self.default, "branch:default")

    @override
    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        step, config = await self._chosen(door, value, scope)
        return await door.invoke(step, value, config, **kwargs)

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
        step, config = run(self._chosen(SYNC, total.value, scope))
        yield from step.stream(total.value, config, **kwargs)

    async def _apieces(
        self, inputs: AsyncIterator[Any], scope: Scope, kwargs: dict[str, Any]
    ) -> AsyncIterator[Any]:
        total = Accumulator()
        async for piece in inputs:
            total.feed(piece)
        if total.is_empty:
            return
        step, config = await self._chosen(ASYNC, total.value, scope)
        output = step.astream(total.value, config, **kwargs)
        try:
            async for piece in output:
                yield piece
        finally:
            await aclose_all([output])


def _pair(branch: Any) -> tuple[Runnable[Any, Any], Runnable[Any, Any]]:
    if not isinstance(branch, (tuple, list)):
        text = f"RunnableBranch branches must be tuples or lists, not {type(branch)}"
        raise TypeError(text)
    given = cast("Sequence[RunnableLike]", branch)
    if len(given) != 2:
        text = f"RunnableBranch branches must be tuples or lists of length 2, not {len(given)}"
        raise ValueError(text)
    condition, step = given
    return coerce_to_runnable(condition), coerce_to_runnable(step)
