"""`XMLOutputParser`."""

import asyncio
import subprocess
import sys

import pytest

from dragoman.errors import OutputParserException
from dragoman.messages import AIMessageChunk
from dragoman.output_parsers import XMLOutputParser
from dragoman.output_parsers.xml import nested_element

PARSERS = [XMLOutputParser(parser="xml"), XMLOutputParser()]
FOO = "<foo><bar><baz>x</baz><baz>y</baz></bar><bar><q/></bar></foo>"
FOO_VALUE = {"foo": [{"bar": [{"baz": "x"}, {"baz": "y"}]}, {"bar": [{"q": None}]}]}


@pytest.mark.parametrize("parser", PARSERS, ids=["xml", "defusedxml"])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        (FOO, FOO_VALUE),
        (f"```xml\n{FOO}\n```", FOO_VALUE),
        (f"Here:\n```\n{FOO}\n```\nDone.", FOO_VALUE),
        (f'<?xml version="1.0" encoding="UTF-8"?>\n{FOO}', FOO_VALUE),
        ("<body>Text of the body.</body>", {"body": "Text of the body."}),
        ("<a><b>\n</b></a>", {"a": [{"b": "\n"}]}),
        ("<a/>", {"a": []}),
    ],
)
def test_xml_becomes_nested_dicts(parser, text, value):
    assert parser.parse(text) == value
    assert parser.invoke(text) == value
    assert asyncio.run(parser.ainvoke(text)) == value


@pytest.mark.parametrize("parser", PARSERS, ids=["xml", "defusedxml"])
@pytest.mark.parametrize("text", ["foo></foo>", "<foo></foo", "foo foo", "", "<foo></bar>"])
def test_what_is_no_xml(parser, text):
    with pytest.raises(OutputParserException, match="Failed to parse") as caught:
        parser.parse(text)

    assert caught.value.llm_output == text


LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol1 "&lol;&lol;&lol;&lol;">]>
<lolz>&lol1;</lolz>"""
FILE = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><x>&f;</x>'


@pytest.mark.parametrize("parser", PARSERS, ids=["xml", "defusedxml"])
@pytest.mark.parametrize("text", [LAUGHS, FILE, f"```xml\n{FILE}\n```"])
def test_entities_are_refused(parser, text):
    with pytest.raises(OutputParserException):
        parser.parse(text)
    for size in (1, 7, 1000):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        with pytest.raises(OutputParserException):
            list(parser.transform(iter(pieces)))


@pytest.mark.parametrize("parser", PARSERS, ids=["xml", "defusedxml"])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_streams_give_each_leaf(parser, size):
    text = f"hi, < {FOO} bye <"
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    leaves = [
        {"foo": [{"bar": [{"baz": "x"}]}]},
        {"foo": [{"bar": [{"baz": "y"}]}]},
        {"foo": [{"bar": [{"q": None}]}]},
    ]

    assert list(parser.transform(iter(pieces))) == leaves
    assert list(parser.transform(AIMessageChunk(piece) for piece in pieces)) == leaves

    async def each():
        for piece in pieces:
            yield piece

    async def collect():
        return [leaf async for leaf in parser.atransform(each())]

    assert asyncio.run(collect()) == leaves


def test_leaves_add_up():
    leaves = list(XMLOutputParser(parser="xml").transform(iter([FOO])))

    assert leaves[0] + leaves[1] == {"foo": [{"bar": [{"baz": "x"}]}, {"bar": [{"baz": "y"}]}]}


def test_broken_streams():
    with pytest.raises(OutputParserException, match="from a stream"):
        list(XMLOutputParser(parser="xml").transform(iter(["<a><b></a>"])))
    assert list(XMLOutputParser(parser="xml").transform(iter(["no tag", "at all"]))) == []


def test_names_and_instructions():
    parser = XMLOutputParser(tags=["menu", "dish"], parser="xml")

    assert "['menu', 'dish']" in parser.get_format_instructions()
    assert parser.asdict()["_type"] == "xml"
    assert nested_element(["a", "b"], _element()) == {"a": [{"b": [{"c": "x"}]}]}


def _element():
    from xml.etree import ElementTree as ET

    return ET.fromstring("<c>x</c>")


def test_a_missing_package_is_named():
    code = (
        "import sys; sys.modules['defusedxml'] = None\n"
        "from dragoman.output_parsers import XMLOutputParser\n"
        "assert XMLOutputParser(parser='xml').parse('<a>x</a>') == {'a': 'x'}\n"
        "try: XMLOutputParser().parse('<a/>')\n"
        "except ImportError as error: print(error)\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "dragoman[parsers]" in done.stdout
