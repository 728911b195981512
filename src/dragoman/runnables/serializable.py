"""`RunnableSerializable`: a runnable that is a pydantic model, and can be stored."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import ConfigDict
from typing_extensions import override

from dragoman.load.serializable import (
    Serializable,
    SerializedConstructor,
    SerializedNotImplemented,
)
from dragoman.runnables._fields import AnyConfigurableField, ConfigurableField
from dragoman.runnables.runnable import Runnable
from dragoman.runnables.utils import Input, Output

__all__ = ["RunnableSerializable"]


class RunnableSerializable(Serializable, Runnable[Input, Output]):
    """The base of runnables with fields: models, prompts, parsers, tools and users' own."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        arbitrary_types_allowed=True, protected_namespaces=()
    )

    name: str | None = None

    if TYPE_CHECKING:

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            """Build from keywords; a subclass names its own."""

    @override
    def to_json(self) -> SerializedConstructor | SerializedNotImplemented:
        """Return the stored form, with the name that handlers see."""
        dumped = super().to_json()
        try:
            dumped["name"] = self.get_name()
        except Exception:  # noqa: BLE001 - a name is a courtesy; a user's `get_name` may raise anything
            return dumped
        return dumped

    def configurable_fields(self, **kwargs: AnyConfigurableField) -> Any:
        """Return this runnable with fields that `config["configurable"]` sets per call.

        Raises:
            ValueError: If there is no such field.
        """
        from dragoman.runnables.configurable import RunnableConfigurableFields

        fields = type(self).model_fields
        for key in kwargs:
            if key not in fields:
                text = f"Configuration key {key} not found in {self}: available keys are {fields.keys()}"
                raise ValueError(text)
        return RunnableConfigurableFields(default=self, fields=kwargs)

    def configurable_alternatives(
        self,
        which: ConfigurableField,
        *,
        default_key: str = "default",
        prefix_keys: bool = False,
        **kwargs: Runnable[Any, Any] | Callable[[], Runnable[Any, Any]],
    ) -> Any:
        """Return this runnable with others that `config["configurable"][which.id]` chooses per call."""
        from dragoman.runnables.configurable import RunnableConfigurableAlternatives

        return RunnableConfigurableAlternatives(
            which=which,
            default=self,
            alternatives=kwargs,
            default_key=default_key,
            prefix_keys=prefix_keys,
        )
