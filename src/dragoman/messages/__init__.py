"""Messages: roles, content blocks, streamed chunks, usage and tool calls.

Every name is importable from here; each lives in the module of its noun. The verbs on histories
(`trim_messages` and its kin) come from `dragoman.transcript`, the OpenAI forms from their codec, native
JSON from `native`, when first asked for.
"""

from typing import TYPE_CHECKING, Any

from dragoman.messages.ai import (
    AIMessage,
    AIMessageChunk,
    InputTokenDetails,
    OutputTokenDetails,
    UsageMetadata,
)
from dragoman.messages.ai import (
    add_ai_message_chunks as add_ai_message_chunks,
)
from dragoman.messages.ai import (
    add_usage as add_usage,
)
from dragoman.messages.ai import (
    subtract_usage as subtract_usage,
)
from dragoman.messages.base import (
    BaseMessage,
    BaseMessageChunk,
    merge_content,
)
from dragoman.messages.base import (
    TextAccessor as TextAccessor,
)
from dragoman.messages.base import (
    get_msg_title_repr as get_msg_title_repr,
)
from dragoman.messages.buffer import get_buffer_string
from dragoman.messages.chat import ChatMessage, ChatMessageChunk
from dragoman.messages.coerce import MessageLikeRepresentation, convert_to_messages
from dragoman.messages.content import (
    KNOWN_BLOCK_TYPES as KNOWN_BLOCK_TYPES,
)
from dragoman.messages.content import (
    LC_AUTO_PREFIX,
    LC_ID_PREFIX,
    Annotation,
    AudioContentBlock,
    Citation,
    ContentBlock,
    DataContentBlock,
    FileContentBlock,
    ImageContentBlock,
    InvalidToolCall,
    NonStandardAnnotation,
    NonStandardContentBlock,
    PlainTextContentBlock,
    ReasoningContentBlock,
    RefusalContentBlock,
    ServerToolCall,
    ServerToolCallChunk,
    ServerToolResult,
    TextContentBlock,
    ToolCall,
    ToolCallChunk,
    VideoContentBlock,
    ensure_id,
    is_data_content_block,
)
from dragoman.messages.convert import message_chunk_to_message
from dragoman.messages.dicts import (
    _message_from_dict,
    message_to_dict,
    messages_from_dict,
    messages_to_dict,
)
from dragoman.messages.function import FunctionMessage, FunctionMessageChunk
from dragoman.messages.guards import (
    is_ai_message as is_ai_message,
)
from dragoman.messages.guards import (
    is_ai_message_chunk as is_ai_message_chunk,
)
from dragoman.messages.guards import (
    is_chat_message as is_chat_message,
)
from dragoman.messages.guards import (
    is_chat_message_chunk as is_chat_message_chunk,
)
from dragoman.messages.guards import (
    is_function_message as is_function_message,
)
from dragoman.messages.guards import (
    is_function_message_chunk as is_function_message_chunk,
)
from dragoman.messages.guards import (
    is_human_message as is_human_message,
)
from dragoman.messages.guards import (
    is_human_message_chunk as is_human_message_chunk,
)
from dragoman.messages.guards import (
    is_message as is_message,
)
from dragoman.messages.guards import (
    is_message_chunk as is_message_chunk,
)
from dragoman.messages.guards import (
    is_remove_message as is_remove_message,
)
from dragoman.messages.guards import (
    is_system_message as is_system_message,
)
from dragoman.messages.guards import (
    is_system_message_chunk as is_system_message_chunk,
)
from dragoman.messages.guards import (
    is_tool_message as is_tool_message,
)
from dragoman.messages.guards import (
    is_tool_message_chunk as is_tool_message_chunk,
)
from dragoman.messages.human import HumanMessage, HumanMessageChunk
from dragoman.messages.modifier import REMOVE_ALL_MESSAGES as REMOVE_ALL_MESSAGES
from dragoman.messages.modifier import RemoveMessage
from dragoman.messages.notification import (
    NotificationMetadata,
    add_notification_metadata,
    get_notification_metadata,
)
from dragoman.messages.registry import AnyMessage
from dragoman.messages.system import SystemMessage, SystemMessageChunk
from dragoman.messages.tool import ToolMessage, ToolMessageChunk
from dragoman.messages.tool import ToolOutputMixin as ToolOutputMixin

if TYPE_CHECKING:
    from dragoman.codecs.openai_chat import (
        convert_to_openai_data_block,
        convert_to_openai_image_block,
        convert_to_openai_messages,
    )
    from dragoman.messages.native import (
        messages_from_json as messages_from_json,
    )
    from dragoman.messages.native import (
        messages_to_json as messages_to_json,
    )
    from dragoman.transcript import (
        MessagesState as MessagesState,
    )
    from dragoman.transcript import (
        add_messages as add_messages,
    )
    from dragoman.transcript import (
        count_tokens_approximately as count_tokens_approximately,
    )
    from dragoman.transcript import (
        filter_messages,
        merge_message_runs,
        trim_messages,
    )
    from dragoman.transcript import (
        repair_messages as repair_messages,
    )
    from dragoman.transcript import (
        validate_messages as validate_messages,
    )

# LangChain's set of names; dragoman's own (guards, native JSON, ...) are importable beside it.
__all__ = [
    "LC_AUTO_PREFIX",
    "LC_ID_PREFIX",
    "AIMessage",
    "AIMessageChunk",
    "Annotation",
    "AnyMessage",
    "AudioContentBlock",
    "BaseMessage",
    "BaseMessageChunk",
    "ChatMessage",
    "ChatMessageChunk",
    "Citation",
    "ContentBlock",
    "DataContentBlock",
    "FileContentBlock",
    "FunctionMessage",
    "FunctionMessageChunk",
    "HumanMessage",
    "HumanMessageChunk",
    "ImageContentBlock",
    "InputTokenDetails",
    "InvalidToolCall",
    "MessageLikeRepresentation",
    "NonStandardAnnotation",
    "NonStandardContentBlock",
    "NotificationMetadata",
    "OutputTokenDetails",
    "PlainTextContentBlock",
    "ReasoningContentBlock",
    "RefusalContentBlock",
    "RemoveMessage",
    "ServerToolCall",
    "ServerToolCallChunk",
    "ServerToolResult",
    "SystemMessage",
    "SystemMessageChunk",
    "TextContentBlock",
    "ToolCall",
    "ToolCallChunk",
    "ToolMessage",
    "ToolMessageChunk",
    "UsageMetadata",
    "VideoContentBlock",
    "_message_from_dict",
    "add_notification_metadata",
    "convert_to_messages",
    "convert_to_openai_data_block",
    "convert_to_openai_image_block",
    "convert_to_openai_messages",
    "ensure_id",
    "filter_messages",
    "get_buffer_string",
    "get_notification_metadata",
    "is_data_content_block",
    "merge_content",
    "merge_message_runs",
    "message_chunk_to_message",
    "message_to_dict",
    "messages_from_dict",
    "messages_to_dict",
    "trim_messages",
]

_ELSEWHERE = {
    "convert_to_openai_data_block": "dragoman.codecs.openai_chat",
    "convert_to_openai_image_block": "dragoman.codecs.openai_chat",
    "convert_to_openai_messages": "dragoman.codecs.openai_chat",
    "MessagesState": "dragoman.transcript",
    "add_messages": "dragoman.transcript",
    "count_tokens_approximately": "dragoman.transcript",
    "filter_messages": "dragoman.transcript",
    "merge_message_runs": "dragoman.transcript",
    "messages_from_json": "dragoman.messages.native",
    "messages_to_json": "dragoman.messages.native",
    "repair_messages": "dragoman.transcript",
    "trim_messages": "dragoman.transcript",
    "validate_messages": "dragoman.transcript",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _ELSEWHERE:
        value = getattr(import_module(_ELSEWHERE[name]), name)
        globals()[name] = value
        return value
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
