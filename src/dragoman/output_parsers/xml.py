"""`XMLOutputParser`: XML in a model's answer as nested dicts.

    <a><b>x</b><b>y</b></a>   ->   {"a": [{"b": "x"}, {"b": "y"}]}

A document type declaration is refused, whichever parser reads: entities are how small XML becomes
large, and how it reads files.
"""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar, Literal
from xml.etree import ElementTree as ET

from dragoman._need import need
from dragoman.errors import OutputParserException
from dragoman.messages.base import BaseMessage
from dragoman.output_parsers.format_instructions import XML_FORMAT_INSTRUCTIONS
from dragoman.output_parsers.transform import BaseTransformOutputParser, adrive, drive
from dragoman.runnables.utils import AddableDict

__all__ = ["XMLOutputParser", "nested_element"]

_FENCE = re.compile(r"```(?:xml)?(.*)```", re.DOTALL)
_ENCODING = re.compile(r"<([^>]*encoding[^>]*)>\n(.*)", re.MULTILINE | re.DOTALL)
_FIRST_TAG = re.compile(r"<[a-zA-Z:_]")
_DECLARATION = re.compile(r"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def nested_element(path: list[str], elem: ET.Element) -> Any:
    """Return an element inside the tags of `path` as nested dicts.

    >>> nested_element(["a"], ET.fromstring("<b>x</b>"))
    {'a': [{'b': 'x'}]}
    """
    if not path:
        return AddableDict({elem.tag: elem.text})
    return AddableDict({path[0]: [nested_element(path[1:], elem)]})


class XMLOutputParser(BaseTransformOutputParser[dict[str, Any]]):
    """Gives XML as nested dicts; streamed, one for each element that holds no other.

    Attributes:
        tags: The tags that the format instructions ask for.
        encoding_matcher: Finds a first line with an encoding, which is dropped.
        parser: `defusedxml` (the package), or `xml` of the standard library.

    >>> XMLOutputParser(parser="xml").parse("<a><b>x</b></a>")
    {'a': [{'b': 'x'}]}
    """

    _waits: ClassVar[bool] = False  # pure: no threads in a batch

    tags: list[str] | None = None
    encoding_matcher: re.Pattern[str] = _ENCODING
    parser: Literal["defusedxml", "xml"] = "defusedxml"

    def get_format_instructions(self) -> str:
        """Return what to tell the model: the tags."""
        return XML_FORMAT_INSTRUCTIONS.format(tags=self.tags)

    def parse(self, text: str) -> dict[str, Any]:
        """Return the XML of a text, with or without a fence around it.

        Raises:
            OutputParserException: If it is no XML, or declares a document type; has `llm_output`.
            MissingExtraError: If `defusedxml` is not installed.
        """
        tree: Any = need("defusedxml.ElementTree", "parsers") if self.parser == "defusedxml" else ET
        if fence := _FENCE.search(text):
            text = fence.group(1)
        if encoding := self.encoding_matcher.search(text):
            text = encoding.group(2)
        text = text.strip()
        try:
            if _DECLARATION.search(text):
                message = "a document type declaration is not allowed"
                raise ValueError(message)
            return self._root_to_dict(tree.fromstring(text))
        except (ET.ParseError, ValueError, RecursionError) as error:
            message = f"Failed to parse XML format from completion {text}. Got: {error}"
            raise OutputParserException(message, llm_output=text) from error

    def _root_to_dict(self, root: ET.Element) -> dict[str, Any]:
        if root.text and root.text.strip():
            return {root.tag: root.text}
        children: list[Any] = []
        for child in root:
            if len(child) == 0:
                children.append({child.tag: child.text})
            else:
                children.append(self._root_to_dict(child))
        return {root.tag: children}

    def _transform(self, input: Iterator[str | BaseMessage]) -> Iterator[Any]:
        return drive(_Elements(self.parser), input)

    def _atransform(self, input: AsyncIterator[str | BaseMessage]) -> AsyncIterator[Any]:
        return adrive(_Elements(self.parser), input)

    @property
    def _type(self) -> str:
        return "xml"


class _Elements:
    """The elements that are open, and the text before the first tag."""

    def __init__(self, parser: str) -> None:
        if parser == "defusedxml":
            inner: Any = need("defusedxml.ElementTree", "parsers").XMLParser(
                target=ET.TreeBuilder()
            )
        else:
            inner = ET.XMLParser(target=ET.TreeBuilder())  # noqa: S314 - declarations are refused
        self.puller: Any = ET.XMLPullParser(["start", "end"], _parser=inner)
        self.waiting = ""
        self.tail = ""
        self.started = False
        self.path: list[str] = []
        self.leaf = False
        self.done = False

    def feed(self, chunk: Any) -> Iterator[Any]:
        text: Any = chunk.content if isinstance(chunk, BaseMessage) else chunk
        if not isinstance(text, str) or self.done:
            return
        if not self.started:
            self.waiting += text
            self._refuse(self.waiting)
            first = _FIRST_TAG.search(self.waiting)
            if first is None:
                return
            text, self.waiting = self.waiting[first.start() :], ""
            self.started = True
        self._refuse(self.tail + text)
        self.tail = (self.tail + text)[-20:]
        try:
            self.puller.feed(text)
            yield from self._events()
        except ET.ParseError as error:
            if self.done:  # text after the last tag
                return
            message = f"Failed to parse XML format from a stream. Got: {error}"
            raise OutputParserException(message) from error

    def _refuse(self, text: str) -> None:
        if _DECLARATION.search(text):
            message = "Failed to parse XML: a document type declaration is not allowed"
            raise OutputParserException(message)

    def _events(self) -> Iterator[Any]:
        for event, element in self.puller.read_events():
            if event == "start":
                self.path.append(element.tag)
                self.leaf = True
                continue
            self.path.pop()
            if self.leaf:
                yield nested_element(self.path, element)
                self.leaf = False
            if not self.path:
                self.done = True

    def close(self) -> Iterator[Any]:
        yield from ()
