"""Keeps a long conversation within bounds by summarising its beginning."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, cast

from typing_extensions import TypedDict

from dragoman.agents.middleware.types import AgentMiddleware
from dragoman.agents.runtime import Runtime
from dragoman.errors import short
from dragoman.messages import (
    REMOVE_ALL_MESSAGES,
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    get_buffer_string,
)
from dragoman.transcript import count_tokens_approximately, trim_messages
from dragoman.transcript.units import call_ids, result_ids, without_orphans

__all__ = ["SummarizationMiddleware", "TriggerClause"]

Size = tuple[Literal["tokens", "messages", "fraction"], float]


class TriggerClause(TypedDict, total=False):
    """Sizes that all have to be reached."""

    tokens: int
    messages: int
    fraction: float


PROMPT = """Summarise the conversation below so that it can go on from your summary alone. Keep names, \
numbers, decisions, results of tools and open questions. Answer with the summary only.

{messages}"""


class SummarizationMiddleware(AgentMiddleware[Any, Any]):
    """Replaces the beginning of the history by a summary once it grows too large.

    A turn with calls and its results are kept or summarised together.

    Args:
        model: The model that writes the summary, or a string for `init_chat_model`.
        trigger: When: `("tokens", n)`, `("messages", n)`, `("fraction", f)` of the model's input
            window, a dict of such sizes (all have to be reached), or a list of them (any).
        keep: How much of the end stays as it is, in the same forms.
        token_counter: Counts the tokens of a list of messages.
        summary_prompt: The request, with `{messages}` in it.
        trim_tokens_to_summarize: The most tokens of history the summary is made from.
    """

    def __init__(
        self,
        model: Any,
        *,
        trigger: Size | TriggerClause | Sequence[Size | TriggerClause] | None = None,
        keep: Size = ("messages", 20),
        token_counter: Callable[[Iterable[Any]], int] = count_tokens_approximately,
        summary_prompt: str = PROMPT,
        trim_tokens_to_summarize: int | None = 4000,
        **deprecated: Any,
    ) -> None:
        if isinstance(model, str):
            from dragoman.chat_models import init_chat_model

            model = init_chat_model(model)
        if "max_tokens_before_summary" in deprecated:
            trigger = ("tokens", deprecated.pop("max_tokens_before_summary"))
        if "messages_to_keep" in deprecated:
            keep = ("messages", deprecated.pop("messages_to_keep"))
        if deprecated:
            message = f"unknown option {short(next(iter(deprecated)))}"
            raise TypeError(message)
        self.model = model
        self.triggers: list[list[Size]] = [_sizes(entry) for entry in _entries(trigger)]
        self.keep = keep
        for size in (size for sizes in self.triggers for size in sizes):
            _check("trigger", size)
        _check("keep", keep)
        self.token_counter = token_counter
        self.summary_prompt = summary_prompt
        self.trim_tokens = trim_tokens_to_summarize

    def before_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Return the shortened history, if it is too large."""
        cut = self._cut(state["messages"])
        if not cut:
            return None
        reply = self.model.invoke(self._request(state["messages"][:cut]))
        return self._update(str(reply.text), state["messages"][cut:])

    async def abefore_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Async `before_model`."""
        cut = self._cut(state["messages"])
        if not cut:
            return None
        reply = await self.model.ainvoke(self._request(state["messages"][:cut]))
        return self._update(str(reply.text), state["messages"][cut:])

    def _limit(self, size: Size) -> float:
        if size[0] != "fraction":
            return size[1]
        profile: Any = getattr(self.model, "profile", None) or {}
        window = profile.get("max_input_tokens")
        if not window:
            message = "a fraction needs a model whose profile has max_input_tokens; use tokens"
            raise ValueError(message)
        return size[1] * window

    def _cut(self, messages: list[BaseMessage]) -> int:
        """Return how many messages to summarise: 0 if the history is small enough."""
        if not any(all(self._exceeds(messages, s) for s in sizes) for sizes in self.triggers):
            return 0
        limit = self._limit(self.keep)
        if self.keep[0] == "messages":
            cut = max(len(messages) - int(limit), 0)
        else:
            cut = len(messages)
            while cut and self.token_counter(messages[cut - 1 :]) <= limit:
                cut -= 1
        return _unit_start(messages, cut)

    def _exceeds(self, messages: list[BaseMessage], size: Size) -> bool:
        if size[0] == "messages":
            return len(messages) >= size[1]
        return self.token_counter(messages) >= self._limit(size)

    def _request(self, messages: list[BaseMessage]) -> str:
        if self.trim_tokens is not None:
            messages = trim_messages(
                messages,
                max_tokens=self.trim_tokens,
                token_counter=self.token_counter,
                keep_last_human=False,
            )
        return self.summary_prompt.format(messages=get_buffer_string(messages))

    def _update(self, summary: str, kept: list[BaseMessage]) -> dict[str, Any]:
        text = f"Here is a summary of the conversation to date:\n\n{summary}"
        head = HumanMessage(text, additional_kwargs={"lc_source": "summarization"})
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), head, *without_orphans(kept)]}


def _entries(trigger: Any) -> list[Any]:
    if trigger is None:
        return []
    return cast("list[Any]", trigger) if isinstance(trigger, list) else [trigger]


def _sizes(entry: Any) -> list[Any]:
    """Return the sizes that have to be reached together."""
    if not isinstance(entry, dict):
        return [entry]
    if not entry:
        message = "a trigger given as a dict has to name tokens, messages or fraction"
        raise ValueError(message)
    return list(cast("dict[str, Any]", entry).items())


def _check(option: str, given: Any) -> None:
    if not isinstance(given, tuple) or len(cast("tuple[Any, ...]", given)) != 2:
        message = f"{option} has to be a pair such as ('tokens', 4000), got {short(given)}"
        raise ValueError(message)
    kind, size = cast("tuple[Any, Any]", given)
    if kind not in ("tokens", "messages", "fraction"):
        message = (
            f"Unsupported context size type {short(kind)} for {option}; it is one of tokens, messages "
            "and fraction"
        )
        raise ValueError(message)
    if isinstance(size, bool) or not isinstance(size, int | float) or not size > 0:
        message = f"the size of {option} has to be a number greater than 0, got {short(size)}"
        raise ValueError(message)
    if kind == "fraction" and size > 1:
        message = f"Fractional {option} values must be between 0 and 1, got {size}"
        raise ValueError(message)


def _unit_start(messages: list[BaseMessage], cut: int) -> int:
    """Return a cut that splits no unit: moved back in front of the turn whose results follow."""
    if cut >= len(messages):
        last = messages[-1] if messages else None
        if isinstance(last, AIMessage) and call_ids(last):
            return len(messages) - 1
        return cut
    wanted = {id_val for message in messages[cut:] for id_val in result_ids(message)}
    for position in range(cut - 1, -1, -1):
        if wanted & set(call_ids(messages[position])):
            cut = position
    return cut
