"""Tools as lines of text, for prompts of models that take no tools."""

import inspect
from collections.abc import Callable
from typing import Any

from dragoman.tools.base import BaseTool

__all__ = ["ToolsRenderer", "render_text_description", "render_text_description_and_args"]

ToolsRenderer = Callable[[list[BaseTool]], str]


def render_text_description(tools: list[BaseTool]) -> str:
    """Return a line `name(signature) - description` for each tool."""
    return "\n".join(_line(tool) for tool in tools)


def render_text_description_and_args(tools: list[BaseTool]) -> str:
    """Return a line `name(signature) - description, args: {...}` for each tool."""
    return "\n".join(f"{_line(tool)}, args: {tool.args}" for tool in tools)


def _line(tool: BaseTool) -> str:
    function: Any = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    signature = str(inspect.signature(function)) if function is not None else ""
    return f"{tool.name}{signature} - {tool.description}"
