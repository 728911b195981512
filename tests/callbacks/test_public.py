"""The names that users import."""

import importlib

import pytest

import dragoman.callbacks


def test_the_public_names_are_langchains():
    import langchain_core.callbacks as theirs

    assert set(theirs.__all__) <= set(dragoman.callbacks.__all__)


@pytest.mark.parametrize(
    "module", ["base", "file", "manager", "stdout", "streaming_stdout", "usage"]
)
def test_the_modules_are_langchains(module):
    theirs = importlib.import_module(f"langchain_core.callbacks.{module}")
    ours = importlib.import_module(f"dragoman.callbacks.{module}")
    defined = {
        name
        for name, value in vars(theirs).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == theirs.__name__
    }
    missing = {name for name in defined if not hasattr(ours, name)}
    assert missing <= {"Func", "T", "shielded", "env_var_is_set"}
