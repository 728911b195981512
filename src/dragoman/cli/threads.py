"""`dragoman threads`: the conversations that are kept, to look at, take away and delete."""

import sys

import click

from dragoman.cli.output import clean
from dragoman.cli.stores import open_store, store_option
from dragoman.errors import StoreError
from dragoman.messages import BaseMessage, convert_to_openai_messages, messages_to_json
from dragoman.threads import ThreadStore

__all__ = ["command"]


@click.group("threads")
def command() -> None:
    """Look at the threads that are kept, export or delete them."""


@command.command("list")
@store_option
@click.option("--prefix", default="", help="Only threads whose names begin so.")
@click.option("--limit", type=click.IntRange(min=1), help="The most names.")
def list_(store: str, prefix: str, limit: int | None) -> None:
    """Print the names of threads, one a line."""
    for name in open_store(store).list(prefix, limit=limit):
        click.echo(clean(name).replace("\n", " "))


@command.command()
@click.argument("name")
@store_option
@click.option("--limit", type=click.IntRange(min=1), help="Only the last messages.")
def show(name: str, store: str, limit: int | None) -> None:
    """Print the messages of a thread."""
    messages = _messages(open_store(store), name, limit)
    click.echo("\n\n".join(clean(message.pretty_repr()) for message in messages))


@command.command()
@click.argument("name")
@store_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["native", "openai"]),
    default="native",
    show_default=True,
    help="Native JSON, or messages as OpenAI's chat completions take them.",
)
def export(name: str, store: str, form: str) -> None:
    """Write the messages of a thread as JSON."""
    import json

    messages = _messages(open_store(store), name, None)
    if form == "native":
        data = messages_to_json(messages)
    else:
        data = json.dumps(convert_to_openai_messages(messages), ensure_ascii=False).encode()
    sys.stdout.buffer.write(data + b"\n")


@command.command()
@click.argument("name")
@store_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(name: str, store: str, yes: bool) -> None:
    """Delete everything of a thread."""
    opened = open_store(store)
    _messages(opened, name, 1)
    if not yes:
        click.confirm(f"Delete the thread {clean(name)}?", abort=True)
    opened.delete(name)


def _messages(store: ThreadStore, name: str, limit: int | None) -> list[BaseMessage]:
    snapshot = store.thread(name).load(limit=limit)
    if snapshot.head is None:
        raise StoreError(f"there is no thread {clean(name)!r}; see `dragoman threads list`")
    return snapshot.messages
