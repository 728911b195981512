"""Agents on real models: the bundled one, and long loops over a socket."""

import asyncio
import json

import pytest
from tests.agents.support import HI, add, kinds, texts, thread

from dragoman.agents import create_agent
from dragoman.agents.middleware import wrap_model_call
from dragoman.chat_models import init_chat_model
from dragoman.messages import AIMessage
from dragoman.testing import Reply, ScriptedServer
from dragoman.threads import MemoryThreads, SQLiteThreads
from dragoman.transcript import validate_messages


def get_weather(city: str) -> str:
    """Return the weather in a city."""
    return f"Sunny in {city}, 25 °C"


@wrap_model_call
def first_turn_tool(request, handler):
    is_first = request.messages[-1].type == "human"
    return handler(request.override(tool_choice="any" if is_first else "none"))


@pytest.mark.local_model
def test_the_row_of_examples_on_the_bundled_model(tmp_path):  # examples.md, last row
    store = SQLiteThreads(tmp_path / "t.db")
    agent = create_agent(
        "local", tools=[get_weather], middleware=[first_turn_tool], checkpointer=store
    )
    state = agent.invoke({"messages": [("user", "weather in Paris?")]}, thread())
    assert kinds(state["messages"]) == ["human", "ai", "tool", "ai"]
    assert state["messages"][1].tool_calls[0]["name"] == "get_weather"
    assert state["messages"][2].text.startswith("Sunny in ")
    assert state["messages"][3].text


def scripted(received):
    """Answer as a model that counts its results and asks for one more until there are thirty."""
    body = received.json
    n_done = sum(m["role"] == "tool" for m in body["messages"])
    if n_done >= 30:
        message = AIMessage(f"{n_done} results")
    else:
        args = {"a": n_done, "b": 1}
        message = AIMessage("", tool_calls=[{"name": "add", "args": args, "id": f"c{n_done}"}])
    return Reply.message(message, stream=bool(body.get("stream")))


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream"])
async def test_a_long_loop_over_a_socket(how):
    with ScriptedServer(scripted) as server:
        chat = init_chat_model("openai:m", base_url=server.url, api_key="k")
        agent = create_agent(chat, [add], checkpointer=MemoryThreads())
        if how == "invoke":
            agent.invoke(HI, thread())
        elif how == "ainvoke":
            await agent.ainvoke(HI, thread())
        else:
            chunks = list(agent.stream(HI, thread(), stream_mode="messages"))
            assert sum(node["langgraph_node"] == "tools" for _, node in chunks) == 30
        assert len(server.requests) == 31
        assert server.n_connections == 1
    messages = agent.get_state(thread()).values["messages"]
    assert len(messages) == 62
    assert messages[-1].text == "30 results"
    assert validate_messages(messages, "openai") == []


def wordy(received):
    return Reply.message(AIMessage("many words " * 50), stream=bool(received.json.get("stream")))


async def test_an_abandoned_stream_frees_the_connection():
    with ScriptedServer(wordy) as server:
        chat = init_chat_model("openai:m", base_url=server.url, api_key="k")
        agent = create_agent(chat, checkpointer=MemoryThreads())
        stream = agent.stream(HI, thread(), stream_mode="messages")
        next(stream)
        stream.close()
        astream = agent.astream(HI, thread("b"), stream_mode="messages")
        await anext(astream)
        await astream.aclose()
        assert await asyncio.to_thread(server.wait_idle)
        assert agent.invoke(HI, thread())["messages"][-1].text.startswith("many words")


def test_many_agents_share_a_store(tmp_path):
    with ScriptedServer(
        lambda r: Reply.message(AIMessage(json.dumps(len(r.json["messages"]))))
    ) as server:
        chat = init_chat_model("openai:m", base_url=server.url, api_key="k")
        agent = create_agent(chat, checkpointer=SQLiteThreads(tmp_path / "t.db"))
        for _ in range(3):
            agent.batch([HI] * 4, [thread(str(n)) for n in range(4)])
    for n in range(4):
        assert texts(agent.get_state(thread(str(n))).values["messages"]) == [
            "hi",
            "1",
            "hi",
            "3",
            "hi",
            "5",
        ]
