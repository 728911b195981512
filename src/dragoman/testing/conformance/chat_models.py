"""What every chat model has to do: answer alike on both doors, whole and streamed."""

import asyncio
import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dragoman.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage

if TYPE_CHECKING:
    from dragoman.language_models import BaseChatModel

__all__ = ["ChatModelSuite"]

_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "find_city",
        "description": "Find a city by its name.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 20}},
            "required": ["city"],
        },
    },
}


class ChatModelSuite(ABC):
    """The contract of a chat model; write `model`.

    The model has to answer any question with some text. It is asked a dozen times in all.

    Attributes:
        is_deterministic: Whether the same question gets the same answer (as at temperature 0).
        calls_tools: Whether `bind_tools(..., tool_choice="any")` makes it call.
        reports_usage: Whether it counts its tokens.
    """

    is_deterministic: bool = True
    calls_tools: bool = True
    reports_usage: bool = True

    @abstractmethod
    def model(self) -> "BaseChatModel":
        """Return the model under test."""

    def test_four_ways_to_one_answer(self) -> None:
        """Invoke, ainvoke, stream and astream answer alike, and leave their input as it was."""
        model = self.model()
        given = [SystemMessage("Be brief."), HumanMessage("Say hello.")]
        before = copy.deepcopy(given)
        whole, awaited = model.invoke(given), asyncio.run(model.ainvoke(given))
        streams = [list(model.stream(given)), asyncio.run(_collect(model, given))]
        assert given == before
        for reply in (whole, awaited):
            assert type(reply) is AIMessage
            self._check_answer(reply)
        for chunks in streams:
            assert all(type(chunk) is AIMessageChunk for chunk in chunks)
            assert chunks[-1].chunk_position == "last"
            assert {chunk.chunk_position for chunk in chunks[:-1]} <= {None}
            assert len({chunk.id for chunk in chunks}) == 1
            self._check_answer(_total(chunks))
        if self.is_deterministic:
            texts = [whole.text, awaited.text, *(_total(chunks).text for chunks in streams)]
            assert texts == [whole.text] * 4

    def test_every_form_of_input_is_taken(self) -> None:
        """A text, a pair, a dict and a message are the same question; a batch keeps its order."""
        text = "Say hello."
        forms: list[Any] = [
            text, [("human", text)], [{"role": "user", "content": text}], [HumanMessage(text)],
        ]  # fmt: skip
        replies = self.model().batch(forms)
        assert len(replies) == len(forms)
        for reply in replies:
            self._check_answer(reply)
        if self.is_deterministic:
            assert [reply.text for reply in replies] == [replies[0].text] * len(forms)

    def test_a_tool_that_must_be_called_is_called(self) -> None:
        """With `tool_choice="any"` the one tool is called, whole and streamed, on both doors."""
        if not self.calls_tools:
            return
        bound = self.model().bind_tools([_TOOL], tool_choice="any")
        question = "Find the city of Paris."
        streamed = asyncio.run(_collect(bound, question))
        for reply in (bound.invoke(question), _total(streamed)):
            assert [call["name"] for call in reply.tool_calls] == ["find_city"]
            assert all(isinstance(call["args"]["city"], str) for call in reply.tool_calls)
            assert all(call["id"] for call in reply.tool_calls)
            assert not reply.invalid_tool_calls

    def test_an_abandoned_stream_harms_nothing(self) -> None:
        """After a stream that was left at its first chunk the model answers as before."""
        model = self.model()
        stream: Any = model.stream("Tell a long story.")
        assert type(next(stream)) is AIMessageChunk
        stream.close()
        self._check_answer(model.invoke("Say hello."))

    def test_no_messages_are_no_question(self) -> None:
        """An empty list is a ValueError, before anything is sent."""
        model: Any = self.model()
        ways: list[Callable[[list[Any]], Any]] = [
            model.invoke,
            lambda given: list(model.stream(given)),
        ]
        for ask in ways:
            refused = False
            try:
                ask([])
            except ValueError:
                refused = True
            assert refused, "an empty list of messages was answered"

    def _check_answer(self, reply: AIMessage) -> None:
        assert reply.text
        assert reply.id
        assert "model_name" in reply.response_metadata
        assert "finish_reason" in reply.response_metadata
        if self.reports_usage:
            usage = reply.usage_metadata
            assert usage is not None
            assert usage["input_tokens"] > 0
            assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


async def _collect(model: Any, given: Any) -> list[AIMessageChunk]:
    return [chunk async for chunk in model.astream(given)]


def _total(chunks: Sequence[AIMessageChunk]) -> AIMessageChunk:
    return chunks[0] + list(chunks[1:]) if len(chunks) > 1 else chunks[0]
