"""Templates in jinja2, sandboxed: control flow over plain data, and nothing else.

A name after a dot is a key of a dict, never an attribute (`loop.index` and its like excepted);
nothing can be called but `range`, macros and `loop`; filters that format, look attributes up or
make text of any length are gone, and `*`, `**` and `%` cannot be used to that end either. What
cannot be right whatever the values (a dunder name, such a filter) is refused when the template is
read, the rest when it is rendered; both raise jinja2's SecurityError.
"""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, cast

from dragoman._need import need
from dragoman.errors import short

__all__ = ["check_jinja", "jinja_variables", "render_jinja"]

_MAX_WIDTH = 999
_NO_FILTERS = ("attr", "format", "xmlattr", "pprint", "filesizeformat")
_WIDE_FILTERS = ("center", "indent", "batch", "slice")
_LOOP = {
    "changed",
    "cycle",
    "depth",
    "depth0",
    "first",
    "index",
    "index0",
    "last",
    "length",
    "nextitem",
    "previtem",
    "revindex",
    "revindex0",
}


@cache
def _security_error() -> type[Exception]:
    sandbox = need("jinja2.sandbox", "prompts")

    class UnsafeTemplateError(sandbox.SecurityError, ValueError):
        """A template that reaches for more than data; jinja2's SecurityError and a ValueError."""

    return UnsafeTemplateError


def _refuse(problem: str) -> Exception:
    return _security_error()(f"{problem}; a template may only read keys of plain data")


@cache
def _environment() -> Any:  # noqa: C901 - one small class; its methods are the policy
    jinja2 = need("jinja2", "prompts")
    sandbox = need("jinja2.sandbox", "prompts")
    runtime = need("jinja2.runtime", "prompts")

    class DataEnvironment(sandbox.ImmutableSandboxedEnvironment):
        """An environment in which a dot and brackets read plain data only."""

        intercepted_binops = frozenset({"*", "**", "%"})

        def getattr(self, obj: Any, attribute: str) -> Any:
            if isinstance(obj, runtime.LoopContext) and attribute in _LOOP:
                return getattr(obj, attribute)
            return self.getitem(obj, attribute)

        def getitem(self, obj: Any, argument: Any) -> Any:
            if isinstance(obj, jinja2.Undefined):
                return self.undefined(name=str(argument)[:80])
            if isinstance(obj, Mapping):
                found = cast("Mapping[Any, Any]", obj)
                return found[argument] if argument in found else self.undefined(name=argument)
            if isinstance(obj, (list, tuple, str)) and isinstance(argument, (int, slice)):
                try:
                    return cast("Sequence[Any]", obj)[argument]
                except IndexError:
                    return self.undefined(name=str(argument)[:80])
            message = f"{short(argument)} of a {type(cast('object', obj)).__name__} is out of reach"
            raise _refuse(message)

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            return False

        def is_safe_callable(self, obj: Any) -> bool:
            if obj is sandbox.safe_range or isinstance(obj, (runtime.Macro, runtime.LoopContext)):
                return True
            return isinstance(getattr(obj, "__self__", None), runtime.LoopContext)

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            numbers = (int, float)
            if not (isinstance(left, numbers) and isinstance(right, numbers)):
                message = f"`{operator}` takes numbers here"
                raise _refuse(message)
            if max(abs(left), abs(right)) > (1_000_000 if operator == "**" else 1e300):
                message = f"`{operator}` of large numbers"
                raise _refuse(message)
            if operator == "**" and abs(right) > 64:
                message = "`**` of large numbers"
                raise _refuse(message)
            return super().call_binop(context, operator, left, right)

    runtime = need("jinja2.runtime", "prompts")
    machinery = (*_CODE, runtime.Macro, runtime.TemplateReference)

    def printed(value: Any) -> Any:
        if isinstance(value, machinery):
            message = "a function or class in place of text"
            raise _refuse(message)
        return value

    environment = DataEnvironment(autoescape=False, finalize=printed)
    environment.globals = {"range": sandbox.safe_range}
    for name in _NO_FILTERS:
        environment.filters.pop(name, None)
    for name in _WIDE_FILTERS:
        environment.filters[name] = _narrow(environment.filters[name])
    return environment


_CODE = (FunctionType, BuiltinFunctionType, MethodType, type)
"""What prints as an address of this process."""


def _narrow(function: Any) -> Any:
    """Return a filter whose numbers end at `_MAX_WIDTH`, so that it cannot pad without end."""

    def narrowed(value: Any, *rest: Any, **options: Any) -> Any:
        numbers = [n for n in (*rest, *options.values()) if isinstance(n, (int, float))]
        if any(n > _MAX_WIDTH for n in numbers):
            message = f"a width over {_MAX_WIDTH}"
            raise _refuse(message)
        return function(value, *rest, **options)

    return narrowed


def _problem_of(node: Any, nodes: Any) -> str | None:
    """Return why a node cannot be right whatever the values, or None."""
    if isinstance(node, nodes.Getattr) and node.attr.startswith("_"):
        return f"the name {short(node.attr)} after a dot"
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
        key = node.arg.value
        return f"the key {short(key)}" if isinstance(key, str) and key.startswith("__") else None
    if isinstance(node, nodes.Filter) and node.name in _NO_FILTERS:
        return f"the filter `{node.name}`"
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
        owner = node.node.node
        if not (isinstance(owner, nodes.Name) and owner.name == "loop"):
            return f"a call of the method {short(node.node.attr)}"
    return None


@lru_cache(maxsize=64)
def _read(template: str) -> tuple[Any, tuple[str, ...]]:
    """Return the compiled template and its variables, after what can be checked without values."""
    nodes, meta = need("jinja2.nodes", "prompts"), need("jinja2.meta", "prompts")
    environment = _environment()
    tree = environment.parse(template)
    if next(tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)), None):
        message = "another template"
        raise _refuse(message)
    for node in tree.find_all((nodes.Getattr, nodes.Getitem, nodes.Filter, nodes.Call)):
        if (problem := _problem_of(node, nodes)) is not None:
            raise _refuse(problem)
    n_called = sum(
        isinstance(call.node, nodes.Name) and call.node.name == "range"
        for call in tree.find_all(nodes.Call)
    )
    n_named = sum(name.name == "range" for name in tree.find_all(nodes.Name))
    if n_called and n_named > n_called:
        message = "`range` without a call"
        raise _refuse(message)
    names = meta.find_undeclared_variables(tree)
    if n_named and not n_called:
        names |= {"range"}  # a variable that is called so
    return environment.from_string(template), tuple(sorted(names))


def check_jinja(template: str) -> None:
    """Raise if `template` does not parse, or could not be rendered safely with any values.

    Raises:
        jinja2.exceptions.SecurityError: If it reaches for more than data.
        jinja2.exceptions.TemplateSyntaxError: If it does not parse.
    """
    _read(template)


def jinja_variables(template: str) -> list[str]:
    """Return the names of the variables, sorted.

    >>> jinja_variables("{% for x in rows %}{{ x }}{{ y }}{% endfor %}")
    ['rows', 'y']
    """
    return list(_read(template)[1])


def render_jinja(template: str, values: Mapping[str, Any]) -> str:
    """Return `template` with `values` put in.

    Raises:
        jinja2.exceptions.SecurityError: If it reaches for more than data.

    >>> render_jinja("{{ user.name }}", {"user": {"name": "Ada"}})
    'Ada'
    """
    compiled, names = _read(template)
    data = dict(values)
    if "range" in names:
        data.setdefault("range", "")  # not the function, whatever is missing
    return cast("str", compiled.render(data))
