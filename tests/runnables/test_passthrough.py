"""Steps that pass their input on."""

import pytest

from dragoman.runnables import (
    RunnableAssign,
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
    RunnablePick,
)


async def test_a_passthrough_gives_its_input_back(colour):
    value = {"a": [1]}
    assert await colour.invoke(RunnablePassthrough(), value) is value
    assert await colour.transform(RunnablePassthrough(), ["a", "b"]) == ["a", "b"]


async def test_a_function_is_called_aside_with_the_whole_input(colour):
    seen = []
    step = RunnablePassthrough(seen.append)

    assert await colour.invoke(step, 1) == 1
    assert await colour.transform(step, ["a", "b"]) == ["a", "b"]
    assert seen == [1, "ab"]


async def test_a_coroutine_function_is_called_aside_under_async():
    seen = []

    async def note(x, config):
        seen.append((x, config["tags"]))

    await RunnablePassthrough(note).ainvoke(1, {"tags": ["t"]})
    assert seen == [(1, ["t"])]


async def test_assign_adds_keys_and_replaces_those_that_are_there(colour):
    step = RunnablePassthrough.assign(b=lambda x: x["a"] + 1, a=lambda x: "new")
    given = {"a": 1, "c": 3}

    assert await colour.invoke(step, given) == {"a": "new", "b": 2, "c": 3}
    assert given == {"a": 1, "c": 3}


async def test_assign_streams_the_input_first_and_then_what_it_adds(colour):
    def letters(pieces):
        for piece in pieces:
            yield from piece["text"]

    step = RunnablePassthrough.assign(out=RunnableGenerator(letters))
    pieces = await colour.stream(step, {"text": "ab", "n": 1})

    assert pieces == [{"text": "ab", "n": 1}, {"out": "a"}, {"out": "b"}]


async def test_pick_gives_a_value_or_a_part(colour):
    given = {"a": 1, "b": 2}

    assert await colour.invoke(RunnablePick("a"), given) == 1
    assert await colour.invoke(RunnablePick("z"), given) is None
    assert await colour.invoke(RunnablePick(["a", "z"]), given) == {"a": 1}
    assert await colour.invoke(RunnablePick(["z"]), given) is None
    assert await colour.stream(RunnablePick("z"), given) == []
    assert await colour.transform(RunnablePick("a"), [{"a": 1}, {"b": 2}, {"a": 3}]) == [1, 3]


@pytest.mark.parametrize("step", [RunnablePassthrough.assign(a=lambda x: 1), RunnablePick("a")])
async def test_what_is_no_dict_is_refused(colour, step):
    text = r"The input to RunnablePassthrough.assign\(\) must be a dict."
    with pytest.raises(ValueError, match=text):
        await colour.invoke(step, "text")
    with pytest.raises(ValueError, match=text):
        await colour.stream(step, "text")


async def test_the_methods_of_a_chain_are_the_same_steps(colour):
    base = RunnableLambda(lambda x: {"a": x})

    assert await colour.invoke(base.assign(b=lambda d: d["a"] * 2).pick(["b"]), 2) == {"b": 4}
    assert await colour.invoke(base.pick("a"), 2) == 2


def test_names_and_reprs():
    assign = RunnablePassthrough.assign(a=len, b=len)

    assert isinstance(assign, RunnableAssign)
    assert assign.get_name() == "RunnableAssign<a,b>"
    assert RunnablePick(["a", "b"]).get_name() == "RunnablePick<a,b>"
    assert repr(RunnablePick("a")) == "RunnablePick(keys='a')"
    assert RunnablePassthrough() == RunnablePassthrough()


def test_schemas_of_a_sequence_see_through_assign_and_pick():
    def wants(x):
        return x["a"] + x["b"]

    chain = RunnablePassthrough.assign(b=lambda x: x["c"]) | RunnableLambda(wants)
    assert sorted(chain.get_input_jsonschema()["properties"]) == ["a", "c"]

    made = RunnableParallel(a=lambda x: x, b=lambda x: x) | RunnablePick(["a"])
    assert list(made.get_output_jsonschema()["properties"]) == ["a"]
    more = RunnableParallel(a=lambda x: x) | RunnablePassthrough.assign(z=lambda x: x)
    assert list(more.get_output_jsonschema()["properties"]) == ["a", "z"]
