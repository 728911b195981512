"""Model calls: hooks around them, requests, what is bound."""

import warnings

import pytest
from tests.agents.support import HI, add, call, calls, model, results, texts

from dragoman.agents import AgentState, AgentStateError, Command, create_agent
from dragoman.agents.middleware import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    wrap_model_call,
    wrap_tool_call,
)
from dragoman.messages import AIMessage, HumanMessage, SystemMessage
from dragoman.threads import MemoryThreads
from dragoman.tools import tool


class Counted(AgentState):
    n: int


def test_a_hook_sees_the_whole_request():
    seen = {}

    @wrap_model_call
    def hook(request, handler):
        seen.update(
            messages=texts(request.messages),
            prompt=request.system_prompt,
            message=request.system_message.text,
            tools=[t.name for t in request.tools],
            choice=request.tool_choice,
            settings=request.model_settings,
            state=sorted(request.state),
            context=request.runtime.context,
            format=request.response_format,
        )
        return handler(request)

    fake = model("ok")
    create_agent(fake, [add], system_prompt="sys", middleware=[hook]).invoke(HI, context=1)
    assert seen == {
        "messages": ["hi"],
        "prompt": "sys",
        "message": "sys",
        "tools": ["add"],
        "choice": None,
        "settings": {},
        "state": ["messages"],
        "context": 1,
        "format": None,
    }


@pytest.mark.parametrize(
    ("changes", "bound"),
    [
        ({"tool_choice": "any"}, {"tool_choice": "any"}),
        (
            {"model_settings": {"parallel_tool_calls": False}},
            {"tool_choice": None, "parallel_tool_calls": False},
        ),
        ({"model_settings": {"temperature": 0}}, {"tool_choice": None, "temperature": 0}),
    ],
)
def test_what_a_hook_sets_is_bound(changes, bound):  # B108
    fake = model("ok")
    hook = wrap_model_call(lambda request, handler: handler(request.override(**changes)), name="h")
    create_agent(fake, [add], middleware=[hook]).invoke(HI)
    assert {k: v for k, v in fake.bound[0].items() if k != "tools"} == bound


def test_settings_without_tools_are_bound_plainly():
    fake = model("ok")
    hook = wrap_model_call(
        lambda request, handler: handler(request.override(model_settings={"temperature": 0})),
        name="h",
    )
    create_agent(fake, middleware=[hook]).invoke(HI)
    assert fake.bound == [{"temperature": 0}]


def test_a_hook_may_change_model_messages_prompt_and_tools():
    other = model("from the other")

    @tool
    def extra() -> str:
        """Extra."""
        return "x"

    @wrap_model_call
    def hook(request, handler):
        return handler(
            request.override(
                model=other,
                messages=[HumanMessage("changed")],
                system_prompt="new",
                tools=[extra],
            )
        )

    fake = model("never")
    state = create_agent(fake, [add, extra], middleware=[hook]).invoke(HI)
    assert texts(other.asked[0]) == ["new", "changed"]
    assert [t.name for t in other.bound[0]["tools"]] == ["extra"]
    assert fake.asked == []
    assert texts(state["messages"]) == ["hi", "from the other"]


def test_tools_nobody_registered_are_refused():
    @tool
    def extra() -> str:
        """Extra."""
        return "x"

    hook = wrap_model_call(
        lambda request, handler: handler(request.override(tools=[*request.tools, extra])), name="h"
    )
    with pytest.raises(
        ValueError, match=r"^Middleware added tools that the agent doesn't know how to execute"
    ) as e:
        create_agent(model("ok"), [add], middleware=[hook]).invoke(HI)
    assert "Unknown tools: ['extra']" in str(e.value)
    assert "Registered tools: ['add']" in str(e.value)


def test_tools_nobody_registered_are_fine_where_a_hook_runs_them():
    @tool
    def extra() -> str:
        """Extra."""
        return "x"

    class Own(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            return handler(request.override(tools=[*request.tools, extra]))

        def wrap_tool_call(self, request, handler):
            return (
                handler(request.override(tool=extra)) if request.tool is None else handler(request)
            )

    state = create_agent(model(calls(call("extra")), "ok"), [add], middleware=[Own()]).invoke(HI)
    assert results(state) == [("1", "x", "success")]


def test_provider_tools_may_be_added_by_a_hook():
    search = {"type": "web_search"}
    hook = wrap_model_call(
        lambda request, handler: handler(request.override(tools=[search])), name="h"
    )
    fake = model("ok")
    create_agent(fake, [add], middleware=[hook]).invoke(HI)
    assert fake.bound[0]["tools"] == [search]


@pytest.mark.parametrize(
    "given",
    [
        AIMessage("short"),
        ModelResponse(result=[AIMessage("short")]),
        ExtendedModelResponse(model_response=ModelResponse(result=[AIMessage("short")])),
    ],
)
def test_a_hook_may_answer_by_itself(given):
    fake = model("never")
    hook = wrap_model_call(lambda request, handler: given, name="h")
    state = create_agent(fake, middleware=[hook]).invoke(HI)
    assert texts(state["messages"]) == ["hi", "short"]
    assert fake.asked == []


@pytest.mark.parametrize("given", ["text", None, [AIMessage("x")]])
def test_anything_else_is_refused(given):
    hook = wrap_model_call(lambda request, handler: given, name="h")
    with pytest.raises(
        TypeError, match="has to return ModelResponse, AIMessage or ExtendedModelResponse"
    ):
        create_agent(model("ok"), middleware=[hook]).invoke(HI)


@pytest.mark.parametrize("result", [None, AIMessage("x"), ["x"]])
def test_a_response_without_a_list_of_messages_is_refused(result):
    hook = wrap_model_call(lambda request, handler: ModelResponse(result=result), name="h")
    with pytest.raises(AgentStateError, match="a list of messages as its result"):
        create_agent(model("ok"), middleware=[hook]).invoke(HI)


def test_a_hook_may_try_again():
    @wrap_model_call
    def again(request, handler):
        for _ in range(2):
            try:
                return handler(request)
            except ValueError:
                continue
        return handler(request)

    fake = model(ValueError("1"), ValueError("2"), "ok")
    assert create_agent(fake, middleware=[again]).invoke(HI)["messages"][-1].text == "ok"
    assert len(fake.asked) == 3


def test_a_hook_may_change_the_reply():
    @wrap_model_call
    def upper(request, handler):
        response = handler(request)
        return AIMessage(response.result[0].text.upper())

    assert create_agent(model("ok"), middleware=[upper]).invoke(HI)["messages"][-1].text == "OK"


# ---------------------------------------------------------------- commands


def extended(name, n, times=1):
    class Layer(AgentMiddleware):
        state_schema = Counted

        def wrap_model_call(self, request, handler):
            for _ in range(times):
                response = handler(request)
            return ExtendedModelResponse(
                response, Command(update={"n": n, "messages": [HumanMessage(name)]})
            )

    Layer.__name__ = name
    return Layer()


def test_commands_come_after_the_reply_and_inner_ones_first():
    state = create_agent(
        model("ok"), middleware=[extended("outer", 1), extended("inner", 2)]
    ).invoke(HI)
    assert texts(state["messages"]) == ["hi", "ok", "inner", "outer"]
    assert state["n"] == 1


def test_of_a_layer_that_was_tried_again_the_last_command_counts():
    layers = [extended("outer", 1, times=3), extended("inner", 2)]
    state = create_agent(model("ok"), middleware=layers).invoke(HI)
    assert texts(state["messages"]) == ["hi", "ok", "inner", "outer"]


@pytest.mark.parametrize("command", [{"goto": "model"}, {"resume": 1}, {"graph": "parent"}])
def test_a_command_that_does_more_than_update_is_refused(command):
    hook = wrap_model_call(
        lambda request, handler: ExtendedModelResponse(handler(request), Command(**command)),
        name="h",
    )
    with pytest.raises(NotImplementedError):
        create_agent(model("ok"), middleware=[hook]).invoke(HI)


# ---------------------------------------------------------------- requests


def request(**fields):
    return ModelRequest(model=model("x"), messages=[HumanMessage("hi")], **fields)


def test_a_request_has_defaults():
    made = request()
    assert (made.system_message, made.system_prompt, made.tools, made.tool_choice) == (
        None,
        None,
        [],
        None,
    )
    assert (made.response_format, made.model_settings) == (None, {})


def test_override_gives_a_new_request():
    made = request(system_prompt="a")
    changed = made.override(system_prompt="b", tool_choice="any")
    assert (made.system_prompt, changed.system_prompt) == ("a", "b")
    assert (made.tool_choice, changed.tool_choice) == (None, "any")
    assert changed.override(system_prompt=None).system_message is None
    assert changed.override(system_message=SystemMessage("c")).system_prompt == "c"


def test_both_prompts_are_refused():
    with pytest.raises(ValueError, match="both system_prompt and system_message"):
        request().override(system_prompt="a", system_message=SystemMessage("b"))
    with pytest.raises(ValueError, match="both system_prompt and system_message"):
        request(system_prompt="a", system_message=SystemMessage("b"))


def test_assigning_works_with_a_warning():
    made = request()
    with pytest.warns(DeprecationWarning, match=r"use override\(\)"):
        made.tool_choice = "any"
    assert made.tool_choice == "any"
    with pytest.warns(DeprecationWarning, match="override"):
        made.system_prompt = "new"
    assert made.system_message == SystemMessage("new")


def test_unknown_fields_are_refused():
    with pytest.raises(TypeError):
        request().override(nope=1)


def test_tool_requests_override_too():
    seen = []

    @wrap_tool_call
    def hook(request, handler):
        changed = request.override(tool_call={**request.tool_call, "args": {"a": 2, "b": 2}})
        seen.append(
            (request.tool_call["args"], changed.tool_call["args"], changed.tool is request.tool)
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            changed.state = {}
        seen.append([w.category for w in caught])
        return handler(changed)

    state = create_agent(
        model(calls(call("add", a=1, b=1)), "ok"), [add], middleware=[hook]
    ).invoke(HI)
    assert seen == [({"a": 1, "b": 1}, {"a": 2, "b": 2}, True), [DeprecationWarning]]
    assert results(state)[0][1] == "4"


@pytest.mark.parametrize("mode", [None, "messages"])
def test_replies_that_all_have_one_id_stay_apart(mode):
    fake = model(
        calls(call("add", a=1, b=1)).model_copy(update={"id": "same"}), AIMessage("ok", id="same")
    )
    agent = create_agent(fake, [add], checkpointer=MemoryThreads())
    thread = {"configurable": {"thread_id": "t"}}
    if mode is None:
        agent.invoke(HI, thread)
    else:
        told = [m.text for m, _ in agent.stream(HI, thread, stream_mode=mode)]
        assert told.count("ok") == 1
    messages = agent.get_state(thread).values["messages"]
    assert texts(messages) == ["hi", "", "2", "ok"]
    assert len({m.id for m in messages}) == 4
