"""Graphs drawn in text: boxes in layers, lines of stars between them."""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["draw_ascii"]

GAP = 4
"""Columns between two boxes of a layer."""
RISE = 3
"""Rows between two layers."""


def draw_ascii(vertices: Mapping[str, str], edges: Sequence[Any]) -> str:
    """Return the drawing.

    Args:
        vertices: Id -> label.
        edges: Anything with `source`, `target` and `conditional`; those of a cycle that lead back are
            left out.
    """
    if not vertices:
        return ""
    pairs = [(edge.source, edge.target, bool(edge.conditional)) for edge in edges]
    depth = _depths(list(vertices), pairs)
    forward = [pair for pair in pairs if depth[pair[0]] < depth[pair[1]]]
    layers: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for id_ in vertices:
        layers[depth[id_]].append(id_)
    labels: dict[str, str | None] = dict(vertices)
    hops: list[tuple[str, str, bool]] = []
    for source, target, is_conditional in forward:
        # An edge over several layers passes each of them through a point of its own.
        at = source
        for level in range(depth[source] + 1, depth[target]):
            point = f"{source}\0{target}\0{level}"
            labels[point] = None
            layers[level].append(point)
            hops.append((at, point, is_conditional))
            at = point
        hops.append((at, target, is_conditional))
    return _paint(layers, labels, hops)


def _depths(ids: list[str], pairs: list[tuple[str, str, bool]]) -> dict[str, int]:
    """Return the layer of each node: one below the lowest that leads to it, cycles cut."""
    after: dict[str, list[str]] = {id_: [] for id_ in ids}
    for source, target, _ in pairs:
        after[source].append(target)
    order: list[str] = []
    state: dict[str, int] = {}
    back: set[tuple[str, str]] = set()
    for root in ids:
        stack = [(root, iter(after[root]))] if root not in state else []
        state.setdefault(root, 1)
        while stack:
            id_, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[id_] = 2
                order.append(id_)
                stack.pop()
            elif following not in state:
                state[following] = 1
                stack.append((following, iter(after[following])))
            elif state[following] == 1:
                back.add((id_, following))
    depth = dict.fromkeys(ids, 0)
    for id_ in reversed(order):
        for following in after[id_]:
            if (id_, following) not in back:
                depth[following] = max(depth[following], depth[id_] + 1)
    return depth


def _paint(
    layers: list[list[str]], labels: dict[str, str | None], hops: list[tuple[str, str, bool]]
) -> str:
    def width(id_: str) -> int:
        label = labels[id_]
        return 1 if label is None else len(label) + 4

    widths = [sum(map(width, layer)) + GAP * (len(layer) - 1) for layer in layers]
    total = max(widths)
    height = len(layers) * 3 + (len(layers) - 1) * RISE
    canvas = [[" "] * total for _ in range(height)]
    center: dict[str, int] = {}
    for number, layer in enumerate(layers):
        left = (total - widths[number]) // 2
        top = number * (3 + RISE)
        for id_ in layer:
            center[id_] = left + width(id_) // 2
            _box(canvas, left, top, labels[id_])
            left += width(id_) + GAP
    level = {id_: number for number, layer in enumerate(layers) for id_ in layer}
    for source, target, is_conditional in hops:
        top = level[source] * (3 + RISE) + 3
        for row in range(RISE):
            share = (row + 1) / (RISE + 1)
            column = round(center[source] + (center[target] - center[source]) * share)
            canvas[top + row][column] = "." if is_conditional else "*"
    return "\n".join("".join(row).rstrip() for row in canvas)


def _box(canvas: list[list[str]], left: int, top: int, label: str | None) -> None:
    if label is None:
        for row in range(3):
            canvas[top + row][left] = "*"
        return
    edge = "+" + "-" * (len(label) + 2) + "+"
    for row, text in enumerate((edge, f"| {label} |", edge)):
        canvas[top + row][left : left + len(text)] = list(text)
