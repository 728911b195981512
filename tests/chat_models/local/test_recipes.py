import copy
import json

import pytest
from tests.chat_models.local.test_servers import client

from dragoman.chat_models import local
from dragoman.chat_models.local.recipes import prepare
from dragoman.errors import EncodeError

USER = {"role": "user", "content": "What is the weather in Paris?"}
PREFILL = {"role": "assistant", "content": "<tool_call>\n"}


def tool(name: str, **properties) -> dict:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


WEATHER = tool("get_weather", city={"type": "string"})
ADD = tool("add", a={"type": "integer"}, b={"type": "integer"})


@pytest.mark.parametrize("path", [None, "/x.gguf"])
@pytest.mark.parametrize(
    ("tools", "choice", "sent", "forced"),
    [
        ([WEATHER, ADD], None, ["get_weather", "add"], False),
        ([WEATHER, ADD], "auto", ["get_weather", "add"], False),
        ([WEATHER, ADD], "required", ["get_weather", "add"], True),
        ([WEATHER, ADD], {"type": "function", "function": {"name": "add"}}, ["add"], True),
        ([WEATHER, ADD], "none", [], False),
        ([], "required", [], False),
        (None, "none", [], False),
    ],
)
def test_tool_choice_becomes_what_the_server_enforces(path, tools, choice, sent, forced):
    body = {"messages": [USER], "tools": tools, "tool_choice": choice, "parallel_tool_calls": True}
    before = copy.deepcopy(body)
    result = prepare(body, path)
    assert body == before
    assert [t["function"]["name"] for t in result.get("tools", [])] == sent
    assert ("tools" in result, "parallel_tool_calls" in result) == (bool(sent), bool(sent))
    assert (result.get("tool_choice") == "required") == forced
    prefilled = forced and path is None
    assert result["messages"] == [USER, PREFILL] if prefilled else [USER]
    assert result.get("stop") == (["</tool_call>"] if prefilled else None)


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (None, ["</tool_call>"]),
        ("END", ["END", "</tool_call>"]),
        (["A", "B"], ["A", "B", "</tool_call>"]),
    ],
)
def test_the_callers_stop_strings_stay(stop, expected):
    body = {"messages": [USER], "tools": [ADD], "tool_choice": "required", "stop": stop}
    assert prepare(body)["stop"] == expected


@pytest.mark.parametrize(
    ("start", "expected"), [("Well", "Well\n<tool_call>\n"), ("", "<tool_call>\n")]
)
def test_a_reply_the_caller_began_goes_on_with_the_call(start, expected):
    messages = [USER, {"role": "assistant", "content": start}]
    result = prepare({"messages": messages, "tools": [ADD], "tool_choice": "required"})
    assert result["messages"] == [USER, {"role": "assistant", "content": expected}]
    assert messages[-1]["content"] == start


def test_a_choice_of_a_tool_that_is_not_there_is_an_error():
    choice = {"type": "function", "function": {"name": "nope"}}
    with pytest.raises(EncodeError, match=r"names 'nope', .* at `\$\.tool_choice`; name one of"):
        prepare({"messages": [USER], "tools": [ADD], "tool_choice": choice})


@pytest.mark.parametrize("other", [{"type": "web_search"}, {"name": "f", "input_schema": {}}, "f"])
def test_a_tool_that_is_no_function_is_an_error(other):
    with pytest.raises(EncodeError, match=r"functions only, .* at `\$\.tools\[1\]`"):
        prepare({"messages": [USER], "tools": [ADD, other]})


@pytest.mark.parametrize(
    ("given", "path", "expected"),
    [
        ({}, None, 1024),
        ({"max_tokens": 5}, None, 5),
        ({"max_completion_tokens": 7}, None, 7),
        ({"max_tokens": None}, None, 1024),
        ({}, "/x.gguf", None),
    ],
)
def test_a_small_model_gets_a_limit_where_the_caller_set_none(given, path, expected):
    assert prepare({"messages": [USER], **given}, path).get("max_tokens") == expected


@pytest.mark.parametrize("path", [None, "/x.gguf"])
@pytest.mark.parametrize("kind", ["image_url", "input_audio", "file"])
def test_what_a_text_model_cannot_read_is_refused_before_the_network(kind, path):
    content = [{"type": "text", "text": "see"}, {"type": kind, kind: {"url": "data:secret"}}]
    with pytest.raises(EncodeError) as caught:
        prepare({"messages": [USER, {"role": "user", "content": content}]}, path)
    assert caught.value.path == "$.messages[1].content[1]"
    assert "reads text only" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_free_strings_and_arrays_of_a_schema_get_limits_and_nothing_else_changes():
    schema = {
        "type": "object",
        "properties": {
            "type": {"type": "string"},
            "maxLength": {
                "type": "array",
                "items": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            "kind": {"type": "string", "enum": ["string"]},
            "short": {"type": "string", "maxLength": 3},
            "day": {"type": "string", "format": "date"},
            "three": {"type": "array", "items": {"type": "integer"}, "minItems": 3},
            "more": {"$ref": "#/$defs/type"},
            "free": {"title": "Free", "default": None},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "open": {"type": "object", "properties": {"a": {}}, "additionalProperties": True},
            "wide": {"type": "object", "additionalProperties": True},
        },
        "$defs": {"type": {"type": "string", "default": {"type": "string"}}},
        "required": ["type"],
    }
    before = copy.deepcopy(schema)
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    sent = prepare({"messages": [USER], "response_format": form})["response_format"]
    expected = copy.deepcopy(schema)
    properties = expected["properties"]
    properties["type"]["maxLength"] = 200
    properties["maxLength"]["maxItems"] = 10
    properties["maxLength"]["items"]["anyOf"][0]["maxLength"] = 200
    expected["$defs"]["type"]["maxLength"] = 200
    plain = {"type": ["string", "number", "boolean", "null"], "maxLength": 200}
    properties["free"] |= plain
    properties["map"]["additionalProperties"]["maxLength"] = 200
    properties["open"] |= {"properties": {"a": plain}, "additionalProperties": False}
    assert sent == {"type": "json_schema", "json_schema": {"name": "x", "schema": expected}}
    assert schema == before
    assert prepare({"messages": [USER], "response_format": form}, "/x")["response_format"] is form


@pytest.mark.local_model
@pytest.mark.soak
def test_a_forced_choice_gives_exactly_one_valid_native_call():
    choice = {"type": "function", "function": {"name": "add"}}
    body = {"messages": [USER], "tools": [WEATHER, ADD], "tool_choice": choice, "temperature": 0}
    with client(local.server()) as http:
        reply = http.post("/chat/completions", json=prepare(body)).json()["choices"][0]
    (call,) = reply["message"]["tool_calls"]
    arguments = json.loads(call["function"]["arguments"])
    assert call["function"]["name"] == "add"
    assert {key: type(value) for key, value in arguments.items()} == {"a": int, "b": int}
    assert reply["finish_reason"] == "tool_calls"


@pytest.mark.local_model
@pytest.mark.soak
def test_a_schema_is_obeyed():
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["name", "tags"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    body = {"messages": [USER], "response_format": form, "temperature": 1, "seed": 1}
    with client(local.server()) as http:
        reply = http.post("/chat/completions", json=prepare(body)).json()["choices"][0]
    value = json.loads(reply["message"]["content"])
    assert sorted(value) == ["name", "tags"]
    assert reply["finish_reason"] == "stop"
