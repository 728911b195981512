"""Joining schemas that must all hold (`allOf`, a `$ref` with neighbours) or may hold (root unions)."""

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["all_of", "any_of_objects"]

_TIGHTER: dict[str, Callable[[Any, Any], Any]] = {
    "minimum": max, "exclusiveMinimum": max, "minLength": max, "minItems": max, "minProperties": max,
    "maximum": min, "exclusiveMaximum": min, "maxLength": min, "maxItems": min, "maxProperties": min,
}  # fmt: skip


def all_of(
    schemas: Iterable[dict[str, Any]], report: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Return one schema that accepts what all `schemas` accept, as far as one can be written.

    Args:
        schemas: Later ones win where two annotations differ.
        report: Told each keyword whose two values could not be joined; the first one stays.

    Example:
        >>> all_of([{"minimum": 1}, {"minimum": 3, "description": "n"}])
        {'minimum': 3, 'description': 'n'}
    """
    joined: dict[str, Any] = {}
    for schema in schemas:
        for key, value in schema.items():
            if key not in joined or joined[key] == value:
                joined[key] = value
            else:
                joined[key] = _join(key, joined[key], value, report)
    return joined


def _join(key: str, left: Any, right: Any, report: Callable[[str], None] | None) -> Any:
    number = (int, float)
    if key in _TIGHTER and isinstance(left, number) and isinstance(right, number):
        return _TIGHTER[key](left, right)
    if isinstance(left, dict) and isinstance(right, dict):
        if key in ("properties", "patternProperties", "$defs", "definitions"):
            return {
                name: {"allOf": [left[name], right[name]]}
                if name in left and name in right and left[name] != right[name]
                else (right[name] if name in right else left[name])
                for name in {**left, **right}
            }
        if key in ("items", "additionalProperties"):
            return {"allOf": [left, right]}
    if key == "additionalProperties" and (left is False or right is False):
        return False
    if key in ("type", "enum", "required"):
        lists = [v if isinstance(v, list) else [v] for v in (left, right)]
        if key == "required":
            return lists[0] + [name for name in lists[1] if name not in lists[0]]
        both = [v for v in lists[0] if v in lists[1]]
        if both:
            return both[0] if key == "type" and len(both) == 1 else both
    if key in ("description", "title", "default", "examples", "$schema", "$id"):
        return right
    if report is not None:
        report(key)
    return left


def any_of_objects(branches: Iterable[Any], outer: dict[str, Any]) -> dict[str, Any] | None:
    """Return one object schema that accepts what any of the object `branches` accepts, or None.

    A property is required when every branch requires it; one that two branches describe differently
    becomes a union.
    """
    properties: dict[str, Any] = {}
    required: list[str] | None = None
    for branch in branches:
        if not isinstance(branch, dict) or not isinstance(branch.get("properties", {}), dict):
            return None
        if branch.get("type", "object") != "object":
            return None
        for name, value in branch.get("properties", {}).items():
            if name not in properties or properties[name] == value:
                properties[name] = value
            else:
                properties[name] = {"anyOf": [properties[name], value]}
        listed = branch.get("required")
        names = [n for n in listed if isinstance(n, str)] if isinstance(listed, list) else []
        required = names if required is None else [n for n in required if n in names]
    own = outer.get("properties")
    own_required = outer.get("required")
    names = [*(own_required if isinstance(own_required, list) else ()), *(required or ())]
    result = {k: v for k, v in outer.items() if k not in ("anyOf", "oneOf", "allOf")}
    result["type"] = "object"
    result["properties"] = {**properties, **(own if isinstance(own, dict) else {})}
    if names:
        result["required"] = list(dict.fromkeys(names))
    return result
