"""`Checked`: the ways around a constructor, each ending in the check the constructor makes.

A template that cannot be rendered safely must not come to be through `model_construct`, a copy, or
a pickle. (Should one be assigned afterwards, rendering refuses it.)
"""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel

__all__ = ["Checked"]


class Checked(BaseModel):
    """A pydantic model whose instances pass `check_safe` however they were made."""

    def check_safe(self) -> None:
        """Raise unless every template inside can be rendered safely."""

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:
        """Return an instance whose fields were not validated, but whose templates are safe."""
        made = super().model_construct(_fields_set, **values)
        made.check_safe()
        return made

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with the fields of `update` replaced; its templates are safe."""
        made = super().model_copy(update=update, deep=deep)
        made.check_safe()
        return made

    def __copy__(self) -> Self:
        made = super().__copy__()
        made.check_safe()
        return made

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        made = super().__deepcopy__(memo)
        made.check_safe()
        return made

    def __setstate__(self, state: dict[Any, Any]) -> None:
        super().__setstate__(state)
        self.check_safe()
