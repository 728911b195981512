"""Uses of names that mean something else here: the deliberate differences that a program meets.

Each is a row of docs/differences.md that can be seen in the source, without running it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import libcst as cst
from libcst import metadata
from typing_extensions import override

from dragoman.messages import BaseMessage
from dragoman.messages.fields import field_names
from dragoman.messages.registry import CLASSES

__all__ = ["Finding", "differences"]

MESSAGES: dict[str, type[BaseMessage]] = {cls.__name__: cls for cls in CLASSES.values()}

# Methods and attributes that are not here, or do something else: what to know.
ATTRIBUTES = {
    "astream_log": "there is no astream_log; use astream_events",
    "draw_png": "there is no draw_png; draw_mermaid and draw_ascii need no service",
    "draw_mermaid_png": "there is no draw_mermaid_png; draw_mermaid gives its source",
    "root_client": "models hold no SDK client; pass http_client=",
    "root_async_client": "models hold no SDK client; pass http_async_client=",
}
# Functions that act differently on purpose.
FUNCTIONS = {
    "trim_messages": "it never splits a call from its results and keeps the last human message",
    "filter_messages": "it also drops the calls whose results were filtered out",
    "create_agent": "tool errors become results; max_steps is 100",
}
# Packages whose exceptions models here never raise.
SDKS = ("openai", "anthropic", "groq", "mistralai")


class Finding(NamedTuple):
    """Something that needs a look.

    Attributes:
        line: Where, from 1.
        code: `no-counterpart`, `difference` or `text`.
        text: What, and what to do.
    """

    line: int
    code: str
    text: str


def differences(wrapper: metadata.MetadataWrapper, imported: Mapping[str, str]) -> list[Finding]:
    """Return the differences that a file meets.

    Args:
        wrapper: The file.
        imported: What it imports from LangChain: local name to full name.
    """
    visitor = _Uses(imported)
    wrapper.visit(visitor)
    return visitor.found


class _Uses(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (metadata.PositionProvider,)

    def __init__(self, imported: Mapping[str, str]) -> None:
        super().__init__()
        self.imported = imported
        self.functions: dict[str, cst.FunctionDef] = {}
        self.found: list[Finding] = []

    def _tell(self, node: cst.CSTNode, text: str) -> None:
        place: Any = self.get_metadata(metadata.PositionProvider, node)
        self.found.append(Finding(place.start.line, "difference", text))

    def _original(self, node: cst.BaseExpression) -> str:
        """Return the last part of what a local name means there, or ""."""
        if isinstance(node, cst.Attribute):
            return node.attr.value
        if isinstance(node, cst.Name):
            return self.imported.get(node.value, "").rpartition(".")[2]
        return ""

    @override
    def visit_Module(self, node: cst.Module) -> None:
        for statement in node.body:
            if isinstance(statement, cst.FunctionDef):
                self.functions[statement.name.value] = statement

    @override
    def visit_Call(self, node: cst.Call) -> None:
        name = self._original(node.func)
        if name in MESSAGES:
            self._message(node, name)
        elif name in FUNCTIONS and isinstance(node.func, cst.Name):
            self._tell(node, f"{name}: {FUNCTIONS[name]}")
            self._counter(node)
        elif name == "pretty_repr" and _keyword(node, "html") is not None:
            self._tell(node, "pretty_repr(html=True) gives escaped HTML, not terminal codes")
        elif name in ("from_template", "PromptTemplate"):
            self._template(node)
        elif name == "astream_events" and _text(_keyword(node, "version")) == "v1":
            self._tell(node, 'astream_events has version "v2" only')

    def _message(self, node: cst.Call, name: str) -> None:
        known = {*field_names(MESSAGES[name]), "content_blocks"}
        for argument in node.args:
            if argument.keyword is not None and argument.keyword.value not in known:
                word = argument.keyword.value
                text = f"{name} has no field {word}: a TypeError here; use additional_kwargs"
                self._tell(argument, text)

    def _counter(self, node: cst.Call) -> None:
        counter = _keyword(node, "token_counter")
        parameters: Any = None
        if isinstance(counter, cst.Lambda):
            parameters = counter.params.params
        elif isinstance(counter, cst.Name) and counter.value in self.functions:
            parameters = self.functions[counter.value].params.params
        if parameters and parameters[0].annotation is None:
            text = (
                "a token counter without an annotation is tried with one message first, then with "
                "a list; annotate its parameter"
            )
            self._tell(node, text)

    def _template(self, node: cst.Call) -> None:
        if not node.args or _keyword(node, "template_format") is not None:
            return
        first = _keyword(node, "template") or node.args[0].value
        template = _text(first)
        if template is None:
            return
        from dragoman.prompts import PromptTemplate

        try:
            PromptTemplate.from_template(template)
        except ValueError as error:
            reason = str(error).splitlines()[0]
            self._tell(node, f"this template is refused when it is built: {reason}")

    @override
    def visit_Attribute(self, node: cst.Attribute) -> None:
        if node.attr.value in ATTRIBUTES:
            self._tell(node, ATTRIBUTES[node.attr.value])

    @override
    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        for base in node.bases:
            name = self._original(base.value)
            if name in MESSAGES or name in ("BaseMessage", "BaseMessageChunk"):
                text = f"a subclass of {name} is a struct: required fields need kw_only=True"
                self._tell(node, text)

    @override
    def visit_ExceptHandler(self, node: cst.ExceptHandler) -> None:
        kinds = node.type.elements if isinstance(node.type, cst.Tuple) else [node.type]
        for kind in kinds:
            value: Any = getattr(kind, "value", kind) if isinstance(kind, cst.Element) else kind
            base = value.value if isinstance(value, cst.Attribute) else None
            if isinstance(base, cst.Name) and base.value in SDKS:
                name = f"{base.value}.{cast('cst.Attribute', value).attr.value}"
                self._tell(node, f"models do not raise {name}; see dragoman.errors.ModelError")


def _keyword(node: cst.Call, name: str) -> cst.BaseExpression | None:
    for argument in node.args:
        if argument.keyword is not None and argument.keyword.value == name:
            return argument.value
    return None


def _text(node: cst.BaseExpression | None) -> str | None:
    if not isinstance(node, cst.SimpleString | cst.ConcatenatedString):
        return None
    value = node.evaluated_value
    return value if isinstance(value, str) else None
