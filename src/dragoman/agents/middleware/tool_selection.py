"""Chooses the tools that matter for a question, where there are many."""

import json
from typing import Any

from dragoman._door import ASYNC, SYNC, Door, run
from dragoman.agents.middleware.types import AgentMiddleware, ModelCallResult, ModelRequest
from dragoman.agents.request import tool_name
from dragoman.messages import HumanMessage, SystemMessage

__all__ = ["LLMToolSelectorMiddleware"]

PROMPT = "Your goal is to select the most relevant tools for answering the user's query."


class LLMToolSelectorMiddleware(AgentMiddleware[Any, Any]):
    """Asks a model which tools a question needs, and binds those alone.

    Provider tools (dicts) stay always. Names that the model makes up are dropped.

    Args:
        model: The model that chooses, or a string; the agent's own by default.
        system_prompt: What it is told.
        max_tools: The most tools, those it named first.
        always_include: Tools that stay in any case and do not count.
    """

    def __init__(
        self,
        *,
        model: Any = None,
        system_prompt: str = PROMPT,
        max_tools: int | None = None,
        always_include: list[str] | None = None,
    ) -> None:
        if isinstance(model, str):
            from dragoman.chat_models import init_chat_model

            model = init_chat_model(model)
        self.model = model
        self.system_prompt = system_prompt
        self.max_tools = max_tools
        self.always_include: list[str] = list(always_include or [])

    async def _chosen(self, door: Door, request: ModelRequest) -> ModelRequest:
        """Return the request with the tools that were chosen.

        Raises:
            ValueError: If `always_include` names no tool, there is no question, or the answer has
                no list of tools.
        """
        named = {tool_name(t): t for t in request.tools if not isinstance(t, dict)}
        missing = [name for name in self.always_include if name not in named]
        if missing:
            message = f"Tools in always_include not found in request: {missing}"
            raise ValueError(message)
        offered = {name: t for name, t in named.items() if name not in self.always_include}
        if not offered:
            return request
        question = next(
            (m for m in reversed(request.messages) if isinstance(m, HumanMessage)), None
        )
        if question is None:
            message = "No user message found in request messages"
            raise ValueError(message)
        model = self.model if self.model is not None else request.model
        answer = await door.invoke(
            model.with_structured_output(_schema(offered)),
            [SystemMessage(self._prompt(offered)), question],
            None,
        )
        given: Any = answer.get("tools") if isinstance(answer, dict) else None
        if not isinstance(given, list):
            message = (
                f"the model that selects tools gave no list of tools, but {type(answer).__name__}"
            )
            raise ValueError(message)
        kept = list(dict.fromkeys(name for name in given if name in offered))[: self.max_tools]
        names = {*kept, *self.always_include}
        tools = [t for t in request.tools if isinstance(t, dict) or tool_name(t) in names]
        return request.override(tools=tools)

    def _prompt(self, offered: dict[str, Any]) -> str:
        lines = [
            json.dumps({"name": name, "description": getattr(t, "description", "")})
            for name, t in offered.items()
        ]
        text = "\n".join([self.system_prompt, "", "The tools:", *lines])
        if self.max_tools is not None:
            text += f"\n\nName the most relevant first; only the first {self.max_tools} count."
        return text

    def wrap_model_call(self, request: ModelRequest, handler: Any) -> ModelCallResult:
        """Call the model with the tools that were chosen."""
        return handler(run(self._chosen(SYNC, request)))

    async def awrap_model_call(self, request: ModelRequest, handler: Any) -> ModelCallResult:
        """Async `wrap_model_call`."""
        return await handler(await self._chosen(ASYNC, request))


def _schema(offered: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": "ToolSelectionResponse",
        "description": "The tools that were selected, the most relevant first.",
        "type": "object",
        "properties": {
            "tools": {"type": "array", "items": {"type": "string", "enum": list(offered)}}
        },
        "required": ["tools"],
    }
