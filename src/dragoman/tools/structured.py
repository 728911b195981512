"""`StructuredTool`: a function with named arguments as a tool."""

import textwrap
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module
from typing import Any, Literal

from pydantic import BaseModel, Field, SkipValidation
from typing_extensions import override

from dragoman.tools.base import ArgsSchema, BaseTool
from dragoman.tools.schema import create_schema_from_function
from dragoman.utils.signatures import function_name

__all__ = ["StructuredTool"]


class StructuredTool(BaseTool):
    """A tool that calls a function with named arguments.

    Attributes:
        func: The function for sync calls; async ones run it in a thread.
        coroutine: The function for async calls.

    >>> def add(a: int, b: int) -> int:
    ...     "Add two numbers."
    ...     return a + b
    >>> StructuredTool.from_function(add).invoke({"a": 1, "b": "2"})
    3
    """

    description: str = ""
    args_schema: SkipValidation[ArgsSchema] = Field(description="The tool schema.")  # pyright: ignore[reportIncompatibleVariableOverride]
    func: Callable[..., Any] | None = None
    coroutine: Callable[..., Awaitable[Any]] | None = None

    @override
    def _run(self, *args: Any, **kwargs: Any) -> Any:
        if self.func is None:
            raise NotImplementedError("StructuredTool does not support sync invocation.")
        return self.func(*args, **kwargs)

    @override
    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        if self.coroutine is not None:
            return await self.coroutine(*args, **kwargs)
        return await super()._arun(*args, **kwargs)

    # The function itself is run, so that a parameter may have any name.
    @override
    def _sync_function(self) -> Callable[..., Any] | None:
        return self.func if type(self)._run is StructuredTool._run else self._run

    @override
    def _async_function(self) -> Callable[..., Any] | None:
        if type(self)._arun is not StructuredTool._arun:
            return self._arun
        return self.coroutine

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle a decorated function by its place, as the function itself would be."""
        inner: Any = self.func or self.coroutine
        module, name = getattr(inner, "__module__", None), getattr(inner, "__qualname__", "")
        if module is not None and _at(module, name) is self:
            return _at, (module, name)
        return super().__reduce_ex__(protocol)

    @classmethod
    def from_function(
        cls,
        func: Callable[..., Any] | None = None,
        coroutine: Callable[..., Awaitable[Any]] | None = None,
        name: str | None = None,
        description: str | None = None,
        return_direct: bool = False,
        args_schema: ArgsSchema | None = None,
        infer_schema: bool = True,
        *,
        response_format: Literal["content", "content_and_artifact"] = "content",
        parse_docstring: bool = False,
        error_on_invalid_docstring: bool = False,
        **kwargs: Any,
    ) -> "StructuredTool":
        """Return a tool for a function, a coroutine function, or both.

        Args:
            func: The function for sync calls.
            coroutine: The function for async calls.
            name: The tool's name; the function's by default.
            description: The tool's description; the docstring's by default, then the schema's.
            return_direct: Whether an agent ends with the result.
            args_schema: The schema; from the signature by default.
            infer_schema: Whether a schema is made when none is given.
            response_format: As for `BaseTool`.
            parse_docstring: Whether the docstring describes the arguments (Google style).
            error_on_invalid_docstring: Whether a docstring of another form is an error.
            kwargs: Further fields of the tool.

        Raises:
            ValueError: If there is no function, no description, or the docstring is invalid.
        """
        source = func if func is not None else coroutine
        if source is None:
            raise ValueError("Function and/or coroutine must be provided")
        name = name or function_name(source)
        if args_schema is None and infer_schema:
            args_schema = create_schema_from_function(
                name,
                source,
                parse_docstring=parse_docstring,
                error_on_invalid_docstring=error_on_invalid_docstring,
            )
        text = (
            description
            if description is not None
            else _described(source, args_schema, parse_docstring=parse_docstring)
        )
        if text is None:
            raise ValueError("Function must have a docstring if description not provided.")
        return cls(
            name=name,
            func=func,
            coroutine=coroutine,
            args_schema=args_schema,  # pyright: ignore[reportArgumentType] - None is refused by pydantic
            description=text.strip(),
            return_direct=return_direct,
            response_format=response_format,
            **kwargs,
        )


def _described(source: Any, schema: Any, *, parse_docstring: bool) -> str | None:
    """Return the description that a function or its schema has, or None."""
    text: str | None = None
    if not parse_docstring:
        inner = source.func if isinstance(source, partial) else source
        text = inner.__doc__ or None
    if text is None and isinstance(schema, dict):
        text = schema.get("description")
    elif text is None and schema is not None:
        text = schema.__doc__ if schema.__doc__ != BaseModel.__doc__ else ""
    return None if text is None else textwrap.dedent(text).strip()


def _at(module: str, name: str) -> Any:
    """Return what stands at a place, or None."""
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
