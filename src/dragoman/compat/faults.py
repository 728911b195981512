"""Errors: the other side's class of the same name, with the original as its cause.

An error that has no namesake there (a damaged history, a missing package) stays what it is.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from langchain_core import exceptions as theirs

from dragoman import errors as ours
from dragoman.errors import DragomanError

__all__ = ["fault_in", "fault_out", "faults_in", "faults_out"]

SHARED = ("status", "provider", "request_id", "partial", "llm_output", "observation")


def fault_out(error: Exception) -> Exception:
    """Return LangChain's error for one of ours, or the error itself."""
    for cls in type(error).__mro__:
        namesake: Any = getattr(theirs, cls.__name__, None)
        if namesake is not None and cls.__module__.startswith("dragoman"):
            return _made(namesake, str(error), error)
    return error


def fault_in(error: Exception) -> Exception:
    """Return our error for one of LangChain's, or the error itself."""
    for cls in type(error).__mro__:
        namesake: Any = getattr(ours, cls.__name__, None)
        if namesake is not None and cls.__module__ == theirs.__name__:
            return _made(namesake, str(error), error)
    return error


def _made(cls: Any, text: str, error: Any) -> Exception:
    made = cls(text)
    # The constructors of some classes add a line to the text, which stands in it already.
    made.args = (text,)
    for name in SHARED:
        if hasattr(error, name):
            setattr(made, name, getattr(error, name))
    if hasattr(error, "is_retryable"):
        made.is_retryable = error.is_retryable
    return made


@contextmanager
def faults_out() -> Generator[None]:
    """Raise our errors as LangChain's."""
    try:
        yield
    except DragomanError as error:
        found = fault_out(error)
        if found is error:
            raise
        raise found from error


@contextmanager
def faults_in() -> Generator[None]:
    """Raise LangChain's errors as ours."""
    try:
        yield
    except theirs.LangChainException as error:
        found = fault_in(error)
        if found is error:
            raise
        raise found from error
