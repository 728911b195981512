"""Handlers in force around a call, and the one question asked before anything is built."""

from contextvars import ContextVar

import pytest

from dragoman.callbacks import BaseCallbackHandler, CallbackManager, ambient, requested
from dragoman.callbacks.ambient import register_configure_hook, with_handler
from dragoman.runnables import RunnableLambda


class Log(BaseCallbackHandler):
    def __init__(self):
        self.names = []

    def on_chain_start(self, serialized, inputs, **kwargs):
        self.names.append(kwargs["name"])


@pytest.mark.parametrize(
    ("config", "answer"),
    [
        (None, False),
        ({}, False),
        ({"callbacks": None}, False),
        ({"callbacks": []}, False),
        ({"callbacks": CallbackManager([])}, False),
        ({"callbacks": [Log()]}, True),
        ({"callbacks": CallbackManager([Log()])}, True),
    ],
)
def test_whether_somebody_listens(config, answer):
    assert requested(config) is answer


async def test_a_handler_in_force_hears_everything_inside_its_block():
    log = Log()
    step = RunnableLambda(lambda x: x, name="step")
    with with_handler(log):
        assert requested(None)
        step.invoke(1)
        await step.ainvoke(1)
        (step | step).batch([1])
    step.invoke(1)

    assert log.names == ["step", "step", "RunnableSequence", "step", "step"]
    assert not requested(None)


def test_a_hook_is_a_context_variable_that_may_hold_a_handler(monkeypatch):
    monkeypatch.setattr(ambient, "_hooks", [])
    variable = ContextVar("handler", default=None)
    register_configure_hook(variable, True)
    log = Log()
    RunnableLambda(len).invoke("x")
    variable.set(log)
    RunnableLambda(len, name="heard").invoke("x")

    assert log.names == ["heard"]
    with pytest.raises(ValueError, match="`env_var` is not supported"):
        register_configure_hook(variable, True, Log, "SOME_VARIABLE")
