"""Tools: the other side's machinery around this side's function.

A tool that crosses keeps its function; validation, callbacks, error handling and the making of the
`ToolMessage` are those of the side that calls it. Marks of injected arguments are translated, so
that each side's agents supply them. A tool that crosses back is the object it was.
"""

from collections.abc import Callable
from copy import copy
from functools import cached_property
from inspect import signature
from typing import Annotated, Any, Literal, cast, get_args, get_origin

from langchain_core import tools as theirs
from langchain_core.runnables import RunnableConfig as TheirConfig
from pydantic import Field, create_model
from typing_extensions import override

from dragoman import tools as ours
from dragoman.compat.marks import carried, mark_in, mark_out
from dragoman.runnables import RunnableConfig
from dragoman.tools.arguments import injected_names
from dragoman.tools.schema import wants_of

__all__ = ["ToolHere", "ToolThere", "tool_in", "tool_out"]

# Fields that both classes of tools have under one name with one meaning.
SAME = (
    "name",
    "description",
    "return_direct",
    "verbose",
    "tags",
    "metadata",
    "handle_validation_error",
    "response_format",
    "extras",
)


def tool_out(tool: ours.BaseTool) -> theirs.BaseTool:
    """Return a tool for LangChain that runs `tool`; one that came from there is itself again."""
    if isinstance(tool, ToolHere):
        return tool.langchain_tool
    schema = tool.args_schema if isinstance(tool.args_schema, dict) else tool.get_input_schema()
    return ToolThere(
        **{name: getattr(tool, name) for name in SAME},
        args_schema=schema_for(schema, mark_out),
        handle_tool_error=_handler(tool.handle_tool_error, ours.ToolException),
        dragoman_tool=tool,
    )


def tool_in(tool: theirs.BaseTool) -> ours.BaseTool:
    """Return a tool of ours that runs LangChain's `tool`; one that came from here is itself again."""
    if isinstance(tool, ToolThere):
        return tool.dragoman_tool
    schema = tool.args_schema if isinstance(tool.args_schema, dict) else tool.get_input_schema()
    return ToolHere(
        **{name: getattr(tool, name) for name in SAME},
        args_schema=schema_for(schema, mark_in),
        handle_tool_error=_handler(tool.handle_tool_error, theirs.ToolException),
        langchain_tool=tool,
    )


def schema_for(schema: Any, mark: Callable[[Any], Any]) -> Any:
    """Return a schema class whose marks of injected arguments are the other side's."""
    if isinstance(schema, dict):
        return schema
    fields: dict[str, Any] = {}
    for name, field in schema.model_fields.items():
        kind, marks = mark(field.annotation), [mark(one) for one in field.metadata]
        if kind is field.annotation and all(map(_is, marks, field.metadata)):
            continue
        changed = copy(field)
        changed.metadata, changed.annotation = marks, kind
        fields[name] = (Annotated[(kind, *marks)] if marks else kind, changed)
    if not fields:
        return schema
    made = create_model(schema.__name__, __base__=schema, **fields)
    made.__doc__ = schema.__doc__
    return made


def _is(left: Any, right: Any) -> bool:
    return left is right


def _handler(handle: Any, error_class: Any) -> Any:
    """Return what handles the other side's ToolException, which was made of this side's."""
    if not callable(handle):
        return handle

    def handler(error: Any) -> Any:
        cause = error.__cause__
        return handle(cause if isinstance(cause, error_class) else error)

    return handler


class ToolThere(theirs.BaseTool):
    """A tool for LangChain that runs one of ours.

    Attributes:
        dragoman_tool: The tool.
    """

    dragoman_tool: Any = Field(exclude=True)
    response_format: Literal["content", "content_and_artifact"] = "content"

    @cached_property
    @override
    def _injected_args_keys(self) -> frozenset[str]:
        return injected_names(self.dragoman_tool)

    @override
    def _run(self, *args: Any, dragoman_config: TheirConfig, **kwargs: Any) -> Any:
        tool = self.dragoman_tool
        function = tool._sync_function() or tool._run
        try:
            return carried(function(*args, **_given(function, kwargs, dragoman_config)), "outward")
        except ours.ToolException as error:
            raise theirs.ToolException(*error.args) from error

    @override
    async def _arun(self, *args: Any, dragoman_config: TheirConfig, **kwargs: Any) -> Any:
        tool = self.dragoman_tool
        function = tool._async_function()
        if function is None:
            return await super()._arun(*args, dragoman_config=dragoman_config, **kwargs)
        try:
            found = await function(*args, **_given(function, kwargs, dragoman_config))
        except ours.ToolException as error:
            raise theirs.ToolException(*error.args) from error
        return carried(found, "outward")


def _given(function: Any, kwargs: dict[str, Any], config: Any) -> dict[str, Any]:
    """Return the arguments of our function: what was given, and the config where it wants one."""
    wants = wants_of(function)
    given = {name: carried(value, "inward") for name, value in kwargs.items()}
    for name in wants.config:
        given[name] = plain_config(config)
    return given


def plain_config(config: Any) -> dict[str, Any]:
    """Return what of a run's config the other side understands: no callbacks."""
    kept = ("tags", "metadata", "configurable", "max_concurrency", "recursion_limit")
    return {name: config[name] for name in kept if name in (config or {})}


class ToolHere(ours.BaseTool):
    """A tool of ours that runs one of LangChain's.

    Attributes:
        langchain_tool: The tool.
    """

    langchain_tool: Any = Field(exclude=True)

    @property
    @override
    def _injected_args_keys(self) -> frozenset[str]:
        schema: Any = self.args_schema
        if isinstance(schema, dict):
            return frozenset()
        return frozenset(n for n, f in schema.model_fields.items() if _is_injected(f))

    @override
    def _run(self, *args: Any, dragoman_config: RunnableConfig, **kwargs: Any) -> Any:
        tool = self.langchain_tool
        try:
            found = tool._run(*args, **self._passed(tool._run, kwargs, dragoman_config))
        except theirs.ToolException as error:
            raise ours.ToolException(*error.args) from error
        return carried(found, "inward")

    @override
    async def _arun(self, *args: Any, dragoman_config: RunnableConfig, **kwargs: Any) -> Any:
        tool = self.langchain_tool
        try:
            found = await tool._arun(*args, **self._passed(tool._arun, kwargs, dragoman_config))
        except theirs.ToolException as error:
            raise ours.ToolException(*error.args) from error
        return carried(found, "inward")

    def _passed(self, method: Any, kwargs: dict[str, Any], config: Any) -> dict[str, Any]:
        passed = {name: carried(value, "outward") for name, value in kwargs.items()}
        parameters = signature(method).parameters
        if "config" in parameters and "config" not in self.args:
            passed["config"] = cast("Any", plain_config(config))
        return passed


def _is_injected(field: Any) -> bool:
    marks = [*field.metadata, field.annotation]
    if get_origin(field.annotation) is Annotated:
        marks += get_args(field.annotation)
    return any(getattr(mark, "__injected_tool_arg__", False) for mark in marks)
