"""String templates: the three formats behind one table, and the base of prompts that give text.

    f-string   {name}       `dragoman.utils.formatting`
    mustache   {{name}}     `dragoman.utils.mustache`
    jinja2     {{ name }}   `dragoman.prompts.jinja`

In all three a template is checked when a prompt is built, and reads keys of plain data only.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, create_model

from dragoman.prompt_values import PromptValue, StringPromptValue
from dragoman.prompts.base import BasePromptTemplate
from dragoman.utils.formatting import compile_f_string, formatter

__all__ = [
    "DEFAULT_FORMATTER_MAPPING",
    "PromptTemplateFormat",
    "StringPromptTemplate",
    "check_valid_template",
    "get_template_variables",
    "is_subsequence",
    "jinja2_formatter",
    "mustache_formatter",
    "mustache_schema",
    "mustache_template_vars",
    "validate_f_string_template",
    "validate_jinja2",
]

PromptTemplateFormat = Literal["f-string", "mustache", "jinja2"]


def _f_string_variables(template: str) -> list[str]:
    return sorted(compile_f_string(template).variables)


def _render_f_string(template: str, values: dict[str, Any]) -> str:
    return compile_f_string(template).render(values)


def _mustache_variables(template: str) -> list[str]:
    from dragoman.utils.mustache import top_level_names

    return top_level_names(template)


def _render_mustache(template: str, values: Mapping[str, Any]) -> str:
    from dragoman.utils.mustache import render

    return render(template, values)


def _jinja_variables(template: str) -> list[str]:
    from dragoman.prompts.jinja import jinja_variables

    return jinja_variables(template)


def _render_jinja(template: str, values: Mapping[str, Any]) -> str:
    from dragoman.prompts.jinja import render_jinja

    return render_jinja(template, values)


_VARIABLES: dict[str, Callable[[str], list[str]]] = {
    "f-string": _f_string_variables,
    "mustache": _mustache_variables,
    "jinja2": _jinja_variables,
}
RENDERERS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "f-string": _render_f_string,
    "mustache": _render_mustache,
    "jinja2": _render_jinja,
}


def render_template(template: str, template_format: str, values: dict[str, Any]) -> str:
    """Return `template` with `values` put in.

    Raises:
        ValueError: If the format is unknown, or the template cannot be rendered safely.
        KeyError: If an f-string variable is missing.

    >>> render_template("{a}!", "f-string", {"a": 1})
    '1!'
    """
    if template_format not in RENDERERS:
        raise _unknown_format(template_format)
    return RENDERERS[template_format](template, values)


def _unknown_format(template_format: object) -> ValueError:
    return ValueError(
        f"Unsupported template format: {template_format}. Should be one of {', '.join(_VARIABLES)}."
    )


def get_template_variables(template: str, template_format: str) -> list[str]:
    """Return the names of the variables of `template`, sorted.

    Raises:
        ValueError: If the format is unknown, or the template cannot be rendered safely.

    >>> get_template_variables("{b} {a}", "f-string")
    ['a', 'b']
    """
    if template_format not in _VARIABLES:
        raise _unknown_format(template_format)
    return _VARIABLES[template_format](template)


def check_valid_template(
    template: str, template_format: str, input_variables: Sequence[str]
) -> None:
    """Raise (f-string) or warn (jinja2) unless `input_variables` are the template's variables.

    Raises:
        ValueError: If the format is unknown or cannot be checked, or a variable is missing.
    """
    if template_format not in _VARIABLES:
        raise _unknown_format(template_format)
    if template_format == "mustache":
        message = "Mustache templates cannot be validated."
        raise ValueError(message)
    if template_format == "jinja2":
        validate_jinja2(template, list(input_variables))
        return
    missing = set(_f_string_variables(template)) - set(input_variables)
    if missing:
        message = (
            "Invalid prompt schema; check for mismatched or missing input parameters from "
            f"{list(input_variables)}. The template also has {sorted(missing)}."
        )
        raise ValueError(message)


def validate_f_string_template(template: str) -> list[str]:
    """Return the variables of an f-string template, sorted.

    Raises:
        ValueError: If it cannot be rendered safely.

    >>> validate_f_string_template("{a:.2f}")
    ['a']
    """
    return _f_string_variables(template)


def jinja2_formatter(template: str, /, **kwargs: Any) -> str:
    """Return a jinja2 template with `kwargs` put in, in a sandbox that reads plain data only.

    Raises:
        jinja2.exceptions.SecurityError: If the template reaches for more.

    >>> jinja2_formatter("{{ a }}", a=1)
    '1'
    """
    return _render_jinja(template, kwargs)


def validate_jinja2(template: str, input_variables: list[str]) -> None:
    """Warn if `input_variables` are not exactly the variables of the template."""
    names, given = set(_jinja_variables(template)), set(input_variables)
    notes: list[str] = []
    if missing := names - given:
        notes.append(f"Missing variables: {missing}")
    if extra := given - names:
        notes.append(f"Extra variables: {extra}")
    if notes:
        warnings.warn(" ".join(notes), stacklevel=7)


def mustache_formatter(template: str, /, **kwargs: Any) -> str:
    """Return a mustache template with `kwargs` put in.

    >>> mustache_formatter("{{a.b}}", a={"b": 1})
    '1'
    """
    return _render_mustache(template, kwargs)


def mustache_template_vars(template: str) -> set[str]:
    """Return the top-level names of a mustache template.

    >>> mustache_template_vars("{{a.b}}")
    {'a'}
    """
    return set(_mustache_variables(template))


def mustache_schema(template: str) -> type[BaseModel]:
    """Return a model of the data a mustache template reads; every field is optional.

    A dotted name is an object with that property; a section is an object, or a list of them.
    """
    from dragoman.utils.mustache import tokenize

    tree: dict[str, Any] = {}
    sections: set[tuple[str, ...]] = set()
    prefix: list[str] = []
    lengths: list[int] = []
    for kind, text in tokenize(template):
        if kind in ("variable", "no escape", "section", "inverted section"):
            steps = [] if text == "." else text.split(".")
            node = tree
            for step in (*prefix, *steps):
                node = node.setdefault(step, {})
            if kind.endswith("section"):
                lengths.append(len(steps))
                prefix.extend(steps)
                sections.add(tuple(prefix))
        elif kind == "end" and lengths:
            del prefix[len(prefix) - lengths.pop() :]
    return _model_of("PromptInput", tree, (), sections)


def _model_of(
    name: str, tree: dict[str, Any], path: tuple[str, ...], sections: set[tuple[str, ...]]
) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for key, below in tree.items():
        here = (*path, key)
        kind: Any = str
        if below:
            kind = _model_of(key, below, here, sections)
        elif here in sections:  # a section that names nothing inside: any object, list or truth
            kind = dict[str, Any]
        fields[key] = (kind, None)
    return create_model(name, **fields)


DEFAULT_FORMATTER_MAPPING: dict[str, Callable[..., str]] = {
    "f-string": formatter.format,
    "mustache": mustache_formatter,
    "jinja2": jinja2_formatter,
}
"""Format -> function(template, **values)."""


def yellow(text: str) -> str:
    """Return `text` as a terminal shows it in yellow."""
    return f"\33[33;1m\33[1;3m{text}\33[0m"


def is_subsequence(child: Sequence[Any], parent: Sequence[Any]) -> bool:
    """Return whether `child` is the beginning of `parent`.

    >>> is_subsequence("ab", "abc")
    True
    """
    return len(child) > 0 and list(parent[: len(child)]) == list(child)


class StringPromptTemplate(BasePromptTemplate[str], ABC):
    """The base of prompts that give text."""

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain", "prompts", "base"]

    def format_prompt(self, **kwargs: Any) -> PromptValue:
        """Return the filled template as a prompt value."""
        return StringPromptValue(text=self.format(**kwargs))

    async def aformat_prompt(self, **kwargs: Any) -> PromptValue:
        """Return the filled template as a prompt value."""
        return StringPromptValue(text=await self.aformat(**kwargs))

    @abstractmethod
    def format(self, **kwargs: Any) -> str:
        """Return the filled template."""

    def pretty_repr(self, html: bool = False) -> str:
        """Return the template with `{name}` in the place of each variable; yellow when `html`."""
        shown = {name: f"{{{name}}}" for name in self.input_variables}
        if html:
            shown = {name: yellow(text) for name, text in shown.items()}
        return self.format(**shown)

    def pretty_print(self) -> None:
        """Print `pretty_repr()`."""
        print(self.pretty_repr(html=False))  # noqa: T201 - what it is for
