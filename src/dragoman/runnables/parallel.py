"""`RunnableParallel`: several steps on the same input at the same time; their outputs in a dict."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import Any, Generic, cast

from typing_extensions import override

from dragoman._door import Door
from dragoman.runnables._addable import AddableDict
from dragoman.runnables._fields import ConfigurableFieldSpec, get_unique_config_specs
from dragoman.runnables._inspection import indent_lines_after_first
from dragoman.runnables._merge import amerge, atee, merge, tee
from dragoman.runnables._one_body import Streaming
from dragoman.runnables._scope import Scope
from dragoman.runnables.coerce import coerce_to_runnable
from dragoman.runnables.config import RunnableConfig
from dragoman.runnables.runnable import Runnable, RunnableLike
from dragoman.runnables.serializable import RunnableSerializable
from dragoman.runnables.utils import Input

__all__ = ["RunnableMap", "RunnableParallel"]


class RunnableParallel(
    RunnableSerializable[Input, dict[str, Any]], Streaming[Input, Any], Generic[Input]
):
    """Steps that all get the same input; the output is a dict with the keys of the steps.

    >>> RunnableParallel(twice=lambda x: x * 2, same=lambda x: x).invoke(2)
    {'twice': 4, 'same': 2}
    """

    steps__: Mapping[str, Runnable[Input, Any]]

    def __init__(
        self, steps__: Mapping[str, RunnableLike] | None = None, **kwargs: RunnableLike
    ) -> None:
        """Build from a dict, from keywords, or from both."""
        given = {**(steps__ or {}), **kwargs}
        super().__init__(steps__={key: coerce_to_runnable(step) for key, step in given.items()})

    @classmethod
    @override
    def is_lc_serializable(cls) -> bool:
        return True

    @classmethod
    @override
    def get_lc_namespace(cls) -> list[str]:
        return ["langchain", "schema", "runnable"]

    @override
    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        name = name or self.name or f"RunnableParallel<{','.join(self.steps__)}>"
        return super().get_name(suffix, name=name)

    @property
    def _waits(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return any(step._waits for step in self.steps__.values())

    @override
    def __repr__(self) -> str:
        inner = ",\n  ".join(
            f"{key}: {indent_lines_after_first(repr(step), '  ' + key + ': ')}"
            for key, step in self.steps__.items()
        )
        return "{\n  " + inner + "\n}"

    # ------------------------------------------------------------ schemas

    @property
    @override
    def InputType(self) -> Any:
        """The first type that a step names."""
        for step in self.steps__.values():
            if step.InputType:
                return step.InputType
        return Any

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables._schemas import fields_model

        models = [step.get_input_schema(config) for step in self.steps__.values()]
        if models and all(
            model.model_json_schema().get("type", "object") == "object"
            and "root" not in model.model_fields
            for model in models
        ):
            fields = {
                key: (info.annotation, ... if info.is_required() else info.default)
                for model in models
                for key, info in model.model_fields.items()
                if key != "__root__"
            }
            return fields_model(self.get_name("Input"), fields)
        return super().get_input_schema(config)

    @override
    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables._schemas import fields_model

        fields = {key: (step.OutputType, ...) for key, step in self.steps__.items()}
        return fields_model(self.get_name("Output"), fields)

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call: of every step."""
        steps = self.steps__.values()
        return get_unique_config_specs(spec for step in steps for spec in step.config_specs)

    @override
    def get_graph(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables.graph import parallel_graph

        return parallel_graph(self, self.steps__, config)

    # ------------------------------------------------------------ calls

    @override
    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        output: dict[str, Any] = dict.fromkeys(self.steps__)
        waiting: list[str] = []
        for key, step in self.steps__.items():
            if step._waits:
                waiting.append(key)
            else:
                output[key] = await door.invoke(step, value, scope.to(step, "map:key:", key))

        def body(key: str) -> Callable[[], Coroutine[Any, Any, Any]]:
            child = scope.to(self.steps__[key], "map:key:", key)
            return lambda: door.invoke(self.steps__[key], value, child)

        limit = (scope.config or {}).get("max_concurrency")
        values = await door.gather([body(key) for key in waiting], limit or len(waiting) or None)
        output.update(zip(waiting, values, strict=True))
        return output

    @override
    def _flow(self, inputs: Any, scope: Scope, kwargs: dict[str, Any]) -> list[Any]:
        return [self._amerged(inputs, scope) if scope.is_async else self._merged(inputs, scope)]

    def _merged(self, inputs: Iterator[Any], scope: Scope) -> Iterator[AddableDict]:
        copies = tee(inputs, len(self.steps__))
        streams = {
            key: step.transform(copy, cast("Any", scope.to(step, "map:key:", key)))
            for (key, step), copy in zip(self.steps__.items(), copies, strict=True)
        }
        pieces = merge(streams)
        try:
            for key, piece in pieces:
                yield AddableDict({key: piece})
        finally:
            pieces.close()  # pyright: ignore[reportAttributeAccessIssue]

    async def _amerged(
        self, inputs: AsyncIterator[Any], scope: Scope
    ) -> AsyncIterator[AddableDict]:
        copies = atee(inputs, len(self.steps__))
        streams = {
            key: step.atransform(copy, cast("Any", scope.to(step, "map:key:", key)))
            for (key, step), copy in zip(self.steps__.items(), copies, strict=True)
        }
        pieces = amerge(streams)
        try:
            async for key, piece in pieces:
                yield AddableDict({key: piece})
        finally:
            await pieces.aclose()  # pyright: ignore[reportAttributeAccessIssue]


RunnableMap = RunnableParallel
