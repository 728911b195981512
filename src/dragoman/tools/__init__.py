"""Tools: functions that a model may call, with schemas it can read and arguments that are checked.

`@tool` makes one of a function; `BaseTool` is for classes. Injected arguments are invisible to the
model and cannot be set by it.
"""

from dragoman.tools.base import ArgsSchema, BaseTool, BaseToolkit
from dragoman.tools.convert import convert_runnable_to_tool, tool
from dragoman.tools.errors import SchemaAnnotationError, ToolException
from dragoman.tools.execute import aexecute_tool_calls, execute_tool_calls
from dragoman.tools.inject import (
    InjectedState,
    InjectedStore,
    InjectedToolArg,
    InjectedToolCallId,
    ToolRuntime,
)
from dragoman.tools.render import (
    ToolsRenderer,
    render_text_description,
    render_text_description_and_args,
)
from dragoman.tools.retriever import RetrieverInput, create_retriever_tool
from dragoman.tools.schema import FILTERED_ARGS, create_schema_from_function
from dragoman.tools.simple import Tool
from dragoman.tools.structured import StructuredTool

__all__ = [
    "FILTERED_ARGS",
    "ArgsSchema",
    "BaseTool",
    "BaseToolkit",
    "InjectedState",
    "InjectedStore",
    "InjectedToolArg",
    "InjectedToolCallId",
    "RetrieverInput",
    "SchemaAnnotationError",
    "StructuredTool",
    "Tool",
    "ToolException",
    "ToolRuntime",
    "ToolsRenderer",
    "aexecute_tool_calls",
    "convert_runnable_to_tool",
    "create_retriever_tool",
    "create_schema_from_function",
    "execute_tool_calls",
    "render_text_description",
    "render_text_description_and_args",
    "tool",
]
