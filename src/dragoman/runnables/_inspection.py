"""What can be known of a user's function without calling it.

Signatures are read once per function and remembered by its code, so that a call costs a dict look-up.
"""

import ast
import inspect
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeGuard

__all__ = [
    "NOTHING",
    "Takes",
    "accepts_config",
    "accepts_run_manager",
    "get_function_first_arg_dict_keys",
    "get_function_nonlocals",
    "get_lambda_source",
    "indent_lines_after_first",
    "is_async_callable",
    "is_async_generator",
    "returned_by",
    "taken_by",
    "takes",
]


def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(function).parameters)
    except (ValueError, TypeError):
        return frozenset()


class Takes(NamedTuple):
    """Which of the arguments that a runnable can give beside the input a function has."""

    config: bool
    run_manager: bool


NOTHING = Takes(config=False, run_manager=False)


def _takes(names: Collection[str]) -> Takes:
    if "config" not in names and "run_manager" not in names:
        return NOTHING
    return Takes("config" in names, "run_manager" in names)


@lru_cache(maxsize=2048)
def _of_code(code: Any) -> Takes | None:
    """Return what the code's own parameters say; None if it takes any, as decorators' wrappers do."""
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return None
    return _takes(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


@lru_cache(maxsize=512)
def _of_callable(function: Callable[..., Any]) -> Takes:
    return _takes(_parameters(function))


def takes(function: Callable[..., Any]) -> Takes:
    """Return whether a function has parameters `config` and `run_manager`."""
    code = getattr(function, "__code__", None)
    if code is not None and (taken := _of_code(code)) is not None:
        return taken
    if code is not None and not hasattr(function, "__wrapped__"):
        return _takes(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    try:
        return _of_callable(function)
    except TypeError:  # not hashable
        return _takes(_parameters(function))


def accepts_config(callable: Callable[..., Any]) -> bool:
    """Return whether a function has a parameter `config`."""
    return takes(callable).config


def accepts_run_manager(callable: Callable[..., Any]) -> bool:
    """Return whether a function has a parameter `run_manager`."""
    return takes(callable).run_manager


def _unwrapped(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function


def is_async_generator(func: Any) -> TypeGuard[Callable[..., AsyncIterator[Any]]]:
    """Return whether calling `func` gives an async generator."""
    func = _unwrapped(func)
    return inspect.isasyncgenfunction(func) or inspect.isasyncgenfunction(
        getattr(func, "__call__", None)  # noqa: B004 - its kind is asked, not whether it is there
    )


def is_async_callable(func: Any) -> TypeGuard[Callable[..., Awaitable[Any]]]:
    """Return whether calling `func` gives a coroutine."""
    func = _unwrapped(func)
    return inspect.iscoroutinefunction(func) or inspect.iscoroutinefunction(
        getattr(func, "__call__", None)  # noqa: B004 - its kind is asked, not whether it is there
    )


def _tree(function: Callable[..., Any]) -> ast.AST | None:
    """Return the syntax tree of the source around a function, or None where there is none to read."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return None
    for text in (source, f"({source.strip()})", source.strip().rstrip(",")):
        try:
            return ast.parse(text)
        except SyntaxError:
            continue
    return None


def get_lambda_source(func: Callable[..., Any]) -> str | None:
    """Return the source of a lambda, or a function's name if its lambda cannot be told apart."""
    name = getattr(func, "__name__", None)
    name = None if name == "<lambda>" else name
    tree = _tree(func)
    lambdas = [] if tree is None else [n for n in ast.walk(tree) if isinstance(n, ast.Lambda)]
    return ast.unparse(lambdas[0]) if len(lambdas) == 1 else name


def get_function_first_arg_dict_keys(func: Callable[..., Any]) -> list[str] | None:
    """Return the keys, sorted, that a function reads from its first argument as a dict; None if none."""
    tree = _tree(func)
    if tree is None:
        return None
    kinds = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    outer = [node for node in functions if node.args.args]
    if not outer or (isinstance(outer[0], ast.Lambda) and len(functions) > 1):
        return None
    first = outer[0].args.args[0].arg
    keys: set[str] = set()
    for node in ast.walk(outer[0]):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))):
                pass
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="get"),
                args=[ast.Constant(value=str(key)), *_],
            ):
                pass
            case _:
                continue
        if name == first:
            keys.add(key)
    return sorted(keys) or None


def get_function_nonlocals(func: Callable[..., Any]) -> list[Any]:
    """Return the objects a function refers to by closure or global name."""
    inner = inspect.unwrap(func) if callable(func) else func
    inner = getattr(inner, "__func__", inner)
    code = getattr(inner, "__code__", None)
    if code is None:
        return []
    found: list[Any] = []
    for cell in inner.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # a name that is not bound yet
            continue
    names = inner.__globals__
    found.extend(names[name] for name in code.co_names if name in names)
    if (owner := getattr(func, "__self__", None)) is not None:
        found.append(owner)
        found.extend(
            value for name in code.co_names if (value := vars_of(owner).get(name)) is not None
        )
    return found


def vars_of(value: Any) -> dict[str, Any]:
    """Return an object's own attributes, or nothing where it has no `__dict__`."""
    return getattr(value, "__dict__", {})


def indent_lines_after_first(text: str, prefix: str) -> str:
    r"""Return `text` with every line but the first indented by the length of `prefix`.

    >>> indent_lines_after_first("a\nb", "| ")
    'a\n  b'
    """
    first, *rest = text.splitlines()
    return "\n".join([first, *(" " * len(prefix) + line for line in rest)])


def taken_by(function: Callable[..., Any]) -> Any:
    """Return the annotation of a function's first parameter, or Any."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
        hint = _hints(function).get(parameters[0].name, parameters[0].annotation)
    except (ValueError, TypeError, IndexError):
        return Any
    return Any if hint is inspect.Parameter.empty else hint


def returned_by(function: Callable[..., Any]) -> Any:
    """Return a function's return annotation, or Any."""
    try:
        hint = _hints(function).get("return", inspect.signature(function).return_annotation)
    except (ValueError, TypeError):
        return Any
    return Any if hint is inspect.Signature.empty or isinstance(hint, str) else hint


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return inspect.get_annotations(_unwrapped(function), eval_str=True)
    except (NameError, TypeError, ValueError, AttributeError, SyntaxError):
        return {}
