"""`dragoman convert`: request bodies of one wire as those of another."""

from typing import Any

import click

from dragoman.cli.check import file_or_pipe
from dragoman.cli.documents import about, open_writer, sound_documents
from dragoman.cli.group import FileCommand
from dragoman.cli.histories import NATIVE, Body, is_history, open_history
from dragoman.cli.report import print_changes
from dragoman.codecs.contract import Change, ChatRequest
from dragoman.codecs.convert import codec_named, convert

__all__ = ["command"]


@click.command("convert", cls=FileCommand)
@click.argument("file", required=False)
@click.option(
    "--to",
    metavar="WIRE",
    required=True,
    help="The wire to write; native for messages of dragoman.",
)
@click.option("--from", "source", metavar="WIRE", help="What a body is; else told by its shape.")
@click.option("-o", "--output", metavar="FILE", help="Where to; else standard output.")
def command(file: str | None, to: str, source: str | None, output: str | None) -> int:
    """Write a request body for another provider.

    FILE is as for `dragoman check`; a response body will do too. Wires are openai, responses,
    anthropic, gemini, bedrock, ollama, mistral, cohere, and the names of providers. What cannot be
    carried as it was is told on stderr.

    Exit code: 0, or 1 if something was lost, or 2 if it could not be done.
    """
    if to != "native":
        codec_named(to)
    is_lossy = False
    with open_writer(output) as writer:
        for document in sound_documents(file_or_pipe(file)):
            with about(document):
                value, changes = _converted(document.value, to, source)
            print_changes(document, changes)
            is_lossy = is_lossy or any(change.lossy for change in changes)
            document.item_lines = None  # a body is no line of messages
            writer.write(document, value)
    return 1 if is_lossy else 0


def _converted(value: Any, to: str, source: str | None) -> tuple[Any, list[Change]]:
    if not is_history(value):
        done = convert(value, to, source)
        return done.body, done.changes
    history = open_history(value, source)
    changes: list[Change] = []
    if to == "native":
        return NATIVE.write(history.messages), changes
    if isinstance(history, Body):
        done = convert(history.body, to, history.source)
        return history.wrap(done.body), done.changes
    body = codec_named(to).encode_request(ChatRequest(messages=history.messages), changes)
    return body, changes
