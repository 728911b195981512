"""The middleware that is shipped, one section each."""

import pytest
from tests.agents.support import HI, add, call, calls, fail, kinds, model, results, texts, thread

from dragoman.agents import create_agent
from dragoman.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    ModelCallLimitExceededError,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
    ToolCallLimitExceededError,
    ToolCallLimitMiddleware,
    ToolErrorMiddleware,
    ToolRetryMiddleware,
)
from dragoman.errors import ModelInvalidRequestError, ModelRateLimitError, ToolError
from dragoman.messages import AIMessage, HumanMessage, ToolMessage
from dragoman.threads import MemoryThreads
from dragoman.tools import tool
from dragoman.transcript import validate_messages

HOW = pytest.mark.parametrize("how", ["invoke", "ainvoke"])


async def ran(agent, given, how, config=None):
    return agent.invoke(given, config) if how == "invoke" else await agent.ainvoke(given, config)


def looping(**fields):
    return model(lambda messages: calls(call("add", f"c{len(messages)}", a=1, b=1)), **fields)


# ---------------------------------------------------------------- call limits


@HOW
async def test_the_model_call_limit_ends_a_run_with_a_reply(how):
    fake = looping()
    agent = create_agent(fake, [add], middleware=[ModelCallLimitMiddleware(run_limit=2)])
    state = await ran(agent, HI, how)
    assert len(fake.asked) == 2
    assert state["messages"][-1].text == "Model call limits exceeded: run limit (2/2)"
    assert validate_messages(state["messages"]) == []
    assert "run_model_call_count" not in state


def test_the_model_call_limit_may_raise():
    limit = ModelCallLimitMiddleware(run_limit=1, exit_behavior="error")
    with pytest.raises(ModelCallLimitExceededError, match="run limit"):
        create_agent(looping(), [add], middleware=[limit]).invoke(HI)


def test_the_thread_limit_counts_over_runs_and_the_run_limit_does_not():
    limit = ModelCallLimitMiddleware(thread_limit=2, run_limit=1)
    agent = create_agent(model("ok"), middleware=[limit], checkpointer=MemoryThreads())
    said = [agent.invoke(HI, thread())["messages"][-1].text for _ in range(3)]
    assert said == ["ok", "ok", "Model call limits exceeded: thread limit (2/2)"]


@pytest.mark.parametrize("kind", [ModelCallLimitMiddleware, ToolCallLimitMiddleware])
def test_limits_without_sense_are_refused(kind):
    with pytest.raises(ValueError, match="At least one limit"):
        kind()
    with pytest.raises(ValueError, match="cannot exceed"):
        kind(thread_limit=1, run_limit=2)


@HOW
async def test_the_tool_call_limit_answers_what_is_too_many(how):
    reply = calls(*(call("add", str(n), a=n, b=n) for n in range(3)))
    agent = create_agent(
        model(reply, "ok"), [add], middleware=[ToolCallLimitMiddleware(run_limit=2)]
    )
    state = await ran(agent, HI, how)
    assert [(r[0], r[2]) for r in results(state)] == [
        ("0", "success"),
        ("1", "success"),
        ("2", "error"),
    ]
    assert results(state)[2][1] == "Tool call limit exceeded. Do not make additional tool calls."
    assert state["messages"][-1].text == "ok"


def test_the_tool_call_limit_of_one_tool_leaves_others_alone():
    reply = calls(call("add", "1", a=1, b=1), call("fail", "2"), call("add", "3", a=2, b=2))
    limit = ToolCallLimitMiddleware(tool_name="add", run_limit=1)
    assert limit.name == "ToolCallLimitMiddleware[add]"
    state = create_agent(model(reply, "ok"), [add, fail], middleware=[limit]).invoke(HI)
    assert [r[:2] for r in results(state)] == [
        ("1", "2"),
        ("2", "ValueError: broken"),
        ("3", "Tool call limit exceeded. Do not call 'add' again."),
    ]


def test_the_tool_call_limit_may_end_the_run_with_every_call_answered():
    reply = calls(call("add", "1", a=1, b=1), call("add", "2", a=1, b=1))
    limit = ToolCallLimitMiddleware(run_limit=1, exit_behavior="end")
    fake = model(reply)
    state = create_agent(fake, [add], middleware=[limit]).invoke(HI)
    assert kinds(state["messages"]) == ["human", "ai", "tool", "tool", "ai"]
    assert [r[2] for r in results(state)] == ["error", "error"]
    assert "run limit exceeded (2/1 calls)" in state["messages"][-1].text
    assert len(fake.asked) == 1


def test_the_tool_call_limit_may_raise():
    limit = ToolCallLimitMiddleware(run_limit=1, exit_behavior="error")
    with pytest.raises(ToolCallLimitExceededError):
        create_agent(looping(), [add], middleware=[limit]).invoke(HI)


@pytest.mark.parametrize("kind", [ModelCallLimitMiddleware, ToolCallLimitMiddleware])
def test_limits_that_cannot_be_meant_are_refused(kind):
    with pytest.raises(ValueError, match=r"At least one limit must be specified"):
        kind()
    with pytest.raises(ValueError, match=r"run_limit \(3\) cannot exceed thread_limit \(2\)"):
        kind(run_limit=3, thread_limit=2)
    with pytest.raises(ValueError, match=r"Invalid exit_behavior: 'stop'\. Must be one of"):
        kind(run_limit=3, exit_behavior="stop")


def test_two_tool_call_limits_for_two_tools():
    limits = [ToolCallLimitMiddleware(tool_name=n, run_limit=1) for n in ("add", "fail")]
    reply = calls(call("add", "1", a=1, b=1), call("fail", "2"))
    state = create_agent(model(reply, reply, "ok"), [add, fail], middleware=limits).invoke(HI)
    assert [r[1].startswith("Tool call limit") for r in results(state)] == [
        False,
        False,
        True,
        True,
    ]


# ---------------------------------------------------------------- retries and fallbacks


@HOW
async def test_the_model_is_tried_again(how):
    fake = model(ModelRateLimitError("slow down"), ValueError("odd"), "ok")
    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0)
    state = await ran(create_agent(fake, middleware=[retry]), HI, how)
    assert state["messages"][-1].text == "ok"
    assert len(fake.asked) == 3


def test_what_cannot_succeed_is_not_tried_again():
    fake = model(ModelInvalidRequestError("bad"))
    retry = ModelRetryMiddleware(max_retries=5, initial_delay=0, on_failure="error")
    with pytest.raises(ModelInvalidRequestError):
        create_agent(fake, middleware=[retry]).invoke(HI)
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    ("on_failure", "text"),
    [
        ("continue", "Model call failed after 2 attempts with ValueError: boom"),
        (lambda error: f"own {error}", "own boom"),
    ],
)
def test_when_all_tries_fail_the_reply_says_so(on_failure, text):
    retry = ModelRetryMiddleware(max_retries=1, initial_delay=0, on_failure=on_failure)
    state = create_agent(model(ValueError("boom")), middleware=[retry]).invoke(HI)
    assert state["messages"][-1].text == text


@pytest.mark.parametrize(
    ("retry_on", "n_asked"),
    [(ValueError, 3), ((KeyError, ValueError), 3), (KeyError, 1), (lambda e: "boom" in str(e), 3)],
)
def test_retry_on_decides(retry_on, n_asked):
    fake = model(ValueError("boom"))
    retry = ModelRetryMiddleware(
        max_retries=2, initial_delay=0, retry_on=retry_on, on_failure="error"
    )
    with pytest.raises(ValueError, match="boom"):
        create_agent(fake, middleware=[retry]).invoke(HI)
    assert len(fake.asked) == n_asked


@pytest.mark.parametrize(
    ("asked", "waited"), [(86400.0, 1.0), (0.5, 0.5), (-3, 0), (float("nan"), 0)]
)
def test_no_server_makes_it_wait_longer_than_the_longest_wait(asked, waited, monkeypatch):
    waits = []
    monkeypatch.setattr("dragoman._door.time.sleep", waits.append)
    error = ModelRateLimitError("busy")
    error.retry_after_s = asked
    retry = ModelRetryMiddleware(max_retries=1, max_delay=1.0)
    create_agent(model(error, "ok"), middleware=[retry]).invoke(HI)
    assert sum(waits) == waited


@pytest.mark.parametrize("kind", [ModelRetryMiddleware, ToolRetryMiddleware])
@pytest.mark.parametrize("field", ["max_retries", "initial_delay", "max_delay", "backoff_factor"])
def test_negative_numbers_are_refused(kind, field):
    with pytest.raises(ValueError, match=field):
        kind(**{field: -1})


def flaky(n_failures, error=ValueError):
    tries = []

    @tool
    def work(x: int) -> str:
        """Work."""
        tries.append(x)
        if len(tries) <= n_failures:
            raise error("boom")
        return "worked"

    return work, tries


@HOW
async def test_a_tool_is_tried_again(how):
    work, tries = flaky(2)
    retry = ToolRetryMiddleware(max_retries=2, initial_delay=0)
    agent = create_agent(model(calls(call("work", x=1)), "ok"), [work], middleware=[retry])
    assert results(await ran(agent, HI, how)) == [("1", "worked", "success")]
    assert len(tries) == 3


@pytest.mark.parametrize(
    ("options", "text", "n_tries"),
    [
        ({}, "Tool 'work' failed after 3 attempts with ValueError: boom. Please try again.", 3),
        ({"on_failure": lambda e: f"own {e}"}, "own boom", 3),
        ({"tools": ["other"]}, "ValueError: boom", 1),
        (
            {"tools": ["work"], "max_retries": 0},
            "Tool 'work' failed after 1 attempt with ValueError: boom. Please try again.",
            1,
        ),
        ({"retry_on": KeyError, "on_failure": "error"}, "ValueError: boom", 1),
    ],
)
def test_a_tool_that_goes_on_failing_is_an_error_result(options, text, n_tries):
    work, tries = flaky(9)
    retry = ToolRetryMiddleware(**{"max_retries": 2, "initial_delay": 0, **options})
    state = create_agent(model(calls(call("work", x=1)), "ok"), [work], middleware=[retry]).invoke(
        HI
    )
    assert results(state) == [("1", text, "error")]
    assert len(tries) == n_tries


def test_wrong_arguments_are_not_tried_again():
    work, tries = flaky(0)
    retry = ToolRetryMiddleware(max_retries=2, initial_delay=0)
    state = create_agent(
        model(calls(call("work", x="z")), "ok"), [work], middleware=[retry]
    ).invoke(HI)
    assert "wrong arguments" in results(state)[0][1]
    assert tries == []


@HOW
async def test_other_models_answer_when_one_fails(how):
    first, second, third = model(ValueError("1")), model(ValueError("2")), model("third")
    agent = create_agent(first, middleware=[ModelFallbackMiddleware(second, third)])
    assert (await ran(agent, HI, how))["messages"][-1].text == "third"
    assert [len(m.asked) for m in (first, second, third)] == [1, 1, 1]


@HOW
async def test_when_all_models_fail_the_last_error_is_raised_with_those_before(how):
    fallback = ModelFallbackMiddleware(model(KeyError("second")), model(ValueError("last")))
    with pytest.raises(ValueError, match="last") as caught:
        await ran(create_agent(model(ValueError("first")), middleware=[fallback]), HI, how)
    assert caught.value.__notes__ == [
        "before it, model 1 failed: ValueError: first",
        "before it, model 2 failed: KeyError: 'second'",
    ]


# ---------------------------------------------------------------- errors of tools


@HOW
@pytest.mark.parametrize(
    ("on_error", "text"),
    [
        ("continue", "ValueError: broken"),
        (lambda error: f"own: {error}", "own: broken"),
        (lambda error, request: f"{request.tool_call['name']}: {error}", "fail: broken"),
    ],
)
async def test_tool_errors_may_be_told_otherwise(on_error, text, how):
    agent = create_agent(
        model(calls(call("fail")), "ok"), [fail], middleware=[ToolErrorMiddleware(on_error)]
    )
    assert results(await ran(agent, HI, how)) == [("1", text, "error")]


def test_tool_errors_may_end_the_run():
    agent = create_agent(
        model(calls(call("fail", "c9"))), [fail], middleware=[ToolErrorMiddleware("error")]
    )
    with pytest.raises(ToolError, match="ValueError: broken") as caught:
        agent.invoke(HI)
    assert (caught.value.tool, caught.value.call_id) == ("fail", "c9")


@HOW
async def test_an_async_function_tells_errors_of_async_runs(how):
    async def told(error, request):
        return f"async {error} in {request.tool_call['name']}"

    rule = ToolErrorMiddleware(lambda error: f"sync {error}", aon_error=told, tools=[tool(fail)])
    agent = create_agent(model(calls(call("fail")), "ok"), [fail], middleware=[rule])
    said = "async broken in fail" if how == "ainvoke" else "sync broken"
    assert results(await ran(agent, HI, how)) == [("1", said, "error")]
    with pytest.raises(TypeError, match="on_error has to be continue, error or a function, got 5"):
        ToolErrorMiddleware(5)


def test_tool_errors_of_other_tools_or_kinds_are_left_alone():
    for rule in (
        ToolErrorMiddleware("error", tools=["x"]),
        ToolErrorMiddleware("error", catch=KeyError),
    ):
        state = create_agent(model(calls(call("fail")), "ok"), [fail], middleware=[rule]).invoke(HI)
        assert results(state) == [("1", "ValueError: broken", "error")]


# ---------------------------------------------------------------- long histories


def history(n_rounds):
    found = []
    for n in range(n_rounds):
        found += [
            HumanMessage(f"question {n}"),
            calls(call("add", f"c{n}", a=n, b=n)),
            ToolMessage("x" * 400, tool_call_id=f"c{n}", name="add"),
            AIMessage(f"answer {n}"),
        ]
    return found


@HOW
async def test_a_long_history_is_summarised_without_splitting_turns(how):
    writer, fake = model("the summary"), model("ok")
    short = SummarizationMiddleware(writer, trigger=("messages", 10), keep=("messages", 2))
    agent = create_agent(fake, [add], middleware=[short])
    state = await ran(agent, {"messages": [*history(3), HumanMessage("now")]}, how)
    assert "the summary" in state["messages"][0].text
    assert state["messages"][0].type == "human"
    assert texts(state["messages"])[-3:] == ["answer 2", "now", "ok"]
    assert len(fake.asked[0]) == 3
    assert "question 0" in texts(writer.asked[0])[0]


@pytest.mark.parametrize("n_kept", range(1, 12))
def test_no_cut_of_a_summary_leaves_an_orphan(n_kept):  # B66
    fake = model("ok")
    short = SummarizationMiddleware(model("s"), trigger=("tokens", 10), keep=("messages", n_kept))
    create_agent(fake, [add], middleware=[short]).invoke(
        {"messages": [*history(3), HumanMessage("now")]}
    )
    assert validate_messages(fake.asked[0], "openai") == []


@pytest.mark.parametrize(
    "options",
    [
        {"trigger": ("messages", 100)},
        {"trigger": None},
        {"trigger": [("tokens", 10**6), ("messages", 99)]},
    ],
)
def test_a_short_history_stays(options):
    writer = model("never")
    state = create_agent(
        model("ok"), middleware=[SummarizationMiddleware(writer, **options)]
    ).invoke(HI)
    assert texts(state["messages"]) == ["hi", "ok"]
    assert writer.asked == []


def test_a_fraction_needs_a_profile():
    fraction = {"trigger": ("fraction", 0.5), "keep": ("messages", 1)}
    small = model("s", profile={"max_input_tokens": 20})
    state = create_agent(
        model("ok"), middleware=[SummarizationMiddleware(small, **fraction)]
    ).invoke({"messages": [*history(2), HumanMessage("now")]})
    assert "s" in state["messages"][0].text
    with pytest.raises(ValueError, match="max_input_tokens"):
        create_agent(
            model("ok"), middleware=[SummarizationMiddleware(model("s"), **fraction)]
        ).invoke(HI)


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (("tokens",), "has to be a pair"),
        (5, "has to be a pair"),
        ("tokens", "has to be a pair"),
        (("words", 3), "Unsupported context size type 'words' for"),
        ((3, "words"), "Unsupported context size type 3 for"),
        (("tokens", 0), "a number greater than 0, got 0"),
        (("tokens", "9"), "a number greater than 0, got '9'"),
        (("messages", True), "a number greater than 0, got True"),
        (("fraction", 1.5), "must be between 0 and 1, got 1.5"),
    ],
)
@pytest.mark.parametrize("option", ["keep", "trigger"])
def test_sizes_without_sense_are_refused(option, size, said):
    with pytest.raises(ValueError, match=said) as caught:
        SummarizationMiddleware(model("s"), **{option: size})
    assert option in str(caught.value)


@pytest.mark.parametrize("n_messages", [3, 6])
def test_all_sizes_of_a_clause_have_to_be_reached(n_messages):
    clause = {"messages": 5, "tokens": 10}
    short = SummarizationMiddleware(model("sum"), trigger=[clause], keep=("messages", 1))
    given = [HumanMessage("a long enough question " * 9) for _ in range(n_messages)]
    state = create_agent(model("ok"), middleware=[short]).invoke({"messages": given})
    assert ("sum" in state["messages"][0].text) == (n_messages >= 5)
    with pytest.raises(ValueError, match="has to name tokens, messages or fraction"):
        SummarizationMiddleware(model("s"), trigger={})
    with pytest.raises(ValueError, match="Unsupported context size type 'words'"):
        SummarizationMiddleware(model("s"), trigger={"words": 3})


def test_an_edit_may_change_the_list_it_is_given():
    class Cut:
        def apply(self, messages, *, count_tokens):
            del messages[:-1]

    fake = model("ok")
    edits = ContextEditingMiddleware(edits=[Cut()])
    create_agent(fake, middleware=[edits]).invoke({"messages": ["a", "b"]})
    assert texts(fake.asked[0]) == ["b"]


@HOW
async def test_old_results_are_cleared_for_the_model_and_kept_in_the_state(how):
    fake = model("ok")
    edit = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=100, keep=1)])
    agent = create_agent(fake, [add], middleware=[edit])
    state = await ran(agent, {"messages": [*history(3), HumanMessage("now")]}, how)
    shown = [m.text for m in fake.asked[0] if m.type == "tool"]
    assert shown == ["[cleared]", "[cleared]", "x" * 400]
    assert [r[1] for r in results(state)] == ["x" * 400] * 3


@pytest.mark.parametrize(
    ("options", "n_cleared"),
    [
        ({"trigger": 10**6}, 0),
        ({"trigger": 10, "keep": 3}, 0),
        ({"trigger": 10, "keep": 0}, 3),
        ({"trigger": 10, "keep": 0, "clear_at_least": 50}, 1),
        ({"trigger": 10, "keep": 0, "exclude_tools": ["add"]}, 0),
    ],
)
def test_how_much_is_cleared(options, n_cleared):
    fake = model("ok")
    edit = ContextEditingMiddleware(edits=[ClearToolUsesEdit(**options)])
    create_agent(fake, [add], middleware=[edit]).invoke(
        {"messages": [*history(3), HumanMessage("now")]}
    )
    assert sum(m.text == "[cleared]" for m in fake.asked[0]) == n_cleared


def test_arguments_may_be_cleared_too():
    fake = model("ok")
    edit = ClearToolUsesEdit(trigger=10, keep=1, clear_tool_inputs=True, placeholder="gone")
    create_agent(fake, [add], middleware=[ContextEditingMiddleware(edits=[edit])]).invoke(
        {"messages": [*history(2), HumanMessage("now")]}
    )
    assert [m.tool_calls[0]["args"] for m in fake.asked[0] if getattr(m, "tool_calls", None)] == [
        {},
        {"a": 1, "b": 1},
    ]


def test_shipped_middleware_work_together():
    agent = create_agent(
        model(calls(call("add", a=1, b=1)), "ok"),
        [add],
        middleware=[
            SummarizationMiddleware(model("s"), trigger=("messages", 100)),
            ContextEditingMiddleware(),
            HumanInTheLoopMiddleware(
                {"add": {"allowed_decisions": ["approve"], "when": lambda c, s, r: False}}
            ),
            ModelCallLimitMiddleware(run_limit=5),
            ToolCallLimitMiddleware(run_limit=5),
            ModelFallbackMiddleware(model("x")),
            ModelRetryMiddleware(initial_delay=0),
            ToolRetryMiddleware(initial_delay=0),
            ToolErrorMiddleware(),
        ],
        checkpointer=MemoryThreads(),
    )
    assert texts(agent.invoke(HI, thread())["messages"]) == ["hi", "", "2", "ok"]
