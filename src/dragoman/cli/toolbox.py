"""Tools named on the command line: `module:name`, imported from here or from what is installed."""

import sys
from importlib import import_module
from typing import Any

import click

from dragoman.tools import BaseTool
from dragoman.tools.convert import tool as make_tool

__all__ = ["load_tools"]


def load_tools(specs: tuple[str, ...]) -> list[BaseTool]:
    """Return the tools that `module:name` texts mean; a list counts for all it holds.

    The module is what its owner wrote and the user names: importing it runs its code.

    Raises:
        click.UsageError: If a text means no tool.
    """
    if specs and "" not in sys.path:
        sys.path.insert(0, "")  # as `python -m` does: modules of the folder the user is in
    tools: dict[str, BaseTool] = {}
    for spec in specs:
        for item in _items(spec):
            made = _tool(spec, item)
            if made.name in tools:
                raise click.UsageError(f"--tools {spec}: there are two tools called {made.name}")
            tools[made.name] = made
    return list(tools.values())


def _items(spec: str) -> list[Any]:
    module, _, name = spec.partition(":")
    if not module or not name:
        raise click.UsageError(f"--tools {spec}: write MODULE:NAME, such as mytools:search")
    try:
        found: Any = import_module(module)
    except ImportError as error:
        raise click.UsageError(f"--tools {spec}: {error}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise click.UsageError(f"--tools {spec}: {module} has no {name}")
        found = getattr(found, part)
    return list(found) if isinstance(found, list | tuple) else [found]


def _tool(spec: str, item: Any) -> BaseTool:
    if isinstance(item, BaseTool):
        return item
    if not callable(item):
        raise click.UsageError(f"--tools {spec}: {type(item).__name__} is no function and no tool")
    try:
        return make_tool(item)
    except (TypeError, ValueError) as error:
        raise click.UsageError(f"--tools {spec}: {error}") from error
