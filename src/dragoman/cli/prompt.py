"""The prompt of a command: its argument, and what comes through a pipe."""

import os
import select
import stat
import sys

import click

__all__ = ["read_prompt"]

# Beside a question, an open pipe in which nothing comes is most likely not meant for us: a script's
# or a service's own standard input. Waiting for its end would be waiting for ever.
PATIENCE_S = 1.0


def read_prompt(question: str) -> str | None:
    """Return the prompt, or None where a person at a terminal is to be asked.

    Raises:
        click.UsageError: If there is nothing to ask, or the input is not UTF-8 text.
    """
    if sys.stdin is None or sys.stdin.closed:
        piped = ""
    elif sys.stdin.isatty():
        if not question and not sys.stdout.isatty():
            raise click.UsageError("give a question: the output is no terminal to converse in")
        piped = ""
        if not question:
            return None
    elif question and not _has_something():
        piped = ""
    else:
        piped = _read()
    text = "\n\n".join(part for part in (question, piped) if part.strip())
    if not text:
        raise click.UsageError("the prompt is empty: give a question, or text through a pipe")
    return text


def _has_something() -> bool:
    mode = os.fstat(sys.stdin.fileno()).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return True
    ready, _, _ = select.select([sys.stdin], [], [], PATIENCE_S)
    return bool(ready)


def _read() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"the input is not UTF-8 text (byte {error.start})"
        raise click.UsageError(message) from error
