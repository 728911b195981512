"""Running the calls of a reply: each is answered, in order."""

import asyncio
import threading
import time
from concurrent.futures import Future
from typing import Annotated, Any

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from dragoman._door import ASYNC
from dragoman.messages import AIMessage, ToolMessage
from dragoman.tools import (
    InjectedToolArg,
    StructuredTool,
    ToolException,
    aexecute_tool_calls,
    execute_tool_calls,
    tool,
)
from dragoman.tools.execute import Runner


def reply(*calls: tuple[str, dict[str, Any]], **fields: Any) -> AIMessage:
    made = [
        {"name": name, "args": args, "id": str(number)}
        for number, (name, args) in enumerate(calls, start=1)
    ]
    return AIMessage("", tool_calls=made, **fields)


def run(message: AIMessage, tools: list[Any], *, is_async: bool, **options: Any) -> list[Any]:
    if is_async:
        return asyncio.run(aexecute_tool_calls(message, tools, **options))
    return execute_tool_calls(message, tools, **options)


both = pytest.mark.parametrize("is_async", [False, True])


def double(n: int) -> int:
    """Double n."""
    return 2 * n


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


@tool
def fail(how: str) -> str:
    """Fail."""
    raise {
        "value": ValueError("no such city"),
        "tool": ToolException("tool says no"),
        "silent": KeyError(),
        "exit": SystemExit(3),
        "generator": GeneratorExit("odd"),
        "long": ValueError("x" * 5000),
        "cancelled": asyncio.CancelledError(),
        "late": TimeoutError("its own"),
        "late without a word": TimeoutError(),
        "mute": Mute("x"),
        "closed": GeneratorExit("g"),
    }[how]


@both
def test_results_keep_the_order_of_calls(is_async):
    @tool
    def slow(n: int) -> int:
        """Wait longer for smaller n."""
        time.sleep(0.03 * (3 - n))
        return n

    found = run(reply(*[("slow", {"n": n}) for n in range(3)]), [slow], is_async=is_async)
    assert [(m.content, m.tool_call_id, m.status) for m in found] == [
        ("0", "1", "success"),
        ("1", "2", "success"),
        ("2", "3", "success"),
    ]


@both
def test_no_more_run_at_a_time_than_allowed(is_async):
    running, most = [], []
    lock = threading.Lock()

    @tool
    def count(n: int) -> int:
        """Count."""
        with lock:
            running.append(n)
            most.append(len(running))
        time.sleep(0.01)
        with lock:
            running.remove(n)
        return n

    message = reply(*[("count", {"n": n}) for n in range(6)])
    run(message, [count], is_async=is_async, max_concurrency=2)
    assert max(most) == 2


@both
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (("fail", {"how": "value"}), "ValueError: no such city"),
        (("fail", {"how": "tool"}), "ToolException: tool says no"),
        (("fail", {"how": "silent"}), "KeyError"),
        (("fail", {"how": "exit"}), "SystemExit: 3"),
        (("fail", {"how": "cancelled"}), "CancelledError"),
        (("fail", {"how": "late"}), "TimeoutError: its own"),
        (("fail", {"how": "late without a word"}), "TimeoutError"),
        (("fail", {"how": "mute"}), "Mute"),
        (("nothing", {}), "Error: nothing is not a valid tool, try one of [double, fail]."),
        (
            ("double", {"n": "secret value"}),
            (
                "Error: wrong arguments: n: Input should be a valid integer, unable to parse "
                "string as an integer. Please fix them and try again."
            ),
        ),
        (
            ("double", {}),
            "Error: wrong arguments: n: Field required. Please fix them and try again.",
        ),
    ],
)
def test_every_failure_is_an_answer_and_the_others_go_on(is_async, call, text):
    message = reply(call, ("double", {"n": 2}))
    for timeout_s in (None, 60):
        found = run(message, [double, fail], is_async=is_async, timeout_s=timeout_s)
        assert (found[0].content, found[0].status, found[0].tool_call_id) == (text, "error", "1")
        assert (found[1].content, found[1].status) == ("4", "success")


@both
def test_a_generator_exit_that_a_tool_raises_is_an_answer(is_async):
    (found,) = run(reply(("fail", {"how": "closed"})), [fail], is_async=is_async)
    assert found.status == "error"
    assert "GeneratorExit" in found.content


@both
def test_long_errors_and_long_results_are_cut_with_a_mark(is_async):
    @tool
    def big() -> str:
        """Give much."""
        return "x" * 100

    message = reply(("fail", {"how": "long"}), ("big", {}))
    error, result = run(message, [fail, big], is_async=is_async, max_chars=10)
    assert len(error.content) == 1000
    assert result.content == "xxxxxxxxxx\n[cut: 10 of 100 characters]"


@both
def test_invalid_calls_are_answered(is_async):
    message = reply(
        ("double", {"n": 1}),
        invalid_tool_calls=[{"name": "double", "args": "{", "id": "9", "error": "cut"}],
    )
    found = run(message, [double], is_async=is_async)
    assert [m.tool_call_id for m in found] == ["1", "9"]
    assert found[1].content == (
        "Tool call double with id 9 could not be executed - arguments were malformed or truncated."
    )


@both
def test_a_call_that_takes_too_long_is_answered(is_async):
    released = threading.Event()

    @tool
    def hang() -> str:
        """Hang."""
        released.wait(5)
        return "late"

    @tool
    async def ahang() -> str:
        """Hang."""
        await asyncio.sleep(60)
        return "late"

    started = time.monotonic()
    chosen = ahang if is_async else hang
    message = reply((chosen.name, {}), ("double", {"n": 1}))
    found = run(message, [chosen, double], is_async=is_async, timeout_s=0.05)
    released.set()
    assert time.monotonic() - started < 5
    assert [m.content for m in found] == ["Error: timed out after 0.05 s", "2"]


@both
def test_injected_values_come_from_the_caller_never_from_the_model(is_async):
    @tool
    def whoami(n: int, user: Annotated[str, InjectedToolArg] = "nobody") -> str:
        """Tell."""
        return f"{user}{n}"

    message = reply(("whoami", {"n": 1, "user": "admin"}))
    (spoofed,) = run(message, [whoami], is_async=is_async)
    assert spoofed.content == "nobody1"
    (real,) = run(message, [whoami], is_async=is_async, injected={"user": "ada", "n": 7})
    assert real.content == "ada1"


async def test_b102_cancelling_cancels_the_tools_that_run():
    started, ended = asyncio.Event(), []

    @tool
    async def wait() -> str:
        """Wait."""
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(1)
        return "x"

    task = asyncio.create_task(aexecute_tool_calls(reply(("wait", {})), [wait]))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [1]


def test_b109_sync_tools_do_not_block_the_loop():
    @tool
    def sleep() -> str:
        """Sleep."""
        time.sleep(0.1)
        return "x"

    async def go() -> int:
        ticks = 0

        async def ticker() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(ticker())
        await aexecute_tool_calls(reply(("sleep", {})), [sleep])
        ticking.cancel()
        return ticks

    assert asyncio.run(go()) >= 3


def test_messages_that_tools_made_pass_and_a_reply_without_calls_has_no_results():
    own = ToolMessage("own", tool_call_id="1", name="make")

    @tool
    def make() -> Any:
        """Make."""
        return [own]

    assert execute_tool_calls(reply(("make", {})), [make]) == [own]
    assert execute_tool_calls(AIMessage("x"), [make]) == []


@both
def test_an_exit_in_a_tool_with_a_time_limit_is_an_answer_too(is_async):
    results = run(reply(("fail", {"how": "exit"})), [fail], is_async=is_async, timeout_s=5)
    assert [r.status for r in results] == ["error"]
    assert results[0].content == "SystemExit: 3"


def test_a_generator_exit_of_a_tool_is_an_answer_and_one_from_outside_closes_it():
    found = run(reply(("fail", {"how": "generator"})), [fail], is_async=False)
    assert found[0].content == "GeneratorExit: odd"
    seen = []

    @tool
    async def hang() -> str:
        """Hang."""
        try:
            await asyncio.sleep(60)
        except GeneratorExit:
            seen.append("closed")
            raise
        return "late"

    async def one() -> None:
        runner = Runner([hang], None, None, None, 1000)
        await runner.one(ASYNC, {"name": "hang", "args": {}, "id": "1", "type": "tool_call"})
        seen.append("went on")
        await asyncio.sleep(0)

    loop = asyncio.new_event_loop()
    body = one()
    task = loop.create_task(body)
    loop.run_until_complete(asyncio.sleep(0.02))
    body.close()
    assert seen == ["closed"]
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()


@both
def test_what_an_object_shows_is_the_same_in_each_run(is_async):
    def itself(n: int) -> Any:
        """Return a function."""
        return double

    content = run(reply(("itself", {"n": 1})), [itself], is_async=is_async)[0].content
    assert content == "<function double>"


class Named(BaseModel):
    n: int
    user: Annotated[str, InjectedToolArg] = Field("anon", alias="usr")


class Chosen(BaseModel):
    n: int
    user: Annotated[str, InjectedToolArg] = Field(
        "anon", validation_alias=AliasChoices("usr", "u2")
    )


class ByName(Chosen):
    model_config = ConfigDict(populate_by_name=True)


@both
@pytest.mark.parametrize("schema", [Named, Chosen, ByName])
@pytest.mark.parametrize("name", ["user", "usr", "u2"])
def test_no_alias_of_an_injected_argument_is_the_models_to_set(is_async, schema, name):
    whoami = StructuredTool.from_function(
        lambda n, user: f"{user}{n}", name="whoami", description="Tell.", args_schema=schema
    )
    message = reply(("whoami", {"n": 1, name: "evil"}))
    (real,) = run(message, [whoami], is_async=is_async, injected={"user": "ada"})
    assert real.content == "ada1"
    (none_given,) = run(message, [whoami], is_async=is_async)
    assert none_given.content == "anon1"


@both
def test_the_models_keywords_set_no_parameter_of_the_tools_own(is_async):
    def whoami(
        n: int,
        user: Annotated[str, InjectedToolArg] = "anon",
        callbacks: Any = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> list[Any]:
        """Tell."""
        return [n, user, "evil" in (callbacks, run_manager), kwargs]

    names = ("n", "user", "callbacks", "run_manager", "more")
    message = reply(("whoami", {"n": 1, "kwargs": dict.fromkeys(names, "evil")}))
    (real,) = run(message, [whoami], is_async=is_async, injected={"user": "ada"})
    assert real.content == '[1, "ada", false, {"more": "evil"}]'


@both
def test_what_a_run_supplies_is_not_the_models_to_set_whatever_the_schema(is_async):
    def show(n: int, run_manager: Any = None, callbacks: Any = None) -> list[Any]:
        return [n, "evil" in (run_manager, callbacks)]

    made = StructuredTool.from_function(
        show,
        description="Show.",
        args_schema={
            "title": "show",
            "type": "object",
            "properties": {"n": {"type": "integer"}},
        },
    )
    message = reply(("show", {"n": 1, "run_manager": "evil", "callbacks": "evil"}))
    (result,) = run(message, [made], is_async=is_async)
    assert result.content == "[1, false]"


@both
def test_a_tool_that_hangs_keeps_no_event_loop_from_ending(is_async):
    go = threading.Event()

    def hang() -> None:
        """Hang."""
        go.wait()

    found = run(reply(*[("hang", {})] * 40), [hang], is_async=is_async, timeout_s=0.05)
    go.set()
    assert {m.content for m in found} == {"Error: timed out after 0.05 s"}


@both
@pytest.mark.parametrize("response_format", ["content", "content_and_artifact"])
def test_what_a_generator_gives_is_read_in_the_tools_thread_within_time_and_size(
    is_async, response_format
):
    go = threading.Event()
    threads: list[Any] = []

    def items(how: str) -> Any:
        threads.append(threading.get_ident())
        while True:
            yield 1
            if how == "hanging":
                go.wait()

    @tool(response_format=response_format)
    def give(how: str) -> Any:
        """Give."""
        threads.append(threading.get_ident())
        return items(how) if response_format == "content" else (items(how), "artifact")

    message = reply(("give", {"how": "endless"}))
    (endless,) = run(message, [give], is_async=is_async, max_chars=60)
    assert endless.content == "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \n[cut: 60 characters of more]"
    assert threads[0] == threads[1]
    message = reply(("give", {"how": "hanging"}))
    (hanging,) = run(message, [give], is_async=is_async, timeout_s=0.05)
    go.set()
    assert hanging.content == "Error: timed out after 0.05 s"


async def test_a_generator_that_a_coroutine_returns_does_not_hold_up_the_loop():
    go = threading.Event()

    @tool
    async def give() -> Any:
        """Give."""
        return (go.wait() for _ in range(2))

    (found,) = await aexecute_tool_calls(reply(("give", {})), [give], timeout_s=0.05)
    go.set()
    assert found.content == "Error: timed out after 0.05 s"


@pytest.mark.parametrize("response_format", ["content", "content_and_artifact"])
@pytest.mark.parametrize("from_async", [False, True])
async def test_what_an_async_generator_gives_is_read_within_size_and_closed(
    response_format, from_async
):
    closed: list[bool] = []

    async def items() -> Any:
        try:
            while True:
                yield 1
        finally:
            closed.append(True)

    def given() -> Any:
        return items() if response_format == "content" else (items(), "artifact")

    async def agiven() -> Any:
        return given()

    made = StructuredTool.from_function(
        func=None if from_async else given,
        coroutine=agiven if from_async else None,
        name="give",
        description="Give.",
        response_format=response_format,
    )
    (found,) = await aexecute_tool_calls(reply(("give", {})), [made], max_chars=60)
    assert found.content == "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \n[cut: 60 characters of more]"
    assert found.artifact == (None if response_format == "content" else "artifact")
    assert closed == [True]


async def test_a_coroutine_that_a_sync_function_returns_is_awaited():
    async def answer() -> Any:
        return {"a": 1}

    @tool
    def give() -> Any:
        """Give."""
        return answer()

    (found,) = await aexecute_tool_calls(reply(("give", {})), [give])
    assert (found.content, found.status) == ('{"a": 1}', "success")


@pytest.mark.parametrize("what", ["a coroutine", "an async iterator"])
def test_a_sync_call_says_that_what_it_got_needs_an_event_loop(what):
    async def answer() -> Any:
        return 1

    async def items() -> Any:
        yield 1

    @tool
    def give() -> Any:
        """Give."""
        return answer() if what == "a coroutine" else items()

    (found,) = execute_tool_calls(reply(("give", {})), [give])
    told = f"the function of tool 'give' returned {what}; call the tool with `ainvoke`"
    assert found.content == f"TypeError: {told}"
    assert found.status == "error"


@both
@pytest.mark.parametrize(
    ("ids", "results"),
    [
        (["other"], [("a", "1")]),
        (["other", "1"], [("b", "1")]),
        (["other", "another"], [("Error: the tool gave no result for its call.", "1")]),
    ],
)
def test_a_call_is_answered_under_its_own_id(is_async, ids, results):
    @tool
    def give() -> Any:
        """Give."""
        return [ToolMessage(text, tool_call_id=i) for text, i in zip("ab", ids, strict=False)]

    found = run(reply(("give", {})), [give], is_async=is_async)
    assert [(m.content, m.tool_call_id) for m in found] == results


@both
def test_a_result_of_blocks_is_cut_as_a_whole(is_async):
    @tool
    def big() -> Any:
        """Give much."""
        return [{"type": "text", "text": "x" * 8}, "y" * 8]

    (found,) = run(reply(("big", {})), [big], is_async=is_async, max_chars=10)
    assert found.content == [
        {"type": "text", "text": "x" * 8},
        "yy\n[cut: 10 of 16 characters]",
    ]


@both
@pytest.mark.parametrize(
    ("message", "tools", "error", "words"),
    [
        (reply(("double", {})).tool_calls, [double], TypeError, "from an AIMessage, got list"),
        (reply(), double, TypeError, "has to be a list, got function; write"),
        (reply(), fail, TypeError, "has to be a list, got StructuredTool; write"),
        (reply(), {"double": double}, TypeError, "has to be a list, got dict; write"),
        (reply(), None, TypeError, "has to be a list, got NoneType; write"),
        (reply(), ["double"], TypeError, "has to hold tools and functions, got str"),
        (reply(), [double, tool(double)], ValueError, "two tools are named 'double'"),
    ],
)
def test_what_cannot_be_run_is_refused_in_words(is_async, message, tools, error, words):
    with pytest.raises(error, match=words):
        run(message, tools, is_async=is_async)


def test_the_same_tool_may_stand_there_twice():
    (found,) = execute_tool_calls(reply(("fail", {"how": "value"})), [fail, fail])
    assert found.content == "ValueError: no such city"


async def test_a_coroutine_that_a_coroutine_returns_is_awaited_too():
    async def answer() -> Any:
        return [1]

    @tool
    async def give() -> Any:
        """Give."""
        return answer()

    (found,) = await aexecute_tool_calls(reply(("give", {})), [give])
    assert (found.content, found.status) == ("[1]", "success")


def test_an_object_shows_no_address():
    @tool
    def give() -> Any:
        """Give."""
        return Future()

    (found,) = execute_tool_calls(reply(("give", {})), [give])
    assert found.content == "<Future state=pending>"
