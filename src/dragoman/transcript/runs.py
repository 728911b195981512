"""Merging neighbours of one kind into one message."""

from collections.abc import Iterable
from typing import Any

from dragoman.messages.ai import AIMessage, _better_id
from dragoman.messages.base import BaseMessage
from dragoman.messages.chat import ChatMessage
from dragoman.messages.coerce import convert_to_messages
from dragoman.messages.convert import message_chunk_to_message
from dragoman.messages.function import FunctionMessage
from dragoman.messages.merge import fold_metadata
from dragoman.messages.modifier import RemoveMessage
from dragoman.messages.tool import ToolMessage
from dragoman.messages.usage import add_usage
from dragoman.transcript.verb import verb

__all__ = ["merge_message_runs"]


@verb
def merge_message_runs(
    messages: Iterable[Any], *, chunk_separator: str = "\n"
) -> list[BaseMessage]:
    r"""Return messages in which neighbours of one class are one; results of tools never merge.

    Chat messages merge only if their roles agree, function messages if their names do.

    Texts are joined with `chunk_separator`; strings and blocks make a list in order. Calls are
    joined, token counts add up, `response_metadata` is the first one's. A message without such a
    neighbour is the same object; the input is not changed. One pass over the history.

    Args:
        messages: Anything `convert_to_messages` takes. Left out: a runnable comes back.
        chunk_separator: What stands between two texts.

    >>> from dragoman.messages import HumanMessage
    >>> merge_message_runs([HumanMessage("a"), HumanMessage("b")])[0].content
    'a\nb'
    """
    if not messages:
        return []
    runs: list[list[BaseMessage]] = []
    for message in convert_to_messages(messages):
        if runs and _goes_on(runs[-1][0], message):
            runs[-1].append(message)
        else:
            runs.append([message])
    return [run[0] if len(run) == 1 else _merged(run, chunk_separator) for run in runs]


# Messages that stand for themselves, and what has to agree in others.
_ALONE = (ToolMessage, RemoveMessage)
_SAME = ((ChatMessage, "role"), (FunctionMessage, "name"))


def _goes_on(first: BaseMessage, message: BaseMessage) -> bool:
    """Return whether a message goes on a run: of one class, and nothing would be lost."""
    if isinstance(message, _ALONE) or not isinstance(message, type(first)):
        return False
    return all(
        getattr(first, field) == getattr(message, field)
        for cls, field in _SAME
        if isinstance(message, cls)
    )


def _merged(run: list[BaseMessage], separator: str) -> BaseMessage:
    first = message_chunk_to_message(run[0])
    names = {message.name for message in run if message.name}
    update: dict[str, Any] = {
        "content": _joined([message.content for message in run], separator),
        "additional_kwargs": fold_metadata([message.additional_kwargs for message in run]),
        "response_metadata": dict(first.response_metadata),
        "name": names.pop() if len(names) == 1 else None,
    }
    replies = [message for message in run if isinstance(message, AIMessage)]
    if replies:
        id_val, usage = None, None
        for reply in replies:
            id_val = _better_id(id_val, reply.id)
            if reply.usage_metadata is not None:
                usage = (
                    reply.usage_metadata
                    if usage is None
                    else add_usage(usage, reply.usage_metadata)
                )
        update["id"], update["usage_metadata"] = id_val, usage
        update["tool_calls"] = [call for reply in replies for call in reply.tool_calls]
        update["invalid_tool_calls"] = [c for reply in replies for c in reply.invalid_tool_calls]
    return first.model_copy(update=update)


def _joined(contents: list[Any], separator: str) -> Any:
    items: list[Any] = []
    texts: list[str] = []
    is_list = False
    for content in contents:
        if isinstance(content, str):
            if content and is_list:
                items.append(content)
            elif content:
                texts.append(content)
        else:
            if not is_list and texts:
                items.append(separator.join(texts))
            is_list = True
            items += content
    return items if is_list else separator.join(texts)
