"""Makes room in a long history by clearing old results of tools."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dragoman.agents.middleware.types import AgentMiddleware, ModelCallResult, ModelRequest
from dragoman.messages import AIMessage, BaseMessage, ToolMessage
from dragoman.transcript import count_tokens_approximately

__all__ = ["ClearToolUsesEdit", "ContextEditingMiddleware"]

Count = Callable[[Iterable[Any]], int]


@dataclass(frozen=True)
class ClearToolUsesEdit:
    """Replaces the oldest tool results by a placeholder once the history is too long.

    Attributes:
        trigger: Tokens from which on results are cleared.
        clear_at_least: Tokens to win at least; results go until then.
        keep: How many of the newest results stay.
        clear_tool_inputs: Whether the arguments of their calls go too.
        exclude_tools: Tools whose results stay.
        placeholder: What stands in place of a result.
    """

    trigger: int = 100_000
    clear_at_least: int = 0
    keep: int = 3
    clear_tool_inputs: bool = False
    exclude_tools: Sequence[str] = ()
    placeholder: str = "[cleared]"

    def apply(self, messages: list[BaseMessage], *, count_tokens: Count) -> list[BaseMessage]:
        """Return the history with old results cleared; changed messages are copies."""
        before = count_tokens(messages)
        if before <= self.trigger:
            return messages
        edited = list(messages)
        results = [i for i, m in enumerate(edited) if isinstance(m, ToolMessage)]
        for position in results[: max(len(results) - self.keep, 0)]:
            message: Any = edited[position]
            if message.name in self.exclude_tools or message.content == self.placeholder:
                continue
            edited[position] = message.model_copy(
                update={"content": self.placeholder, "artifact": None}
            )
            if self.clear_tool_inputs:
                self._clear_call(edited, position, message.tool_call_id)
            if self.clear_at_least and before - count_tokens(edited) >= self.clear_at_least:
                break
        return edited

    def _clear_call(self, edited: list[BaseMessage], result: int, id_val: str) -> None:
        for position in range(result - 1, -1, -1):
            message = edited[position]
            if isinstance(message, AIMessage) and any(
                c["id"] == id_val for c in message.tool_calls
            ):
                calls = [
                    {**call, "args": {}} if call["id"] == id_val else call
                    for call in message.tool_calls
                ]
                edited[position] = message.model_copy(update={"tool_calls": calls})
                return


class ContextEditingMiddleware(AgentMiddleware[Any, Any]):
    """Edits the history a model call sees; the state keeps everything.

    Args:
        edits: What to do, in order; `ClearToolUsesEdit()` by default.
        token_count_method: `approximate`, or `model` to ask the model's own counter.
    """

    def __init__(
        self,
        *,
        edits: Iterable[ClearToolUsesEdit] | None = None,
        token_count_method: Literal["approximate", "model"] = "approximate",
    ) -> None:
        self.edits: list[ClearToolUsesEdit] = (
            list(edits) if edits is not None else [ClearToolUsesEdit()]
        )
        self.token_count_method = token_count_method

    def _edited(self, request: ModelRequest) -> ModelRequest:
        system = [request.system_message] if request.system_message is not None else []

        def count(messages: Iterable[Any]) -> int:
            whole = [*system, *messages]
            if self.token_count_method == "model":
                return request.model.get_num_tokens_from_messages(whole)
            return count_tokens_approximately(whole)

        messages = list(request.messages)
        for edit in self.edits:
            edited: Any = edit.apply(messages, count_tokens=count)
            messages = messages if edited is None else edited  # an edit may change the list itself
        return request.override(messages=messages)

    def wrap_model_call(self, request: ModelRequest, handler: Any) -> ModelCallResult:
        """Call the model with the edited history."""
        return handler(self._edited(request))

    async def awrap_model_call(self, request: ModelRequest, handler: Any) -> ModelCallResult:
        """Async `wrap_model_call`."""
        return await handler(self._edited(request))
