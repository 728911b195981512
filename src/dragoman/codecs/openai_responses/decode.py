"""Requests and responses of the Responses API to canonical form.

Neighbouring items of the assistant (messages, reasoning, calls, server tools) are one `AIMessage`; a
part or item that would not come back the same travels as a `non_standard` block.
"""

from typing import Any

from dragoman.codecs.arguments import dump_arguments
from dragoman.codecs.contract import ChatRequest
from dragoman.codecs.openai_responses.items import read_item
from dragoman.codecs.openai_responses.stream import ResponseReader
from dragoman.codecs.openai_responses.tables import (
    API,
    RESULTS,
    SYSTEM_ITEMS,
    USER_ITEMS,
    Dialect,
)
from dragoman.codecs.openai_responses.wire import read_parts, rest_of
from dragoman.codecs.origin import non_standard
from dragoman.codecs.schemas import is_in_dialect
from dragoman.codecs.shapes import as_dict, as_str, require_dict
from dragoman.codecs.turns import history_message
from dragoman.codecs.wire_errors import wire_error
from dragoman.errors import DecodeError
from dragoman.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

__all__ = ["decode_request", "decode_response"]


def decode_response(body: dict[str, Any], dialect: Dialect) -> AIMessage:
    """Return the reply of a response body.

    Raises:
        ModelError: If the response failed; `.partial` holds what it had produced.
        DecodeError: If `body` is no JSON object.
    """
    body = require_dict(body, "a response")
    reader = ResponseReader(dialect)
    if body.get("status") == "failed":
        error = reader.failed(body)
        reader.read(body)
        error.partial = reader.message()
        raise error
    is_error = body.get("error") or body.get("type") == "error"
    if is_error and not isinstance(body.get("output"), list):
        raise wire_error(None, body, provider=dialect.provider)
    reader.read(body)
    return reader.message()


# ---------------------------------------------------------------------- requests


def decode_request(body: dict[str, Any], dialect: Dialect) -> ChatRequest:
    """Return a request body in canonical form; what has no place of its own stands in `extra`.

    Raises:
        DecodeError: If the body, or an item of `input`, is no JSON object.
    """
    extra = dict(require_dict(body, "a request"))
    request = ChatRequest(extra=extra)
    _take_scalars(request, extra)
    messages = request.messages
    if as_str(extra.get("instructions")):
        messages.append(SystemMessage(extra.pop("instructions")))
    given = extra.get("input")
    if isinstance(given, str):
        messages.append(HumanMessage(given))
        del extra["input"]
    elif isinstance(given, list) and given:
        messages += _History(dialect, stateless=extra.get("store") is False).read(given)
        del extra["input"]
    tools = extra.get("tools")
    if isinstance(tools, list) and tools and all(isinstance(t, dict) for t in tools):
        request.tools = [_read_tool(t) for t in extra.pop("tools")]
    choice = extra.get("tool_choice")
    if isinstance(choice, (str, dict)) and choice:
        request.tool_choice = _read_choice(extra.pop("tool_choice"))
    _take_format(request, extra)
    return request


def _take_scalars(request: ChatRequest, extra: dict[str, Any]) -> None:
    for key, field, kinds in (
        ("model", "model", str),
        ("max_output_tokens", "max_tokens", int),
        ("temperature", "temperature", (int, float)),
        ("top_p", "top_p", (int, float)),
        ("stream", "stream", bool),
    ):
        value = extra.get(key)
        if isinstance(value, kinds) and (kinds is bool or not isinstance(value, bool)):
            setattr(request, field, extra.pop(key))


def _take_format(request: ChatRequest, extra: dict[str, Any]) -> None:
    text = extra.get("text")
    if not isinstance(text, dict) or not isinstance(asked := text.get("format"), dict):
        return
    if asked.get("type") == "json_schema" and "json_schema" not in asked:
        inner = {k: v for k, v in asked.items() if k != "type"}
        dialect = "openai_strict" if asked.get("strict") is True else "openai"
        if "name" in asked and is_in_dialect(asked.get("schema"), dialect):
            asked = {"type": "json_schema", "json_schema": inner}
        request.response_format = asked
    else:
        request.response_format = asked
    rest = {k: v for k, v in text.items() if k != "format"}
    if rest:
        extra["text"] = rest
    else:
        del extra["text"]


def _read_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a function tool in canonical form; any other tool, or one with more fields, verbatim."""
    fields = {k: v for k, v in tool.items() if v is not None}
    if fields.pop("type", None) != "function" or not isinstance(fields.get("name"), str):
        return tool
    if not fields.keys() <= {"name", "description", "parameters", "strict"}:
        return tool
    if not isinstance(fields.get("description", ""), str):
        return tool
    strict = fields.get("strict", False)
    dialect = "openai_strict" if strict else "openai"
    if "parameters" in fields and not is_in_dialect(fields["parameters"], dialect):
        return tool
    return fields if isinstance(strict, bool) else tool


def _read_choice(choice: Any) -> Any:
    if choice == "required":
        return "any"
    if isinstance(choice, dict) and choice.keys() == {"type", "name"}:
        name = choice["name"]
        if choice["type"] == "function" and name not in ("auto", "none", "any", "required"):
            return name if isinstance(name, str) and name else choice
    if isinstance(choice, str) and choice not in ("auto", "none"):
        return {"type": choice} if choice == "any" else choice
    return choice


class _History:
    """Reads the items of `input`."""

    def __init__(self, dialect: Dialect, *, stateless: bool = False) -> None:
        self._stateless = stateless
        self._is_bare = False  # whether the last item is reasoning that only a store would know
        self.messages: list[BaseMessage] = []
        self._provider = dialect.provider
        self._blocks: list[dict[str, Any]] = []  # of the assistant turn that is being read

    def read(self, items: list[Any]) -> list[BaseMessage]:
        for n, item in enumerate(items):
            if not isinstance(item, dict):
                message = f"Expected a JSON object as an item, got {type(item).__name__}"
                raise DecodeError(message, path=f"$.input[{n}]")
            self._read_one(item)
            self._is_bare = item.get("type") == "reasoning" and not item.get("encrypted_content")
        self._end_turn()
        return self.messages

    def _end_turn(self) -> None:
        if self._blocks:
            self.messages.append(history_message(self._blocks, provider=self._provider, api=API))
            self._blocks = []

    def _add(self, message: BaseMessage) -> None:
        self._end_turn()
        self.messages.append(message)

    def _read_one(self, item: dict[str, Any]) -> None:
        kind, role = item.get("type"), item.get("role")
        if kind in (None, "message") and isinstance(role, str):
            if role == "assistant":
                self._blocks += self._assistant(item)
                return
            if role in ("user", "system", "developer"):
                self._add(self._prompt(item, role))
                return
        if isinstance(kind, str):
            if kind in RESULTS:
                self._add(_read_result(item))
                return
            is_server = kind == "tool_search_output" and item.get("execution") != "client"
            if kind in USER_ITEMS and not is_server:
                self._add(HumanMessage([non_standard(item, API)]))
                return
            if kind in SYSTEM_ITEMS:
                role_of = {"__openai_role__": "developer"}
                self._add(SystemMessage([non_standard(item, API)], additional_kwargs=role_of))
                return
        self._blocks += read_item(item)

    def _assistant(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        content = item.get("content")
        if isinstance(content, str) and content:
            blocks: list[dict[str, Any]] = [{"type": "text", "text": content}]
        elif isinstance(content, list) and content and all(isinstance(p, dict) for p in content):
            blocks = read_parts(content)
        else:
            return [non_standard(item, API)]
        if any(b["type"] in ("image", "file") for b in blocks) or not blocks[0].get("text", "-"):
            return [non_standard(item, API)]  # an empty text would not come back
        rest = rest_of(item, "type", "role", "content", "id")
        extras = {k: rest.pop(k) for k in ("status", "phase") if k in rest}
        if self._stateless and not self._is_bare and isinstance(item.get("id"), str):
            rest["id"] = item["id"]  # sent although nothing is stored: it goes back as it came
        if rest:
            extras[API] = {"item": rest}
        if self._blocks and _is_part(self._blocks[-1]):
            extras["new_item"] = True
        for block in blocks:
            if isinstance(item.get("id"), str):
                block["id"] = item["id"]
        if extras:
            first = blocks[0]
            old = as_dict(first.get("extras"))
            if API in old and API in extras:
                extras[API] = {**old[API], **extras[API]}
            if first["type"] == "non_standard":
                return [non_standard(item, API)]
            first["extras"] = {**old, **extras}
        return blocks

    def _prompt(self, item: dict[str, Any], role: str) -> BaseMessage:
        content: Any = item.get("content")
        if isinstance(content, list) and content and all(isinstance(p, dict) for p in content):
            content = read_parts(content)
        elif not isinstance(content, str):
            content = [non_standard(item, API)]
        rest = rest_of(item, "type", "role", "content")
        kwargs: dict[str, Any] = {} if role == "user" else {"__openai_role__": role}
        if rest:
            kwargs[API] = {"item": rest}
        kind = HumanMessage if role == "user" else SystemMessage
        return kind(content, additional_kwargs=kwargs) if kwargs else kind(content)


def _is_part(block: dict[str, Any]) -> bool:
    return block["type"] in ("text", "refusal") or bool(block.get("part"))


def _read_result(item: dict[str, Any]) -> ToolMessage:
    """Return an item that answers a function call or a custom call."""
    kind, output = item["type"], item.get("output")
    id = as_str(item.get("call_id"))
    bag: dict[str, Any] = {} if kind == "function_call_output" else {"type": kind}
    content: Any = output
    if isinstance(output, list) and output and all(_is_simple_part(p) for p in output):
        content = read_parts(output)
    elif not isinstance(output, str) or id is None:
        bag["whole"] = item  # it goes back as it came
        content = output if isinstance(output, str) else dump_arguments(output)
    if rest := rest_of(item, "type", "call_id", "output"):
        bag["item"] = rest
    return ToolMessage(
        content,
        tool_call_id=id or "",
        status="error" if item.get("status") == "incomplete" else "success",
        additional_kwargs={API: bag} if bag else {},
    )


def _is_simple_part(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type"), str)
