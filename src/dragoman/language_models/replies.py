"""What becomes of a model's raw result before the caller sees it.

Ids, metadata and output version 1 are put on *copies* of the messages a user's hook returned: a
fake that answers with the same object twice must not answer with the same id twice.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from dragoman.language_models.ids import new_run
from dragoman.messages import AIMessage, AIMessageChunk, BaseMessage, message_chunk_to_message
from dragoman.outputs import ChatGeneration, ChatGenerationChunk, ChatResult, Generation

__all__ = [
    "agenerate_from_stream",
    "finish_result",
    "from_cache",
    "generate_from_stream",
    "identified",
    "to_cache",
    "use_blocks",
]


def finish_result(result: ChatResult, run_id: str, *, is_v1: bool, is_ours: bool) -> ChatResult:
    """Return the result with ids and metadata on its messages.

    A message without an id gets `<run_id>-<index>`. Its metadata are its own over the
    generation's, over the result's (the latter only when there is one candidate).
    """
    generations = result.generations
    shared = result.llm_output if len(generations) == 1 else None
    finished: list[ChatGeneration] = []
    for index, generation in enumerate(generations):
        message, info = generation.message, generation.generation_info
        changes: dict[str, Any] = {}
        if info or shared:
            changes["response_metadata"] = {
                **(shared or {}),
                **(info or {}),
                **message.response_metadata,
            }
        if message.id is None:
            changes["id"] = f"{run_id}-{index}"
        if changes and is_ours:
            for name, value in changes.items():
                setattr(message, name, value)
        elif changes:
            message = message.model_copy(update=changes)
            generation = ChatGeneration(message=message, generation_info=info)
        if is_v1:
            generation = ChatGeneration(message=use_blocks(message), generation_info=info)
        finished.append(generation)
    if is_ours and not is_v1:
        return result
    return ChatResult(generations=finished, llm_output=result.llm_output)


def identified(reply: AIMessage) -> AIMessage:
    """Return a reply made for one call, with an id if it has none."""
    if reply.id is None:
        reply.id = f"{new_run()}-0"
    return reply


def generate_from_stream(stream: Iterator[ChatGenerationChunk]) -> ChatResult:
    """Return the result that a stream adds up to, for models whose `_generate` streams.

    Raises:
        ValueError: If the stream is empty.
    """
    return _added(list(stream))


async def agenerate_from_stream(stream: AsyncIterator[ChatGenerationChunk]) -> ChatResult:
    """Return the result that a stream adds up to, as `generate_from_stream` does."""
    return _added([chunk async for chunk in stream])


def _added(chunks: list[ChatGenerationChunk]) -> ChatResult:
    if not chunks:
        raise ValueError("No generations found in stream.")
    total = chunks[0] + chunks[1:]
    message = message_chunk_to_message(total.message)
    return ChatResult(
        generations=[ChatGeneration(message=message, generation_info=total.generation_info)]
    )


def use_blocks(message: BaseMessage) -> BaseMessage:
    """Return the message in output version 1: its content a list of standard blocks."""
    metadata = {**message.response_metadata, "output_version": "v1"}
    return message.model_copy(
        update={"content": message.content_blocks, "response_metadata": metadata}
    )


def to_cache(generations: Sequence[ChatGeneration]) -> list[ChatGeneration]:
    """Return what a cache stores: copies, so that a caller's changes stay the caller's."""
    return [
        ChatGeneration(message=_anonymous(g.message), generation_info=g.generation_info)
        for g in generations
    ]


def _anonymous(message: BaseMessage) -> BaseMessage:
    # The id of a run is not the reply's own: the next run that hits gives another, so that
    # a history never holds the same id twice.
    is_of_run = message.id is not None and message.id.startswith("lc_run-")
    return message.model_copy(update={"id": None} if is_of_run else None, deep=True)


def from_cache(stored: Sequence[Any]) -> list[ChatGeneration]:
    """Return what a cache gave as generations of messages that cost nothing.

    Texts become AI messages; what was an AI message says `total_cost: 0` in its usage.
    """
    found: list[ChatGeneration] = []
    for item in stored:
        info: Mapping[str, Any] | None = item.generation_info
        if isinstance(item, ChatGeneration):
            message = item.message.model_copy(deep=True)
            if isinstance(message, (AIMessage, AIMessageChunk)):
                usage: Any = {**(message.usage_metadata or {}), "total_cost": 0}
                message.usage_metadata = usage
        elif isinstance(item, Generation):
            message = AIMessage(content=item.text)
        else:
            continue
        found.append(ChatGeneration(message=message, generation_info=dict(info) if info else None))
    return found
