"""A message as an XML element, for `get_buffer_string(format="xml")`."""

import json
from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from dragoman.messages.ai import AIMessage
from dragoman.messages.base import BaseMessage

__all__ = ["element"]

LIMIT = 500
ID_LIMIT = 64


def _limited(text: str, limit: int = LIMIT) -> str:
    return text if len(text) <= limit else text[:limit] + "..."


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(value)


def element(message: BaseMessage, word: str) -> str:
    """Return a message as one XML element; long texts are cut, payloads left out."""
    opening = f"<message type={quoteattr(word)}>"
    content = _xml_content(message.content)
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    legacy = (
        message.additional_kwargs.get("function_call") if isinstance(message, AIMessage) else None
    )
    if not calls and not legacy:
        return f"{opening}{content}</message>"
    lines = [opening]
    if content:
        lines.append(f"  <content>{content}</content>")
    for call in calls:
        id_val = _limited(call["id"] or "", ID_LIMIT)
        args = escape(_dumped(call["args"]))
        lines.append(
            f"  <tool_call id={quoteattr(id_val)} name={quoteattr(call['name'])}>{args}</tool_call>"
        )
    if not calls and isinstance(legacy, dict):
        name = quoteattr(str(legacy.get("name") or ""))
        args = escape(str(legacy.get("arguments") or ""))
        lines.append(f"  <function_call name={name}>{args}</function_call>")
    return "\n".join([*lines, "</message>"])


def _xml_content(content: Any) -> str:
    if isinstance(content, str):
        return escape(content)
    shown: list[str] = []
    for item in content:
        if isinstance(item, str):
            text = escape(item)
        else:
            render = _XML.get(str(item.get("type")))
            text = render(item) if render else ""
        if text:
            shown.append(text)
    return " ".join(shown)


def _media(tag: str) -> Callable[[dict[str, Any]], str]:
    def render(block: dict[str, Any]) -> str:
        url = block.get("url")
        if isinstance(url, str) and url and not url.startswith("data:"):
            return f"<{tag} url={quoteattr(url)} />"
        if block.get("file_id") and not block.get("base64"):
            return f"<{tag} file_id={quoteattr(str(block['file_id']))} />"
        return ""

    return render


def _image_url(block: dict[str, Any]) -> str:
    given = block.get("image_url")
    url = given.get("url") if isinstance(given, dict) else given
    if isinstance(url, str) and url and not url.startswith("data:"):
        return f"<image url={quoteattr(url)} />"
    return ""


def _text(block: dict[str, Any]) -> str:
    return escape(str(block.get("text") or ""))


def _reasoning(block: dict[str, Any]) -> str:
    text = block.get("reasoning")
    return f"<reasoning>{escape(str(text))}</reasoning>" if text else ""


def _plain_text(block: dict[str, Any]) -> str:
    text = block.get("text")
    return escape(_limited(str(text))) if text else ""


def _server_call(block: dict[str, Any]) -> str:
    id_val, name = str(block.get("id") or ""), str(block.get("name") or "")
    args = escape(_limited(_dumped(block.get("args", {}))))
    return (
        f"<server_tool_call id={quoteattr(id_val)} name={quoteattr(name)}>{args}</server_tool_call>"
    )


def _server_result(block: dict[str, Any]) -> str:
    id_val, status = str(block.get("tool_call_id") or ""), str(block.get("status") or "")
    output = block.get("output")
    text = escape(_limited(_dumped(output))) if output else ""
    head = f"<server_tool_result tool_call_id={quoteattr(id_val)} status={quoteattr(status)}>"
    return f"{head}{text}</server_tool_result>"


_XML: dict[str, Callable[[dict[str, Any]], str]] = {
    "text": _text,
    "reasoning": _reasoning,
    "image": _media("image"),
    "audio": _media("audio"),
    "video": _media("video"),
    "image_url": _image_url,
    "text-plain": _plain_text,
    "server_tool_call": _server_call,
    "server_tool_result": _server_result,
}
