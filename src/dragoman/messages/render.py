"""Messages for people: a title line and the content, or an HTML card."""

import sys
from html import escape
from typing import Any

from dragoman.messages.base import BaseMessage, get_msg_title_repr

__all__ = ["pretty", "pretty_print"]


def pretty(message: BaseMessage, *, html: bool = False, bold: bool = False) -> str:
    """Return a message as text of 80 columns, or as an escaped HTML card."""
    if html:
        return _card(message)
    title = get_msg_title_repr(f"{message.type.title()} Message", bold=bold)
    name = f"\nName: {message.name}" if message.name is not None else ""
    text = f"{title}{name}\n\n{_shown(message.content)}"
    if hasattr(message, "tool_calls"):  # replies are stripped, as in LangChain
        return f"{text.strip()}\n{_calls(message)}".strip()
    return text


def _shown(content: Any) -> str:
    return content if isinstance(content, str) else str(content)


def _calls(message: BaseMessage) -> str:
    lines: list[str] = []
    for title, field in (
        ("Tool Calls:", "tool_calls"),
        ("Invalid Tool Calls:", "invalid_tool_calls"),
    ):
        calls = getattr(message, field, None)
        if not calls:
            continue
        lines.append(title)
        for call in calls:
            lines += [f"  {call.get('name', 'Tool')} ({call.get('id')})"]
            lines += [f" Call ID: {call.get('id')}"]
            if call.get("error"):
                lines.append(f"  Error: {call.get('error')}")
            lines.append("  Args:")
            args = call.get("args")
            if isinstance(args, dict):
                lines += [f"    {key}: {value}" for key, value in args.items()]
            elif args is not None:
                lines.append(f"    {args}")
    return "\n".join(lines)


def _card(message: BaseMessage) -> str:
    title = escape(f"{message.type.title()} Message")
    name = f" <em>{escape(message.name)}</em>" if message.name else ""
    parts = [escape(_shown(message.content))]
    calls = _calls(message)
    if calls:
        parts.append(escape(calls))
    body = "".join(
        f'<pre style="white-space:pre-wrap;margin:.3em 0">{part}</pre>' for part in parts if part
    )
    return (
        '<div style="border:1px solid #8884;border-radius:6px;padding:.4em .8em;margin:.3em 0">'
        f"<strong>{title}</strong>{name}{body}</div>"
    )


def pretty_print(message: BaseMessage) -> None:
    """Print a message; the title is bold on a terminal."""
    print(pretty(message, bold=sys.stdout.isatty()))  # noqa: T201 - printing is what it is for
