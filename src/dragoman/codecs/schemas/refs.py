"""Following `$ref` inside one schema document.

Only references into the same document (`#`, `#/...`) can be followed: nothing is ever fetched.
"""

from typing import Any
from urllib.parse import unquote

from dragoman.errors import EncodeError, short

__all__ = ["LISTS", "MAPS", "SINGLES", "References"]

MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
SINGLES = frozenset(
    {
        "items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains",
        "propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema",
    }
)  # fmt: skip
"""Where schemas stand inside a schema; everything else is data and is never looked into."""


class References:
    """The references of one document.

    Args:
        root: The whole schema; kept, not copied.
        path: Where it stands, for error texts.
    """

    def __init__(self, root: dict[str, Any], path: str) -> None:
        self.root = root
        self.path = path
        self._recursive: dict[str, bool] = {}

    def target(self, ref: object, path: str) -> Any:
        """Return the schema that `ref` names.

        Raises:
            EncodeError: If it points outside the document or to nothing.
        """
        if not isinstance(ref, str) or not ref.startswith("#"):
            message = f"the reference {short(ref)} does not point into its own schema"
            raise EncodeError(message, path=path, hint="put the definition under `$defs`")
        node: Any = self.root
        for step in unquote(ref[1:]).split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and key in node:
                node = node[key]
            elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
                node = node[int(key)]
            else:
                message = f"the reference {short(ref)} points to nothing"
                raise EncodeError(message, path=path, hint="add the definition it names")
        return node

    def is_recursive(self, ref: str) -> bool:
        """Return whether following `ref` can come back to `ref`."""
        if ref not in self._recursive:
            self._recursive[ref] = ref in self._reachable(ref)
        return self._recursive[ref]

    def _reachable(self, start: str) -> set[str]:
        found: set[str] = set()
        todo = [start]
        while todo:
            for ref in _refs_in(self.target(todo.pop(), self.path)):
                if ref not in found and ref.startswith("#"):
                    found.add(ref)
                    todo.append(ref)
        return found


def _refs_in(schema: Any) -> list[str]:
    found: list[str] = []
    todo = [schema]
    while todo:
        node = todo.pop()
        if not isinstance(node, dict):
            continue
        if isinstance(ref := node.get("$ref"), str):
            found.append(ref)
        for key, value in node.items():
            if key in MAPS:
                # Definitions count only when something refers to them.
                if isinstance(value, dict) and key not in ("$defs", "definitions"):
                    todo.extend(value.values())
            elif key in LISTS or (key in SINGLES and isinstance(value, list)):
                if isinstance(value, list):
                    todo.extend(value)
            elif key in SINGLES:
                todo.append(value)
    return found
