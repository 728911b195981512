"""Parsers of lists: separated by commas, numbered, or with dashes.

Streamed, an item is yielded (as a list of one) when the next one begins; the last at the end.
"""

import csv
import re
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar, TypeVar

from dragoman.messages.base import BaseMessage
from dragoman.output_parsers.transform import BaseTransformOutputParser, adrive, drive

__all__ = [
    "CommaSeparatedListOutputParser",
    "ListOutputParser",
    "MarkdownListOutputParser",
    "NumberedListOutputParser",
]

T = TypeVar("T")


def droplastn(iter: Iterator[T], n: int) -> Iterator[T]:
    """Yield all but the last `n` items.

    >>> list(droplastn(iter("abc"), 1))
    ['a', 'b']
    """
    held: list[T] = []
    for item in iter:
        held.append(item)
        if len(held) > n:
            yield held.pop(0)


class ListOutputParser(BaseTransformOutputParser[list[str]]):
    """The base: subclasses write `parse`, and `_split` or `parse_iter` if they stream better."""

    _waits: ClassVar[bool] = False  # pure: no threads in a batch

    @property
    def _type(self) -> str:
        return "list"

    @abstractmethod
    def parse(self, text: str) -> list[str]:
        """Return the items of a text."""

    def parse_iter(self, text: str) -> Iterator[re.Match[str]]:
        """Yield one match for each item; its first group is the item."""
        raise NotImplementedError

    def _split(self, text: str) -> tuple[list[str], str]:
        """Return the items that are complete in `text`, and the rest."""
        try:
            matches = list(self.parse_iter(text))
        except NotImplementedError:
            items = self.parse(text)
            return (items[:-1], items[-1]) if len(items) > 1 else ([], text)
        if len(matches) < 2:
            return [], text
        return [match.group(1) for match in matches[:-1]], text[matches[-2].end() :]

    def _transform(self, input: Iterator[str | BaseMessage]) -> Iterator[list[str]]:
        return drive(_Items(self), input)

    def _atransform(self, input: AsyncIterator[str | BaseMessage]) -> AsyncIterator[list[str]]:
        return adrive(_Items(self), input)


class _Items:
    """The text of items that are not complete yet."""

    def __init__(self, parser: ListOutputParser) -> None:
        self.parser = parser
        self.rest = ""

    def feed(self, chunk: Any) -> Iterator[list[str]]:
        text: Any = chunk.content if isinstance(chunk, BaseMessage) else chunk
        if not isinstance(text, str):
            return
        items, self.rest = self.parser._split(self.rest + text)
        for item in items:
            yield [item]

    def close(self) -> Iterator[list[str]]:
        for item in self.parser.parse(self.rest):
            yield [item]


class CommaSeparatedListOutputParser(ListOutputParser):
    """Items between commas; an item in double quotes may hold commas.

    >>> CommaSeparatedListOutputParser().parse('a, "b, c"')
    ['a', 'b, c']
    """

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return True."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain", "output_parsers", "list"]

    def get_format_instructions(self) -> str:
        """Return what to tell the model."""
        return (
            "Your response should be a list of comma separated values, "
            "eg: `foo, bar, baz` or `foo,bar,baz`"
        )

    def parse(self, text: str) -> list[str]:
        """Return the items of a text; several lines make one list."""
        try:
            rows = csv.reader(text.splitlines(), quotechar='"', skipinitialspace=True)
            return [item for row in rows for item in row]
        except csv.Error:  # a field longer than csv allows
            return [part.strip() for part in text.split(",")]

    def _split(self, text: str) -> tuple[list[str], str]:
        cut, quoted, fresh = -1, False, True
        for position, sign in enumerate(text):
            if quoted:
                quoted = sign != '"'
            elif sign == '"' and fresh:
                quoted = True
            elif sign in ",\n":
                cut = position
            fresh = not quoted and (sign in ",\n" or (fresh and sign == " "))
        return (self.parse(text[:cut]), text[cut + 1 :]) if cut >= 0 else ([], text)

    @property
    def _type(self) -> str:
        return "comma-separated-list"


class NumberedListOutputParser(ListOutputParser):
    r"""Items of the form `1. foo`, each on a line.

    >>> NumberedListOutputParser().parse("1. foo\n2. bar")
    ['foo', 'bar']
    """

    pattern: str = r"\d+\.\s([^\n]+)"

    def get_format_instructions(self) -> str:
        """Return what to tell the model."""
        return (
            "Your response should be a numbered list with each item on a new line. "
            "For example: \n\n1. foo\n\n2. bar\n\n3. baz"
        )

    def parse(self, text: str) -> list[str]:
        """Return the items of a text."""
        return re.findall(self.pattern, text)

    def parse_iter(self, text: str) -> Iterator[re.Match[str]]:
        """Yield one match for each item."""
        return re.finditer(self.pattern, text)

    @property
    def _type(self) -> str:
        return "numbered-list"


class MarkdownListOutputParser(ListOutputParser):
    r"""Items of the form `- foo` or `* foo`, each on a line.

    >>> MarkdownListOutputParser().parse("- foo\n- bar")
    ['foo', 'bar']
    """

    pattern: str = r"^\s*[-*]\s([^\n]+)$"

    def get_format_instructions(self) -> str:
        """Return what to tell the model."""
        return "Your response should be a markdown list, eg: `- foo\n- bar\n- baz`"

    def parse(self, text: str) -> list[str]:
        """Return the items of a text."""
        return re.findall(self.pattern, text, re.MULTILINE)

    def parse_iter(self, text: str) -> Iterator[re.Match[str]]:
        """Yield one match for each item."""
        return re.finditer(self.pattern, text, re.MULTILINE)

    @property
    def _type(self) -> str:
        return "markdown-list"
