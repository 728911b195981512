"""Streams of Chat Completions and its dialects: faults of this field, and cost per event."""

import json

import pytest
from codec_kit import chunks_of, folded
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import get_codec
from dragoman.errors import DecodeError, ModelError, ModelRateLimitError

BASE = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def chunk(delta=None, finish=None, **top):
    choice = {"index": 0, "delta": delta or {}, "logprobs": None, "finish_reason": finish}
    return json.dumps({**BASE, "choices": [choice], **top}, ensure_ascii=False)


def call(index, id=None, name=None, args=None, **rest):
    function = {k: v for k, v in (("name", name), ("arguments", args)) if v is not None}
    raw = {"index": index, "id": id, "function": function, **rest}
    return {k: v for k, v in raw.items() if v is not None}


def read(*datas, provider=None, event=None):
    return folded(chunks_of(get_codec("openai_chat", provider), [(event, d) for d in datas]))


def calls(message):
    return [(c["name"], c["args"], c["id"]) for c in message.tool_calls]


def test_plain_text_comes_as_strings():
    codec = get_codec("openai_chat")
    datas = [
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "Hel"}),
        chunk({"content": "lo"}),
    ]
    chunks = chunks_of(codec, [(None, d) for d in [*datas, chunk(finish="stop"), "[DONE]"]])
    assert [c.content for c in chunks if c.content] == ["Hel", "lo"]
    assert all(c.id == "chatcmpl-1" for c in chunks)
    assert chunks[-1].chunk_position == "last"
    assert chunks[-1].response_metadata["finish_reason"] == "stop"


@pytest.mark.parametrize("as_bytes", [False, True])
@pytest.mark.parametrize("parsed", [False, True])
def test_data_may_be_text_bytes_or_parsed(as_bytes, parsed):
    datas = [chunk({"content": "a😀"}), chunk({"content": "b"}), chunk(finish="stop")]
    given_datas = [json.loads(d) if parsed else d.encode() if as_bytes else d for d in datas]
    assert read(*given_datas).content == "a😀b"


def test_b01_one_index_two_ids():
    message = read(
        chunk({"tool_calls": [call(0, "a", "read", '{"p":1}')]}),
        chunk({"tool_calls": [call(0, "b", "find", '{"q":2}')]}),
        chunk(finish="tool_calls"),
    )
    assert calls(message) == [("read", {"p": 1}, "a"), ("find", {"q": 2}, "b")]


def test_b03_the_name_in_every_delta():
    message = read(*(chunk({"tool_calls": [call(0, "x", "f", p)]}) for p in ('{"a"', ":", "1}")))
    assert calls(message) == [("f", {"a": 1}, "x")]


def test_b04_two_fragments_of_one_call_in_one_delta():
    message = read(
        chunk({"tool_calls": [call(0, "x", "f", ""), call(0, args="{")]}),
        chunk({"tool_calls": [call(0, args='"a":1}'), call(1, "y", "g", "{}")]}),
    )
    assert calls(message) == [("f", {"a": 1}, "x"), ("g", {}, "y")]
    assert message.invalid_tool_calls == []


def test_b06_indices_as_text():
    message = read(
        chunk({"tool_calls": [call(0, "x", "f", '{"a"')]}),
        chunk({"tool_calls": [call("0", args=":1}")]}),
    )
    assert calls(message) == [("f", {"a": 1}, "x")]


def test_b07_empty_ids_and_names_are_absent():
    message = read(
        chunk({"tool_calls": [call(0, "c1", "s", "")]}),
        chunk({"tool_calls": [call(0, "", "", '{"q":1}')]}),
    )
    assert calls(message) == [("s", {"q": 1}, "c1")]


def test_b09_name_and_arguments_apart_with_one_id():
    first, second = call(None, "c", "w"), call(None, "c", None, "{}")
    assert calls(read(chunk({"tool_calls": [first]}), chunk({"tool_calls": [second]}))) == [
        ("w", {}, "c")
    ]


def test_b10_whole_calls_all_at_index_0_without_ids():
    whole = [call(0, "", "f", '{"a":1}'), call(0, "", "f", '{"a":2}')]
    message = read(chunk({"tool_calls": whole}))
    assert [c["args"] for c in message.tool_calls] == [{"a": 1}, {"a": 2}]
    assert len({c["id"] for c in message.tool_calls}) == 2


def test_b15_two_terminal_chunks():
    message = read(
        chunk({"content": "a"}, system_fingerprint="f", service_tier="t"),
        chunk(finish="tool_calls", system_fingerprint="f", service_tier="t"),
        chunk({"content": ""}, finish="stop", system_fingerprint="f", service_tier="t"),
    )
    meta = message.response_metadata
    assert (meta["finish_reason"], meta["model_name"]) == ("stop", "m")
    assert (meta["system_fingerprint"], meta["service_tier"]) == ("f", "t")


def test_b16_usage_on_every_chunk_is_a_total():
    def usage(o):
        return {"prompt_tokens": 35, "completion_tokens": o, "total_tokens": 35 + o}

    message = read(
        *(chunk({"content": "x"}, usage=usage(o)) for o in (0, 1, 2)), chunk(finish="stop")
    )
    assert message.usage_metadata == {"input_tokens": 35, "output_tokens": 2, "total_tokens": 37}


def test_b18_cached_tokens_are_inside_the_input():
    usage = {"prompt_tokens": 1000, "completion_tokens": 5, "total_tokens": 1005,
             "prompt_tokens_details": {"cached_tokens": 800}}  # fmt: skip
    message = read(chunk({"content": "x"}, usage=usage))
    assert message.usage_metadata["input_tokens"] == 1000
    assert message.usage_metadata["input_token_details"] == {"cache_read": 800}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_b22_b55_reasoning_beside_null_content(field):
    datas = [chunk({"content": None, field: "Ok"}) for _ in range(5)]
    message = read(*datas, chunk({"content": "done"}))
    assert message.additional_kwargs["reasoning_content"] == "Ok" * 5
    assert message.content == "done"
    assert [b["type"] for b in message.content_blocks] == ["reasoning", "text"]


def test_reasoning_in_two_fields_at_once_is_told_once():
    message = read(chunk({"reasoning": "x", "reasoning_content": "x", "content": "y"}))
    assert message.additional_kwargs["reasoning_content"] == "x"


def test_b25_characters_cut_in_half_between_deltas():
    first, second = '{"content": "a\\ud83d"}', '{"content": "\\ude00b"}'
    datas = [
        f'{{"model":"m","choices":[{{"index":0,"delta":{d}}}]}}'
        for d in ('{"content":"x"}', '{"content":"x"}', first, second, '{"content":"c"}', first)
    ]
    chunks = chunks_of(get_codec("openai_chat"), [(None, d) for d in datas])
    for c in chunks:
        c.text.encode()
    assert folded(chunks).content == "xxa😀bca\ufffd"


def test_b30_a_call_cut_off_by_length():
    message = read(
        chunk(
            {"tool_calls": [call(0, "a", "ok", '{"x":1}'), call(1, "b", "write", '{"path":"x"')]}
        ),
        chunk(finish="length"),
    )
    assert calls(message) == [("ok", {"x": 1}, "a")]
    assert message.invalid_tool_calls[0]["args"] == '{"path":"x"'
    assert message.invalid_tool_calls[0]["error"]


def test_a_stream_that_just_ends_is_not_done_and_its_calls_are_not_run():
    decoder = get_codec("openai_chat").stream_decoder()
    chunks = decoder.feed(None, chunk({"tool_calls": [call(0, "a", "f", '{"x":')]}))
    assert decoder.done is False
    chunks += decoder.close()
    message = folded(chunks)
    assert message.tool_calls == []
    assert message.response_metadata["finish_reason"] is None
    assert decoder.close() == []


def test_done_is_seen_at_the_finish_or_the_marker():
    for last in (chunk(finish="stop"), "[DONE]"):
        decoder = get_codec("openai_chat").stream_decoder()
        decoder.feed(None, chunk({"content": "a"}))
        assert decoder.done is False
        decoder.feed(None, last)
        assert decoder.done is True


def test_errors_inside_a_200_are_raised_with_the_providers_words():
    openrouter = {**BASE, "error": {"code": 429, "message": "slow down"}, "choices": []}
    with pytest.raises(ModelRateLimitError, match="slow down") as caught:
        read(chunk({"content": "a"}), json.dumps(openrouter), provider="openrouter")
    assert caught.value.is_retryable
    groq = {"error": {"message": "bad tool", "code": "tool_use_failed", "status_code": 400}}
    with pytest.raises(ModelError, match="bad tool") as caught:
        read(json.dumps(groq), provider="groq", event="error")
    assert (caught.value.status, caught.value.provider) == (400, "groq")
    with pytest.raises(ModelError, match="no luck"):
        get_codec("openai_chat").decode_response({"error": {"message": "no luck"}})


def test_an_event_that_is_no_json_is_an_error_without_its_content():
    with pytest.raises(DecodeError) as caught:
        read('{"SECRET": ')
    assert "SECRET" not in str(caught.value)


def test_unknown_fields_survive_in_the_metadata():
    message = read(chunk({"content": "a", "channel": "x"}, new_top={"a": 1}), chunk(finish="stop"))
    assert message.response_metadata["channel"] == "x"
    assert message.response_metadata["new_top"] == {"a": 1}


def test_groq_ids_that_change_do_not_cut_the_stream():
    datas = [
        json.dumps({**BASE, "id": i, "choices": [{"index": 0, "delta": {"content": i}}]})
        for i in ("a", "b", "stub")
    ]
    message = read(*datas, provider="groq")
    assert (message.content, message.id) == ("abstub", "a")


def test_other_choices_do_not_mix_in():
    other = json.dumps({**BASE, "choices": [{"index": 1, "delta": {"content": "NO"}}]})
    assert read(chunk({"content": "a"}), other, chunk({"content": "b"})).content == "ab"


def test_a_kept_finish_reason_nobody_knows_is_the_raw_word():
    assert (
        read(chunk({"content": "a"}, finish="weird")).response_metadata["finish_reason"] == "weird"
    )


pieces = st.lists(st.text(min_size=1, max_size=6), max_size=5)


@given(pieces, pieces, st.booleans())
def test_the_short_way_and_the_long_way_say_the_same(texts, arguments, extra):
    deltas = [{"content": t} for t in texts]
    deltas += [{"tool_calls": [call(0, "c", "f", "")]}]
    deltas += [{"tool_calls": [call(0, args=a)]} for a in arguments]
    datas = [chunk(d, **({"x_new": 1} if extra else {})) for d in deltas]
    short = read(*datas, chunk(finish="stop"))
    long = read(*map(json.loads, datas), chunk(finish="stop"))
    assert short == long
    assert short.content == "".join(texts)


def test_plain_events_take_the_short_way(monkeypatch):
    from dragoman.codecs.openai_chat import stream

    seen = []
    told = stream.StreamDecoder.tell
    monkeypatch.setattr(
        stream.StreamDecoder, "tell", lambda self, body: (seen.append(body), told(self, body))
    )
    datas = [chunk({"role": "assistant", "content": ""}, usage=None, obfuscation="x")]
    datas += [chunk({"content": "w"}, usage=None, obfuscation="x")] * 100
    datas += [chunk({"tool_calls": [call(0, "c", "f", "")]})]
    datas += [chunk({"tool_calls": [call(0, args="")]})] * 100
    read(*datas)
    assert len(seen) == 1
