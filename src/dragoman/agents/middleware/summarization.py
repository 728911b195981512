"""Keeps a long conversation within bounds by summarising its beginning."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from dragoman.agents.middleware.types import AgentMiddleware
from dragoman.agents.runtime import Runtime
from dragoman.errors import short
from dragoman.messages import (
    REMOVE_ALL_MESSAGES,
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
    get_buffer_string,
)
from dragoman.transcript import count_tokens_approximately, trim_messages
from dragoman.transcript.units import call_ids, without_orphans

__all__ = ["SummarizationMiddleware"]

Size = tuple[Literal["tokens", "messages", "fraction"], float]

PROMPT = """Summarise the conversation below so that it can go on from your summary alone. Keep names, \
numbers, decisions, results of tools and open questions. Answer with the summary only.

{messages}"""


class SummarizationMiddleware(AgentMiddleware[Any, Any]):
    """Replaces the beginning of the history by a summary once it grows too large.

    A turn with calls and its results are kept or summarised together.

    Args:
        model: The model that writes the summary, or a string for `init_chat_model`.
        trigger: When: `("tokens", n)`, `("messages", n)`, `("fraction", f)` of the model's input
            window, or a list of them (any).
        keep: How much of the end stays as it is, in the same forms.
        token_counter: Counts the tokens of a list of messages.
        summary_prompt: The request, with `{messages}` in it.
        trim_tokens_to_summarize: The most tokens of history the summary is made from.
    """

    def __init__(
        self,
        model: Any,
        *,
        trigger: Size | Sequence[Size] | None = None,
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
        given = [trigger] if isinstance(trigger, tuple) and isinstance(trigger[0], str) else trigger
        self.triggers: list[Any] = list(given or [])
        self.keep = keep
        for size in [*self.triggers, keep]:
            _check(size)
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
        if not any(self._exceeds(messages, size) for size in self.triggers):
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


def _check(size: Any) -> None:
    kinds = ("tokens", "messages", "fraction")
    if not isinstance(size, tuple) or len(size) != 2 or size[0] not in kinds or not size[1] > 0:
        message = f"expected a pair such as ('tokens', 4000), got {short(size)}"
        raise ValueError(message)


def _unit_start(messages: list[BaseMessage], cut: int) -> int:
    """Return a cut that splits no unit: moved back in front of the turn whose results follow."""
    if cut >= len(messages):
        last = messages[-1] if messages else None
        if isinstance(last, AIMessage) and call_ids(last):
            return len(messages) - 1
        return cut
    wanted = {m.tool_call_id for m in messages[cut:] if isinstance(m, ToolMessage)}
    for position in range(cut - 1, -1, -1):
        if wanted & set(call_ids(messages[position])):
            cut = position
    return cut
