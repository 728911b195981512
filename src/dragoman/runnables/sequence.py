"""`RunnableSequence`: steps one after the other, each fed with the output of the one before.

A stream runs through every step that can work on a stream; a batch goes step by step, so that a model
that answers many prompts in one request can do so.
"""

from collections.abc import Sequence
from typing import Any, cast

from pydantic import Field
from typing_extensions import override

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.callbacks.ambient import is_bare
from dragoman.runnables._fields import ConfigurableFieldSpec, get_unique_config_specs
from dragoman.runnables._inspection import indent_lines_after_first
from dragoman.runnables._one_body import Streaming
from dragoman.runnables._runs_of_batch import close_runs, fail_runs, open_runs
from dragoman.runnables._scope import Scope
from dragoman.runnables.coerce import coerce_to_runnable
from dragoman.runnables.config import RunnableConfig, ensure_config, takes_none
from dragoman.runnables.runnable import Runnable, RunnableLike
from dragoman.runnables.serializable import RunnableSerializable
from dragoman.runnables.utils import Input, Output

__all__ = ["RunnableSequence"]


class RunnableSequence(RunnableSerializable[Input, Output], Streaming[Input, Output]):
    """Steps one after the other; `a | b | c` makes one.

    >>> from dragoman.runnables import RunnableLambda
    >>> (RunnableLambda(lambda x: x + 1) | (lambda x: x * 2)).invoke(1)
    4
    """

    first: Runnable[Input, Any]
    middle: list[Runnable[Any, Any]] = Field(default_factory=list)
    last: Runnable[Any, Output]

    def __init__(
        self,
        *steps: RunnableLike,
        name: str | None = None,
        first: Runnable[Any, Any] | None = None,
        middle: list[Runnable[Any, Any]] | None = None,
        last: Runnable[Any, Any] | None = None,
    ) -> None:
        """Build from steps, or from `first`, `middle` and `last`; sequences among them are laid flat.

        Raises:
            ValueError: If there are fewer than two steps.
            TypeError: If something is no step.
        """
        given: tuple[RunnableLike, ...] = steps
        if not steps and first is not None and last is not None:
            given = (first, *(middle or ()), last)
        flat: list[Runnable[Any, Any]] = []
        for step in given:
            if isinstance(step, RunnableSequence):
                flat.extend(cast("RunnableSequence[Any, Any]", step).steps)
            else:
                flat.append(coerce_to_runnable(step))
        if len(flat) < 2:
            text = f"RunnableSequence must have at least 2 steps, got {len(flat)}"
            raise ValueError(text)
        super().__init__(first=flat[0], middle=flat[1:-1], last=flat[-1], name=name)

    @classmethod
    @override
    def get_lc_namespace(cls) -> list[str]:
        return ["langchain", "schema", "runnable"]

    @classmethod
    @override
    def is_lc_serializable(cls) -> bool:
        return True

    @property
    def steps(self) -> list[Runnable[Any, Any]]:
        """All steps in order."""
        return [self.first, *self.middle, self.last]

    @property
    def _waits(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return any(step._waits for step in self.steps)

    @override
    def __or__(self, other: RunnableLike) -> Any:
        name = self.name
        if isinstance(other, RunnableSequence):
            name = name or cast("RunnableSequence[Any, Any]", other).name
        return RunnableSequence(*self.steps, other, name=name)

    @override
    def __ror__(self, other: RunnableLike) -> Any:
        name = self.name
        if isinstance(other, RunnableSequence):
            name = cast("RunnableSequence[Any, Any]", other).name or name
        return RunnableSequence(other, *self.steps, name=name)

    @override
    def __repr__(self) -> str:
        return "\n".join(
            repr(step) if index == 0 else "| " + indent_lines_after_first(repr(step), "| ")
            for index, step in enumerate(self.steps)
        )

    # ------------------------------------------------------------ schemas

    @property
    @override
    def InputType(self) -> Any:
        """The type of the first step's input."""
        return self.first.InputType

    @property
    @override
    def OutputType(self) -> Any:
        """The type of the last step's output."""
        return self.last.OutputType

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables._sequence_schemas import input_schema

        return input_schema(self.steps, config)

    @override
    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables._sequence_schemas import output_schema

        return output_schema(self.steps, config)

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call: of every step."""
        return get_unique_config_specs(spec for step in self.steps for spec in step.config_specs)

    @override
    def get_graph(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables.graph import sequence_graph

        return sequence_graph(self.steps, config)

    # ------------------------------------------------------------ calls

    @override
    def invoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        if not is_bare(config):
            return super().invoke(input, config, **kwargs)
        # `_run` without a frame and a door: a third of what a chain of cheap steps costs.
        step: Runnable[Any, Any] = self.first
        value = step.invoke(input, None if takes_none(type(step)) else ensure_config(), **kwargs)
        for step in self.middle:
            value = step.invoke(value, None if takes_none(type(step)) else ensure_config())
        step = self.last
        return step.invoke(value, None if takes_none(type(step)) else ensure_config())

    @override
    async def ainvoke(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        if not is_bare(config):
            return await super().ainvoke(input, config, **kwargs)
        step: Runnable[Any, Any] = self.first
        bare = None if takes_none(type(step)) else ensure_config()
        value = await step.ainvoke(input, bare, **kwargs)
        for step in self.middle:
            value = await step.ainvoke(value, None if takes_none(type(step)) else ensure_config())
        step = self.last
        return await step.ainvoke(value, None if takes_none(type(step)) else ensure_config())

    @override
    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        number = 1
        for step in (self.first, *self.middle, self.last):
            value = await door.invoke(step, value, scope.to(step, "seq:step:", number), **kwargs)
            kwargs = {}  # for the first step only
            number += 1
        return value

    @override
    def _flow(self, inputs: Any, scope: Scope, kwargs: dict[str, Any]) -> list[Any]:
        stages: list[Any] = []
        for number, step in enumerate(self.steps, 1):
            transform: Any = step.atransform if scope.is_async else step.transform
            inputs = transform(inputs, scope.to(step, "seq:step:", number), **kwargs)
            kwargs = {}
            stages.append(inputs)
        return stages

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
        self, door: Door, inputs: Sequence[Any], config: Any, kwargs: dict[str, Any], *, keep: bool
    ) -> list[Any]:
        """Return the outputs; an input whose step failed is left out of later steps."""
        if not inputs:
            return []
        scopes = await open_runs(door, self, inputs, config)
        outputs: list[Any] = list(inputs)
        try:
            await self._batch_steps(door, outputs, scopes, kwargs, keep=keep)
        except BaseException as error:
            await fail_runs(door, scopes, error)
            raise
        await close_runs(door, scopes, outputs)
        return outputs

    async def _batch_steps(
        self,
        door: Door,
        values: list[Any],
        scopes: list[Scope],
        kwargs: dict[str, Any],
        *,
        keep: bool,
    ) -> None:
        """Replace `values` by the outputs; failed ones hold their exception."""
        alive = list(range(len(values)))
        for number, step in enumerate(self.steps, 1):
            configs = [scopes[i].to(step, "seq:step:", number) for i in alive]
            if all(config is None for config in configs):
                configs = None
            outputs: list[Any] = await door.tell(
                step.abatch if door.is_async else step.batch,
                [values[i] for i in alive],
                configs,
                return_exceptions=keep,
                **kwargs,
            )
            kwargs = {}
            for i, output in zip(alive, outputs, strict=True):
                values[i] = output
            if keep:
                alive = [i for i in alive if not isinstance(values[i], Exception)]
                if not alive:
                    return
