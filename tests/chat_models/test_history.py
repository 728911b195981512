"""What happens to a history that no provider would take (DESIGN 7, `history=`)."""

from typing import Any

import pytest

from dragoman.errors import TranscriptError
from dragoman.messages import AIMessage, HumanMessage, ToolMessage
from dragoman.testing import Reply, ScriptedServer


def calling(*ids: str) -> AIMessage:
    return AIMessage(
        "", tool_calls=[{"name": "weather", "args": {}, "id": i, "type": "tool_call"} for i in ids]
    )


VALID = [HumanMessage("q"), calling("a"), ToolMessage("r", tool_call_id="a")]
UNANSWERED = [HumanMessage("q"), calling("a"), HumanMessage("and?")]
OTHER_ID = [HumanMessage("q"), calling("a"), ToolMessage("r", tool_call_id="zzz", name="weather")]
ORPHAN = [HumanMessage("q"), ToolMessage("r", tool_call_id="zzz"), HumanMessage("p")]


@pytest.fixture
def ask(make: Any, server: ScriptedServer, hello: AIMessage, colour: Any) -> Any:
    server._handler = lambda request: Reply.message(hello, stream=b'"stream":true' in request.body)

    def asked(messages: list, **options: Any) -> Any:
        return colour.invoke(make(**options), messages)

    return asked


def roles(server: ScriptedServer) -> list[str]:
    return [message["role"] for message in server.requests[-1].json["messages"]]


def test_a_valid_history_is_sent_as_it_is(ask: Any, server: ScriptedServer) -> None:
    for mode in ("repair", "repair-lossy", "strict", "send"):
        assert "history_changes" not in ask(VALID, history=mode).response_metadata
        assert roles(server) == ["user", "assistant", "tool"]


@pytest.mark.parametrize(("messages", "code"), [(UNANSWERED, "unanswered_call"), (OTHER_ID, None)])
def test_a_lossless_repair_is_made_and_reported(
    messages: list, code: str | None, ask: Any, server: ScriptedServer
) -> None:
    reply = ask(messages)
    changes = reply.response_metadata["history_changes"]
    assert len(changes) >= 1
    assert all(set(c) == {"path", "code", "lossy", "message"} for c in changes)
    assert not any(c["lossy"] for c in changes)
    assert code in (None, changes[0]["code"])
    sent = server.requests[-1].json["messages"]
    assert [m["tool_call_id"] for m in sent if m["role"] == "tool"] == ["a"]


def test_a_stream_reports_it_on_its_last_chunk(make: Any, ask: Any, colour: Any) -> None:
    chunks = colour.stream(make(), UNANSWERED)
    total = sum(chunks[1:], chunks[0])
    assert total.response_metadata["history_changes"][0]["code"] == "unanswered_call"
    assert total.content == "Hello there, dear world"


def test_a_lossy_repair_is_an_error_before_the_network(ask: Any, server: ScriptedServer) -> None:
    with pytest.raises(TranscriptError, match='history="repair-lossy"'):
        ask(ORPHAN)
    assert server.requests == []
    reply = ask(ORPHAN, history="repair-lossy")
    assert any(c["lossy"] for c in reply.response_metadata["history_changes"])
    assert "tool" not in roles(server)


@pytest.mark.parametrize("messages", [UNANSWERED, OTHER_ID, ORPHAN])
def test_strict_raises_on_anything(messages: list, ask: Any, server: ScriptedServer) -> None:
    with pytest.raises(TranscriptError) as caught:
        ask(messages, history="strict")
    assert caught.value.issues
    assert caught.value.path is not None
    assert server.requests == []


def test_send_looks_away(ask: Any, server: ScriptedServer) -> None:
    ask(ORPHAN, history="send")
    assert roles(server) == ["user", "tool", "user"]


def test_one_call_can_choose_otherwise(
    make: Any, server: ScriptedServer, ask: Any, colour: Any
) -> None:
    colour.invoke(make(history="strict"), ORPHAN, history="send")
    assert roles(server) == ["user", "tool", "user"]


def test_the_caller_s_list_is_not_changed(ask: Any) -> None:
    before = list(UNANSWERED)
    ask(UNANSWERED)
    assert before == UNANSWERED


@pytest.mark.parametrize("name", ["previous_response_id", "conversation"])
def test_a_conversation_on_the_provider_s_side_is_not_judged(
    name: str, make: Any, server: ScriptedServer, hello: AIMessage, colour: Any
) -> None:
    server._handler = lambda request: Reply.message(hello, api="openai_responses")
    model = make("openai_responses:gpt-5", history="strict")
    colour.invoke(model, [ToolMessage("r", tool_call_id="call_1")], **{name: "resp_1"})
    assert server.requests[-1].json["input"][0]["type"] == "function_call_output"
    assert server.requests[-1].json[name] == "resp_1"
    with pytest.raises(TranscriptError):
        colour.invoke(model, [ToolMessage("r", tool_call_id="call_1")])
