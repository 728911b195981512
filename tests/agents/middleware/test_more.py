"""Personal data, the list of steps, chosen tools, made-up results."""

from importlib import import_module

import pytest
from tests.agents.support import HI, add, call, calls, fail, model, results, texts

from dragoman.agents import create_agent
from dragoman.agents.middleware import (
    LLMToolEmulator,
    LLMToolSelectorMiddleware,
    PIIDetectionError,
    PIIMiddleware,
    TodoListMiddleware,
)
from dragoman.agents.middleware.pii import _luhn
from dragoman.messages import AIMessage, HumanMessage

HOW = pytest.mark.parametrize("how", ["invoke", "ainvoke"])
VALUES = {
    "email": "me@x.org",
    "credit_card": "4111 1111 1111 1111",
    "ip": "10.0.0.1",
    "mac_address": "00:1A:2B:3C:4D:5E",
    "url": "https://a.b/c?d=1",
}
MASKED = {
    "email": "me@****.org",
    "credit_card": "**** **** **** 1111",
    "ip": "*.*.*.1",
    "mac_address": "**:**:**:**:**:5E",
    "url": "[MASKED_URL]",
}


def cleaned(text, kind, **options):
    fake = model("ok")
    state = create_agent(fake, middleware=[PIIMiddleware(kind, **options)]).invoke(
        {"messages": text}
    )
    assert fake.asked[0][0].content == state["messages"][0].content
    return state["messages"][0].content


@pytest.mark.parametrize("kind", VALUES)
def test_each_kind_is_found_alone(kind):
    text = " and ".join(VALUES.values())
    tag = f"[REDACTED_{kind.upper()}]"
    assert cleaned(text, kind) == text.replace(VALUES[kind], tag)
    assert cleaned(text, kind, strategy="mask") == text.replace(VALUES[kind], MASKED[kind])
    hashed = cleaned(text, kind, strategy="hash")
    assert VALUES[kind] not in hashed
    assert f"<{kind}_hash:" in hashed
    assert hashed == cleaned(text, kind, strategy="hash")
    with pytest.raises(PIIDetectionError, match=f"Detected 1 instance\\(s\\) of {kind}") as caught:
        cleaned(text, kind, strategy="block")
    assert VALUES[kind] not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("credit_card", "4111 1111 1111 1112"),
        ("credit_card", "1234"),
        ("ip", "999.1.1.1"),
        ("ip", "1.2.3"),
        ("email", "me at x.org"),
        ("mac_address", "00:1A:2B"),
    ],
)
def test_what_only_looks_like_it_stays(kind, text):
    assert cleaned(text, kind) == text


def test_blocks_of_text_are_cleaned_and_others_stay():
    image = {"type": "image", "url": "https://me@x.org/i.png"}
    given = HumanMessage([{"type": "text", "text": "me@x.org"}, image])
    assert cleaned([given], "email") == [{"type": "text", "text": "[REDACTED_EMAIL]"}, image]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["[REDACTED_EMAIL]", "see a@b.co", "t@x.org", "bye a@b.co"]),
        ({"apply_to_output": True, "apply_to_input": False}, ["i@x.org", "see [REDACTED_EMAIL]", "t@x.org", "bye [REDACTED_EMAIL]"]),
        ({"apply_to_tool_results": True}, ["[REDACTED_EMAIL]", "see a@b.co", "[REDACTED_EMAIL]", "bye a@b.co"]),
    ],
)  # fmt: skip
@HOW
async def test_where_it_is_looked_for(options, expected, how):
    def look() -> str:
        """Look."""
        return "t@x.org"

    fake = model(calls(call("look"), text="see a@b.co"), "bye a@b.co")
    agent = create_agent(fake, [look], middleware=[PIIMiddleware("email", **options)])
    given = {"messages": "i@x.org"}
    state = agent.invoke(given) if how == "invoke" else await agent.ainvoke(given)
    assert texts(state["messages"]) == expected


def test_a_kind_of_one_s_own():
    assert (
        cleaned("key sk-abcdef12345", "api_key", detector=r"sk-\w+", strategy="mask")
        == "key ****2345"
    )

    def find(text):
        at = text.find("x")
        return [{"type": "x", "value": "x", "start": at, "end": at + 1}] if at >= 0 else []

    assert cleaned("axb", "letter", detector=find) == "a[REDACTED_LETTER]b"
    assert PIIMiddleware("letter", detector=find).name == "PIIMiddleware[letter]"


def test_kinds_and_strategies_without_sense_are_refused():
    with pytest.raises(ValueError, match="Unknown PII type: nope"):
        PIIMiddleware("nope")
    with pytest.raises(ValueError, match="Unknown strategy"):
        PIIMiddleware("email", strategy="x")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("email", "a@b.com"),
        ("credit_card", "4532015112830366"),
        ("ip", "10.0.0.1"),
        ("mac_address", "00:1A:2B:3C:4D:5E"),
        ("url", "https://a.b/c"),
    ],
)
def test_what_finds_a_kind_is_a_function_too(kind, value):
    find = getattr(import_module("dragoman.agents.middleware.pii"), f"detect_{kind}")
    assert find(f"at {value} now") == [
        {"type": kind, "value": value, "start": 3, "end": 3 + len(value)}
    ]
    assert find("nothing here, 300.1.1.1 and 1234567890123456") == []


@pytest.mark.parametrize(
    ("number", "is_card"), [("378282246310005", True), ("378282246310006", False)]
)
def test_a_card_has_a_check_digit(number, is_card):
    assert _luhn(number) is is_card


# ---------------------------------------------------------------- the list of steps


@HOW
async def test_the_list_of_steps_stands_in_the_state(how):
    todos = [{"content": "x", "status": "pending"}]
    fake = model(calls(call("write_todos", todos=todos)), "ok")
    agent = create_agent(fake, system_prompt="base", middleware=[TodoListMiddleware()])
    state = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    assert state["todos"] == todos
    assert results(state) == [("1", f"Updated todo list to {todos}", "success")]
    assert fake.asked[0][0].text.startswith("base\n\n")
    assert "write_todos" in fake.asked[0][0].text


def test_two_lists_at_once_are_none():
    reply = calls(
        call("write_todos", "1", todos=[]),
        call("add", "2", a=1, b=1),
        call("write_todos", "3", todos=[]),
    )
    state = create_agent(model(reply, "ok"), [add], middleware=[TodoListMiddleware()]).invoke(HI)
    assert [(r[0], r[2]) for r in results(state)] == [
        ("1", "error"),
        ("2", "success"),
        ("3", "error"),
    ]
    assert "todos" not in state


def test_a_wrong_list_is_an_error_result():
    fake = model(calls(call("write_todos", todos=[{"content": "x", "status": "maybe"}])), "ok")
    state = create_agent(fake, middleware=[TodoListMiddleware(system_prompt="p")]).invoke(HI)
    assert results(state)[0][2] == "error"


# ---------------------------------------------------------------- chosen tools


def other(x: int) -> int:
    """Do something else."""
    return x


@pytest.mark.parametrize(
    ("chosen", "options", "bound"),
    [
        (["add"], {}, ["add"]),
        (["add", "other"], {"max_tools": 1}, ["add"]),
        (["add", "made_up", "add"], {}, ["add"]),
        ([], {}, []),
        (["add"], {"always_include": ["other"]}, ["add", "other"]),
    ],
)
@HOW
async def test_only_chosen_tools_are_bound(chosen, options, bound, how):
    chooser = model(calls(call("ToolSelectionResponse", tools=chosen)))
    fake = model("ok")
    pick = LLMToolSelectorMiddleware(model=chooser, **options)
    agent = create_agent(fake, [add, fail, other], middleware=[pick])
    _ = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    assert [t.name for b in fake.bound for t in b["tools"]] == bound
    assert "Add two numbers" in chooser.asked[0][0].text


def test_provider_tools_stay_and_a_wrong_name_is_refused():
    search = {"type": "web_search"}
    fake = model("ok")
    pick = LLMToolSelectorMiddleware(model=model(calls(call("ToolSelectionResponse", tools=[]))))
    create_agent(fake, [add, search], middleware=[pick]).invoke(HI)
    assert fake.bound[0]["tools"] == [search]
    wrong = LLMToolSelectorMiddleware(model=model("x"), always_include=["nope"])
    with pytest.raises(ValueError, match=r"not found in request: \['nope'\]"):
        create_agent(fake, [add], middleware=[wrong]).invoke(HI)


# ---------------------------------------------------------------- made-up results


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        (None, ["made up", "made up"]),
        (["fail"], ["2", "made up"]),
        ([], ["2", "ValueError: broken"]),
    ],
)
@HOW
async def test_results_are_made_up(tools, expected, how):
    reply = calls(call("add", "1", a=1, b=1), call("fail", "2"))
    maker = model(AIMessage("made up"))
    agent = create_agent(
        model(reply, "ok"), [add, fail], middleware=[LLMToolEmulator(tools=tools, model=maker)]
    )
    state = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    assert [r[1] for r in results(state)] == expected


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("model_call_limit", "ModelCallLimitExceededError"),
        ("tool_call_limit", "ToolCallLimitExceededError"),
        ("model_fallback", "ModelFallbackMiddleware"),
        ("model_retry", "ModelRetryMiddleware"),
        ("tool_retry", "ToolRetryMiddleware"),
        ("human_in_the_loop", "HITLRequest"),
        ("human_in_the_loop", "RespondDecision"),
        ("model_call_limit", "ModelCallLimitState"),
        ("tool_call_limit", "ToolCallLimitState"),
        ("tool_error", "ToolErrorMiddleware"),
        ("types", "OutputAgentState"),
        ("types", "ToolCallWrapper"),
        ("summarization", "SummarizationMiddleware"),
        ("context_editing", "ClearToolUsesEdit"),
        ("todo", "PlanningState"),
        ("pii", "PIIDetectionError"),
        ("tool_selection", "LLMToolSelectorMiddleware"),
        ("tool_emulator", "LLMToolEmulator"),
        ("types", "ModelRequest"),
    ],
)
def test_modules_have_langchain_s_names(module, name):
    assert hasattr(import_module(f"dragoman.agents.middleware.{module}"), name)
