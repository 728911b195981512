"""The group of all commands, and what becomes of their errors."""

import os
import sys
from importlib import import_module
from typing import Any

import click

from dragoman import __version__
from dragoman.cli import COMMANDS
from dragoman.cli.output import print_error
from dragoman.errors import DragomanError, ModelError

__all__ = ["FileCommand", "run"]

# What a shell reports for a process that Ctrl-C ended.
INTERRUPTED = 130


class FileCommand(click.Command):
    """A command that answers with its exit code: 0 and 1 are its own, 2 means it could not be done."""

    error_code: int = 2


class LazyGroup(click.Group):
    """A group whose commands are files that are loaded when they are run."""

    error_code: int = 1

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"dragoman.cli.{cmd_name}").command
        self.error_code = getattr(command, "error_code", 1)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table, loading none."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def run(argv: list[str]) -> int:
    """Run a command line and return its exit code; every failure is one line on stderr."""
    group = LazyGroup("dragoman", help="One conversation, valid on every LLM provider.")
    version = click.version_option(
        __version__, prog_name="dragoman", message="%(prog)s %(version)s"
    )
    version(group)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character is no reason to lose the rest of a reply.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    try:
        code: Any = group.main(args=argv, prog_name="dragoman", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(f"{error.format_message()}\n")
        return group.error_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.stderr.write("\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader left (`| head`): nothing to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if os.environ.get("DRAGOMAN_DEBUG"):
            raise
        print_error(_line(error))
        return group.error_code
    return code if isinstance(code, int) else 0


def _line(error: Exception) -> str:
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx is not None else "dragoman"
        return f"{error.format_message().rstrip('.')}; see `{command} --help`"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, ModelError):
        return error.message
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, DragomanError):
        return str(error)
    name = type(error).__name__
    return f"unexpected {name}: {error} (DRAGOMAN_DEBUG=1 shows where)"
