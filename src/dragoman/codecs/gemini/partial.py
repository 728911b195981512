"""Arguments of a Gemini call that come in pieces (`streamFunctionCallArguments`).

Each piece names a place in the arguments by a JSON path and gives a value for it; pieces of one
string follow each other. The arguments are whole when a part without `willContinue` has come.

Source: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling, read
2026-11.
"""

import re
from typing import Any

__all__ = ["PartialCall"]

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
_MAX_INDEX = 10_000


class PartialCall:
    """One call whose arguments are still coming.

    Attributes:
        part: The part that began the call, without its pieces.
        args: The arguments so far.
    """

    def __init__(self, part: dict[str, Any], call: dict[str, Any]) -> None:
        self.part = part
        self.call: dict[str, Any] = {
            k: v for k, v in call.items() if k not in {"partialArgs", "willContinue"}
        }
        given = call.get("args")
        self.args: dict[str, Any] = dict(given) if isinstance(given, dict) else {}

    def whole(self) -> dict[str, Any]:
        """Return the part that would have come without pieces."""
        return {**self.part, "functionCall": {**self.call, "args": self.args}}

    def add(self, pieces: Any) -> None:
        """Put the values of `partialArgs` into their places."""
        for piece in pieces if isinstance(pieces, list) else ():
            path = piece.get("jsonPath") if isinstance(piece, dict) else None
            key = next((k for k in _VALUES if isinstance(piece, dict) and k in piece), None)
            if not isinstance(path, str) or key is None:
                continue
            steps: list[Any] = [
                int(m[2]) if m[2] is not None else m[1] if m[1] is not None else m[3]
                for m in _STEP.finditer(path.removeprefix("$"))
            ]
            if steps and isinstance(steps[0], str):
                self._put(steps, None if key == "nullValue" else piece[key])

    def _put(self, steps: list[Any], value: Any) -> None:
        node: Any = self.args
        for n, step in enumerate(steps):
            if isinstance(node, list) and isinstance(step, int) and step <= _MAX_INDEX:
                node.extend([None] * (step + 1 - len(node)))
                old: Any = node[step]
            elif isinstance(node, dict) and isinstance(step, str):
                old = node.get(step)
            else:
                return  # a path that does not fit what came before
            if n == len(steps) - 1:
                is_more = isinstance(old, str) and isinstance(value, str)
                last: Any = node
                last[step] = old + value if is_more else value
                return
            if not isinstance(old, (dict, list)):
                old = [] if isinstance(steps[n + 1], int) else {}
                holder: Any = node
                holder[step] = old
            node = old
