"""Results in call order, and call ids that a wire accepts."""

import re

from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs.pairing import WireIds, in_call_order
from dragoman.messages import AIMessage, HumanMessage, ToolMessage


def ai(*ids):
    return AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": i} for i in ids])


def tool(id, text="r"):
    return ToolMessage(text, tool_call_id=id)


def test_results_stand_in_the_order_of_the_calls():
    a, b, stray = tool("a"), tool("b"), tool("zz")
    history = [HumanMessage("q"), ai("a", "b"), stray, b, a, AIMessage("done")]
    out = in_call_order(history)
    assert [m.tool_call_id for m in out[2:5]] == ["a", "b", "zz"]
    assert all(
        x is y for x, y in zip(out, [history[0], history[1], a, b, stray, history[5]], strict=True)
    )
    assert history[2] is stray


@given(st.permutations(["a", "b", "c"]), st.permutations(["a", "b", "c"]))
def test_any_order_of_results_becomes_the_order_of_the_calls(calls, results):
    out = in_call_order([ai(*calls), *map(tool, results)])
    assert [m.tool_call_id for m in out[1:]] == calls


@given(st.lists(st.text(max_size=30), min_size=1, max_size=8))
def test_mapped_ids_fit_and_are_different_for_different_ids(ids):
    fits = re.compile(r"[a-zA-Z0-9]{9}")
    wire = WireIds(fits, length=9)
    made = [wire.call(i or f"x{n}") for n, i in enumerate(ids)]
    assert all(fits.fullmatch(m) for m in made)
    assert len(set(made)) == len(made)  # calls of one turn: also those of one id
    again = WireIds(fits, length=9)
    assert [again.call(i or f"x{n}") for n, i in enumerate(ids)] == made


def test_ids_that_fit_stay():
    wire = WireIds(re.compile(r"[a-z]+"))
    assert wire.call("abc") == "abc"
    assert wire.result("abc") == "abc"


def test_a_made_id_never_meets_one_that_was_there():
    made = WireIds(max_length=5, length=5).call("too long for it")
    wire = WireIds(max_length=5, length=5)
    assert wire.call(made) == made
    assert wire.call("too long for it") != made


def test_b45_repeated_ids_are_told_apart_where_that_is_demanded():
    wire = WireIds(unique=True)
    first = wire.call("call_0")
    assert wire.result("call_0") == first
    second = wire.call("call_0")
    assert second != first
    assert wire.result("call_0") == second
    plain = WireIds()
    assert plain.call("call_0") == plain.result("call_0") == plain.call("call_0")


def test_calls_of_one_turn_with_one_id_are_told_apart_and_answered_in_order():
    for wire in (WireIds(), WireIds(unique=True)):
        one, two = wire.call("c"), wire.call("c")
        assert one != two
        assert [wire.result("c"), wire.result("c")] == [one, two]


def test_of_repeated_ids_the_nearest_turn_is_answered_first():
    wire = WireIds(unique=True)
    old, _ = wire.call("c"), wire.call("d")
    wire.result("d")
    first, second = wire.call("c"), wire.call("c")
    assert [wire.result("c") for _ in range(3)] == [first, second, old]


def test_calls_without_ids_get_some_and_their_results_follow_in_order():
    wire = WireIds()
    one, two = wire.call(None), wire.call("")
    assert one
    assert two
    assert one != two
    assert [wire.result(None), wire.result("")] == [one, two]
