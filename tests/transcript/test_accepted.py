"""Repaired histories are accepted by a real server: llama.cpp with the bundled model."""

import random
from typing import Any

import pytest

from dragoman.chat_models import init_chat_model, local
from dragoman.codecs import ChatRequest, get_codec
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from dragoman.transcript import repair_messages, validate_messages

pytestmark = pytest.mark.local_model

COUNTED = 10  # a twentieth of the 200 that a long run takes


def _valid(random_: random.Random) -> list[BaseMessage]:
    messages: list[BaseMessage] = [SystemMessage("Be short.")] if random_.random() < 0.5 else []
    number = 0
    for _ in range(random_.randint(1, 4)):
        messages.append(
            HumanMessage(random_.choice(["Hello", "What is 2+2?", "你好 🌍", "a\x00b"]))
        )
        for _ in range(random_.randint(0, 2)):
            calls = [
                {"name": random_.choice("fgh"), "args": {"n": number + i}, "id": f"c{number + i}"}
                for i in range(random_.randint(1, 3))
            ]
            number += len(calls)
            messages.append(AIMessage(random_.choice(["", "Let me see."]), tool_calls=calls))
            random_.shuffle(calls)
            messages += [
                ToolMessage(random_.choice(["42", ""]), tool_call_id=c["id"], name=c["name"])
                for c in calls
            ]
        messages.append(AIMessage(random_.choice(["Four.", [{"type": "text", "text": "4"}], ""])))
    return messages


def _stray(random_: random.Random) -> BaseMessage:
    fragment = {"name": "f", "args": '{"a', "id": "q", "index": 0, "type": "tool_call_chunk"}
    made: list[BaseMessage] = [
        ToolMessage("stray", tool_call_id=random_.choice(["x", "c0", ""])),
        AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": random_.choice(["c0", None])}]),
        AIMessage("", invalid_tool_calls=[{"name": "f", "args": '{"a', "id": "z", "error": "cut"}]),
        AIMessageChunk("", tool_call_chunks=[fragment], chunk_position="last"),
        AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}}),
        FunctionMessage("legacy", name="f"),
        ChatMessage("as somebody", role="user"),
        SystemMessage("And polite."),
        RemoveMessage("gone"),
        HumanMessage(""),
        HumanMessage([{"type": "image", "url": "https://example.org/a.png"}]),
        HumanMessage([{"type": "text", "text": "in blocks"}, "and a string"]),
        AIMessage([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "so"}]),
    ]
    return random_.choice(made)


def damaged(seed: int) -> list[BaseMessage]:
    """Return a history with messages dropped, doubled, moved, renamed or put between others."""
    random_ = random.Random(seed)
    messages = _valid(random_)
    for _ in range(random_.randint(1, 5)):
        at = random_.randrange(len(messages)) if messages else 0
        kind = random_.choice(["drop", "double", "move", "stray", "stray", "rename", "cut"])
        if kind == "stray" or not messages:
            messages.insert(at, _stray(random_))
        elif kind == "drop":
            del messages[at]
        elif kind == "double":
            messages.insert(at, messages[at])
        elif kind == "move":
            messages.insert(random_.randrange(len(messages)), messages.pop(at))
        elif kind == "cut":
            del messages[at + 1 :]
        else:
            where = [i for i, m in enumerate(messages) if isinstance(m, ToolMessage)]
            for i in where[:1]:
                messages[i] = messages[i].model_copy(update={"tool_call_id": "other"})
    if not any(isinstance(m, HumanMessage) for m in messages):
        messages.append(HumanMessage("And now?"))
    return messages


def _prompt_tokens(messages: list[BaseMessage]) -> int:
    request = ChatRequest(model="local", messages=messages)
    body: dict[str, Any] = get_codec("openai_chat", "local").encode_request(request)
    return local.count_prompt_tokens(body)


def test_the_server_counts_every_repaired_history(scale: int) -> None:
    for seed in range(COUNTED * scale):
        repaired = repair_messages(damaged(seed), "local").messages
        assert validate_messages(repaired, "local") == []
        assert _prompt_tokens(repaired) > 0, seed


@pytest.mark.parametrize("raw", ['{"a', "", " ", "[1]", "null", '"{}"', "x"])
def test_arguments_that_are_no_json_are_left_out_where_the_server_reads_them(raw: str) -> None:
    call = {"name": "f", "args": raw, "id": "c", "error": "broken"}
    history = [HumanMessage("q"), AIMessage("", invalid_tool_calls=[call])]
    assert _prompt_tokens(repair_messages(history, "local").messages) > 0


@pytest.mark.parametrize(
    "ending",
    [
        [AIMessage("one"), AIMessage("two")],
        [AIMessage("one"), AIMessage([{"type": "text", "text": "two"}, "three"]), AIMessage("")],
        [AIMessage([{"type": "text", "text": "one"}], name="n"), AIMessage("two")],
    ],
)
def test_assistant_turns_at_the_end_are_one_where_several_are_refused(
    ending: list[BaseMessage],
) -> None:
    history = [HumanMessage("q"), *ending]
    assert _prompt_tokens(history) > 0
    request = ChatRequest(model="local", messages=history)
    wire = get_codec("openai_chat", "local").encode_request(request)["messages"]
    assert [message["role"] for message in wire] == ["user", "assistant"]
    assert all(word in str(wire[1]["content"]) for word in ("one", "two"))


def test_the_server_answers_repaired_histories(scale: int) -> None:
    model: Any = init_chat_model("local", max_tokens=1, temperature=0, history="strict")
    for seed in range(max(1, scale // 2)):
        repaired = repair_messages(damaged(1000 + seed), "local").messages
        reply = model.invoke(repaired)
        assert reply.usage_metadata["output_tokens"] == 1
        assert reply.usage_metadata["input_tokens"] > 0
