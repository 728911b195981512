"""Arguments of a tool: from what the model or the caller gave to what the function gets."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import AliasChoices, AliasPath

from dragoman.errors import MessageError
from dragoman.tools.inject import InjectedToolCallId
from dragoman.tools.schema import field_marks, is_hidden, wants_of

if TYPE_CHECKING:
    from dragoman.tools.base import BaseTool

__all__ = ["injected_names", "parse_input", "with_injected"]


def injected_names(tool: "BaseTool") -> frozenset[str]:
    """Return all names under which injected arguments arrive: those of parameters, and aliases."""
    return frozenset(_injected_keys(tool))


def with_injected(
    tool: "BaseTool", given: Mapping[str, Any], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a model's call with the injected `values` in place of the model's.

    What the model put under any name of an injected argument is dropped. Values are named by the
    parameter or by an alias of it; those that the tool does not take are left out.
    """
    keys = _injected_keys(tool)
    kept = {name: value for name, value in given.items() if name not in keys}
    return kept | {keys[name]: value for name, value in values.items() if name in keys}


def _injected_keys(tool: "BaseTool") -> dict[str, str]:
    """Return for each name of an injected argument the one under which its value is taken."""
    keys = {name: name for name in tool._injected_args_keys}
    schema: Any = tool.args_schema
    if schema is not None and not isinstance(schema, dict):
        for name, field in schema.model_fields.items():
            if is_hidden(field):
                keys.update(dict.fromkeys(_names(name, field), _key(schema, name, field)))
    return keys


def _names(name: str, field: Any) -> list[str]:
    """Return the names under which a model takes a field, its own last."""
    alias = field.validation_alias or field.alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
    aliases = [one.path[0] if isinstance(one, AliasPath) else one for one in choices]
    return [*(one for one in (*aliases, field.alias) if isinstance(one, str)), name]


def _key(schema: Any, name: str, field: Any) -> str:
    """Return the name under which a model is given a field."""
    config = schema.model_config
    by_name = config.get("populate_by_name") or config.get("validate_by_name")
    return name if by_name else _names(name, field)[0]


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
        schema.model_validate({_key(schema, name, field): given})
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
        # The model cannot set it: what it gave under its names is replaced.
        for given_name in _names(name, field):
            values.pop(given_name, None)
        values[_key(schema, name, field)] = tool_call_id


def _is_call_id(field: Any) -> bool:
    return any(
        isinstance(mark, InjectedToolCallId)
        or (isinstance(mark, type) and issubclass(mark, InjectedToolCallId))
        for mark in field_marks(field)
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
