"""Lets a model make up the results of tools, to try an agent out before they exist."""

import json
from typing import Any

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.agents.middleware.types import AgentMiddleware, ToolCallRequest
from dragoman.messages import HumanMessage, ToolMessage

__all__ = ["LLMToolEmulator"]


class LLMToolEmulator(AgentMiddleware[Any, Any]):
    """Answers calls with what a model thinks the tool would give; the tool does not run.

    Args:
        tools: The tools meant, by name or as objects; None for all, an empty list for none.
        model: The model that makes results up, or a string for `init_chat_model`.
    """

    def __init__(self, *, tools: list[Any] | None = None, model: Any) -> None:
        if isinstance(model, str):
            from dragoman.chat_models import init_chat_model

            model = init_chat_model(model)
        self.model = model
        self._names = (
            None if tools is None else {t if isinstance(t, str) else t.name for t in tools}
        )

    def _meant(self, request: ToolCallRequest) -> bool:
        return self._names is None or request.tool_call["name"] in self._names

    async def _made_up(self, door: Door, request: ToolCallRequest) -> ToolMessage:
        call = request.tool_call
        about = getattr(request.tool, "description", None) or "No description."
        prompt = (
            "You stand in for a tool. Answer with what it would return, and nothing else.\n\n"
            f"Tool: {call['name']}\nDescription: {about}\n"
            f"Arguments: {json.dumps(call['args'], default=str)}"
        )
        reply = await door.invoke(self.model, [HumanMessage(prompt)], None)
        return ToolMessage(str(reply.text), tool_call_id=call["id"] or "", name=call["name"])

    def wrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        """Make the result up, or run the tool."""
        return run(self._made_up(SYNC, request)) if self._meant(request) else handler(request)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Any) -> Any:
        """Async `wrap_tool_call`."""
        if self._meant(request):
            return await self._made_up(ASYNC, request)
        return await handler(request)
