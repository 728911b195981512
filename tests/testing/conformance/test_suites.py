"""A suite finds what is wrong: each thing below breaks one promise, and the test of it fails."""

from typing import Any

import pytest

from dragoman.codecs import get_codec
from dragoman.language_models.fake_chat_models import GenericFakeChatModel
from dragoman.messages import AIMessage, AIMessageChunk
from dragoman.testing import ChatModelSuite, CodecSuite, ThreadStoreSuite
from dragoman.threads import MemoryThreads


class Broken:
    """An object that is another one but for some methods."""

    def __init__(self, real: Any, **methods: Any) -> None:
        self._real, self._methods = real, methods

    def __getattr__(self, name: str) -> Any:
        if name in self._methods:
            return lambda *args, **kwargs: self._methods[name](self._real, *args, **kwargs)
        return getattr(self._real, name)


def failing(suite: type, **given: Any) -> set[str]:
    """Return the tests of `suite` that fail for what the method `given` gives."""
    ((name, make),) = given.items()
    mine = type("Mine", (suite,), {name: lambda self: make()})
    bad = set()
    for test in sorted(n for n in dir(mine) if n.startswith("test_")):
        try:
            getattr(mine(), test)()
        except Exception:
            bad.add(test.removeprefix("test_"))
    return bad


def without_calls(codec: Any, body: Any) -> AIMessage:
    return codec.decode_response(body).model_copy(update={"tool_calls": []})


def emptied(codec: Any, request: Any, changes: Any = None) -> Any:
    body = codec.encode_request(request, changes)
    request.messages.clear()
    return body


def leaky(codec: Any, request: Any, changes: Any = None) -> Any:
    kept = [getattr(message, "artifact", None) for message in request.messages]
    return {**codec.encode_request(request, changes), "kept": kept}


def forgetful(codec: Any, body: Any) -> Any:
    request = codec.decode_request(body)
    request.extra.clear()
    return request


def mute(codec: Any) -> Any:
    decoder = codec.stream_decoder()
    return Broken(decoder, feed=lambda real, *event: [c for c in real.feed(*event) if not c.text])


@pytest.mark.parametrize(
    ("name", "method", "found"),
    [
        ("decode_response", without_calls, "a_reply_comes_back"),
        ("decode_response", lambda codec, body: body["choices"], "any_json_is_read_or_refused"),
        ("encode_request", emptied, "nothing_given_is_changed"),
        ("encode_request", leaky, "artifacts_are_never_sent"),
        ("decode_request", forgetful, "what_was_read_is_written_the_same"),
        ("stream_decoder", mute, "a_stream_is_the_reply_that_arrived_in_parts"),
        (
            "decode_error",
            lambda codec, status, body: codec.decode_error(400, body),
            "an_error_says_whether_a_retry_helps",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_codec_is_found(name: str, method: Any, found: str) -> None:
    broken = Broken(get_codec("openai_chat"), **{name: method})
    assert found in failing(CodecSuite, codec=lambda: broken)


def test_a_codec_that_keeps_its_promises_passes() -> None:
    assert failing(CodecSuite, codec=lambda: get_codec("openai_chat")) == set()


class Fake(GenericFakeChatModel):
    """A model that says the same every time, and nothing of itself."""

    def __init__(self, text: str = "hello there") -> None:
        super().__init__(messages=iter([AIMessage(text)] * 50))


def test_a_model_that_tells_nothing_of_itself_is_found() -> None:
    assert failing(ChatModelSuite, model=Fake) >= {
        "four_ways_to_one_answer",
        "every_form_of_input_is_taken",
        "an_abandoned_stream_harms_nothing",
    }


def answer(real: Any, given: Any) -> AIMessage:
    if not given:
        raise ValueError("no messages")
    metadata = {"model_name": "m", "finish_reason": "stop"}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return AIMessage("hello there", id="1", response_metadata=metadata, usage_metadata=usage)


def spoken(real: Any, given: Any, words: str = "hello there") -> Any:
    whole = answer(real, given)
    first, second = words.split(" ")
    yield AIMessageChunk(first, id="1")
    yield AIMessageChunk(
        f" {second}", id="1", response_metadata=whole.response_metadata,
        usage_metadata=whole.usage_metadata, chunk_position="last",
    )  # fmt: skip


GOOD = {
    "invoke": answer,
    "ainvoke": lambda real, given: later(answer(real, given)),
    "stream": spoken,
    "astream": lambda real, given: streamed(spoken(real, given)),
    "batch": lambda real, forms: [answer(real, form) for form in forms],
}


async def later(value: Any) -> Any:
    return value


async def streamed(values: Any) -> Any:
    for value in values:
        yield value


class PlainSuite(ChatModelSuite):
    calls_tools = False


@pytest.mark.parametrize(
    ("methods", "found"),
    [
        ({}, set()),
        ({"stream": lambda r, g: spoken(r, g, "hello you")}, {"four_ways_to_one_answer"}),
        ({"stream": lambda r, g: (c for c in [*spoken(r, g)] * 2)}, {"four_ways_to_one_answer"}),
        (
            {"ainvoke": lambda r, g: later(AIMessageChunk("hello there"))},
            {"four_ways_to_one_answer"},
        ),
        (
            {"batch": lambda r, forms: [answer(r, forms[0])]},
            {"every_form_of_input_is_taken"},
        ),
        ({"invoke": lambda r, g: answer(r, "x")}, {"no_messages_are_no_question"}),
    ],
)
def test_a_broken_model_is_found(methods: Any, found: set[str]) -> None:
    broken = Broken(None, **GOOD | methods)
    assert failing(PlainSuite, model=lambda: broken) == found


def test_a_model_that_calls_no_tool_is_found() -> None:
    deaf = Broken(None, **GOOD, bind_tools=lambda real, tools, **_: Broken(None, **GOOD))
    assert failing(ChatModelSuite, model=lambda: deaf) == {"a_tool_that_must_be_called_is_called"}


def store_with(**methods: Any) -> Any:
    real = MemoryThreads()
    return Broken(
        real, thread=lambda store, *args, **kw: Broken(store.thread(*args, **kw), **methods)
    )


def test_broken_stores_are_found() -> None:
    stores = {
        "an_expected_head_has_to_be_the_head": store_with(
            append=lambda t, messages, expect=None, **kw: t.append(messages, **kw)
        ),
        "a_key_makes_a_retried_append_happen_once": store_with(
            append=lambda t, messages, *args, key=None, **kw: t.append(messages, *args, **kw)
        ),
        "state_is_kept_beside_the_messages": store_with(
            append=lambda t, messages, *args, state=None, **kw: t.append(messages, *args, **kw)
        ),
        "a_limited_load_gives_the_newest_messages": store_with(
            load=lambda t, at=None, limit=None: t.load(at)
        ),
        "any_text_is_an_id_and_matches_no_other": Broken(
            MemoryThreads(), list=lambda store, prefix="", **kw: store.list(**kw)
        ),
    }
    for found, store in stores.items():
        assert found in failing(ThreadStoreSuite, store=lambda store=store: store)


def test_a_suite_without_a_thing_cannot_run() -> None:
    for suite in (CodecSuite, ChatModelSuite, ThreadStoreSuite):
        with pytest.raises(TypeError, match="abstract"):
            suite()
