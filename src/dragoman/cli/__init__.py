"""The command `dragoman`.

One file a command: `dragoman/cli/<name>.py` with a click command called `command`, and one line in
the table below. A command's file is loaded when the command is run, never to show the help.
Commands raise `DragomanError`, `OSError` or click's errors freely: the group prints one line and
exits with 1.
"""

import sys
from collections.abc import Sequence

from dragoman._need import need
from dragoman.errors import MissingExtraError

__all__ = ["COMMANDS", "main"]

# name -> what the help says, in the order of the help.
COMMANDS: dict[str, str] = {
    "chat": "Ask a model, once or in a conversation.",
    "agent": "Let a model work on a task with tools.",
    "threads": "Look at the threads that are kept, export or delete them.",
    "check": "Show what a provider would refuse in a history.",
    "repair": "Mend a history so that providers accept it.",
    "trim": "Keep the messages at one end that fit into a number of tokens.",
    "convert": "Write a request body for another provider.",
    "migrate": "Rewrite the imports of a program written for LangChain.",
    "demo": "See what dragoman does, on this machine, in half a minute.",
}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line `argv` (default: the process's own) and exit."""
    try:
        need("click", "cli")
        need("rich", "cli")
    except MissingExtraError as error:
        sys.stderr.write(f"dragoman: {error}\n")
        sys.exit(1)
    from dragoman.cli.group import run

    sys.exit(run(list(sys.argv[1:] if argv is None else argv)))
