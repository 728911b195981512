"""Tools on a model: what `bind_tools` puts into the keyword arguments of its calls."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dragoman.language_models.base import LanguageModelInput
from dragoman.messages import AIMessage
from dragoman.runnables import Runnable
from dragoman.utils.function_calling import convert_to_openai_tool, tool_list

__all__ = ["ToolBinding", "tools_kwargs"]

# Words that users write for one choice, and ours for it.
CHOICES: dict[str | bool, str | None] = {"required": "any", True: "any", False: None}
# A dict with one of these describes a function; any other is a tool of the provider's own.
FUNCTION_KEYS = frozenset({"parameters", "input_schema", "toolSpec", "properties"})


class ToolBinding:
    """Gives `bind_tools` to a chat model class that takes tools: `class M(ToolBinding, BaseChatModel)`."""

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | Any],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        strict: bool | None = None,
        parallel_tool_calls: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return this model with tools.

        Args:
            tools: Functions, pydantic classes, TypedDicts, dataclasses, tools, JSON schemas, or
                a provider's own tool dicts. All are sent; most providers refuse two of one name.
            tool_choice: `auto`, `none`, `any` (also `required` and True), a tool's name, or a
                provider's own dict.
            strict: Whether the provider is to enforce the schemas.
            parallel_tool_calls: Whether the model may call several tools in one turn.
            kwargs: Passed to the model with each call.

        Raises:
            TypeError: If `tools` is no list.
            ValueError: If a tool is none of these, or `tool_choice` names no tool.
        """
        bound = tools_kwargs(
            tools,
            tool_choice=tool_choice,
            strict=strict,
            parallel_tool_calls=parallel_tool_calls,
        )
        return self.bind(**bound, **kwargs)  # pyright: ignore[reportAttributeAccessIssue]


def tools_kwargs(
    tools: Sequence[Any],
    *,
    tool_choice: str | dict[str, Any] | bool | None = None,
    strict: bool | None = None,
    parallel_tool_calls: bool | None = None,
) -> dict[str, Any]:
    """Return the keyword arguments that tools and choices become; what is None is left out.

    Raises:
        TypeError: If `tools` is no list.
        ValueError: If a tool cannot be read, or `tool_choice` names no tool.

    >>> tools_kwargs([{"name": "f", "parameters": {}}], tool_choice="required")["tool_choice"]
    'any'
    """
    ready = [_tool(tool, strict) for tool in tool_list(tools)]
    found: dict[str, Any] = {"tools": ready}
    choice = _choice(tool_choice, ready)
    if choice is not None:
        found["tool_choice"] = choice
    if parallel_tool_calls is not None:
        found["parallel_tool_calls"] = parallel_tool_calls
    return found


def _tool(tool: Any, strict: bool | None) -> dict[str, Any]:
    if isinstance(tool, Mapping):
        given = dict(tool)
        if _is_providers_own(given):
            return given
        if strict is not None and isinstance(given.get("function"), dict):
            return convert_to_openai_tool(given["function"], strict=strict)
        return convert_to_openai_tool(given, strict=strict)
    return convert_to_openai_tool(tool, strict=strict)


def _is_providers_own(tool: dict[str, Any]) -> bool:
    if tool.get("type") == "function" or FUNCTION_KEYS & tool.keys():
        return False
    is_named = isinstance(tool.get("name"), str) or isinstance(tool.get("title"), str)
    return "type" in tool or not is_named


def _choice(choice: Any, tools: list[dict[str, Any]]) -> Any:
    if isinstance(choice, (str, bool)):
        choice = CHOICES.get(choice, choice)
    if isinstance(choice, str) and choice not in ("auto", "none", "any"):
        names = [name for tool in tools if (name := _name(tool))]
        if choice not in names and len(names) == len(tools):
            raise ValueError(
                f"tool_choice {choice!r} names none of the tools {names}; "
                "use one of them, or auto, none or any"
            )
    return choice


def _name(tool: dict[str, Any]) -> str | None:
    function = tool.get("function")
    return function.get("name") if isinstance(function, dict) else tool.get("name")
