"""A conversation at the command line: its messages, how a reply is shown, its slash commands.

Whatever happens to a reply, nothing of the conversation is lost: a reply that is stopped or breaks
keeps what had arrived, and the question stays in any case.
"""

import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from dragoman import __version__
from dragoman.chat_models import init_chat_model
from dragoman.cli.documents import about, sound_documents, whole_file
from dragoman.cli.output import clean, console, is_terminal, print_error
from dragoman.errors import DecodeError, DragomanError, ModelError, short
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    message_chunk_to_message,
    messages_to_json,
)

__all__ = ["Conversation", "converse"]

HELP = """\
/reset      forget the conversation, keep the system message
/save FILE  write the conversation to FILE as JSON
/load FILE  go on with the conversation in FILE
/exit       leave (Ctrl-D too); Ctrl-C stops a reply"""


class Conversation:
    """Messages and the model that answers them.

    Args:
        model: As for `init_chat_model`.
        system: The system message, or None.
        as_json: Whether replies are printed as messages, one a line, instead of as text.
        options: What else `init_chat_model` is to be given.
    """

    def __init__(
        self, model: str, *, system: str | None, as_json: bool, options: dict[str, Any]
    ) -> None:
        self.name = model
        self.messages: list[BaseMessage] = [SystemMessage(system)] if system else []
        self._as_json = as_json
        self._model: Any = init_chat_model(model, **options)

    def ask(self, prompt: str) -> bool:
        """Ask, show the reply, and keep both; return whether the reply came to its end.

        Ctrl-C ends the reply, not the conversation. Errors of the model are raised.
        """
        self.messages.append(HumanMessage(prompt))
        reply: AIMessageChunk | None = None
        show = _Quiet() if self._as_json else _Terminal() if is_terminal() else _Pipe()
        started = time.monotonic()
        try:
            stream = self._model.stream(self.messages)
            try:
                for chunk in stream:
                    reply = chunk if reply is None else reply + chunk
                    show.chunk(chunk)
            finally:
                stream.close()
        except KeyboardInterrupt:
            show.end(None)
            self._keep(reply)
            return False
        except BaseException:
            show.end(None)
            self._keep(reply)
            raise
        message = self._keep(reply)
        show.end(f"{self.name} · {_usage(message)}{time.monotonic() - started:.1f} s")
        if self._as_json and message is not None:
            sys.stdout.buffer.write(messages_to_json([message])[1:-1] + b"\n")
            sys.stdout.flush()
        return True

    def _keep(self, reply: AIMessageChunk | None) -> BaseMessage | None:
        if reply is None:
            return None
        message = message_chunk_to_message(reply)
        self.messages.append(message)
        return message

    def reset(self) -> None:
        """Forget everything but the system message at the start."""
        del self.messages[1 if self.messages and self.messages[0].type == "system" else 0 :]

    def save(self, path: Path) -> None:
        """Write the messages to `path` as native JSON; a file there is replaced in one step."""
        with whole_file(path) as file:
            file.write(messages_to_json(self.messages))

    def load(self, path: Path) -> None:
        """Put the messages in `path` in the place of ours; it may hold what `dragoman check` reads."""
        from dragoman.cli.histories import open_history  # loads every codec

        documents = sound_documents(str(path))
        first = next(documents)
        if next(documents, None) is not None:
            raise DecodeError(f"{path}: more than one history")
        with about(first):
            self.messages = list(open_history(first.value).messages)


def converse(conversation: Conversation) -> None:
    """Read prompts from the terminal and show the replies until the end of input or /exit."""
    with suppress(ImportError):  # not on every system; it makes the arrow keys work
        import_module("readline")
    out = console()
    out.print(f"dragoman {__version__} · {conversation.name} · /help", style="dim")
    while True:
        try:
            line = input("> ").strip()
        except EOFError:
            out.print()
            return
        except KeyboardInterrupt:
            out.print("\n(Ctrl-D or /exit leaves)", style="dim")
            continue
        if line == "/exit":
            return
        try:
            _obey(conversation, line)
        except DragomanError as error:
            print_error(error.message if isinstance(error, ModelError) else str(error))
        except OSError as error:
            print_error(f"{error.filename}: {error.strerror}")
        except KeyboardInterrupt:  # while nothing was being answered yet, or any more
            out.print("(stopped)", style="dim")


def _obey(conversation: Conversation, line: str) -> None:
    """Do what one line of input says."""
    if not line:
        return
    out = console()
    if not line.startswith("/"):
        if not conversation.ask(line):
            out.print("(stopped)", style="dim")
        return
    word, _, rest = line.partition(" ")
    path = Path(rest.strip()).expanduser()
    match word, bool(rest.strip()):
        case "/help", _:
            out.print(HELP)
        case "/reset", _:
            conversation.reset()
            out.print("(a new conversation)", style="dim")
        case "/save", True:
            conversation.save(path)
            out.print(f"({len(conversation.messages)} messages in {path})", style="dim")
        case "/load", True:
            conversation.load(path)
            out.print(f"({len(conversation.messages)} messages from {path})", style="dim")
        case (("/save" | "/load"), False):
            print_error(f"{word} needs the name of a file")
        case _:
            print_error(f"there is no {short(word)}; /help lists what there is")


def _usage(message: BaseMessage | None) -> str:
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    return f"{usage['output_tokens']} tokens · " if usage else ""


class _Quiet:
    """Shows nothing while a reply arrives."""

    def chunk(self, chunk: AIMessageChunk) -> None: ...
    def end(self, footer: str | None) -> None: ...


class _Pipe(_Quiet):
    """The text alone, as it is, each piece at once."""

    def __init__(self) -> None:
        self._last = ""

    def chunk(self, chunk: AIMessageChunk) -> None:
        if chunk.text:
            self._last = str(chunk.text)
            sys.stdout.write(self._last)
            sys.stdout.flush()

    def end(self, footer: str | None) -> None:
        if self._last and not self._last.endswith("\n"):
            sys.stdout.write("\n")
            sys.stdout.flush()


class _Terminal(_Quiet):
    """The text as it comes, reasoning and the closing line dimmed."""

    def __init__(self) -> None:
        self._out = console()
        self._last = "\n"
        self._style: str | None = None

    def chunk(self, chunk: AIMessageChunk) -> None:
        for block in chunk.content_blocks:
            if block["type"] == "reasoning":
                self._write(str(block.get("reasoning", "")), "dim italic")
        self._write(str(chunk.text), None)

    def _write(self, text: str, style: str | None) -> None:
        if not text:
            return
        if style != self._style and self._last != "\n":
            self._out.print()
        self._style = style
        self._last = text[-1]
        self._out.print(clean(text), end="", style=style)

    def end(self, footer: str | None) -> None:
        if self._last != "\n":
            self._out.print()
        if footer:
            self._out.print(footer, style="dim")
