"""`StrOutputParser`: the text of a message."""

from typing import ClassVar

from dragoman.output_parsers.transform import BaseTransformOutputParser

__all__ = ["StrOutputParser"]


class StrOutputParser(BaseTransformOutputParser[str]):
    """Gives the text of a message, chunk by chunk when streamed.

    >>> from dragoman.messages import AIMessage
    >>> StrOutputParser().invoke(AIMessage([{"type": "text", "text": "hi"}]))
    'hi'
    """

    _waits: ClassVar[bool] = False  # reading a text takes no time: no threads in a batch

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return True."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain", "schema", "output_parser"]

    @property
    def _type(self) -> str:
        return "default"

    def parse(self, text: str) -> str:
        """Return the text unchanged, as a plain string."""
        return str.__str__(text) if type(text) is not str and isinstance(text, str) else text
