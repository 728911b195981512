"""A model that answers by script and remembers what it was asked, and small tools."""

from collections.abc import Callable
from typing import Any

from dragoman.language_models import BaseChatModel
from dragoman.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from dragoman.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

Answer = str | AIMessage | Exception | Callable[[list[BaseMessage]], Any]


class Model(BaseChatModel):
    """Answers with the items of its script in order; the last one again and again."""

    script: list[Any]
    asked: list[list[BaseMessage]]
    bound: list[dict[str, Any]]
    profile: Any = None
    model_name: str = "scripted"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self.bound.append({"tools": list(tools), **kwargs})
        return self

    def bind(self, **kwargs: Any) -> Any:
        self.bound.append(kwargs)
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
        index = min(len(self.asked), len(self.script) - 1)
        self.asked.append(list(messages))
        answer = self.script[index]
        if callable(answer):
            answer = answer(messages)
        if isinstance(answer, BaseException):
            raise answer
        message = AIMessage(answer) if isinstance(answer, str) else answer.model_copy()
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Any:
        message = self._generate(messages).generations[0].message
        for piece in str(message.text).split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(piece))
        if message.tool_calls:
            chunks = [
                {"name": c["name"], "args": _json(c["args"]), "id": c["id"], "index": i}
                for i, c in enumerate(message.tool_calls)
            ]
            yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=chunks))


def _json(value: Any) -> str:
    import json

    return json.dumps(value)


def model(*script: Answer, **fields: Any) -> Model:
    return Model(script=list(script), asked=[], bound=[], **fields)


def call(name: str, id_val: str = "1", /, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": id_val, "type": "tool_call"}


def calls(*given: dict[str, Any], text: str = "") -> AIMessage:
    return AIMessage(text, tool_calls=list(given))


def kinds(messages: list[BaseMessage]) -> list[str]:
    return [m.type for m in messages]


def results(state: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return (id of the call, text, status) of each tool result."""
    return [
        (m.tool_call_id, str(m.text), m.status)
        for m in state["messages"]
        if isinstance(m, ToolMessage)
    ]


def texts(messages: list[BaseMessage]) -> list[str]:
    return [str(m.text) for m in messages]


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def fail(why: str = "broken") -> str:
    """Fail."""
    raise ValueError(why)


HI = {"messages": [("user", "hi")]}


def thread(name: str = "t") -> dict[str, Any]:
    return {"configurable": {"thread_id": name}}
