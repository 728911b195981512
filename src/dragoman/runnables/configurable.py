"""Runnables whose fields, or which themselves, are chosen by `config["configurable"]` per call."""

import enum
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, ClassVar, cast
from weakref import WeakValueDictionary

from pydantic import ConfigDict
from typing_extensions import override

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.runnables._batch import configs_for, limit_of
from dragoman.runnables._fields import (
    AnyConfigurableField,
    ConfigurableField,
    ConfigurableFieldMultiOption,
    ConfigurableFieldSingleOption,
    ConfigurableFieldSpec,
    get_unique_config_specs,
)
from dragoman.runnables.config import RunnableConfig, ensure_config, merge_configs
from dragoman.runnables.runnable import Runnable
from dragoman.runnables.serializable import RunnableSerializable
from dragoman.runnables.utils import Input, Output

__all__ = [
    "DynamicRunnable",
    "RunnableConfigurableAlternatives",
    "RunnableConfigurableFields",
    "StrEnum",
    "make_options_spec",
    "prefix_config_spec",
]


class StrEnum(str, enum.Enum):  # noqa: UP042 - LangChain's class, whose str() is not the value
    """An enum of strings."""


class DynamicRunnable(RunnableSerializable[Input, Output]):
    """A runnable that is settled per call: `prepare` gives the one that is really called.

    What it does not know itself is asked of the default.
    """

    default: RunnableSerializable[Input, Output]
    config: RunnableConfig | None = None

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
    @override
    def InputType(self) -> Any:
        """The type of the default's input."""
        return self.default.InputType

    @property
    @override
    def OutputType(self) -> Any:
        """The type of the default's output."""
        return self.default.OutputType

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        runnable, config = self.prepare(config)
        return runnable.get_input_schema(config)

    @override
    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        runnable, config = self.prepare(config)
        return runnable.get_output_schema(config)

    @override
    def get_graph(self, config: RunnableConfig | None = None) -> Any:
        runnable, config = self.prepare(config)
        return runnable.get_graph(config)

    @override
    def with_config(
        self, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Runnable[Input, Output]:
        given = ensure_config(merge_configs(self.config, config, cast("RunnableConfig", kwargs)))
        return self.model_copy(update={"config": given})

    def prepare(
        self, config: RunnableConfig | None = None
    ) -> tuple[Runnable[Input, Output], RunnableConfig]:
        """Return the runnable that a call with `config` reaches, and the config for it."""
        runnable: Runnable[Any, Any] = self
        while isinstance(runnable, DynamicRunnable):
            dynamic = cast("DynamicRunnable[Any, Any]", runnable)
            runnable, config = dynamic._prepare(merge_configs(dynamic.config, config))
        return runnable, cast("RunnableConfig", config)

    def _prepare(
        self, config: RunnableConfig | None = None
    ) -> tuple[Runnable[Input, Output], RunnableConfig]:
        raise NotImplementedError

    @override
    def invoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        runnable, config = self.prepare(config)
        return runnable.invoke(input, config, **kwargs)

    @override
    async def ainvoke(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        runnable, config = self.prepare(config)
        return await runnable.ainvoke(input, config, **kwargs)

    async def _batch(
        self, door: Door, inputs: list[Any], config: Any, kwargs: dict[str, Any], *, keep: bool
    ) -> list[Any]:
        """Return the outputs; as one batch if every call reaches the default."""
        if not inputs:
            return []
        configs = configs_for(config, len(inputs))
        prepared = [self.prepare(cast("RunnableConfig", one)) for one in configs]
        if all(runnable is prepared[0][0] for runnable, _ in prepared):
            step = prepared[0][0]
            method = step.abatch if door.is_async else step.batch
            given = [one for _, one in prepared]
            return await door.tell(method, inputs, given, return_exceptions=keep, **kwargs)

        async def one(at: int) -> Any:
            runnable, given = prepared[at]
            try:
                return await door.invoke(runnable, inputs[at], given, **kwargs)
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

    @override
    def stream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        runnable, config = self.prepare(config)
        return runnable.stream(input, config, **kwargs)

    @override
    def astream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        runnable, config = self.prepare(config)
        return runnable.astream(input, config, **kwargs)

    @override
    def transform(
        self, input: Iterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        runnable, config = self.prepare(config)
        return runnable.transform(input, config, **kwargs)

    @override
    def atransform(
        self, input: AsyncIterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        runnable, config = self.prepare(config)
        return runnable.atransform(input, config, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "default" not in self.__dict__:
            return super().__getattr__(name)  # pyright: ignore[reportAttributeAccessIssue]
        attribute = getattr(self.default, name)
        return self._on_prepared(name, attribute) if callable(attribute) else attribute

    def _on_prepared(self, name: str, method: Any) -> Callable[..., Any]:
        """Return a method of the settled runnable; one that gives a runnable is kept configurable."""

        def call(*args: Any, **kwargs: Any) -> Any:
            config = cast("RunnableConfig | None", kwargs.get("config"))
            runnable, config = self.prepare(config)
            if "config" in kwargs:
                kwargs["config"] = config
            return getattr(runnable, name)(*args, **kwargs)

        return call if isinstance(getattr(method, "__self__", None), Runnable) else method


class RunnableConfigurableFields(DynamicRunnable[Input, Output]):
    """A runnable with fields set per call; `configurable_fields` makes one."""

    fields: dict[str, AnyConfigurableField]

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call: the fields, and what the default says."""
        specs: list[ConfigurableFieldSpec] = []
        known = type(self.default).model_fields
        for name, spec in self.fields.items():
            if not isinstance(spec, ConfigurableField):
                specs.append(make_options_spec(spec, known[name].description))
                continue
            specs.append(
                ConfigurableFieldSpec(
                    id=spec.id,
                    name=spec.name,
                    description=spec.description or known[name].description,
                    annotation=spec.annotation or known[name].annotation,
                    default=getattr(self.default, name),
                    is_shared=spec.is_shared,
                )
            )
        return get_unique_config_specs([*specs, *self.default.config_specs])

    @override
    def configurable_fields(self, **kwargs: AnyConfigurableField) -> Any:
        return self.default.configurable_fields(**{**self.fields, **kwargs})

    @override
    def _prepare(
        self, config: RunnableConfig | None = None
    ) -> tuple[Runnable[Input, Output], RunnableConfig]:
        full = ensure_config(config)
        given = full.get("configurable") or {}
        changes: dict[str, Any] = {}
        for name, spec in self.fields.items():
            if isinstance(spec, ConfigurableField):
                if spec.id in given:
                    changes[name] = given[spec.id]
            elif isinstance(spec, ConfigurableFieldSingleOption):
                changes[name] = spec.options[_plain(given.get(spec.id, spec.default))]
            else:
                keys = given.get(spec.id, spec.default)
                changes[name] = [spec.options[_plain(key)] for key in keys]
        if not changes:
            return self.default, full
        kind = type(self.default)
        known = {k: v for k, v in self.default.__dict__.items() if k in kind.model_fields}
        return kind(**{**known, **changes}), full


class RunnableConfigurableAlternatives(DynamicRunnable[Input, Output]):
    """A runnable chosen per call among several; `configurable_alternatives` makes one."""

    which: ConfigurableField
    alternatives: dict[str, Runnable[Input, Output] | Callable[[], Runnable[Input, Output]]]
    default_key: str = "default"
    prefix_keys: bool = False

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call: the choice, and what each alternative says."""
        keys = (*self.alternatives, self.default_key)
        choice = ConfigurableFieldSpec(
            id=self.which.id,
            name=self.which.name,
            description=self.which.description,
            annotation=_enum(self.which.name or self.which.id, tuple(dict.fromkeys(keys))),
            default=self.default_key,
            is_shared=self.which.is_shared,
        )
        inner = [self._prefixed(self.default_key, spec) for spec in self.default.config_specs]
        for key, alternative in self.alternatives.items():
            if isinstance(alternative, RunnableSerializable):
                inner.extend(self._prefixed(key, spec) for spec in alternative.config_specs)
        return get_unique_config_specs([choice, *inner])

    def _prefix(self, key: str) -> str:
        return f"{self.which.id}=={key}"

    def _prefixed(self, key: str, spec: ConfigurableFieldSpec) -> ConfigurableFieldSpec:
        return prefix_config_spec(spec, self._prefix(key)) if self.prefix_keys else spec

    @override
    def configurable_fields(self, **kwargs: AnyConfigurableField) -> Any:
        return self.model_copy(update={"default": self.default.configurable_fields(**kwargs)})

    @override
    def _prepare(
        self, config: RunnableConfig | None = None
    ) -> tuple[Runnable[Input, Output], RunnableConfig]:
        full = ensure_config(config)
        given = full.get("configurable") or {}
        which = _plain(given.get(self.which.id, self.default_key))
        if self.prefix_keys:
            prefix = self._prefix(which) + "/"
            stripped = {key.removeprefix(prefix): value for key, value in given.items()}
            full = cast("RunnableConfig", {**full, "configurable": stripped})
        if which == self.default_key:
            return self.default, full
        if which not in self.alternatives:
            text = f"Unknown alternative: {which}"
            raise ValueError(text)
        alternative = self.alternatives[which]
        return alternative if isinstance(alternative, Runnable) else alternative(), full


def _plain(key: Any) -> str:
    return key.value if isinstance(key, enum.Enum) else key


def prefix_config_spec(spec: ConfigurableFieldSpec, prefix: str) -> ConfigurableFieldSpec:
    """Return the spec under `prefix/id`; a shared one stays as it is."""
    return spec if spec.is_shared else spec._replace(id=f"{prefix}/{spec.id}")


_enums: WeakValueDictionary[tuple[str, tuple[str, ...]], type[StrEnum]] = WeakValueDictionary()


def _enum(name: str, keys: Sequence[str]) -> type[StrEnum]:
    """Return the enum of `keys`, the same one each time, so that specs stay equal."""
    made = _enums.get((name, tuple(keys)))
    if made is None:
        build: Any = StrEnum
        made = build(name, [(key, key) for key in keys])
        _enums[name, tuple(keys)] = made
    return cast("type[StrEnum]", made)


def make_options_spec(
    spec: ConfigurableFieldSingleOption | ConfigurableFieldMultiOption, description: str | None
) -> ConfigurableFieldSpec:
    """Return the spec of a field that is set by the names of its options."""
    kind: Any = _enum(spec.name or spec.id, tuple(spec.options))
    is_single = isinstance(spec, ConfigurableFieldSingleOption)
    return ConfigurableFieldSpec(
        id=spec.id,
        name=spec.name,
        description=spec.description or description,
        annotation=kind if is_single else Sequence[kind],
        default=spec.default if is_single else list(spec.default),
        is_shared=spec.is_shared,
    )
