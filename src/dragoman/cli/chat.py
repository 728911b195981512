"""`dragoman chat`: a question and its reply, or a conversation."""

import os
import sys
from typing import Any

import click

from dragoman.cli.conversation import Conversation, converse
from dragoman.cli.prompt import read_prompt

__all__ = ["command"]


@click.command("chat")
@click.argument("question", nargs=-1)
@click.option(
    "--model",
    default=lambda: os.environ.get("DRAGOMAN_MODEL", "local"),
    show_default="DRAGOMAN_MODEL, else local",
    metavar="PROVIDER:NAME",
    help="The model, such as openai:gpt-5, ollama:llama3 or llamacpp:/path/model.gguf.",
)
@click.option("--system", metavar="TEXT", help="What the model is told before the conversation.")
@click.option("--json", "as_json", is_flag=True, help="Print each reply as a message, one a line.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="The most tokens of a reply.")
@click.option(
    "--temperature",
    type=click.FloatRange(min=0),
    help="How freely tokens are chosen; for local 0 by default.",
)
def command(
    question: tuple[str, ...],
    model: str,
    system: str | None,
    as_json: bool,
    max_tokens: int | None,
    temperature: float | None,
) -> None:
    """Ask a model, once or in a conversation.

    With QUESTION (or a prompt from a pipe) the reply is streamed and that is all. Text from a pipe
    is put behind the question. Without either a conversation starts, in which /help tells more.
    """
    prompt = read_prompt(" ".join(question))
    if temperature is None and model == "local":
        temperature = 0  # a model of this size loses the thread when it chooses freely
    options: dict[str, Any] = {"max_tokens": max_tokens, "temperature": temperature}
    given = {name: value for name, value in options.items() if value is not None}
    conversation = Conversation(model, system=system, as_json=as_json, options=given)
    if prompt is None:
        converse(conversation)
    elif not conversation.ask(prompt):
        sys.exit(130)
