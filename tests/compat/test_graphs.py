"""LangGraph and LangChain's agents run on the bundled model, wrapped."""

from typing import Annotated

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_model_call
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from dragoman import tools as ours
from dragoman.compat import from_langchain, to_langchain, wrap_model
from dragoman.messages import HumanMessage, ToolMessage
from dragoman.transcript import validate_messages

pytestmark = pytest.mark.local_model


@pytest.fixture(scope="module")
def model():
    return wrap_model("local", temperature=0, max_tokens=48)


@ours.tool
def get_weather(city: str, runtime: ours.ToolRuntime) -> str:
    """Get the weather of a city."""
    question = runtime.state["messages"][0]
    assert type(question) is HumanMessage  # our tool sees our classes
    return f"It is sunny, said {runtime.tool_call_id}."


@wrap_model_call
def first_turn_tool(request, handler):
    choice = "any" if request.messages[-1].type == "human" else "none"
    return handler(request.override(tool_choice=choice))


def assert_a_round(messages):
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
    call = messages[1].tool_calls[0]
    assert (call["name"], list(call["args"])) == ("get_weather", ["city"])
    assert messages[2].content == f"It is sunny, said {call['id']}."
    assert messages[3].content
    assert validate_messages(from_langchain(messages), "openai") == []


def test_a_langchain_agent_calls_a_tool_of_ours(model):
    agent = create_agent(model, [to_langchain(get_weather)], middleware=[first_turn_tool])
    assert_a_round(agent.invoke({"messages": [("user", "weather in Paris?")]})["messages"])


async def test_a_state_graph_runs_and_its_thread_is_kept(model):
    tool = to_langchain(get_weather)

    async def ask(state: MessagesState):
        choice = "any" if state["messages"][-1].type == "human" else "none"
        bound = model.bind_tools([tool], tool_choice=choice)
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask)
    graph.add_node("tools", ToolNode([tool]))
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", tools_condition, ["tools", END])
    graph.add_edge("tools", "ask")
    app = graph.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    tokens = [
        piece.content
        async for piece, _ in app.astream(
            {"messages": [("user", "weather in Rome?")]}, config, stream_mode="messages"
        )
    ]
    kept = (await app.aget_state(config)).values["messages"]
    assert_a_round(kept)
    assert kept[-1].content in "".join(tokens)


@pytest.mark.soak
def test_a_tool_error_becomes_a_result_the_model_reads(model):
    @ours.tool
    def fail(city: str, call: Annotated[str, ours.InjectedToolCallId]) -> str:
        """Get the weather of a city."""
        raise ours.ToolException("the station is closed")

    fail.handle_tool_error = True
    agent = create_agent(model, [to_langchain(fail)], middleware=[first_turn_tool])
    messages = agent.invoke({"messages": [("user", "weather in Paris?")]})["messages"]
    result = from_langchain(messages[2])
    assert isinstance(result, ToolMessage)
    assert (result.content, result.status) == ("the station is closed", "error")
