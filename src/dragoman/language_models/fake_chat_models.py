"""Chat models that answer from a list, for tests and examples. They wait for nothing unless told to."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from dragoman.language_models.chat_models import BaseChatModel, SimpleChatModel
from dragoman.messages import AIMessage, AIMessageChunk, BaseMessage
from dragoman.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

__all__ = [
    "FakeChatModel",
    "FakeListChatModel",
    "FakeListChatModelError",
    "FakeMessagesListChatModel",
    "GenericFakeChatModel",
    "ParrotFakeChatModel",
]


def _result(message: BaseMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


class FakeMessagesListChatModel(BaseChatModel):
    """Answers with its messages in turn, and starts again after the last.

    Attributes:
        responses: The messages.
        sleep: Seconds to wait before each answer.
        i: The index of the next answer.
    """

    responses: list[BaseMessage]
    sleep: float | None = None
    i: int = 0

    def _next(self) -> ChatResult:
        response = self.responses[self.i]
        self.i = (self.i + 1) % len(self.responses)
        return _result(response)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        if self.sleep is not None:
            time.sleep(self.sleep)
        return self._next()

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        if self.sleep is not None:
            await asyncio.sleep(self.sleep)
        return self._next()

    @property
    def _llm_type(self) -> str:
        return "fake-messages-list-chat-model"


class FakeListChatModelError(Exception):
    """What `FakeListChatModel` raises at `error_on_chunk_number`."""


class FakeListChatModel(SimpleChatModel):
    """Answers with its texts in turn, and starts again after the last.

    Attributes:
        responses: The texts; streamed one character a chunk.
        sleep: Seconds to wait before each answer, or before each chunk.
        i: The index of the next answer.
        error_on_chunk_number: The chunk in whose place a stream raises.

    >>> model = FakeListChatModel(responses=["Hi", "Bye"])
    >>> model.invoke("Hello").content, [c.content for c in model.stream("Hello")]
    ('Hi', ['B', 'y', 'e'])
    """

    responses: list[str]
    sleep: float | None = None
    i: int = 0
    error_on_chunk_number: int | None = None

    def _next(self) -> str:
        responses, i = self.responses, self.i
        if len(responses) > 1:
            self.i = i + 1 if i < len(responses) - 1 else 0
        return responses[i]

    def _call(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> str:
        if self.sleep is not None:
            time.sleep(self.sleep)
        return self._next()

    # Messages made for one call need no wrapper and no copy (`hooks`).
    def _reply(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any
    ) -> AIMessage:
        return AIMessage(content=self._call(messages, stop, **kwargs))

    async def _areply(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any
    ) -> AIMessage:
        if type(self)._call is not FakeListChatModel._call:
            return (await self._agenerate(messages, stop, **kwargs)).generations[0].message  # pyright: ignore[reportReturnType] - SimpleChatModel makes AI messages
        if self.sleep is not None:
            await asyncio.sleep(self.sleep)
        return AIMessage(content=self._next())

    def _pieces(self) -> Iterator[AIMessageChunk]:
        text = self._next()
        for number, character in enumerate(text):
            if number == self.error_on_chunk_number:
                raise FakeListChatModelError
            position = "last" if number == len(text) - 1 else None
            yield AIMessageChunk(content=character, chunk_position=position)

    def _chunks(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any
    ) -> Iterator[AIMessageChunk]:
        for piece in self._pieces():
            if self.sleep is not None:
                time.sleep(self.sleep)
            yield piece

    async def _achunks(
        self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any
    ) -> AsyncIterator[AIMessageChunk]:
        for piece in self._pieces():
            if self.sleep is not None:
                await asyncio.sleep(self.sleep)
            yield piece

    # What a subclass may call through `super()`.
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, stop, **kwargs):
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for chunk in self._achunks(messages, stop, **kwargs):
            yield ChatGenerationChunk(message=chunk)

    # One input after the other, so that the answers come in the order of the list.
    def batch(
        self,
        inputs: list[Any],
        config: Any = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """Return the replies, in order."""
        configs = config if isinstance(config, list) else [config] * len(inputs)
        results: list[Any] = []
        for value, one in zip(inputs, configs, strict=True):
            try:
                results.append(self.invoke(value, one, **kwargs))
            except Exception as error:
                if not return_exceptions:
                    raise
                results.append(error)
        return results

    async def abatch(
        self,
        inputs: list[Any],
        config: Any = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """Return the replies, in order."""
        configs = config if isinstance(config, list) else [config] * len(inputs)
        results: list[Any] = []
        for value, one in zip(inputs, configs, strict=True):
            try:
                results.append(await self.ainvoke(value, one, **kwargs))
            except Exception as error:
                if not return_exceptions:
                    raise
                results.append(error)
        return results

    @property
    def _llm_type(self) -> str:
        return "fake-list-chat-model"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"responses": self.responses}


class FakeChatModel(SimpleChatModel):
    """Always answers "fake response"."""

    def _call(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> str:
        return "fake response"

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        if type(self)._call is not FakeChatModel._call:
            return await super()._agenerate(messages, stop, run_manager, **kwargs)
        return _result(AIMessage(content="fake response"))

    @property
    def _llm_type(self) -> str:
        return "fake-chat-model"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"key": "fake"}


class GenericFakeChatModel(BaseChatModel):
    """Answers with the next item of an iterator, a message or a text; StopIteration after the last.

    Streams content word by word with the blanks between as chunks of their own, then tool calls,
    then each key of `additional_kwargs`; a `function_call`'s values are split at commas.

    >>> model = GenericFakeChatModel(messages=iter([AIMessage("Good day")]))
    >>> [chunk.content for chunk in model.stream("Hi")]
    ['Good', ' ', 'day']
    """

    messages: Iterator[AIMessage | str]

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        message = next(self.messages)
        return _result(AIMessage(content=message) if isinstance(message, str) else message)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        result = self._generate(messages, stop=stop, run_manager=run_manager, **kwargs)
        message = result.generations[0].message
        if not isinstance(message, AIMessage):
            text = f"Expected an AIMessage to stream, got `{type(message).__name__}`"
            raise TypeError(text)
        pieces = list(_pieces(message))
        for number, piece in enumerate(pieces):
            is_last = number == len(pieces) - 1 and "additional_kwargs" not in piece
            fields: dict[str, Any] = {"content": "", "id": message.id, **piece}
            fields["chunk_position"] = "last" if is_last else None
            yield ChatGenerationChunk(message=AIMessageChunk(**fields))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages, stop, run_manager, **kwargs):
            yield chunk

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop=stop, run_manager=run_manager, **kwargs)

    @property
    def _llm_type(self) -> str:
        return "generic-fake-chat-model"


def _pieces(message: AIMessage) -> Iterator[dict[str, Any]]:
    """Yield the fields of each chunk of a message."""
    content = message.content
    if isinstance(content, str) and content:
        yield from ({"content": piece} for piece in re.split(r"(\s)", content))
    elif content:
        yield {"content": content}
    if message.tool_calls:
        yield {"tool_calls": message.tool_calls}
    for key, value in message.additional_kwargs.items():
        if key != "function_call" or not isinstance(value, dict):
            yield {"additional_kwargs": {key: value}}
            continue
        for name, words in value.items():
            parts = re.split(r"(,)", words) if isinstance(words, str) else [words]
            yield from ({"additional_kwargs": {key: {name: part}}} for part in parts)


class ParrotFakeChatModel(BaseChatModel):
    """Answers with the last message it was given.

    Raises:
        ValueError: If it was given none.
    """

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        if not messages:
            raise ValueError("messages list cannot be empty.")
        return _result(messages[-1])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop=stop, run_manager=run_manager, **kwargs)

    @property
    def _llm_type(self) -> str:
        return "parrot-fake-chat-model"
