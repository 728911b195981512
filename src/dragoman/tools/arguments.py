"""Arguments of a tool: from what the model or the caller gave to what the function gets."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

from dragoman.errors import MessageError
from dragoman.tools.inject import InjectedToolCallId
from dragoman.tools.schema import is_hidden, wants_of

if TYPE_CHECKING:
    from dragoman.tools.base import BaseTool

__all__ = ["injected_names", "parse_input"]


def injected_names(tool: "BaseTool") -> frozenset[str]:
    """Return the names under which injected arguments arrive.

    Whoever runs a model's call drops what the model put there, before adding the real values.
    """
    schema: Any = tool.args_schema
    names = set(tool._injected_args_keys)
    if schema is not None and not isinstance(schema, dict):
        for name, field in schema.model_fields.items():
            if is_hidden(field):
                names.update({name, field.alias or name})
    return frozenset(names)


def parse_input(tool: "BaseTool", given: Any, tool_call_id: str | None) -> Any:
    """Return the validated arguments by parameter name; a text is checked and stays.

    A pydantic schema coerces, fills in defaults and drops what it does not know; nested models are
    passed as objects. A JSON Schema validates nothing.

    Raises:
        ValidationError: If the arguments do not fit.
        ValueError: If a text meets a JSON Schema, or the call's id is needed and missing.
    """
    schema = tool.args_schema
    if isinstance(schema, dict):
        if isinstance(given, str):
            raise ValueError(
                "String tool inputs are not allowed when using tools with JSON schema args_schema."
            )
        return given
    if schema is None:
        schema = _own_schema(tool)
        if schema is None or isinstance(given, str):
            return given
    if not schema.model_fields and isinstance(given, (str, Mapping)):
        return {}
    if isinstance(given, str):
        name, field = next(iter(schema.model_fields.items()))
        schema.model_validate({field.alias or name: given})
        return given
    values = dict(given) if isinstance(given, Mapping) else given
    if isinstance(values, dict):
        _add_call_id(schema, values, tool_call_id)
    found = schema.model_validate(values)
    return _by_parameter(tool, schema, found, values)


def _own_schema(tool: "BaseTool") -> Any:
    """Return the schema of the tool's `_run`, or None where it tells nothing."""
    if tool._takes_one_text:
        return None
    wants = wants_of(tool._run)
    if wants.positional or wants.keywords:
        return None
    try:
        return tool.get_input_schema()
    except MessageError:
        # An annotation that cannot be evaluated: the function gets what was given.
        return None


def _add_call_id(schema: Any, values: dict[str, Any], tool_call_id: str | None) -> None:
    for name, field in schema.model_fields.items():
        if not _is_call_id(field):
            continue
        if tool_call_id is None:
            raise ValueError(
                "When tool includes an InjectedToolCallId argument, tool must always be invoked "
                "with a full model ToolCall of the form: {'args': {...}, 'name': '...', "
                "'type': 'tool_call', 'tool_call_id': '...'}"
            )
        # The model cannot set it: what it gave under this name is replaced.
        values[field.alias or name] = tool_call_id


def _is_call_id(field: Any) -> bool:
    marks = [*field.metadata, *get_args(field.annotation)]
    return any(
        isinstance(mark, InjectedToolCallId)
        or (isinstance(mark, type) and issubclass(mark, InjectedToolCallId))
        for mark in marks
    )


def _by_parameter(
    tool: "BaseTool", schema: Any, found: Any, values: dict[str, Any]
) -> dict[str, Any]:
    """Return the fields of a validated model by the parameters they are for."""
    function = tool._sync_function() or tool._async_function()
    wants = wants_of(function) if function is not None else None
    is_ours = getattr(schema, "__from_function__", False)
    arguments: dict[str, Any] = {}
    for name, field in schema.model_fields.items():
        # In a schema made from the function an alias is the parameter's own, reserved, name.
        parameter = field.alias if is_ours and field.alias else name
        if name not in found.model_fields_set and field.is_required():
            continue
        arguments[parameter] = getattr(found, name)
    arguments.update(found.model_extra or {})
    for name in wants.injected if wants else ():
        if name in values and name not in arguments:
            arguments[name] = values[name]
    return arguments
