"""What type checkers see; checked by pyright in `make test`, never run."""

from typing import Any, assert_type

from dragoman.chat_models import init_chat_model
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    get_buffer_string,
    message_chunk_to_message,
    messages_from_json,
    messages_to_json,
)

human = HumanMessage("hi")
system = SystemMessage(content="Be brief.", id="s1")
tool = ToolMessage("25 °C", tool_call_id="c1", name="get_weather", status="error")
ai = AIMessage(
    content="", tool_calls=[{"name": "f", "args": {"x": 1}, "id": "c1", "type": "tool_call"}]
)

assert_type(human.content, str | list[str | dict[str, Any]])
assert_type(human.id, str | None)
assert_type(tool.tool_call_id, str)
assert_type(ai.tool_calls[0]["name"], str)
assert_type(ai.tool_calls[0]["args"], dict[str, Any])

chunk = AIMessageChunk("a") + AIMessageChunk("b")
assert_type(chunk, AIMessageChunk)
assert_type(message_chunk_to_message(chunk), BaseMessage)

history: list[AnyMessage] = [system, human, ai, tool]
mixed: list[BaseMessage] = [system, human]
assert_type(messages_to_json(history), bytes)
assert_type(messages_from_json(b"[]"), list[AnyMessage])
assert_type(
    convert_to_messages([("user", "hi"), {"role": "user", "content": "hi"}]), list[BaseMessage]
)
assert_type(get_buffer_string(mixed), str)


def words(message: BaseMessage) -> str:
    match message:
        case AIMessage(content=str(text)):
            return text
        case HumanMessage():
            return message.text
        case _:
            return ""


def ask(question: str) -> str:
    model = init_chat_model("local", temperature=0)
    reply = model.invoke([system, HumanMessage(question)])
    assert_type(reply, AIMessage)
    for piece in model.stream(question):
        assert_type(piece, AIMessageChunk)
    return reply.text


async def ask_later(question: str) -> str:
    model = init_chat_model("openai:gpt-5")
    reply = await model.ainvoke(question)
    assert_type(reply, AIMessage)
    async for piece in model.astream(question):
        assert_type(piece, AIMessageChunk)
    return reply.text
