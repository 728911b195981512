"""`RunnableEach`: a runnable done for each item of a list."""

from typing import Any, cast

from typing_extensions import override

from dragoman._door import Door
from dragoman.runnables._fields import ConfigurableFieldSpec
from dragoman.runnables._one_body import OneBody
from dragoman.runnables._scope import Scope
from dragoman.runnables.config import RunnableConfig
from dragoman.runnables.runnable import Runnable
from dragoman.runnables.serializable import RunnableSerializable

__all__ = ["RunnableEach", "RunnableEachBase"]


class RunnableEachBase(RunnableSerializable[Any, Any], OneBody[Any, Any]):
    """A runnable done for each item of a list, `max_concurrency` at a time."""

    bound: Runnable[Any, Any]

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
    def InputType(self) -> Any:
        """A list of what the runnable takes."""
        return list[self.bound.InputType]

    @property
    @override
    def OutputType(self) -> Any:
        """A list of what the runnable gives."""
        return list[self.bound.OutputType]

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables._schemas import model_of

        inner = self.bound.get_input_schema(config)
        return model_of(self.get_name("Input"), list[inner])

    @override
    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables._schemas import model_of

        inner = self.bound.get_output_schema(config)
        return model_of(self.get_name("Output"), list[inner])

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call: of the runnable."""
        return self.bound.config_specs

    @override
    def get_graph(self, config: RunnableConfig | None = None) -> Any:
        return self.bound.get_graph(config)

    @override
    def _said(self) -> dict[str, Any]:
        return {"run_type": None}

    @override
    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        configs = None if scope.config is None else [scope.to(self.bound) for _ in value]
        method = self.bound.abatch if door.is_async else self.bound.batch
        return await door.tell(method, list(value), cast("Any", configs), **kwargs)


class RunnableEach(RunnableEachBase):
    """A runnable done for each item of a list; `map` makes one.

    >>> from dragoman.runnables import RunnableLambda
    >>> RunnableLambda(lambda x: x + 1).map().invoke([1, 2])
    [2, 3]
    """

    @override
    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        name = name or self.name or f"RunnableEach<{self.bound.get_name()}>"
        return super().get_name(suffix, name=name)

    @override
    def bind(self, **kwargs: Any) -> Runnable[Any, Any]:
        return RunnableEach(bound=self.bound.bind(**kwargs))

    @override
    def with_config(
        self, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Runnable[Any, Any]:
        return RunnableEach(bound=self.bound.with_config(config, **kwargs))

    @override
    def with_listeners(self, **listeners: Any) -> Runnable[Any, Any]:
        return RunnableEach(bound=self.bound.with_listeners(**listeners))

    @override
    def with_alisteners(self, **listeners: Any) -> Runnable[Any, Any]:
        return RunnableEach(bound=self.bound.with_alisteners(**listeners))
