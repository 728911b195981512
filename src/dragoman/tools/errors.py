"""Errors of tools."""

from dragoman.errors import DragomanError

__all__ = ["SchemaAnnotationError", "ToolException"]


class ToolException(DragomanError):  # noqa: N818 - the established name
    """Raised inside a tool: the run failed, and the model may be told why.

    `handle_tool_error` of the tool decides whether it becomes a result.
    """


class SchemaAnnotationError(TypeError):
    """A tool's arguments are annotated in a way that cannot be kept.

    `args_schema` of a tool class is annotated as an object and not as a class, or an injected
    argument stands where the model could set it.
    """
