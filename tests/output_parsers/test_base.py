"""The bases, as users subclass them."""

import asyncio
import threading

import pytest

from dragoman.messages import AIMessage
from dragoman.output_parsers import (
    BaseGenerationOutputParser,
    BaseLLMOutputParser,
    BaseOutputParser,
    StrOutputParser,
)
from dragoman.outputs import ChatGeneration, Generation
from dragoman.prompt_values import StringPromptValue

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")


class YesNo(BaseOutputParser[bool]):
    def parse(self, text):
        return text.strip().lower() == "yes"

    @property
    def _type(self):
        return "yes-no"


class Invert(BaseGenerationOutputParser[str]):
    def parse_result(self, result, *, partial=False):
        assert isinstance(result[0], ChatGeneration)
        return result[0].message.text.swapcase()


def test_strings_and_messages_are_parsed():
    assert YesNo().invoke("Yes") is True
    assert YesNo().invoke(AIMessage([{"type": "text", "text": "no"}])) is False
    assert asyncio.run(YesNo().ainvoke("yes")) is True
    assert YesNo().batch(["yes", "no"]) == [True, False]
    assert YesNo().parse_result([Generation(text="yes")]) is True
    assert YesNo().parse_with_prompt("yes", StringPromptValue(text="?")) is True
    assert Invert().invoke(AIMessage("hI")) == "Hi"
    assert asyncio.run(Invert().ainvoke(AIMessage("hI"))) == "Hi"


@pytest.mark.parametrize("value", [3, {"a": 1}, None])
def test_other_input_is_refused(value):
    with pytest.raises(ValueError, match="`text` must be a str"):
        StrOutputParser().invoke(value)


def test_the_output_type_is_that_in_the_brackets():
    class Numbers(BaseOutputParser[list[int]]):
        def parse(self, text):
            return [int(text)]

    class Untyped(BaseOutputParser):
        def parse(self, text):
            return text

    assert YesNo().OutputType is bool
    assert Numbers().OutputType == list[int]
    assert Invert().OutputType is str
    assert StrOutputParser().OutputType is str
    with pytest.raises(TypeError, match="doesn't have an inferable OutputType"):
        _ = Untyped().OutputType


def test_dumps_and_names():
    class Nameless(BaseOutputParser[str]):
        def parse(self, text):
            return text

    assert YesNo().asdict()["_type"] == "yes-no"
    assert YesNo().dict() == YesNo().asdict()
    assert "_type" not in Nameless().asdict()
    with pytest.raises(
        NotImplementedError, match="_type property is not implemented in class Nameless"
    ):
        _ = Nameless()._type
    with pytest.raises(NotImplementedError):
        YesNo().get_format_instructions()


def test_b109_a_users_parser_does_not_block_the_loop():
    class Where(BaseOutputParser[str]):
        def parse(self, text):
            return threading.current_thread().name

    assert asyncio.run(Where().ainvoke("x")) != threading.current_thread().name
    assert asyncio.run(Where().aparse("x")) != threading.current_thread().name
    assert asyncio.run(StrOutputParser().aparse("x")) == "x"


def test_a_bare_parser_is_no_runnable():
    class Bare(BaseLLMOutputParser[str]):
        def parse_result(self, result, *, partial=False):
            return result[0].text

    assert asyncio.run(Bare().aparse_result([Generation(text="x")])) == "x"
    assert not hasattr(Bare, "invoke")


def test_a_subclass_that_looks_at_the_generation_is_given_one():
    class Kind(StrOutputParser):
        def parse_result(self, result, *, partial=False):
            return type(result[0]).__name__

    assert Kind().invoke(AIMessage("x")) == "ChatGeneration"
    assert asyncio.run(Kind().ainvoke(AIMessage("x"))) == "ChatGeneration"


def test_a_subclass_with_an_async_parse_is_awaited():
    class Remote(StrOutputParser):
        async def aparse(self, text):
            await asyncio.sleep(0)
            return f"remote {text}"

        async def aparse_result(self, result, *, partial=False):
            return await self.aparse(result[0].text)

    assert Remote().invoke(AIMessage("x")) == "x"
    assert asyncio.run(Remote().ainvoke(AIMessage("x"))) == "remote x"
