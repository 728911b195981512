"""The graph of an agent's steps."""

from tests.agents.support import add, model

from dragoman.agents import create_agent
from dragoman.agents.middleware import after_agent, after_model, before_model
from dragoman.tools import tool


def edges(agent):
    return {(e.source, e.target, e.conditional) for e in agent.get_graph().edges}


def test_an_agent_without_tools_is_one_step():
    assert edges(create_agent(model("ok"))) == {
        ("__start__", "model", False),
        ("model", "__end__", False),
    }


def test_tools_lead_back_to_the_model():
    agent = create_agent(model("ok"), [add])
    assert edges(agent) == {
        ("__start__", "model", False),
        ("model", "tools", True),
        ("model", "__end__", True),
        ("tools", "model", False),
    }
    assert "tools --> model;" in agent.get_graph().draw_mermaid()


def test_a_tool_that_returns_directly_may_end_the_run():
    direct = tool(return_direct=True)(add)
    assert {("tools", "model", True), ("tools", "__end__", True)} <= edges(
        create_agent(model("ok"), [direct])
    )


def test_hooks_stand_where_they_run_and_lead_where_they_may_jump():
    @before_model(can_jump_to=["end"])
    def guard(state, runtime):
        return None

    @after_model
    def look(state, runtime):
        return None

    @after_agent
    def bye(state, runtime):
        return None

    agent = create_agent(model("ok"), [add], middleware=[guard, look, bye])
    assert edges(agent) == {
        ("__start__", "guard.before_model", False),
        ("guard.before_model", "model", True),
        ("guard.before_model", "bye.after_agent", True),
        ("model", "look.after_model", False),
        ("look.after_model", "tools", True),
        ("look.after_model", "bye.after_agent", True),
        ("tools", "guard.before_model", False),
        ("bye.after_agent", "__end__", False),
    }
