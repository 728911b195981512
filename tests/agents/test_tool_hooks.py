"""Hooks around tool calls."""

import pytest
from tests.agents.support import HI, add, call, calls, fail, model, results

from dragoman.agents import create_agent
from dragoman.agents.middleware import AgentMiddleware, wrap_tool_call
from dragoman.messages import ToolMessage
from dragoman.tools import tool


def test_the_first_hook_is_the_outermost():
    seen = []

    def layer(name):
        @wrap_tool_call(name=name)
        def hook(request, handler):
            seen.append(f"{name} in")
            result = handler(request)
            seen.append(f"{name} out")
            return result

        return hook

    create_agent(
        model(calls(call("add", a=1, b=1)), "ok"), [add], middleware=[layer("a"), layer("b")]
    ).invoke(HI)
    assert seen == ["a in", "b in", "b out", "a out"]


def test_a_hook_sees_the_request():
    seen = {}

    @wrap_tool_call
    def hook(request, handler):
        seen.update(
            call=request.tool_call["name"],
            tool=request.tool.name,
            n=len(request.state["messages"]),
            id=request.runtime.tool_call_id,
            context=request.runtime.context,
        )
        return handler(request)

    agent = create_agent(model(calls(call("add", "c", a=1, b=1)), "ok"), [add], middleware=[hook])
    agent.invoke(HI, context="ctx")
    assert seen == {"call": "add", "tool": "add", "n": 2, "id": "c", "context": "ctx"}


def test_a_hook_may_change_the_call_answer_itself_or_try_again():
    @wrap_tool_call
    def change(request, handler):
        if request.tool_call["name"] == "nope":
            return ToolMessage("from the hook", tool_call_id=request.tool_call["id"])
        changed = {**request.tool_call, "args": {"a": 10, "b": 10}}
        handler(request)
        return handler(request.override(tool_call=changed))

    reply = calls(call("add", "1", a=1, b=1), call("nope", "2"))
    state = create_agent(model(reply, "ok"), [add], middleware=[change]).invoke(HI)
    assert results(state) == [("1", "20", "success"), ("2", "from the hook", "success")]


def test_a_hook_may_run_another_tool():
    @tool("add")
    def other(a: int, b: int) -> str:
        """Other."""
        return "other"

    @wrap_tool_call
    def swap(request, handler):
        return handler(request.override(tool=other))

    state = create_agent(
        model(calls(call("add", a=1, b=1)), "ok"), [add], middleware=[swap]
    ).invoke(HI)
    assert results(state)[0][1] == "other"


def test_a_hook_hears_of_the_tool_s_error():
    @wrap_tool_call
    def tell(request, handler):
        try:
            return handler(request)
        except ValueError as error:
            return ToolMessage(f"mine: {error}", tool_call_id=request.tool_call["id"])

    state = create_agent(model(calls(call("fail")), "ok"), [fail], middleware=[tell]).invoke(HI)
    assert results(state) == [("1", "mine: broken", "success")]


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_an_error_that_no_hook_takes_is_an_error_result(how):
    class Pass(AgentMiddleware):
        def wrap_tool_call(self, request, handler):
            return handler(request)

        async def awrap_tool_call(self, request, handler):
            return await handler(request)

    agent = create_agent(model(calls(call("fail")), "ok"), [fail], middleware=[Pass()])
    state = agent.invoke(HI) if how == "invoke" else await agent.ainvoke(HI)
    assert results(state) == [("1", "ValueError: broken", "error")]


def test_an_error_of_the_hook_itself_ends_the_run():
    @wrap_tool_call
    def bad(request, handler):
        raise KeyError("hook")

    with pytest.raises(KeyError, match="hook"):
        create_agent(model(calls(call("add", a=1, b=1)), "ok"), [add], middleware=[bad]).invoke(HI)


@pytest.mark.parametrize("given", ["text", None, 3])
def test_a_hook_that_gives_no_result_is_answered_by_an_error(given):
    @wrap_tool_call
    def odd(request, handler):
        return given

    state = create_agent(model(calls(call("add", a=1, b=1)), "ok"), [add], middleware=[odd]).invoke(
        HI
    )
    assert [r[2] for r in results(state)] == ["error"]


async def test_the_missing_colour_of_a_hook_is_named():
    @wrap_tool_call
    def only_sync(request, handler):
        return handler(request)

    @wrap_tool_call
    async def only_async(request, handler):
        return await handler(request)

    reply = calls(call("add", a=1, b=1))
    with pytest.raises(
        NotImplementedError, match="Asynchronous implementation of awrap_tool_call is not available"
    ):
        await create_agent(model(reply, "ok"), [add], middleware=[only_sync]).ainvoke(HI)
    with pytest.raises(
        NotImplementedError, match="Synchronous implementation of wrap_tool_call is not available"
    ):
        create_agent(model(reply, "ok"), [add], middleware=[only_async]).invoke(HI)
