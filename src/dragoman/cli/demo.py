"""`dragoman demo`: what this package is for, in half a minute, offline.

Nothing is acted: the reply comes from the bundled model, the bodies from the codecs, the findings
from the checker, and the repaired thread is sent to the server that the model runs behind.
"""

import json
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import Any, cast

import click

from dragoman.chat_models import init_chat_model
from dragoman.chat_models.local import is_cached
from dragoman.cli.output import clean, console, is_terminal
from dragoman.cli.report import says
from dragoman.codecs import get_codec
from dragoman.messages import AIMessage, message_chunk_to_message, messages_to_json
from dragoman.transcript import check_body, repair_body
from dragoman.transcript.rules import RULES

__all__ = ["command"]

QUESTION = "What is the capital of Italy?"
WIRES = {"OpenAI": "openai_chat", "Anthropic": "anthropic", "Gemini": "gemini"}
# Narrower columns would break nearly every line of a body.
MIN_COLUMNS_WIDTH = 96
MAX_TOKENS = 48


def _call(id: str, city: str) -> dict[str, Any]:
    arguments = json.dumps({"city": city})
    return {
        "id": id,
        "type": "function",
        "function": {"name": "get_weather", "arguments": arguments},
    }


# An agent was cancelled while its second tool ran, and the thread was trimmed in front: the call
# that the first result answers is gone, and one call has no result.
POISONED: dict[str, Any] = {
    "model": "local",
    "messages": [
        {"role": "tool", "tool_call_id": "call_0", "content": "Rain, 12 degrees"},
        {"role": "assistant", "content": "It rains in London, at 12 degrees."},
        {"role": "user", "content": "And in Paris and Rome?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [_call("call_1", "Paris"), _call("call_2", "Rome")],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "Sunny, 25 degrees"},
        {"role": "user", "content": "Never mind Rome. How is the weather in Paris?"},
    ],
}


@click.command("demo")
@click.argument("question", nargs=-1)
def command(question: tuple[str, ...]) -> None:
    """See what dragoman does, on this machine, in half a minute.

    The bundled model answers QUESTION; its reply is shown as one message and as the bodies of three
    providers. Then a thread that providers refuse is checked, repaired and sent.
    """
    # The weights are fetched once; after that nothing here needs a network.
    where = "without the network" if is_cached() else "and fetched the model once"
    started = time.monotonic()
    _one_reply(" ".join(question) or QUESTION)
    _poisoned_thread()
    _next_commands(f"this took {time.monotonic() - started:.0f} s, {where}")


def _one_reply(question: str) -> None:
    _title("1. A model that runs here answers")
    _line(f"> {question}")
    model: Any = init_chat_model("local", temperature=0, max_tokens=MAX_TOKENS)
    with model.stream(question) as stream:
        for chunk in stream:
            sys.stdout.write(clean(str(chunk.text)) if is_terminal() else str(chunk.text))
            sys.stdout.flush()
    reply = cast("AIMessage", message_chunk_to_message(stream.message))
    _line("")
    _title("The stream as one message, whoever sent it")
    _line(json.dumps(_short(json.loads(messages_to_json([reply]))[0]), ensure_ascii=False))
    _title("The same reply as its provider would send it")
    bodies = {name: get_codec(api).encode_response(reply) for name, api in WIRES.items()}
    _side_by_side({name: json.dumps(body, indent=1) for name, body in bodies.items()})


def _short(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without the server's measurements, which fill a screen."""
    metadata = message.get("response_metadata", {})
    kept = ("model_provider", "model_name", "finish_reason")
    return message | {"response_metadata": {k: metadata[k] for k in kept if k in metadata}}


def _poisoned_thread() -> None:
    _title("2. A thread that was cancelled in a tool, and then trimmed")
    for position, message in enumerate(POISONED["messages"]):
        _line(f"  [{position}] {_told(message)}")
    _title("dragoman check")
    issues = check_body(POISONED, api="openai")
    for issue in issues:
        _line(f"  [{issue.index}] {issue.message}")
        _line(f"      OpenAI says: {says(RULES[issue.code], 'openai_chat')}")
    _title("dragoman repair --lossy")
    repaired = repair_body(POISONED, api="openai")
    for change in repaired.changes:
        kind = "loses it" if change.lossy else "loses nothing"
        _line(f"  {change.path}: {change.message} ({kind})")
    _title("The repaired thread, sent")
    _line(f"  check: {len(check_body(repaired.body, api='openai'))} findings")
    request = get_codec("openai_chat").decode_request(repaired.body)
    # "strict": anything that is still wrong would be an error before the server is asked.
    model: Any = init_chat_model("local", temperature=0, max_tokens=MAX_TOKENS, history="strict")
    reply = model.invoke(request.messages)
    read, written = (reply.usage_metadata[f"{way}_tokens"] for way in ("input", "output"))
    _line(f"  accepted by the local server: {read} tokens read, {written} written")


def _told(message: dict[str, Any]) -> str:
    calls = message.get("tool_calls") or []
    if calls:
        shown = ", ".join(f"{c['id']} {c['function']['arguments']}" for c in calls)
        return f"{message['role']}: calls {shown}"
    answered = f" ({message['tool_call_id']})" if "tool_call_id" in message else ""
    return f"{message['role']}{answered}: {message['content']}"


def _next_commands(note: str) -> None:
    name = _command_name()
    _title(f"3. What next? ({note})")
    for line, what in (
        (f"{name} chat", "converse with the model"),
        (
            f"{name} check FILE",
            "what a provider would refuse in a body, a thread or a log of yours",
        ),
        (f"{name} migrate PATH", "what a program written for LangChain would need"),
    ):
        _line(f"  {line:<{len(name) + 14}}  # {what}")


def _command_name() -> str:
    """Return what a reader types to run this command."""
    called = Path(sys.argv[0])
    if called.name != "dragoman":
        return "dragoman"
    found = shutil.which("dragoman")
    if found is not None and Path(found).resolve() == called.resolve():
        return "dragoman"
    return shlex.quote(str(called))


def _line(text: str) -> None:
    if is_terminal():
        console().print(clean(text))
    else:
        click.echo(text)


def _title(text: str) -> None:
    if is_terminal():
        console().print(f"\n{text}", style="bold")
    else:
        click.echo(f"\n{text}")


def _side_by_side(texts: dict[str, str]) -> None:
    """Print texts in columns on a terminal that is wide enough, else below each other."""
    out = console()
    if not is_terminal() or out.width < MIN_COLUMNS_WIDTH:
        for name, text in texts.items():
            _line(f"--- {name}")
            _line(text)
        return
    from rich.table import Table

    table = Table(*texts, expand=True, box=None, header_style="bold cyan", padding=(0, 1))
    for column in table.columns:
        column.ratio = 1
        column.overflow = "fold"
    table.add_row(*(clean(text) for text in texts.values()))
    out.print(table, soft_wrap=False)
