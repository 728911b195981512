"""A whole message as the one chunk of a stream."""

from dragoman.messages import AIMessage, AIMessageChunk

__all__ = ["as_chunk"]


def as_chunk(message: AIMessage) -> AIMessageChunk:
    """Return a chunk that shows what `message` shows; their contents are shared."""
    return AIMessageChunk(
        message.content,
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
        name=message.name,
        id=message.id,
        tool_calls=message.tool_calls,
        invalid_tool_calls=message.invalid_tool_calls,
        usage_metadata=message.usage_metadata,
        chunk_position="last",
    )
