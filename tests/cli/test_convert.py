import json

import pytest
from tests.cli.support import call, is_one_line_of_error
from tests.cli.test_histories import ANTHROPIC, FORMS, NATIVE, OPENAI

import dragoman
from dragoman.messages import messages_from_json

BODY = {"model": "gpt-5", "messages": OPENAI, "temperature": 0.5}


@pytest.fixture
def convert(monkeypatch, capsys):
    return lambda *args, said=None: call(monkeypatch, capsys, "convert", *args, said=said)


@pytest.mark.parametrize("to", ["anthropic", "gemini", "responses", "bedrock", "mistral", "ollama"])
def test_a_body_is_that_of_the_library(convert, to):
    code, out, err = convert("--from", "openai", "--to", to, said=json.dumps(BODY))
    done = dragoman.convert(BODY, to=to, source="openai")
    assert json.loads(out) == done.body
    assert code == int(any(change.lossy for change in done.changes))
    assert err.count("\n") == len(done.changes)


def test_a_loss_is_told_and_is_exit_code_1(convert):
    body = BODY | {"logit_bias": {"1": 2}}
    code, out, err = convert("--to", "anthropic", said=json.dumps(body))
    assert code == 1
    assert "logit_bias" in err
    assert "logit_bias" not in out


@pytest.mark.parametrize("name", FORMS)
def test_every_form_becomes_native_messages_and_a_body(convert, name):
    value, _ = FORMS[name]
    code, out, _ = convert("--to", "native", said=json.dumps(value))
    messages = messages_from_json(out)
    assert code == 0
    assert [m.type for m in messages if m.type != "system"] == ["human", "ai", "human"]
    assert messages[-1].text == "next"
    _, out, _ = convert("--to", "anthropic", said=json.dumps(value))
    assert "tool_use" in out


def test_messages_one_a_line_become_one_body(convert):
    said = "".join(json.dumps(message) + "\n" for message in NATIVE)
    _, out, _ = convert("--to", "anthropic", said=said)
    body = json.loads(out)
    assert out.count("\n") == 1
    assert body["messages"] == ANTHROPIC


def test_a_reply_converts_too(convert):
    reply = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}
        ],
    }
    code, out, _ = convert("--to", "anthropic", said=json.dumps(reply))
    assert code in (0, 1)
    assert json.loads(out)["content"] == [{"type": "text", "text": "hi"}]


def test_batch_lines_keep_their_envelope(convert):
    said = "".join(json.dumps({"custom_id": str(i), "body": BODY}) + "\n" for i in range(3))
    _, out, _ = convert("--to", "anthropic", said=said)
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["custom_id"] for line in lines] == ["0", "1", "2"]
    assert all(line["body"]["messages"] == ANTHROPIC for line in lines)


@pytest.mark.parametrize(
    ("args", "said", "text"),
    [
        ([], "[]", "--to"),
        (["--to", "nobody"], json.dumps(BODY), "no wire or provider named 'nobody'"),
        (
            ["--to", "anthropic", "--from", "nobody"],
            json.dumps(BODY),
            "no wire or provider named 'nobody'",
        ),
        (["--to", "anthropic"], '{"a": 1}', "neither `messages`"),
        (["--to", "anthropic"], "{", "not JSON"),
    ],
)
def test_what_cannot_be_converted_is_one_line_and_exit_code_2(convert, args, said, text):
    code, out, err = convert(*args, said=said)
    assert (code, out) == (2, "")
    assert is_one_line_of_error(err)
    assert text in err
