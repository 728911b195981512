"""`Generation` and `GenerationChunk`: the text a completion model gave."""

from typing import Any, ClassVar

import msgspec

from dragoman.errors import MessageError, short
from dragoman.outputs.face import OutputModel, merge_info

__all__ = ["Generation", "GenerationChunk"]


class Generation(OutputModel):
    """One text that a model gave.

    Attributes:
        text: The text.
        generation_info: What the provider says about it (finish reason, ...), or None.

    >>> Generation(text="Hi")
    Generation(text='Hi')
    """

    text: str = msgspec.field(default=msgspec.UNSET)  # pyright: ignore[reportAssignmentType]
    generation_info: dict[str, Any] | None = None
    type: str = "Generation"

    show_defaults: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            what = "is missing" if self.text is msgspec.UNSET else "must be a str"
            raise MessageError(f"{type(self).__name__}: `text` {what}")
        if self.type != "Generation":
            raise MessageError(f"`type` is 'Generation' and cannot be {short(self.type)}")

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return True: `load.dumps` writes it as a constructor."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return `["langchain", "schema", "output"]`."""
        return ["langchain", "schema", "output"]

    @classmethod
    def lc_id(cls) -> list[str]:
        """Return the namespace and the class name."""
        return [*cls.get_lc_namespace(), cls.__name__]


class GenerationChunk(Generation):
    """A piece of streamed text; pieces add up.

    >>> (GenerationChunk(text="a") + GenerationChunk(text="b")).text
    'ab'
    """

    def __add__(self, other: "GenerationChunk") -> "GenerationChunk":
        """Return both texts joined and their infos merged.

        Raises:
            TypeError: If `other` is no GenerationChunk.
        """
        if not isinstance(other, GenerationChunk):
            message = f"unsupported operand type(s) for +: '{type(self)}' and '{type(other)}'"
            raise TypeError(message)
        return GenerationChunk(
            text=self.text + other.text,
            generation_info=merge_info(self.generation_info, other.generation_info),
        )
