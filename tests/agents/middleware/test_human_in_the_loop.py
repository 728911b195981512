"""What the middleware that asks a person is made of; its decisions are tested with interrupts."""

import warnings

import pytest
from tests.agents.support import HI, add, call, calls, model, thread

from dragoman.agents import Command, create_agent
from dragoman.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from dragoman.threads import MemoryThreads
from dragoman.tools import tool


@pytest.mark.parametrize("given", [["add"], "add", None, True])
def test_names_without_answers_are_refused(given):
    with pytest.raises(TypeError, match=r"a dict such as \{'tool_name': True\}, got"):
        HumanInTheLoopMiddleware(given)


@pytest.mark.parametrize("config", [None, "approve", ["approve"], 1])
def test_a_config_of_another_type_is_refused(config):
    with pytest.raises(TypeError, match=r"interrupt_on\['add'\] has to be True, False or a dict"):
        HumanInTheLoopMiddleware({"add": config})


@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({}, "needs allowed_decisions, a list of some of approve, edit, reject, respond"),
        ({"description": "x"}, "needs allowed_decisions"),
        ({"allowed_decisions": []}, "needs allowed_decisions"),
        ({"allowed_decisions": "approve"}, "needs allowed_decisions"),
        ({"allowed_decision": ["approve"]}, "did you mean 'allowed_decisions'"),
        ({"allowed_decisions": ["approve"], "x": 1}, "unknown key 'x'; there are"),
        ({"allowed_decisions": ["aprove"]}, "unknown decision 'aprove'; did you mean 'approve'"),
        ({"allowed_decisions": ["approve", 5]}, "unknown decision 5; there are"),
    ],
)
def test_a_config_that_cannot_be_meant_is_refused(config, error):
    with pytest.raises(ValueError, match=r"interrupt_on\['add'\] ") as caught:
        HumanInTheLoopMiddleware({"add": config})
    assert error in str(caught.value)


@pytest.mark.parametrize("tools", [[add], [], [{"type": "function", "function": {"name": "sub"}}]])
def test_a_name_that_no_tool_has_is_warned_of(tools):
    names = ["add"] if tools == [add] else ["sub"] if tools else ["none"]
    with pytest.warns(UserWarning, match=f"names 'ad', .*; there are {names[0]}") as caught:
        create_agent(model("ok"), tools, middleware=[HumanInTheLoopMiddleware({"ad": True})])
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", ["add", "sub", "own"])
def test_names_of_tools_of_any_kind_are_fine(name):
    class Own(AgentMiddleware):
        tools = (tool("own")(add),)

    given = [add, {"type": "function", "function": {"name": "sub"}}]
    ask = HumanInTheLoopMiddleware({name: True, "not_asked": False})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        create_agent(model("ok"), given, middleware=[ask, Own()])


@pytest.mark.parametrize("answer", ["approve", {"type": "approve"}, {"decisions": []}])
def test_an_answer_of_another_shape_is_told_the_right_one(answer):
    agent = create_agent(
        model(calls(call("add", a=1, b=1)), "ok"),
        [add],
        middleware=[HumanInTheLoopMiddleware({"add": True})],
        checkpointer=MemoryThreads(),
    )
    agent.invoke(HI, thread())
    right = {"decisions": [{"type": "approve"}]}
    with pytest.raises(ValueError, match="does not match number of hanging") as caught:
        agent.invoke(Command(resume=answer), thread())
    assert f"Resume with Command(resume={right})" in str(caught.value)
    assert agent.invoke(Command(resume=right), thread())["messages"][-1].text == "ok"
