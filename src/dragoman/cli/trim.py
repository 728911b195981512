"""`dragoman trim`: the end (or start) of a history that fits into a number of tokens."""

from typing import Any, Literal

import click

from dragoman.cli.check import file_or_pipe
from dragoman.cli.documents import about, open_writer, sound_documents
from dragoman.cli.group import FileCommand
from dragoman.cli.histories import open_history
from dragoman.messages import BaseMessage
from dragoman.transcript.trim import trim_messages

__all__ = ["command"]


@click.command("trim", cls=FileCommand)
@click.argument("file", required=False)
@click.option("--max-tokens", type=click.IntRange(min=1), required=True, help="The most tokens.")
@click.option(
    "--strategy",
    type=click.Choice(["last", "first"]),
    default="last",
    show_default=True,
    help="Which end is kept.",
)
@click.option("--start-on", metavar="TYPE", help="What it has to start with, such as human.")
@click.option("--end-on", metavar="TYPE", help="What it has to end with.")
@click.option(
    "--system/--no-system", default=True, show_default=True, help="Keep the system message."
)
@click.option(
    "--count-with",
    metavar="MODEL",
    help="A model whose tokens are counted, such as local; else an approximation.",
)
@click.option("--from", "source", metavar="WIRE", help="What a body is; else told by its shape.")
@click.option("-o", "--output", metavar="FILE", help="Where to; else standard output.")
def command(
    file: str | None,
    max_tokens: int,
    strategy: Literal["last", "first"],
    start_on: str | None,
    end_on: str | None,
    system: bool,
    count_with: str | None,
    source: str | None,
    output: str | None,
) -> int:
    """Keep the messages at one end that fit into a number of tokens.

    FILE is as for `dragoman check`, and what comes out has the same form. A call stays together
    with its results, or goes with them.

    Exit code: 0, or 2 if it could not be done.
    """
    counter = _counter(count_with)

    def shortened(messages: list[BaseMessage]) -> list[BaseMessage]:
        return trim_messages(
            messages,
            max_tokens=max_tokens,
            token_counter=counter,
            strategy=strategy,
            start_on=start_on,
            end_on=end_on,
            include_system=system and strategy == "last",
        )

    with open_writer(output) as writer:
        for document in sound_documents(file_or_pipe(file)):
            with about(document):
                value = open_history(document.value, source).edit(shortened)
            writer.write(document, value)
    return 0


def _counter(model: str | None) -> Any:
    if model is None:
        return "approximate"
    from dragoman.chat_models import init_chat_model

    return init_chat_model(model)
