"""A step whose iterator is used up: what its caller sees."""

import pytest

from dragoman.language_models.fake_chat_models import GenericFakeChatModel
from dragoman.output_parsers import StrOutputParser
from dragoman.runnables import RunnableLambda, RunnableParallel


def _used_up() -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter(()))


def _next_of_nothing(_):
    return next(iter(()))


@pytest.mark.parametrize(
    "chain",
    [
        RunnableLambda(_next_of_nothing),
        RunnableLambda(lambda x: x) | _used_up(),
        _used_up() | StrOutputParser(),
        RunnableParallel(a=_used_up(), b=RunnableLambda(lambda x: x)),
        RunnableLambda(lambda x: x) | _next_of_nothing | (lambda x: x),
        _used_up().bind(stop=["x"]),
    ],
)
def test_a_stop_iteration_passes_through_sync_calls(chain):
    with pytest.raises(StopIteration):
        chain.invoke("x")
    with pytest.raises(StopIteration):
        chain.batch(["x"])
    with pytest.raises(StopIteration):
        chain.batch(["x", "y"])


async def test_a_future_cannot_hold_one():
    with pytest.raises(RuntimeError, match="StopIteration"):
        await (RunnableLambda(lambda x: x) | _used_up()).ainvoke("x")


def test_a_fallback_takes_over_when_a_model_is_used_up():
    spare = GenericFakeChatModel(messages=iter(["spare"]))

    assert _used_up().with_fallbacks([spare]).invoke("x").content == "spare"


def test_a_function_that_only_async_calls_can_use_is_shown_so():
    async def later(x):
        return x

    assert repr(RunnableLambda(later)) == "RunnableLambda(afunc=later)"
    assert repr(RunnableLambda(_next_of_nothing, afunc=later)) == "RunnableLambda(_next_of_nothing)"
