"""Functions that hear of a run."""

import pytest

from dragoman.runnables import RunnableLambda


async def test_listeners_hear_of_start_and_end(colour):
    heard = []
    step = RunnableLambda(lambda x: x + 1, name="inc").with_listeners(
        on_start=lambda run: heard.append(("start", run.name, run.inputs, run.outputs)),
        on_end=lambda run: heard.append(("end", run.name, run.inputs, run.outputs)),
        on_error=lambda run: heard.append(("error", run.error)),
    )

    assert await colour.invoke(step, 1) == 2
    assert heard == [
        ("start", "inc", {"input": 1}, None),
        ("end", "inc", {"input": 1}, {"output": 2}),
    ]


async def test_listeners_hear_of_an_error(colour):
    heard = []

    def fail(x):
        raise ValueError("no")

    step = RunnableLambda(fail).with_listeners(on_error=lambda run: heard.append(run.error))
    with pytest.raises(ValueError, match="no"):
        await colour.invoke(step, 1)
    assert heard[0].startswith("ValueError('no')")


async def test_a_listener_may_take_the_config(colour):
    heard = []
    step = RunnableLambda(lambda x: x).with_listeners(
        on_end=lambda run, config: heard.append(config["tags"])
    )

    await colour.invoke(step, 1, {"tags": ["t"]})
    assert heard == [["t"]]


async def test_coroutine_functions_may_listen(colour):
    heard = []

    async def note(run):
        heard.append(run.outputs)

    step = RunnableLambda(lambda x: x).with_alisteners(on_end=note)
    await colour.invoke(step, 1)
    assert heard == [{"output": 1}]


async def test_a_run_knows_the_runs_inside_it(colour):
    heard = []
    chain = RunnableLambda(lambda x: x + 1, name="a") | RunnableLambda(lambda x: {"k": x}, name="b")
    step = chain.with_listeners(on_end=lambda run: heard.append(run))

    await colour.invoke(step, 1)
    (run,) = heard
    assert [(child.name, child.outputs) for child in run.child_runs] == [
        ("a", {"output": 2}),
        ("b", {"k": 2}),
    ]
    assert run.end_time >= run.start_time


async def test_each_call_is_heard_once(colour):
    heard = []
    step = RunnableLambda(lambda x: x).with_listeners(on_end=lambda run: heard.append(run.id))

    await colour.batch(step, [1, 2, 3])
    await colour.invoke(step.map(), [4, 5])
    assert len(set(heard)) == len(heard) == 5


async def test_listeners_hear_a_streams_whole_output(colour):
    heard = []

    def letters(x):
        yield from x

    chain = RunnableLambda(lambda x: x) | RunnableLambda(lambda x: x)
    step = chain.with_listeners(on_end=lambda run: heard.append((run.inputs, run.outputs)))
    await colour.stream(step, "ab")
    assert heard == [({"input": "ab"}, {"output": "ab"})]
