"""What calls gave, as updates of the state: one result a call, in call order, directly behind its turn."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dragoman.agents.calls import failed, in_call_order
from dragoman.agents.control import Command
from dragoman.agents.state import AgentStateError, messages_of
from dragoman.errors import MessageError
from dragoman.messages import BaseMessage, ToolCall, ToolMessage
from dragoman.tools.execute import error_text

__all__ = ["checked", "updates_of", "with_own_id"]


def checked(call: ToolCall, given: Any) -> list[Any]:
    """Return messages and commands in which exactly one `ToolMessage` answers the call.

    Several results of the call are joined. A single one with another id gets the call's; beside a
    result of the call those with other ids are left out. Where there is none it is an error result.

    Raises:
        NotImplementedError: If a command does more than update the state.
    """
    results: list[Any] = given if isinstance(given, list) else [given]
    if not all(isinstance(result, ToolMessage | Command) for result in results):
        kinds = ", ".join(type(result).__name__ for result in results)
        return [failed(call, error_text(TypeError(f"the tool gave {kinds}, no result")))]
    try:
        results = [_read(call, result) for result in results]
    except (AgentStateError, MessageError) as error:
        return [failed(call, error_text(error))]
    said = [m for result in results for m in _messages(result) if isinstance(m, ToolMessage)]
    own = [m for m in said if m.tool_call_id == (call["id"] or "")]
    if not own and len(said) == 1:
        own = said
    answer = [_joined(call, own)] if own else []

    def kept(messages: list[BaseMessage]) -> list[BaseMessage]:
        found: list[BaseMessage] = []
        for message in messages:
            if not isinstance(message, ToolMessage):
                found.append(message)
            elif answer and message is own[0]:
                found.append(answer.pop())
        return found

    settled: list[Any] = []
    for result in results:
        if not isinstance(result, Command):
            settled += kept([result])
        elif messages := _messages(result):
            settled.append(replace(result, update={**result.update, "messages": kept(messages)}))
        else:
            settled.append(result)
    if not own:
        settled.append(failed(call, "Error: the tool's command holds no result for its call."))
    return settled


def _read(call: ToolCall, result: ToolMessage | Command) -> ToolMessage | Command:
    """Return a command with an update that is a dict, whose messages are a list of messages."""
    if not isinstance(result, Command):
        return result
    update = result.checked(f"the tool {call['name']}").update
    if update is None:
        return result
    if not isinstance(update, dict):
        message = f"a command's update has to be a dict, got {type(update).__name__}"
        raise AgentStateError(message)
    if "messages" not in update:
        return result
    return replace(result, update={**update, "messages": messages_of(update["messages"])})


def _messages(result: ToolMessage | Command) -> list[BaseMessage]:
    if isinstance(result, ToolMessage):
        return [result]
    return (result.update or {}).get("messages", [])


def _joined(call: ToolCall, own: Sequence[ToolMessage]) -> ToolMessage:
    """Return the results of one call as one: the first, with the contents of all."""
    update: dict[str, Any] = {"tool_call_id": call["id"] or "", "name": own[0].name or call["name"]}
    contents: list[Any] = [message.content for message in own]
    if len(own) > 1 and all(isinstance(content, str) for content in contents):
        update["content"] = "\n".join(contents)
    elif len(own) > 1:
        update["content"] = [
            block
            for content in contents
            for block in (content if isinstance(content, list) else [content])
        ]
    if any(message.status == "error" for message in own):
        update["status"] = "error"
    return own[0].model_copy(update=update)


def updates_of(messages: Sequence[BaseMessage], results: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the updates that results stand for, such that all results of a turn stand together.

    Args:
        messages: The history so far.
        results: Messages and commands, in call order.
    """
    taken = {message.id for message in messages}
    updates: list[dict[str, Any]] = []
    for result in results:
        update = result.update or {} if isinstance(result, Command) else {"messages": [result]}
        if "messages" in update:
            update = {**update, "messages": [with_own_id(m, taken) for m in update["messages"]]}
        updates.append(update)
    new = [message for update in updates for message in update.get("messages", ())]
    ordered = in_call_order(messages, new)
    if ordered is new:
        return updates
    fields = [{k: v for k, v in update.items() if k != "messages"} for update in updates]
    return [{"messages": list(ordered)}, *(update for update in fields if update)]


def with_own_id(
    message: BaseMessage, taken: set[str | None], kinds: Any = ToolMessage
) -> BaseMessage:
    """Return a message under an id that is not taken, and take it; one of other kinds may be meant.

    Servers, caches and tools give one id again; in the state the message would replace an older one.
    """
    if not isinstance(message, kinds) or message.id is None:
        return message
    if message.id in taken:
        return message.model_copy(update={"id": None})
    taken.add(message.id)
    return message
