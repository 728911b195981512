"""`RunnableWithMessageHistory`: a chain that remembers what was said in a session.

The history is loaded before the run, put before the input messages (or under a key of its own), and
the messages of input and output are stored after a run that ended well.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, cast

from typing_extensions import override

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.messages import AIMessage, BaseMessage, HumanMessage
from dragoman.messages.utils import message_chunk_to_message
from dragoman.runnables._addable import Accumulator
from dragoman.runnables._fields import ConfigurableFieldSpec, get_unique_config_specs
from dragoman.runnables._one_body import Streaming
from dragoman.runnables._scope import Scope
from dragoman.runnables._stream import aclose_all
from dragoman.runnables.coerce import coerce_to_runnable
from dragoman.runnables.config import RunnableConfig
from dragoman.runnables.runnable import RunnableLike
from dragoman.runnables.serializable import RunnableSerializable

__all__ = ["RunnableWithMessageHistory"]

GetSessionHistoryCallable = Callable[..., Any]
"""Session id (or the values of the history factory's config) -> a chat message history."""

SESSION = ConfigurableFieldSpec(
    id="session_id",
    annotation=str,
    name="Session ID",
    description="Unique identifier for a session.",
    default="",
    is_shared=True,
)


class RunnableWithMessageHistory(RunnableSerializable[Any, Any], Streaming[Any, Any]):
    """A runnable with the messages of a session before its input.

    The session is named in `config={"configurable": {"session_id": "..."}}`.

    Args:
        runnable: Takes messages, or a dict with messages under a key; gives a string, a message, a
            list of messages, or a dict with one of these under a key.
        get_session_history: Gives the history of a session.
        input_messages_key: Where the input messages stand, if the input is a dict.
        output_messages_key: Where the output messages stand, if the output is a dict.
        history_messages_key: Where the runnable takes the history, if not before the input messages.
        history_factory_config: What of the config `get_session_history` is given; the session id only
            by default.
    """

    bound: Any
    get_session_history: Any
    input_messages_key: str | None = None
    output_messages_key: str | None = None
    history_messages_key: str | None = None
    history_factory_config: list[ConfigurableFieldSpec]

    def __init__(
        self,
        runnable: RunnableLike,
        get_session_history: GetSessionHistoryCallable,
        *,
        input_messages_key: str | None = None,
        output_messages_key: str | None = None,
        history_messages_key: str | None = None,
        history_factory_config: Sequence[ConfigurableFieldSpec] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            bound=coerce_to_runnable(runnable),
            get_session_history=get_session_history,
            input_messages_key=input_messages_key,
            output_messages_key=output_messages_key,
            history_messages_key=history_messages_key,
            history_factory_config=list(history_factory_config or [SESSION]),
            **kwargs,
        )

    @classmethod
    @override
    def get_lc_namespace(cls) -> list[str]:
        return ["langchain", "schema", "runnable"]

    # ------------------------------------------------------------ schemas

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call: of the runnable, and the session."""
        return get_unique_config_specs([*self.bound.config_specs, *self.history_factory_config])

    @property
    @override
    def InputType(self) -> Any:
        """The type of the runnable's input."""
        return self.bound.InputType

    @property
    @override
    def OutputType(self) -> Any:
        """The type of the runnable's output."""
        return self.bound.OutputType

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables._schemas import fields_model, model_of

        messages = Sequence[BaseMessage]
        name = "RunnableWithChatHistoryInput"
        if self.input_messages_key and self.history_messages_key:
            kind = str | BaseMessage | messages
            return fields_model(name, {self.input_messages_key: (kind, ...)})
        if self.input_messages_key:
            return fields_model(name, {self.input_messages_key: (messages, ...)})
        return model_of(name, messages)

    @override
    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables._schemas import model_of

        kind = self.OutputType
        return model_of("RunnableWithChatHistoryOutput", dict if kind is dict else kind)

    # ------------------------------------------------------------ what is a message where

    def _input_messages(self, value: Any) -> list[BaseMessage]:
        if isinstance(value, dict):
            given = cast("dict[str, Any]", value)
            key = self.input_messages_key or (next(iter(given)) if len(given) == 1 else "input")
            value = given[key]
        return _as_messages(value, HumanMessage)

    def _output_messages(self, value: Any) -> list[BaseMessage]:
        if isinstance(value, dict):
            given = cast("dict[str, Any]", value)
            key = self.output_messages_key or (next(iter(given)) if len(given) == 1 else "output")
            value = given[key]
        return _as_messages(value, AIMessage)

    def _with_history(self, value: Any, history: list[BaseMessage]) -> Any:
        """Return the runnable's input."""
        if self.history_messages_key:
            return {**value, self.history_messages_key: history}
        messages = [*history, *self._input_messages(value)]
        if self.input_messages_key:
            return {**value, self.input_messages_key: messages}
        return messages

    # ------------------------------------------------------------ the session

    @override
    def _said(self) -> dict[str, Any]:
        return {"run_type": None}

    def _history(self, scope: Scope) -> Any:
        """Return the history of the session that the config names.

        Raises:
            ValueError: If the config lacks a key.
        """
        expected = [spec.id for spec in self.history_factory_config]
        given: dict[str, Any] = scope.shown().get("configurable") or {}
        if missing := sorted(set(expected) - given.keys()):
            example = {self.input_messages_key: "foo"}
            config = {"configurable": dict.fromkeys(missing, "[your-value-here]")}
            text = (
                f"Missing keys {missing} in config['configurable'] "
                f"Expected keys are {sorted(expected)}."
                "When using via .invoke() or .stream(), pass in a config; "
                f"e.g., chain.invoke({example}, {config})"
            )
            raise ValueError(text)
        names = list(inspect.signature(self.get_session_history).parameters)
        if len(expected) == 1:
            return (
                self.get_session_history(given[expected[0]])
                if names
                else self.get_session_history()
            )
        if set(expected) != set(names):
            text = (
                f"Expected keys {sorted(expected)} do not match parameter names "
                f"{names} of get_session_history."
            )
            raise ValueError(text)
        return self.get_session_history(**{key: given[key] for key in expected})

    async def _load(self, door: Door, history: Any) -> list[BaseMessage]:
        if door.is_async:
            return list(await history.aget_messages())
        return list(history.messages)

    async def _store(self, door: Door, history: Any, value: Any, output: Any) -> None:
        said = [message_chunk_to_message(message) for message in self._output_messages(output)]
        messages = [*self._input_messages(value), *said]
        add = history.aadd_messages if door.is_async else history.add_messages
        await door.tell(add, messages)

    # ------------------------------------------------------------ calls

    @override
    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        history = self._history(scope)
        given = self._with_history(value, await self._load(door, history))
        output = await door.invoke(self.bound, given, scope.to(self.bound), **kwargs)
        await self._store(door, history, value, output)
        return output

    @override
    def _flow(self, inputs: Any, scope: Scope, kwargs: dict[str, Any]) -> list[Any]:
        pieces = self._apieces if scope.is_async else self._pieces
        return [pieces(inputs, scope, kwargs)]

    def _pieces(self, inputs: Iterator[Any], scope: Scope, kwargs: dict[str, Any]) -> Iterator[Any]:
        asked, said = Accumulator(), Accumulator()
        for piece in inputs:
            asked.feed(piece)
        if asked.is_empty:
            return
        history = self._history(scope)
        given = self._with_history(asked.value, run(self._load(SYNC, history)))
        for piece in self.bound.stream(given, scope.to(self.bound), **kwargs):
            said.feed(piece)
            yield piece
        run(self._store(SYNC, history, asked.value, said.value))

    async def _apieces(
        self, inputs: AsyncIterator[Any], scope: Scope, kwargs: dict[str, Any]
    ) -> AsyncIterator[Any]:
        asked, said = Accumulator(), Accumulator()
        async for piece in inputs:
            asked.feed(piece)
        if asked.is_empty:
            return
        history = self._history(scope)
        given = self._with_history(asked.value, await self._load(ASYNC, history))
        output = self.bound.astream(given, scope.to(self.bound), **kwargs)
        try:
            async for piece in output:
                said.feed(piece)
                yield piece
        finally:
            await aclose_all([output])
        await self._store(ASYNC, history, asked.value, said.value)


def _as_messages(value: Any, kind: type[Any]) -> list[BaseMessage]:
    """Return the messages a value stands for; a string is one of `kind`."""
    if isinstance(value, str):
        return [kind(content=value)]
    if isinstance(value, BaseMessage):
        return [value]
    if isinstance(value, (list, tuple)):
        given = list(cast("Sequence[Any]", value))
        # One list of messages inside a list is a batch of one.
        return given[0] if len(given) == 1 and isinstance(given[0], list) else given
    from dragoman.errors import short

    text = (
        f"Expected str, BaseMessage, list[BaseMessage], or tuple[BaseMessage]. Got {short(value)}."
    )
    raise ValueError(text)
