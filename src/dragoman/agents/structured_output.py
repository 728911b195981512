"""How an agent's last answer becomes a typed object."""

import json
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from types import UnionType
from typing import Any, Generic, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from typing_extensions import TypeVar

from dragoman.errors import DragomanError
from dragoman.messages import AIMessage
from dragoman.tools.execute import error_text
from dragoman.utils.function_calling import convert_to_openai_tool

__all__ = [
    "AutoStrategy",
    "MultipleStructuredOutputsError",
    "ProviderStrategy",
    "ResponseFormat",
    "SchemaSpec",
    "StructuredOutputError",
    "StructuredOutputValidationError",
    "ToolStrategy",
    "strategy_of",
]

SchemaT = TypeVar("SchemaT", default=Any)


class StructuredOutputError(DragomanError):
    """A reply that gives no structured answer; `.ai_message` is the reply."""

    ai_message: AIMessage


class MultipleStructuredOutputsError(StructuredOutputError):
    """The model answered with several structured calls where one was asked for."""

    def __init__(self, tool_names: list[str], ai_message: AIMessage) -> None:
        self.tool_names = tool_names
        self.ai_message = ai_message
        names = ", ".join(tool_names)
        super().__init__(
            "Model incorrectly returned multiple structured responses "
            f"({names}) when only one is expected."
        )


class StructuredOutputValidationError(StructuredOutputError):
    """The structured answer does not fit its schema."""

    def __init__(self, tool_name: str, source: Exception, ai_message: AIMessage) -> None:
        self.tool_name = tool_name
        self.source = source
        self.ai_message = ai_message
        super().__init__(
            f"Failed to parse structured output for tool '{tool_name}': {_reason(source)}."
        )


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        faults = error.errors(include_input=False, include_url=False, include_context=False)
        return "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'value'}: {fault['msg']}" for fault in faults
        )
    return str(error)[:1000] if isinstance(error, ValueError) else error_text(error)


@dataclass(init=False)
class SchemaSpec(Generic[SchemaT]):
    """One schema: its name, its JSON schema, and how an answer is read."""

    schema: Any
    name: str
    description: str
    json_schema: dict[str, Any]
    strict: bool | None

    def __init__(
        self,
        schema: Any,
        *,
        name: str | None = None,
        description: str | None = None,
        strict: bool | None = None,
    ) -> None:
        function = convert_to_openai_tool(_model_of(schema), strict=strict)["function"]
        self.schema = schema
        self.name = name or function["name"]
        self.description = description or function.get("description", "")
        self.json_schema = function.get("parameters", {})
        self.strict = strict

    def read(self, value: Any) -> Any:
        """Return `value` as the schema's type; a JSON schema gives a dict.

        Raises:
            ValueError: If it does not fit.
        """
        if isinstance(self.schema, dict):
            if not isinstance(value, dict):
                message = f"expected an object, got {type(value).__name__}"
                raise ValueError(message)
            missing = [key for key in self.json_schema.get("required", []) if key not in value]
            if missing:
                message = f"missing {', '.join(missing)}"
                raise ValueError(message)
            return value
        if isinstance(self.schema, type) and issubclass(self.schema, BaseModel):
            return self.schema.model_validate(value)
        return TypeAdapter(self.schema).validate_python(value)

    def tool(self) -> dict[str, Any]:
        """Return the schema as a tool for the model."""
        function: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "parameters": self.json_schema,
        }
        if self.strict is not None:
            function["strict"] = self.strict
        return {"type": "function", "function": function}


def _model_of(schema: Any) -> Any:
    """Return what the tool converter takes: a dataclass becomes its JSON schema."""
    if is_dataclass(schema) and isinstance(schema, type):
        made = TypeAdapter(schema).json_schema()
        doc = (schema.__doc__ or "").strip()
        made["description"] = "" if doc.startswith(f"{schema.__name__}(") else doc
        return made
    return schema


def _variants(schema: Any) -> list[Any]:
    if get_origin(schema) in (Union, UnionType):
        return [variant for part in get_args(schema) for variant in _variants(part)]
    if isinstance(schema, dict) and "oneOf" in schema:
        return list(schema["oneOf"])
    return [schema]


HandleErrors = (
    bool | str | type[Exception] | tuple[type[Exception], ...] | Callable[[Exception], str]
)


@dataclass(init=False)
class ToolStrategy(Generic[SchemaT]):
    """The answer comes as a call of a tool made of the schema; works with every model with tools.

    Attributes:
        schema: The schema; a Union (or `oneOf`) makes one tool for each variant.
        tool_message_content: What the call is answered with; the answer itself by default.
        handle_errors: Which failures the model may mend: all (True), those of some exception types,
            with a text or a function for what it is told; False raises.
    """

    schema: Any
    schema_specs: list[SchemaSpec[Any]]
    tool_message_content: str | None
    handle_errors: HandleErrors

    def __init__(
        self,
        schema: Any,
        *,
        tool_message_content: str | None = None,
        handle_errors: HandleErrors = True,
    ) -> None:
        self.schema = schema
        self.schema_specs = [SchemaSpec(variant) for variant in _variants(schema)]
        self.tool_message_content = tool_message_content
        self.handle_errors = handle_errors

    def told(self, error: Exception) -> str | None:
        """Return what the model is told of a failure, or None to raise it."""
        handle = self.handle_errors
        if handle is False:
            return None
        if handle is True:
            return f"Error: {error}\n Please fix your mistakes."
        if isinstance(handle, str):
            return handle
        source = getattr(error, "source", error)
        if isinstance(handle, tuple) or (
            isinstance(handle, type) and issubclass(handle, Exception)
        ):
            fits = isinstance(error, handle) or isinstance(source, handle)
            return f"Error: {error}\n Please fix your mistakes." if fits else None
        return handle(error)


@dataclass(init=False)
class ProviderStrategy(Generic[SchemaT]):
    """The provider makes the reply fit the schema, by its own structured output."""

    schema: Any
    schema_spec: SchemaSpec[Any]

    def __init__(self, schema: Any, *, strict: bool | None = None) -> None:
        self.schema = schema
        self.schema_spec = SchemaSpec(schema, strict=strict)

    def response_format(self) -> dict[str, Any]:
        """Return the option a model is bound with."""
        inner: dict[str, Any] = {
            "name": self.schema_spec.name,
            "schema": self.schema_spec.json_schema,
        }
        if self.schema_spec.strict is not None:
            inner["strict"] = self.schema_spec.strict
        return {"type": "json_schema", "json_schema": inner}

    def parse(self, message: AIMessage) -> Any:
        """Return the answer of a reply.

        Raises:
            StructuredOutputValidationError: If its text is no JSON of the schema, or a validator
                fails.
        """
        try:
            return self.schema_spec.read(json.loads(str(message.text)))
        except Exception as error:
            raise StructuredOutputValidationError(self.schema_spec.name, error, message) from error


@dataclass
class AutoStrategy(Generic[SchemaT]):
    """The provider's structured output where the model has it, else a tool."""

    schema: Any


ResponseFormat = ToolStrategy[Any] | ProviderStrategy[Any] | AutoStrategy[Any]

# Model families with structured output of the provider's own, for models without a profile
# (OpenAI, Anthropic and xAI model pages, read 2026-11-30).
_KNOWN = (
    "gpt-4.1",
    "gpt-4o",
    "gpt-5",
    "gpt-6",
    "o3",
    "o4",
    "claude-sonnet-4-5",
    "claude-opus-4",
    "grok",
)


def _name_of(model: Any) -> str:
    for field in ("model_name", "model", "model_id"):
        value = getattr(model, field, None)
        if isinstance(value, str):
            return value.lower().rpartition("/")[2]
    return ""


def strategy_of(given: Any) -> ResponseFormat | None:
    """Return what was passed as `response_format` as a strategy; a raw schema is `AutoStrategy`.

    Raises:
        TypeError: If it is neither.
    """
    if given is None or isinstance(given, ToolStrategy | ProviderStrategy | AutoStrategy):
        return given
    if isinstance(given, str | bytes | int | float | list | tuple | set):
        message = f"response_format has to be a schema or a strategy, got {type(given).__name__}"
        raise TypeError(message)
    return AutoStrategy(given)


def resolved(strategy: ResponseFormat, model: Any, *, has_tools: bool) -> Any:
    """Return the strategy to use with one model."""
    if not isinstance(strategy, AutoStrategy):
        return strategy
    profile: Any = getattr(model, "profile", None) or {}
    name = _name_of(model)
    able: Any = profile.get("structured_output") if isinstance(profile, dict) else None
    if able is None:
        able = name.startswith(_KNOWN)
    if has_tools and "gemini" in name and not name.rpartition("gemini-")[2].startswith(("3", "4")):
        able = False  # Gemini before 3 takes tools or a schema, not both
    return (ProviderStrategy if able else ToolStrategy)(strategy.schema)
