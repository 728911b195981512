"""The names that users may rely on: each is there, typed, and nobody takes one away by accident."""

import importlib
import importlib.metadata
import importlib.util
import pkgutil
from pathlib import Path

import pytest

import dragoman
from dragoman.errors import MissingExtraError

ROOT = Path(__file__).parent.parent
PUBLIC = sorted(
    name
    for _, name, _ in pkgutil.walk_packages(dragoman.__path__, "dragoman.")
    if not any(part.startswith("_") for part in name.split(".")[1:])
    and name != "dragoman.chat_models.local.child"
)
MESSAGES = """
    NotificationMetadata add_notification_metadata get_notification_metadata RefusalContentBlock
    MessageLikeRepresentation _message_from_dict AIMessage AIMessageChunk Annotation AnyMessage
    AudioContentBlock BaseMessage BaseMessageChunk ContentBlock ChatMessage ChatMessageChunk Citation
    DataContentBlock FileContentBlock FunctionMessage FunctionMessageChunk HumanMessage
    HumanMessageChunk ImageContentBlock InvalidToolCall LC_AUTO_PREFIX LC_ID_PREFIX
    NonStandardAnnotation NonStandardContentBlock PlainTextContentBlock ServerToolCall
    ServerToolCallChunk ServerToolResult SystemMessage SystemMessageChunk TextContentBlock ToolCall
    ToolCallChunk ToolMessage ToolMessageChunk VideoContentBlock ReasoningContentBlock RemoveMessage
    convert_to_messages ensure_id get_buffer_string is_data_content_block merge_content
    message_chunk_to_message message_to_dict messages_from_dict messages_to_dict filter_messages
    merge_message_runs trim_messages convert_to_openai_data_block convert_to_openai_image_block
    convert_to_openai_messages UsageMetadata InputTokenDetails OutputTokenDetails
"""
# Where people import from, and what they must find there whatever `__all__` says.
RELIED_ON = {
    "dragoman": "Converted __version__ check_body convert repair_body",
    "dragoman.messages": "messages_to_json messages_from_json add_messages REMOVE_ALL_MESSAGES"
    " MessagesState count_tokens_approximately validate_messages repair_messages is_ai_message"
    " is_human_message is_system_message is_tool_message",
    "dragoman.messages.ai": "add_usage subtract_usage add_ai_message_chunks UsageMetadata",
    "dragoman.messages.base": "get_msg_title_repr merge_content TextAccessor",
    "dragoman.messages.tool": "ToolCall ToolCallChunk InvalidToolCall tool_call tool_call_chunk"
    " invalid_tool_call ToolOutputMixin default_tool_parser default_tool_chunk_parser",
    "dragoman.messages.content": "KNOWN_BLOCK_TYPES is_data_content_block create_text_block"
    " create_image_block create_reasoning_block create_tool_call",
    "dragoman.messages.block_translators": "register_translator get_translator"
    " PROVIDER_TRANSLATORS",
    "dragoman.transcript": "add_messages count_tokens_approximately filter_messages"
    " merge_message_runs repair_messages trim_messages validate_messages Issue Repair Change",
    "dragoman.codecs": "SUPPORTED Change ChatRequest Codec Converted get_codec",
    "dragoman.chat_models": "init_chat_model BaseChatModel ChatOpenAI ChatAnthropic"
    " ChatGoogleGenerativeAI ChatBedrockConverse AzureChatOpenAI ChatDeepSeek ChatGroq"
    " ChatMistralAI ChatOllama ChatOpenRouter ChatXAI",
    "dragoman.agents": "create_agent AgentState Command interrupt",
    "dragoman.tools": "tool BaseTool StructuredTool Tool ToolException InjectedState InjectedStore"
    " InjectedToolArg InjectedToolCallId ToolRuntime execute_tool_calls aexecute_tool_calls",
    "dragoman.threads": "MemoryThreads SQLiteThreads PostgresThreads Snapshot ThreadConflict"
    " ThreadChatHistory",
    "dragoman.testing": "ScriptedServer Reply record replay block_network GenericFakeChatModel",
    "dragoman.load": "dumps loads dumpd load",
    "dragoman.exceptions": "OutputParserException LangChainException ErrorCode",
}


@pytest.mark.parametrize("name", PUBLIC)
def test_what_a_module_lists_can_be_imported_by_name(name):
    try:
        module = importlib.import_module(name)
    except MissingExtraError:  # pragma: no cover - all extras are installed for tests
        pytest.fail(f"{name} needs an extra at import")
    names = getattr(module, "__all__", [])
    code: dict = {}
    exec(f"from {name} import {', '.join(names)}" if names else "", code)
    assert [n for n in names if n not in code] == []


def test_messages_lists_the_names_of_langchain():
    module = importlib.import_module("dragoman.messages")
    assert sorted(module.__all__) == sorted(MESSAGES.split())


@pytest.mark.parametrize("name", sorted(RELIED_ON))
def test_names_that_users_rely_on_are_there(name):
    module = importlib.import_module(name)
    assert [n for n in RELIED_ON[name].split() if not hasattr(module, n)] == []


def test_no_module_shows_names_it_does_not_have_to_dir():
    lying = {}
    for name in PUBLIC:
        module = importlib.import_module(name)
        missing = [n for n in dir(module) if not hasattr(module, n)]
        if missing:
            lying[name] = missing
    assert lying == {}


def test_the_package_says_that_it_is_typed():
    assert (Path(dragoman.__file__).parent / "py.typed").exists()


def test_the_distribution_is_what_the_package_says():
    assert importlib.metadata.version("dragoman") == dragoman.__version__
    commands = importlib.metadata.entry_points(group="console_scripts", name="dragoman")
    assert [command.value for command in commands] == ["dragoman.cli:main"]
