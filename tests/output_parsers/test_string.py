"""`StrOutputParser`."""

from dragoman.load import dumpd, load
from dragoman.messages import AIMessage, AIMessageChunk
from dragoman.output_parsers import StrOutputParser


def test_the_text_of_a_message():
    message = AIMessage([{"type": "text", "text": "a"}, {"type": "image", "url": "u"}, "b"])

    assert StrOutputParser().invoke(message) == "ab"
    assert type(StrOutputParser().invoke(AIMessage("x"))) is str
    assert StrOutputParser().invoke("x") == "x"
    assert list(StrOutputParser().transform(iter([AIMessageChunk("a"), AIMessageChunk("")]))) == [
        "a",
        "",
    ]


def test_storing():
    stored = dumpd(StrOutputParser())

    assert stored["id"] == ["langchain", "schema", "output_parser", "StrOutputParser"]
    assert stored["name"] == "StrOutputParser"
    assert load(stored, allowed_objects="core") == StrOutputParser()
    assert StrOutputParser().asdict()["_type"] == "default"
