"""The specs of what can be configured per call."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from typing_extensions import override

__all__ = [
    "AnyConfigurableField",
    "ConfigurableField",
    "ConfigurableFieldMultiOption",
    "ConfigurableFieldSingleOption",
    "ConfigurableFieldSpec",
    "get_unique_config_specs",
]


class ConfigurableField(NamedTuple):
    """A field that `configurable[id]` sets per call."""

    id: str
    name: str | None = None
    description: str | None = None
    annotation: Any | None = None
    is_shared: bool = False

    @override
    def __hash__(self) -> int:
        return hash((self.id, self.annotation))


class ConfigurableFieldSingleOption(NamedTuple):
    """A field set per call to one of named values."""

    id: str
    options: Mapping[str, Any]
    default: str
    name: str | None = None
    description: str | None = None
    is_shared: bool = False

    @override
    def __hash__(self) -> int:
        return hash((self.id, tuple(self.options.keys()), self.default))


class ConfigurableFieldMultiOption(NamedTuple):
    """A field set per call to a list of named values."""

    id: str
    options: Mapping[str, Any]
    default: Sequence[str]
    name: str | None = None
    description: str | None = None
    is_shared: bool = False

    @override
    def __hash__(self) -> int:
        return hash((self.id, tuple(self.options.keys()), tuple(self.default)))


AnyConfigurableField = (
    ConfigurableField | ConfigurableFieldSingleOption | ConfigurableFieldMultiOption
)


class ConfigurableFieldSpec(NamedTuple):
    """What a runnable says of one thing that can be configured."""

    id: str
    annotation: Any
    name: str | None = None
    description: str | None = None
    default: Any = None
    is_shared: bool = False
    dependencies: list[str] | None = None


def get_unique_config_specs(specs: Iterable[ConfigurableFieldSpec]) -> list[ConfigurableFieldSpec]:
    """Return the specs sorted by id, each id once.

    Raises:
        ValueError: If two specs share an id and differ.
    """
    by_id = groupby(
        sorted(specs, key=lambda spec: (spec.id, *(spec.dependencies or []))), lambda spec: spec.id
    )
    unique: list[ConfigurableFieldSpec] = []
    for key, group in by_id:
        first, *others = list(group)
        if any(other != first for other in others):
            text = (
                f"RunnableSequence contains conflicting config specsfor {key}: {[first, *others]}"
            )
            raise ValueError(text)
        unique.append(first)
    return unique
