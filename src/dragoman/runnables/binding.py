"""`RunnableBinding`: a runnable with arguments, config or types given in advance.

What it does not know itself is asked of the runnable it holds, so that a bound model is still a model.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, cast

from pydantic import ConfigDict, Field
from typing_extensions import override

from dragoman.runnables._fields import ConfigurableFieldSpec
from dragoman.runnables.config import (
    RunnableConfig,
    config_for,
    merge_configs,
    with_keys,
)
from dragoman.runnables.runnable import Runnable
from dragoman.runnables.serializable import RunnableSerializable
from dragoman.runnables.utils import Input, Output

__all__ = ["RunnableBinding", "RunnableBindingBase"]


class RunnableBindingBase(RunnableSerializable[Input, Output], Generic[Input, Output]):
    """A runnable with something given in advance; the base of wrappers that delegate."""

    bound: Runnable[Input, Output]
    kwargs: Mapping[str, Any] = Field(default_factory=dict)
    config: RunnableConfig = Field(default_factory=RunnableConfig)
    config_factories: list[Callable[[RunnableConfig], RunnableConfig]] = Field(default_factory=list)
    custom_input_type: Any | None = None
    custom_output_type: Any | None = None

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    def __init__(
        self,
        *,
        bound: Runnable[Any, Any],
        kwargs: Mapping[str, Any] | None = None,
        config: RunnableConfig | None = None,
        config_factories: list[Callable[[RunnableConfig], RunnableConfig]] | None = None,
        custom_input_type: Any = None,
        custom_output_type: Any = None,
        **other_kwargs: Any,
    ) -> None:
        """Build around `bound`."""
        super().__init__(
            bound=bound,
            kwargs=kwargs or {},
            config={},
            config_factories=config_factories or [],
            custom_input_type=custom_input_type,
            custom_output_type=custom_output_type,
            **other_kwargs,
        )
        # Set past validation: handlers and unknown keys in a config are kept as they are.
        self.config = cast("RunnableConfig", dict(config or {}))

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
        return self.bound.get_name(suffix, name=name or self.name)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        # What is given in advance is shown even if it is nothing: that is what a binding is about.
        shown = ("bound", "kwargs", "config", "config_factories")
        for key in shown:
            yield key, getattr(self, key)
        yield from ((key, value) for key, value in super().__repr_args__() if key not in shown)

    @property
    def _waits(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.bound._waits

    # ------------------------------------------------------------ schemas

    @property
    @override
    def InputType(self) -> Any:
        """The given type, or that of the runnable."""
        return (
            self.custom_input_type if self.custom_input_type is not None else self.bound.InputType
        )

    @property
    @override
    def OutputType(self) -> Any:
        """The given type, or that of the runnable."""
        if self.custom_output_type is not None:
            return self.custom_output_type
        return self.bound.OutputType

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        if self.custom_input_type is not None:
            return super().get_input_schema(config)
        return self.bound.get_input_schema(self._config(config))

    @override
    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        if self.custom_output_type is not None:
            return super().get_output_schema(config)
        return self.bound.get_output_schema(self._config(config))

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call: of the runnable."""
        return self.bound.config_specs

    @override
    def get_graph(self, config: RunnableConfig | None = None) -> Any:
        return self.bound.get_graph(self._config(config))

    # ------------------------------------------------------------ calls

    def _merge_configs(self, *configs: RunnableConfig | None) -> RunnableConfig:
        """Return the config of a call: the one given in advance under those of the call."""
        config = merge_configs(self.config, *configs)
        return merge_configs(config, *(factory(config) for factory in self.config_factories))

    def _config(self, config: RunnableConfig | None) -> Any:
        """Return what to pass on; nothing is built when nothing was given in advance."""
        if not self.config and not self.config_factories:
            return config if config is not None else config_for(self.bound, None)
        return self._merge_configs(config)

    def _configs(self, config: Any, n_inputs: int) -> Any:
        if isinstance(config, Sequence):
            return [self._config(cast("RunnableConfig", one)) for one in config]
        if self.config_factories:
            return [self._config(config) for _ in range(n_inputs)]
        return self._config(config)

    @override
    def invoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        return self.bound.invoke(input, self._config(config), **{**self.kwargs, **kwargs})

    @override
    async def ainvoke(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        return await self.bound.ainvoke(input, self._config(config), **{**self.kwargs, **kwargs})

    @override
    def batch(
        self,
        inputs: list[Input],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Output]:
        configs = self._configs(config, len(inputs))
        kwargs = {**self.kwargs, **kwargs}
        return self.bound.batch(inputs, configs, return_exceptions=return_exceptions, **kwargs)

    @override
    async def abatch(
        self,
        inputs: list[Input],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Output]:
        configs = self._configs(config, len(inputs))
        kwargs = {**self.kwargs, **kwargs}
        return await self.bound.abatch(
            inputs, configs, return_exceptions=return_exceptions, **kwargs
        )

    @override
    def batch_as_completed(
        self,
        inputs: Sequence[Input],
        config: RunnableConfig | Sequence[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> Iterator[tuple[int, Any]]:
        return self.bound.batch_as_completed(
            inputs,
            self._configs(config, len(inputs)),
            return_exceptions=return_exceptions,
            **{**self.kwargs, **kwargs},
        )

    @override
    def abatch_as_completed(
        self,
        inputs: Sequence[Input],
        config: RunnableConfig | Sequence[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> AsyncIterator[tuple[int, Any]]:
        return self.bound.abatch_as_completed(
            inputs,
            self._configs(config, len(inputs)),
            return_exceptions=return_exceptions,
            **{**self.kwargs, **kwargs},
        )

    @override
    def stream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        return self.bound.stream(input, self._config(config), **{**self.kwargs, **kwargs})

    @override
    def astream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        return self.bound.astream(input, self._config(config), **{**self.kwargs, **kwargs})

    @override
    def transform(
        self, input: Iterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        return self.bound.transform(input, self._config(config), **{**self.kwargs, **kwargs})

    @override
    def atransform(
        self, input: AsyncIterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        return self.bound.atransform(input, self._config(config), **{**self.kwargs, **kwargs})


class RunnableBinding(RunnableBindingBase[Input, Output]):
    """A runnable with something given in advance; `bind`, `with_config` and `with_types` make one."""

    def _but(self, **changes: Any) -> "RunnableBinding[Input, Output]":
        """Return a binding of the same class with fields changed."""
        known = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**{**known, **changes})

    @override
    def bind(self, **kwargs: Any) -> Runnable[Input, Output]:
        return self._but(kwargs={**self.kwargs, **kwargs})

    @override
    def with_config(
        self, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Runnable[Input, Output]:
        return self._but(config={**self.config, **with_keys(config, kwargs)})

    @override
    def with_types(
        self, *, input_type: Any = None, output_type: Any = None
    ) -> Runnable[Input, Output]:
        return self._but(
            custom_input_type=self.custom_input_type if input_type is None else input_type,
            custom_output_type=self.custom_output_type if output_type is None else output_type,
        )

    @override
    def with_retry(self, **kwargs: Any) -> Runnable[Input, Output]:
        return self._but(bound=self.bound.with_retry(**kwargs))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "bound" not in self.__dict__:
            return super().__getattr__(name)  # pyright: ignore[reportAttributeAccessIssue]
        attribute = getattr(self.bound, name)
        if not callable(attribute):
            return attribute
        try:
            parameter = inspect.signature(attribute).parameters.get("config")
        except (ValueError, TypeError):
            return attribute
        if parameter is None:
            return attribute
        if (
            parameter.kind is inspect.Parameter.KEYWORD_ONLY
            or parameter.default is not parameter.empty
        ):
            return _with_config_given(
                self, attribute, list(inspect.signature(attribute).parameters)
            )
        return attribute


def _with_config_given(
    binding: RunnableBindingBase[Any, Any], method: Any, names: list[str]
) -> Any:
    """Return `method` of the bound object, given the binding's config under the caller's."""
    at = names.index("config")

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > at:
            given = merge_configs(binding.config, args[at])
            return method(*args[:at], given, *args[at + 1 :], **kwargs)
        kwargs["config"] = merge_configs(binding.config, kwargs.get("config"))
        return method(*args, **kwargs)

    return call
