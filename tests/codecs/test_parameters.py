"""Parameters of a converted request: carried over where they mean the same, reported where not."""

import pytest

from dragoman import convert

ASK = [{"role": "user", "content": "q"}]


def codes(converted):
    return {(c.path, c.code) for c in converted.changes}


@pytest.mark.parametrize(
    ("body", "to", "key"),
    [
        ({"input": "q", "context_management": [{"type": "compaction"}]}, "anthropic", "context_management"),
        ({"messages": ASK, "thinking": {"clear_thinking": False}}, "anthropic", "thinking"),
        ({"messages": ASK, "metadata": {"a": "b"}}, "anthropic", "metadata"),
        ({"messages": ASK, "stream_options": {"include_usage": True}}, "openai_responses", "stream_options"),
        ({"messages": ASK, "service_tier": "flex"}, "anthropic", "service_tier"),
        ({"contents": [{"parts": [{"text": "q"}]}], "serviceTier": "x"}, "bedrock", "serviceTier"),
    ],
)  # fmt: skip
def test_a_parameter_that_only_shares_a_name_is_dropped_and_told(body, to, key):
    before = repr(body)
    out = convert(body, to=to)
    assert key not in out.body
    assert (f"$.{key}", "dropped_parameter") in codes(out)
    assert repr(body) == before


def test_effort_and_verbosity_move_between_the_wires_of_openai():
    there = convert(
        {"messages": ASK, "reasoning_effort": "low", "verbosity": "high", "metadata": {"a": "b"}},
        to="openai_responses",
    )
    assert there.body["reasoning"] == {"effort": "low"}
    assert there.body["text"] == {"verbosity": "high"}
    assert there.body["metadata"] == {"a": "b"}
    assert not there.changes
    back = convert(there.body, to="openai").body
    assert (back["reasoning_effort"], back["verbosity"]) == ("low", "high")
    summary = {"reasoning": {"effort": "low", "summary": "auto"}}
    assert convert({"input": "q", **summary}, to="openai").body["reasoning_effort"] == "low"


NESTED = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]}}  # fmt: skip
FLAT = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]}


@pytest.mark.parametrize(
    ("chat", "responses"),
    [
        (NESTED, FLAT),
        ({"type": "custom", "custom": {"name": "c"}}, {"type": "custom", "name": "c"}),
        ({"type": "function", "function": {"name": "f"}}, {"type": "function", "name": "f"}),
        ("required", "required"),
        ("none", "none"),
    ],
)
def test_choices_are_spelled_as_each_wire_of_openai_does(chat, responses):
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]  # fmt: skip
    out = convert({"messages": ASK, "tools": tools, "tool_choice": chat}, to="openai_responses")
    assert out.body["tool_choice"] == responses
    assert convert(out.body, to="openai").body["tool_choice"] == chat


@pytest.mark.parametrize(
    "config",
    [{"includeServerSideToolInvocations": True}, {"retrievalConfig": {"latLng": {}}}],
)
@pytest.mark.parametrize("to", ["openai", "bedrock", "anthropic", "openai_responses", "mistral"])
def test_what_gemini_says_of_its_own_tools_goes_nowhere_else(config, to):
    body = {
        "contents": [{"role": "user", "parts": [{"text": "q"}]}],
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
        "toolConfig": config,
    }
    out = convert(body, to=to)
    assert next(iter(config)) not in repr(out.body)
    assert out.changes


@pytest.mark.parametrize("choice", [{"type": "mcp", "server_label": "s"}, {"type": "web_search"}])
def test_a_choice_of_a_server_tool_has_no_place_in_chat(choice):
    out = convert({"input": "q", "tool_choice": choice}, to="openai")
    assert "tool_choice" not in out.body
    assert ("$.tool_choice", "dropped_parameter") in codes(out)


def test_cache_marks_go_where_there_are_such():
    marked = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]
    body = {"max_tokens": 5, "system": marked, "messages": [{"role": "user", "content": marked}]}
    out = convert(body, to="openai")
    assert "cache_control" not in repr(out.body)
    assert {c.code for c in out.changes} == {"dropped_cache_control"}
    assert convert(body, to="openrouter").body["messages"][1]["content"][0]["cache_control"]
    assert "cachePoint" in repr(convert(body, to="bedrock").body)


@pytest.mark.parametrize("to", ["anthropic", "openai", "openai_responses", "mistral", "cohere", "bedrock"])  # fmt: skip
def test_what_gemini_noted_of_a_schema_stays_at_home(to):
    schema = {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}}
    body = {
        "contents": [{"role": "user", "parts": [{"text": "q"}]}],
        "generationConfig": {"responseMimeType": "application/json", "responseSchema": schema},
    }
    text = repr(convert(body, to=to).body)
    assert "'gemini'" not in text
    assert "OBJECT" not in text


def test_what_is_dropped_of_a_group_is_named_and_not_the_group():
    config = {"temperature": 0.5, "topK": 4, "candidateCount": 2}
    body = {"contents": [{"role": "user", "parts": [{"text": "q"}]}], "generationConfig": config}
    out = convert(body, to="openai")
    assert out.body["temperature"] == 0.5
    assert out.body["n"] == 2
    assert [c.path for c in out.changes] == ["$.generationConfig.topK"]
    body = {"model": "m", "messages": ASK, "options": {"num_ctx": 9, "temperature": 0.5}}
    out = convert(body, to="anthropic", source="ollama")
    assert [c.path for c in out.changes if c.lossy] == ["$.options.num_ctx"]


SAMPLING = {
    "openai_chat": {"seed": 7, "n": 2, "presence_penalty": 0.1, "frequency_penalty": 0.2},
    "openai_responses": {"presence_penalty": 0.1, "frequency_penalty": 0.2},
    "anthropic": {"top_k": 5},
    "gemini": {
        "generationConfig": {
            "seed": 7, "topK": 5, "candidateCount": 2, "presencePenalty": 0.1,
            "frequencyPenalty": 0.2,
        }
    },
    "mistral": {"random_seed": 7, "n": 2, "presence_penalty": 0.1, "frequency_penalty": 0.2},
    "cohere": {"seed": 7, "k": 5, "presence_penalty": 0.1, "frequency_penalty": 0.2},
    "ollama": {
        "options": {"seed": 7, "top_k": 5, "presence_penalty": 0.1, "frequency_penalty": 0.2}
    },
}  # fmt: skip
MEANINGS = [
    {"seed", "random_seed"}, {"topK", "top_k", "k"}, {"candidateCount", "n"},
    {"presencePenalty", "presence_penalty"}, {"frequencyPenalty", "frequency_penalty"},
]  # fmt: skip


def meant(parameters):
    """Return the meanings of parameters as places in `MEANINGS`, with their values."""
    (inner,) = [v for v in parameters.values() if isinstance(v, dict)] or [parameters]
    return {n: inner[k] for n, names in enumerate(MEANINGS) for k in names & inner.keys()}


@pytest.mark.parametrize("to", SAMPLING)
@pytest.mark.parametrize("source", SAMPLING)
def test_a_parameter_that_stands_elsewhere_is_carried_there_or_told(source, to):
    ask = {"contents": [{"role": "user", "parts": [{"text": "q"}]}]}
    body = {**(ask if source == "gemini" else {"messages": ASK, "max_tokens": 9})}
    if source == "openai_responses":
        body = {"input": ASK}
    body |= SAMPLING[source]
    out = convert(body, to=to, source=source)
    given, wanted = meant(SAMPLING[source]), meant(SAMPLING[to])
    carried = {k: v for k, v in given.items() if k in wanted}
    if (source, to) == ("anthropic", "openai_chat"):  # its speakers beside OpenAI take `top_k`
        assert out.body["top_k"] == 5
        return
    found = meant({k: v for k, v in out.body.items() if k in SAMPLING[to]})
    assert found == carried
    told = {c.path.rpartition(".")[2] for c in out.changes if c.code == "dropped_parameter"}
    assert {n for n, names in enumerate(MEANINGS) if names & told} == given.keys() - carried.keys()


def test_what_a_wire_adds_or_keeps_elsewhere_is_told():
    body = {"model": "m", "messages": ASK}
    out = convert(body, to="anthropic")
    assert codes(out) == {("$.max_tokens", "added_parameter")}
    assert out.body["max_tokens"] == 4096
    assert codes(convert({**body, "max_tokens": 9}, to="anthropic")) == set()
    for to in ("gemini", "bedrock"):
        assert codes(convert(body, to=to)) == {("$.model", "model_in_address")}
    assert not any(change.lossy for change in out.changes)


SERIAL = {
    "model": "m", "max_tokens": 5, "messages": ASK,
    "tools": [{"name": "f", "input_schema": {"type": "object"}}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"type": "auto"}, "auto"),
        ({"type": "tool", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
    ],
)
def test_one_call_at_a_time_is_asked_for_in_the_words_of_the_wire(given, expected):
    choice = {**given, "disable_parallel_tool_use": True}
    body = {**SERIAL, "tool_choice": choice}
    for to in ("openai", "openai_responses", "mistral"):
        out = convert(body, to=to)
        assert out.body["parallel_tool_calls"] is False
        assert not any(change.lossy for change in out.changes)
    there = convert(body, to="openai")
    assert there.body["tool_choice"] == expected
    assert convert(there.body, to="anthropic", source="openai").body["tool_choice"] == choice
    assert body["tool_choice"] is choice
    assert ("$.parallel_tool_calls", "dropped_parameter") in codes(convert(body, to="gemini"))


def test_who_asks_is_said_in_the_place_of_the_wire():
    body = {"model": "m", "messages": ASK, "user": "u", "max_tokens": 9}
    out = convert(body, to="anthropic")
    assert (out.body["metadata"], out.changes) == ({"user_id": "u"}, [])
    assert convert(out.body, to="openai", source="anthropic").body["user"] == "u"
    out = convert({**body, "metadata": {"a": "b"}}, to="anthropic")
    (told,) = out.changes
    assert (told.path, told.lossy) == ("$.metadata", True)
    assert "means something else" in told.message


@pytest.mark.parametrize("to", ["anthropic", "gemini", "ollama"])
def test_a_detail_that_a_wire_has_not_is_told(to):
    image = {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"},
    }
    body = {"messages": [{"role": "user", "content": [image]}], "max_tokens": 9}
    assert ("$[0].content[0]", "dropped_detail") in codes(convert(body, to=to))
    image["image_url"]["detail"] = "auto"
    assert convert(body, to=to).changes == []
