"""Graphs in mermaid's language."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dragoman.runnables.graph import CurveStyle, Edge, Node, NodeStyles

__all__ = ["draw_mermaid"]

MARKDOWN = "*_`"


def draw_mermaid(
    nodes: Mapping[str, Node],
    edges: Sequence[Edge],
    *,
    first_node: str | None = None,
    last_node: str | None = None,
    with_styles: bool = True,
    curve_style: CurveStyle = CurveStyle.LINEAR,
    node_styles: NodeStyles | None = None,
    wrap_label_n_words: int = 9,
    frontmatter_config: dict[str, Any] | None = None,
) -> str:
    """Return the text of a mermaid flowchart, top down."""
    lines: list[str] = []
    if with_styles:
        settings = {**(frontmatter_config or {})}
        config = {**settings.get("config", {})}
        config["flowchart"] = {**config.get("flowchart", {}), "curve": curve_style.value}
        lines += ["---", *_yaml({**settings, "config": config}), "---"]
    lines.append("graph TD;")
    if with_styles:
        for id_, node in nodes.items():
            lines.append("\t" + _node(id_, node, first_node, last_node))
    lines.extend("\t" + _edge(edge, wrap_label_n_words) for edge in edges)
    if with_styles:
        styles = node_styles or NodeStyles()
        for kind in ("default", "first", "last"):
            lines.append(f"\tclassDef {kind} {getattr(styles, kind)}")
    return "\n".join(lines) + "\n"


def _node(id_: str, node: Node, first_node: str | None, last_node: str | None) -> str:
    label = node.name.rsplit(":", 1)[-1]
    if label.startswith(tuple(MARKDOWN)) and label.endswith(tuple(MARKDOWN)):
        label = f"<p>{label}</p>"
    if node.metadata:
        rows = "\n".join(f"{key} = {value}" for key, value in node.metadata.items())
        label = f"{label}<hr/><small><em>{rows}</em></small>"
    if id_ == first_node:
        return f"{_safe(id_)}([{label}]):::first"
    if id_ == last_node:
        return f"{_safe(id_)}([{label}]):::last"
    return f"{_safe(id_)}({label})"


def _edge(edge: Edge, wrap_label_n_words: int) -> str:
    if edge.data is None:
        arrow = " -.-> " if edge.conditional else " --> "
    else:
        words = str(edge.data).split()
        rows = [
            " ".join(words[at : at + wrap_label_n_words])
            for at in range(0, len(words), wrap_label_n_words)
        ]
        label = "&nbsp;" + "&nbsp<br>&nbsp".join(rows) + "&nbsp;"
        arrow = f" -. {label} .-> " if edge.conditional else f" -- {label} --> "
    return f"{_safe(edge.source)}{arrow}{_safe(edge.target)};"


def _safe(label: str) -> str:
    """Return a label as an identifier: every other character as its code."""
    return re.sub(r"[^a-zA-Z0-9_-]", lambda found: f"\\{ord(found.group()):x}", label)


def _yaml(settings: Mapping[str, Any], indent: str = "") -> list[str]:
    """Return nested settings as lines of YAML."""
    lines: list[str] = []
    for key, value in settings.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{key}:", *_yaml(value, indent + "  ")]
        else:
            lines.append(f"{indent}{key}: {value}")
    return lines
