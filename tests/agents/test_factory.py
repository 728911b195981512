"""`create_agent`: what it takes, and the plain loop."""

import re

import pytest
from tests.agents.support import HI, add, call, calls, fail, kinds, model, results, texts

from dragoman.agents import AgentStepLimitError, create_agent
from dragoman.agents.middleware import AgentMiddleware
from dragoman.language_models.fake_chat_models import FakeListChatModel
from dragoman.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from dragoman.testing import Reply, ScriptedServer
from dragoman.tools import BaseTool, tool


def test_without_calls_the_first_reply_ends_the_run():
    state = create_agent(model("hello")).invoke(HI)
    assert texts(state["messages"]) == ["hi", "hello"]
    assert set(state) == {"messages"}


def test_calls_are_run_and_the_model_is_asked_again():
    fake = model(calls(call("add", a=1, b=2)), "three")
    state = create_agent(fake, [add]).invoke(HI)
    assert kinds(state["messages"]) == ["human", "ai", "tool", "ai"]
    assert results(state) == [("1", "3", "success")]
    assert kinds(fake.asked[1]) == ["human", "ai", "tool"]


async def test_async_gives_the_same():
    state = await create_agent(model(calls(call("add", a=1, b=2)), "three"), [add]).ainvoke(HI)
    assert texts(state["messages"]) == ["hi", "", "3", "three"]


@pytest.mark.parametrize(
    "given",
    [
        "hi",
        HumanMessage("hi"),
        [HumanMessage("hi")],
        [("user", "hi")],
        [{"role": "user", "content": "hi"}],
        {"role": "user", "content": "hi"},
        ("user", "hi"),
    ],
)
def test_messages_may_be_anything_message_like(given):
    state = create_agent(model("ok")).invoke({"messages": given})
    assert [(m.type, m.text) for m in state["messages"]] == [("human", "hi"), ("ai", "ok")]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"message": [("user", "hi")]}, "no field 'message'; did you mean 'messages'?"),
        ({"zzz": 1}, "no field 'zzz'; there are messages"),
        ({7: 1}, "no field 7; there are messages"),
    ],
)
def test_an_input_whose_fields_are_all_unknown_is_refused(given, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        create_agent(model("never")).invoke(given)


@pytest.mark.parametrize("given", ["hi", [HumanMessage("hi")], 3])
def test_an_input_that_is_no_dict_is_refused(given):
    with pytest.raises(ValueError, match="takes a dict with messages"):
        create_agent(model("ok")).invoke(given)


def test_a_model_by_name_is_made_by_init_chat_model():
    body = {
        "id": "c",
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yo"}}
        ],
    }
    with ScriptedServer(Reply.json(body)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.url)
        patch.setenv("OPENAI_API_KEY", "k")
        state = create_agent("openai:m", system_prompt="be kind").invoke(HI)
        sent = server.requests[0].json["messages"]
    assert state["messages"][-1].text == "yo"
    assert [m["role"] for m in sent] == ["system", "user"]


def test_an_unknown_model_name_is_refused_when_the_agent_is_made():
    with pytest.raises(ValueError, match="nobody"):
        create_agent("nobody:m")


@tool
def shout(text: str) -> str:
    """Shout."""
    return text.upper()


class Own(BaseTool):
    name: str = "own"
    description: str = "Own."

    def _run(self, x: int) -> str:
        return f"own {x}"


def test_tools_are_functions_and_tool_objects():
    reply = calls(call("add", "1", a=1, b=1), call("shout", "2", text="x"), call("own", "3", x=4))
    fake = model(reply, "ok")
    state = create_agent(fake, [add, shout, Own()]).invoke(HI)
    assert results(state) == [
        ("1", "2", "success"),
        ("2", "X", "success"),
        ("3", "own 4", "success"),
    ]
    assert [t.name for t in fake.bound[0]["tools"]] == ["add", "shout", "own"]


def test_provider_tools_are_bound_and_never_run():
    search = {"type": "web_search", "name": "web_search"}
    fake = model(calls(call("web_search")), "ok")
    state = create_agent(fake, [add, search]).invoke(HI)
    assert fake.bound[0]["tools"][1] == search
    assert results(state) == [
        ("1", "Error: web_search is not a valid tool, try one of [add].", "error")
    ]


@pytest.mark.parametrize("tools", [None, [], ()])
def test_without_tools_nothing_is_bound(tools):
    fake = model("ok")
    create_agent(fake, tools).invoke(HI)
    assert fake.bound == []


@pytest.mark.parametrize("prompt", ["be kind", SystemMessage("be kind")])
def test_the_system_prompt_is_in_front_of_each_call_and_never_in_the_state(prompt):
    fake = model(calls(call("add", a=1, b=2)), "ok")
    state = create_agent(fake, [add], system_prompt=prompt).invoke(HI)
    assert kinds(state["messages"]) == ["human", "ai", "tool", "ai"]
    for asked in fake.asked:
        assert (asked[0].type, asked[0].text) == ("system", "be kind")
        assert kinds(asked).count("system") == 1


def test_every_message_has_an_id_and_the_caller_s_object_stays_as_it_was():
    given = HumanMessage("hi")
    state = create_agent(model(calls(call("add", a=1, b=2)), "ok"), [add]).invoke(
        {"messages": [given]}
    )
    ids = [m.id for m in state["messages"]]
    assert all(ids)
    assert len(set(ids)) == 4
    assert given.id is None
    assert all(str(m.id).startswith("lc_run-") for m in state["messages"] if m.type == "ai")


def test_the_agent_s_name_is_on_its_replies():
    fake = model(calls(call("add", a=1, b=2)), AIMessage("ok", name="own"))
    state = create_agent(fake, [add], name="bob").invoke(HI)
    assert [m.name for m in state["messages"]] == [None, "bob", "add", "own"]
    assert create_agent(fake, name="bob").name == "bob"


@pytest.mark.parametrize("n_steps", [1, 3])
def test_a_loop_without_end_is_stopped_by_max_steps(n_steps):
    fake = model(calls(call("add", a=1, b=2)))
    with pytest.raises(AgentStepLimitError, match=f"max_steps={n_steps}"):
        create_agent(fake, [add], max_steps=n_steps).invoke(HI)
    assert len(fake.asked) == n_steps


def test_a_hundred_turns_are_the_default():
    fake = model(calls(call("add", a=1, b=2)))
    with pytest.raises(RecursionError):
        create_agent(fake, [add]).invoke(HI)
    assert len(fake.asked) == 100


def test_max_steps_turns_are_allowed():
    fake = model(calls(call("add", a=1, b=2)), "ok")
    assert create_agent(fake, [add], max_steps=2).invoke(HI)["messages"][-1].text == "ok"


def test_recursion_limit_counts_too_but_not_the_default_one():
    fake = model(calls(call("add", a=1, b=2)))
    with pytest.raises(AgentStepLimitError):
        create_agent(fake, [add]).invoke(HI, {"recursion_limit": 4})
    assert len(fake.asked) == 4
    long = model(*[calls(call("add", str(i), a=1, b=2)) for i in range(40)], "ok")
    assert create_agent(long, [add]).batch([HI])[0]["messages"][-1].text == "ok"


@pytest.mark.parametrize("given", [0, -1, True, 2.5, "3"])
def test_max_steps_has_to_be_a_whole_number(given):
    with pytest.raises(ValueError, match="max_steps"):
        create_agent(model("ok"), max_steps=given)


def test_a_checkpointer_has_to_be_a_thread_store():
    with pytest.raises(TypeError, match=r"dragoman\.threads"):
        create_agent(model("ok"), checkpointer={})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("option", ["interrupt_before", "interrupt_after"])
def test_a_step_that_does_not_exist_is_refused(option):
    with pytest.raises(ValueError, match="no step is called 'tool'"):
        create_agent(model("ok"), **{option: ["tool"]})


def test_two_middleware_of_one_name_are_refused():
    with pytest.raises(AssertionError, match=r"Please remove duplicate middleware instances\."):
        create_agent(model("ok"), middleware=[AgentMiddleware(), AgentMiddleware()])


def test_a_model_error_passes_and_the_agent_works_again():
    fake = model(ValueError("boom"), "ok")
    agent = create_agent(fake)
    with pytest.raises(ValueError, match="boom"):
        agent.invoke(HI)
    assert agent.invoke(HI)["messages"][-1].text == "ok"


def test_batch_and_chains():
    agent = create_agent(model("ok"))
    assert [s["messages"][-1].text for s in agent.batch([HI, HI, HI])] == ["ok"] * 3
    assert (agent | (lambda state: state["messages"][-1].text)).invoke(HI) == "ok"


async def test_abatch_keeps_order():
    agent = create_agent(model(lambda messages: f"re: {messages[-1].text}"))
    inputs = [{"messages": [("user", str(n))]} for n in range(5)]
    states = await agent.abatch(inputs)
    assert [s["messages"][-1].text for s in states] == [f"re: {n}" for n in range(5)]


def test_the_same_call_id_in_each_turn_is_no_answer_of_an_older_one():
    fake = model(calls(call("add", "x", a=1, b=1)), calls(call("add", "x", a=2, b=2)), "ok")
    state = create_agent(fake, [add]).invoke(HI)
    assert results(state) == [("x", "2", "success"), ("x", "4", "success")]


def test_history_in_the_input_stays():
    given = [
        HumanMessage("a"),
        calls(call("add", "0", a=1, b=1)),
        ToolMessage("2", tool_call_id="0"),
        AIMessage("two"),
        HumanMessage("b"),
    ]
    fake = model("ok")
    state = create_agent(fake, [add]).invoke({"messages": given})
    assert kinds(state["messages"]) == ["human", "ai", "tool", "ai", "human", "ai"]
    assert kinds(fake.asked[0]) == ["human", "ai", "tool", "ai", "human"]


def test_an_agent_is_traced_as_one_run_with_its_model_and_tools_below():
    from dragoman.callbacks import BaseCallbackHandler

    seen = []

    class Handler(BaseCallbackHandler):
        def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **kwargs):
            seen.append(("chain", parent_run_id, run_id, kwargs.get("name")))

        def on_chat_model_start(
            self, serialized, messages, *, run_id, parent_run_id=None, **kwargs
        ):
            seen.append(("model", parent_run_id, run_id, None))

        def on_tool_start(self, serialized, input_str, *, run_id, parent_run_id=None, **kwargs):
            seen.append(("tool", parent_run_id, run_id, None))

    agent = create_agent(model(calls(call("add", a=1, b=2)), "ok"), [add], name="bob")
    agent.invoke(HI, {"callbacks": [Handler()]})
    root = seen[0][2]
    assert seen[0][0] == "chain"
    assert seen[0][3] == "bob"
    assert [(kind, parent) for kind, parent, *_ in seen[1:]] == [
        ("model", root),
        ("tool", root),
        ("model", root),
    ]


async def test_astream_events_shows_the_agent():
    agent = create_agent(model(calls(call("add", a=1, b=2)), "ok"), [add], name="bob")
    names = [e["event"] async for e in agent.astream_events(HI, version="v2")]
    assert names[0] == "on_chain_start"
    assert names[-1] == "on_chain_end"
    assert names.count("on_tool_end") == 1
    assert names.count("on_chat_model_end") == 2


def test_tools_of_middleware_join():
    class With(AgentMiddleware):
        tools = [shout]

    fake = model(calls(call("shout", text="x")), "ok")
    state = create_agent(fake, [add], middleware=[With()]).invoke(HI)
    assert results(state) == [("1", "X", "success")]
    assert [t.name for t in fake.bound[0]["tools"]] == ["add", "shout"]


def test_return_direct_ends_the_run():
    @tool(return_direct=True)
    def final(x: int) -> str:
        """Final."""
        return f"final {x}"

    fake = model(calls(call("final", x=1)), "never")
    state = create_agent(fake, [final]).invoke(HI)
    assert kinds(state["messages"]) == ["human", "ai", "tool"]
    mixed = model(calls(call("final", "1", x=1), call("add", "2", a=1, b=1)), "asked")
    assert create_agent(mixed, [final, add]).invoke(HI)["messages"][-1].text == "asked"


def test_a_model_that_gives_no_message_is_named():
    class Odd:
        def bind_tools(self, *_, **__):
            return self

        def invoke(self, *_, **__):
            return "text"

    with pytest.raises(TypeError, match="gave str, not an AIMessage"):
        create_agent(Odd(), [add]).invoke(HI)


def test_context_reaches_tools_as_the_schema_s_type():
    from dataclasses import dataclass

    from dragoman.tools import ToolRuntime

    @dataclass
    class Context:
        user: str

    @tool
    def who(runtime: ToolRuntime) -> str:
        """Who."""
        return runtime.context.user

    agent = create_agent(model(calls(call("who")), "ok"), [who], context_schema=Context)
    assert results(agent.invoke(HI, context=Context("ada")))[0][1] == "ada"
    again = create_agent(model(calls(call("who")), "ok"), [who], context_schema=Context)
    assert results(again.invoke(HI, context={"user": "bob"}))[0][1] == "bob"


def test_a_failing_tool_is_an_error_result_without_arguments_or_traceback():
    fake = model(calls(call("fail", why="secret " * 400)), "sorry")
    state = create_agent(fake, [fail]).invoke(HI)
    ((_, text, status),) = results(state)
    assert status == "error"
    assert text.startswith("ValueError: secret")
    assert len(text) <= 1000
    assert "Traceback" not in text
    assert state["messages"][-1].text == "sorry"


def test_the_name_of_a_tool_is_no_tool():
    with pytest.raises(TypeError, match="got the string 'get_weather'"):
        create_agent(FakeListChatModel(responses=["hi"]), ["get_weather"])


class Bare(AgentMiddleware):
    pass


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": 5}, "model has to be a chat model or a string .* got int"),
        ({"model": FakeListChatModel}, "got the class FakeListChatModel"),
        ({"middleware": [Bare]}, "middleware has to hold instances .*Bare.* by calling it"),
        ({"middleware": [lambda state: None]}, "of a function by a decorator"),
        (
            {"state_schema": int},
            "a state schema has to be a TypedDict with fields, got <class 'int'>",
        ),
        ({"state_schema": 5}, "a state schema has to be a TypedDict with fields, got 5"),
        ({"response_format": 5}, "response_format has to be a schema or a strategy, got int"),
        ({"response_format": "json"}, "got str"),
    ],
)
def test_what_is_no_part_of_an_agent_is_refused_when_it_is_made(options, said):
    with pytest.raises(TypeError, match=said):
        create_agent(**{"model": model("never"), **options})


@pytest.mark.parametrize(
    ("option", "given", "shown"),
    [
        ("tools", add, "<function add"),
        ("tools", tool(add), "StructuredTool"),
        ("tools", {"type": "web_search"}, "web_search"),
        ("tools", "add", "'add'"),
        ("tools", 5, "5"),
        ("middleware", AgentMiddleware(), "AgentMiddleware"),
        ("middleware", AgentMiddleware, "AgentMiddleware"),
        ("middleware", 5, "5"),
        ("interrupt_before", "tools", "'tools'"),
        ("interrupt_after", "model", "'model'"),
    ],
)
def test_one_in_place_of_a_list_is_refused(option, given, shown):
    with pytest.raises(TypeError, match=rf"{option} has to be a list, got .*{shown}.*{option}=\["):
        create_agent(model("ok"), **{option: given})


def test_lists_may_be_any_iterable():
    fake = model(calls(call("add", a=1, b=2)), "three")
    agent = create_agent(fake, (t for t in [add]), middleware=(m for m in [AgentMiddleware()]))
    assert results(agent.invoke(HI)) == [("1", "3", "success")]
    assert len(agent.middleware) == 1


def test_an_input_that_is_no_dict_is_refused_with_an_example():
    with pytest.raises(ValueError, match=r'got str; pass \{"messages": \[\("user", "..."\)\]\}'):
        create_agent(model("ok")).invoke("x")


def test_two_tools_of_one_name_are_refused():
    @tool("add")
    def other(a: int) -> int:
        """Other."""
        return a

    with pytest.raises(ValueError, match=r"two tools are named 'add'; give one of them another"):
        create_agent(model("ok"), [add, other])
