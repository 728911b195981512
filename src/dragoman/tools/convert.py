"""`tool`: functions and runnables as tools."""

import inspect
from collections.abc import Callable
from typing import Any, Literal

from dragoman.runnables import Runnable
from dragoman.tools.base import ArgsSchema, BaseTool
from dragoman.tools.simple import Tool
from dragoman.tools.structured import StructuredTool
from dragoman.utils.json_schema import dereference_refs
from dragoman.utils.signatures import function_name
from dragoman.utils.typed_dicts import is_typed_dict, model_from_typed_dict

__all__ = ["convert_runnable_to_tool", "tool"]


def tool(
    name_or_callable: str | Callable[..., Any] | None = None,
    runnable: Any = None,
    *args: Any,
    description: str | None = None,
    return_direct: bool = False,
    args_schema: ArgsSchema | None = None,
    infer_schema: bool = True,
    response_format: Literal["content", "content_and_artifact"] = "content",
    parse_docstring: bool = False,
    error_on_invalid_docstring: bool = True,
    extras: dict[str, Any] | None = None,
) -> Any:
    """Return a tool for a function or runnable; a decorator, with or without arguments.

    Args:
        name_or_callable: The function (`@tool`), or the tool's name (`@tool("name")`).
        runnable: A runnable to make a tool of: `tool("name", runnable)`.
        args: None are taken.
        description: The tool's description; the docstring's by default.
        return_direct: Whether an agent ends with the result.
        args_schema: The schema; from the signature by default.
        infer_schema: False makes a `Tool` of one text.
        response_format: `"content_and_artifact"`: the function returns both, as a tuple.
        parse_docstring: Whether the docstring describes the arguments (Google style).
        error_on_invalid_docstring: Whether a docstring of another form is an error then.
        extras: What a provider wants to know beside the schema.

    Returns:
        A `StructuredTool` or `Tool`, or the decorator that makes it.

    Raises:
        ValueError: If there is no description, no name, or too many arguments.

    >>> @tool
    ... def add(a: int, b: int) -> int:
    ...     "Add two numbers."
    ...     return a + b
    >>> add.name, add.invoke({"a": 1, "b": 2})
    ('add', 3)
    """
    if args:
        raise ValueError("Too many arguments for tool decorator. A decorator takes a name only")

    def make(name: str) -> Callable[[Any], BaseTool]:
        def decorate(target: Any) -> BaseTool:
            return _make_tool(
                target,
                name,
                description=description,
                return_direct=return_direct,
                args_schema=args_schema,
                infer_schema=infer_schema,
                response_format=response_format,
                parse_docstring=parse_docstring,
                error_on_invalid_docstring=error_on_invalid_docstring,
                extras=extras,
            )

        return decorate

    if runnable is not None:
        if not name_or_callable:
            raise ValueError("Runnable without name for tool constructor")
        if not isinstance(name_or_callable, str):
            raise ValueError("Name must be a string for tool constructor")
        return make(name_or_callable)(runnable)
    if name_or_callable is None:
        return lambda target: make(_name_of(target))(target)  # pyright: ignore[reportUnknownLambdaType]
    if isinstance(name_or_callable, str):
        return make(name_or_callable)
    if callable(name_or_callable) and hasattr(name_or_callable, "__name__"):
        return make(name_or_callable.__name__)(name_or_callable)
    raise ValueError(
        "The first argument must be a string or a callable with a __name__ for tool decorator. "
        f"Got {type(name_or_callable)}"
    )


def _name_of(target: Any) -> str:
    return str(target.get_name()) if isinstance(target, Runnable) else function_name(target)


def _make_tool(
    target: Any,
    name: str,
    *,
    description: str | None,
    args_schema: Any,
    infer_schema: bool,
    parse_docstring: bool,
    error_on_invalid_docstring: bool,
    **fields: Any,
) -> BaseTool:
    func, coroutine = (None, target) if inspect.iscoroutinefunction(target) else (target, None)
    if isinstance(target, Runnable):
        schema = args_schema or _input_model(target, name)
        if schema is None:
            raise ValueError("Runnable must have an object schema.")
        func, coroutine = _runnable_functions(target)
        args_schema, description = schema, description or repr(target)
    elif not callable(target):
        message = f"{target!r} is not a callable object"
        raise TypeError(message)
    if infer_schema or args_schema is not None:
        return StructuredTool.from_function(
            func,
            coroutine,
            name=name,
            description=description,
            args_schema=args_schema,
            infer_schema=infer_schema,
            parse_docstring=parse_docstring,
            error_on_invalid_docstring=error_on_invalid_docstring,
            **fields,
        )
    text = description or target.__doc__
    if text is None:
        raise ValueError(
            "Function must have either a docstring or description when infer_schema is False."
        )
    return Tool(name=name, func=func, coroutine=coroutine, description=text.strip(), **fields)


def _input_model(runnable: Any, name: str) -> Any:
    """Return a model with a field for each key of a runnable's input, or None if it takes no dict."""
    model = runnable.input_schema
    if "root" not in model.model_fields:
        return model if model.model_json_schema().get("type") == "object" else None
    kind = runnable.InputType
    if not is_typed_dict(kind):
        return None
    keys = model_from_typed_dict(kind, keep_none=True)
    keys.__name__ = name
    # Its field names are made up; the keys stand in the aliases.
    keys.__from_function__ = True
    return keys


def _runnable_functions(runnable: Any) -> tuple[Any, Any]:
    """Return functions that call a runnable with their keyword arguments as its dict."""

    def invoke(callbacks: Any = None, **kwargs: Any) -> Any:
        return runnable.invoke(kwargs, {"callbacks": callbacks})

    async def ainvoke(callbacks: Any = None, **kwargs: Any) -> Any:
        return await runnable.ainvoke(kwargs, {"callbacks": callbacks})

    return invoke, ainvoke


def convert_runnable_to_tool(
    runnable: Any,
    args_schema: Any = None,
    *,
    name: str | None = None,
    description: str | None = None,
    arg_types: dict[str, type] | None = None,
) -> BaseTool:
    """Return a tool that runs `runnable`: a `Tool` for text input, a `StructuredTool` for a dict.

    Args:
        runnable: Any runnable.
        args_schema: The pydantic class of its input, where it cannot be told.
        name: The tool's name; the runnable's by default.
        description: The tool's description.
        arg_types: The types of the input's keys, where they cannot be told.

    >>> from dragoman.runnables import RunnableLambda
    >>> def shout(text: str) -> str:
    ...     return text.upper()
    >>> convert_runnable_to_tool(RunnableLambda(shout), description="Shout.").invoke("a")
    'A'
    """
    if args_schema is not None:
        runnable = runnable.with_types(input_type=args_schema)
    name = name or str(runnable.get_name())
    schema = runnable.input_schema.model_json_schema()
    description = description or f"Takes {dereference_refs(schema)}."
    if schema.get("type") == "string":
        return Tool(
            name=name,
            func=runnable.invoke,
            coroutine=runnable.ainvoke,
            description=description,
        )
    if arg_types is not None:
        from pydantic import create_model

        fields: Any = {key: (kind, ...) for key, kind in arg_types.items()}
        args_schema = create_model(str(name), **fields)
    elif args_schema is None:
        args_schema = _input_model(runnable, name)
    func, coroutine = _runnable_functions(runnable)
    return StructuredTool.from_function(
        func, coroutine, name=name, description=description, args_schema=args_schema
    )
