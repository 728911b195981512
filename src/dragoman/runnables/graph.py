"""The graph of a chain: what feeds what, as data and as drawings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol, cast
from uuid import UUID, uuid4

from pydantic import BaseModel
from typing_extensions import TypedDict

from dragoman.runnables.runnable import Runnable
from dragoman.runnables.serializable import RunnableSerializable

__all__ = [
    "Branch",
    "CurveStyle",
    "Edge",
    "Graph",
    "LabelsDict",
    "Node",
    "NodeStyles",
    "Stringifiable",
    "is_uuid",
    "node_data_json",
    "node_data_str",
]


class Stringifiable(Protocol):
    """What can label an edge."""

    def __str__(self) -> str: ...


class LabelsDict(TypedDict):
    """Other labels for nodes and edges."""

    nodes: dict[str, str]
    edges: dict[str, str]


class Branch(NamedTuple):
    """A condition and where its results lead."""

    condition: Any
    ends: dict[str, str] | None


class CurveStyle(Enum):
    """How mermaid draws edges."""

    BASIS = "basis"
    BUMP_X = "bumpX"
    BUMP_Y = "bumpY"
    CARDINAL = "cardinal"
    CATMULL_ROM = "catmullRom"
    LINEAR = "linear"
    MONOTONE_X = "monotoneX"
    MONOTONE_Y = "monotoneY"
    NATURAL = "natural"
    STEP = "step"
    STEP_AFTER = "stepAfter"
    STEP_BEFORE = "stepBefore"


@dataclass
class NodeStyles:
    """Mermaid styles of the kinds of nodes."""

    default: str = "fill:#f2f0ff,line-height:1.2"
    first: str = "fill-opacity:0"
    last: str = "fill:#bfb6fc"


class Edge(NamedTuple):
    """From node to node; a conditional one may not be taken."""

    source: str
    target: str
    data: Stringifiable | None = None
    conditional: bool = False

    def copy(self, *, source: str | None = None, target: str | None = None) -> "Edge":
        """Return the edge between other nodes."""
        return self._replace(source=source or self.source, target=target or self.target)


class Node(NamedTuple):
    """A runnable, or the model of an input or output."""

    id: str
    name: str
    data: Any
    metadata: dict[str, Any] | None

    def copy(self, *, id: str | None = None, name: str | None = None) -> "Node":
        """Return the node under another id or name."""
        return self._replace(id=id or self.id, name=name or self.name)


def is_uuid(value: str) -> bool:
    """Return whether a node's id is one given by `add_node`."""
    try:
        UUID(value)
    except ValueError:
        return False
    return True


def node_data_str(id: str, data: Any) -> str:
    """Return the label of a node: its id, or the name of its data without a leading "Runnable"."""
    if not is_uuid(id) or data is None:
        return id
    label: str = data.get_name() if isinstance(data, Runnable) else data.__name__
    return label.removeprefix("Runnable")


def node_data_json(node: Node, *, with_schemas: bool = False) -> dict[str, Any]:
    """Return a node's data as JSON."""
    label = node_data_str(node.id, node.data)
    shown: dict[str, Any]
    if node.data is None:
        shown = {}
    elif isinstance(node.data, RunnableSerializable):
        kind: Any = type(cast("Any", node.data))
        shown = {"type": "runnable", "data": {"id": kind.lc_id(), "name": label}}
    elif isinstance(node.data, Runnable):
        cls = type(cast("Any", node.data))
        names = [*cls.__module__.replace("dragoman", "langchain_core", 1).split("."), cls.__name__]
        shown = {"type": "runnable", "data": {"id": names, "name": label}}
    elif isinstance(node.data, type) and issubclass(node.data, BaseModel):
        schema = node.data
        if with_schemas:
            shown = {"type": "schema", "data": schema.model_json_schema(mode="serialization")}
        else:
            shown = {"type": "schema", "data": label}
    else:
        shown = {"type": "unknown", "data": label}
    if node.metadata:
        shown["metadata"] = node.metadata
    return shown


@dataclass
class Graph:
    """Nodes by id, and edges between them."""

    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    edges: list[Edge] = field(default_factory=list[Edge])

    def __bool__(self) -> bool:
        return bool(self.nodes)

    def to_json(self, *, with_schemas: bool = False) -> dict[str, list[dict[str, Any]]]:
        """Return nodes and edges as JSON; ids given by `add_node` become numbers."""
        ids: dict[str, Any] = {
            node.id: number if is_uuid(node.id) else node.id
            for number, node in enumerate(self.nodes.values())
        }
        edges: list[dict[str, Any]] = []
        for edge in self.edges:
            shown: dict[str, Any] = {"source": ids[edge.source], "target": ids[edge.target]}
            if edge.data is not None:
                shown["data"] = edge.data
            if edge.conditional:
                shown["conditional"] = True
            edges.append(shown)
        nodes = [
            {"id": ids[node.id], **node_data_json(node, with_schemas=with_schemas)}
            for node in self.nodes.values()
        ]
        return {"nodes": nodes, "edges": edges}

    def next_id(self) -> str:
        """Return an id for a new node."""
        return uuid4().hex

    def add_node(
        self,
        data: Any,
        id: str | None = None,
        *,
        metadata: dict[str, Any] | None = None,
    ) -> Node:
        """Add a node and return it.

        Raises:
            ValueError: If there is one with this id.
        """
        if id is not None and id in self.nodes:
            text = f"Node with id {id} already exists"
            raise ValueError(text)
        id = id or self.next_id()
        node = Node(id=id, data=data, metadata=metadata, name=node_data_str(id, data))
        self.nodes[node.id] = node
        return node

    def remove_node(self, node: Node) -> None:
        """Remove a node with its edges."""
        self.nodes.pop(node.id)
        self.edges = [edge for edge in self.edges if node.id not in (edge.source, edge.target)]

    def add_edge(
        self,
        source: Node,
        target: Node,
        data: Stringifiable | None = None,
        conditional: bool = False,
    ) -> Edge:
        """Add an edge and return it.

        Raises:
            ValueError: If one of the nodes is not in the graph.
        """
        for node, word in ((source, "Source"), (target, "Target")):
            if node.id not in self.nodes:
                text = f"{word} node {node.id} not in graph"
                raise ValueError(text)
        edge = Edge(source=source.id, target=target.id, data=data, conditional=conditional)
        self.edges.append(edge)
        return edge

    def extend(self, graph: "Graph", *, prefix: str = "") -> tuple[Node | None, Node | None]:
        """Add all of another graph; return its first and last node as they stand here."""
        if all(is_uuid(node.id) for node in graph.nodes.values()):
            prefix = ""

        def renamed(id: str) -> str:
            return f"{prefix}:{id}" if prefix else id

        for id_, node in graph.nodes.items():
            self.nodes[renamed(id_)] = node.copy(id=renamed(id_))
        self.edges.extend(
            edge.copy(source=renamed(edge.source), target=renamed(edge.target))
            for edge in graph.edges
        )
        first, last = graph.first_node(), graph.last_node()
        return (
            first.copy(id=renamed(first.id)) if first else None,
            last.copy(id=renamed(last.id)) if last else None,
        )

    def reid(self) -> "Graph":
        """Return the graph with readable ids: names, numbered where they repeat."""
        by_name: dict[str, list[str]] = {}
        for node in self.nodes.values():
            by_name.setdefault(node.name, []).append(node.id)
        ids: dict[str, str] = {}
        for name, same in by_name.items():
            for number, id_ in enumerate(same, 1):
                ids[id_] = name if len(same) == 1 else f"{name}_{number}"
        new = {id_: ids[id_] if is_uuid(id_) else id_ for id_ in self.nodes}
        return Graph(
            nodes={new[id_]: node.copy(id=new[id_]) for id_, node in self.nodes.items()},
            edges=[
                edge.copy(source=new[edge.source], target=new[edge.target]) for edge in self.edges
            ],
        )

    def first_node(self) -> Node | None:
        """Return the only node that nothing leads to, or None."""
        return self._end("target", "source")

    def last_node(self) -> Node | None:
        """Return the only node that leads nowhere, or None."""
        return self._end("source", "target")

    def _end(self, inner: str, outer: str, exclude: Sequence[str] = ()) -> Node | None:
        held = {getattr(e, inner) for e in self.edges if getattr(e, outer) not in exclude}
        found = [n for n in self.nodes.values() if n.id not in exclude and n.id not in held]
        return found[0] if len(found) == 1 else None

    def trim_first_node(self) -> None:
        """Remove the first node if the graph has a first node without it."""
        first = self.first_node()
        if first and self._end("target", "source", [first.id]):
            self.remove_node(first)

    def trim_last_node(self) -> None:
        """Remove the last node if the graph has a last node without it."""
        last = self.last_node()
        if last and self._end("source", "target", [last.id]):
            self.remove_node(last)

    # ------------------------------------------------------------ drawings

    def draw_ascii(self) -> str:
        """Return the graph drawn in text."""
        from dragoman.runnables.graph_ascii import draw_ascii

        return draw_ascii({node.id: node.name for node in self.nodes.values()}, self.edges)

    def print_ascii(self) -> None:
        """Print the graph drawn in text."""
        print(self.draw_ascii())  # noqa: T201 - what it is for

    def draw_mermaid(
        self,
        *,
        with_styles: bool = True,
        curve_style: CurveStyle = CurveStyle.LINEAR,
        node_colors: NodeStyles | None = None,
        wrap_label_n_words: int = 9,
        frontmatter_config: dict[str, Any] | None = None,
    ) -> str:
        """Return the graph in mermaid's language."""
        from dragoman.runnables.graph_mermaid import draw_mermaid

        graph = self.reid()
        first, last = graph.first_node(), graph.last_node()
        return draw_mermaid(
            nodes=graph.nodes,
            edges=graph.edges,
            first_node=first.id if first else None,
            last_node=last.id if last else None,
            with_styles=with_styles,
            curve_style=curve_style,
            node_styles=node_colors,
            wrap_label_n_words=wrap_label_n_words,
            frontmatter_config=frontmatter_config,
        )


# ------------------------------------------------------------ the graphs of runnables


def _metadata(config: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return (config or {}).get("metadata")


def graph_of(runnable: Runnable[Any, Any], config: Any) -> Graph:
    """Return input, the runnable, output."""
    graph = Graph()
    given = graph.add_node(_model(runnable, "Input", config))
    step = graph.add_node(runnable, metadata=_metadata(config))
    output = graph.add_node(_model(runnable, "Output", config))
    graph.add_edge(given, step)
    graph.add_edge(step, output)
    return graph


def _model(runnable: Runnable[Any, Any], word: str, config: Any) -> type[BaseModel]:
    """Return the model of an input or output; one without a type where it cannot be told."""
    from dragoman.runnables._schemas import model_of

    get: Any = runnable.get_input_schema if word == "Input" else runnable.get_output_schema
    try:
        return get(config)
    except TypeError:
        return model_of(runnable.get_name(word), Any)


def sequence_graph(steps: Sequence[Runnable[Any, Any]], config: Any) -> Graph:
    """Return the graphs of the steps joined, without the inputs and outputs between them."""
    graph = Graph()
    for number, step in enumerate(steps):
        current = graph.last_node()
        part = step.get_graph(config)
        if number > 0:
            part.trim_first_node()
        if number < len(steps) - 1:
            part.trim_last_node()
        first, _ = graph.extend(part)
        if first is None:
            text = f"Runnable {step} has no first node"
            raise ValueError(text)
        if current:
            graph.add_edge(current, first)
    return graph


def _between(
    graph: Graph, given: Node, output: Node, steps: Sequence[Runnable[Any, Any]], config: Any
) -> Graph:
    """Add the graphs of `steps`, side by side between two nodes."""
    for step in steps:
        part = step.get_graph(config)
        part.trim_first_node()
        part.trim_last_node()
        if not part:
            graph.add_edge(given, output)
            continue
        first, last = graph.extend(part)
        if first is None or last is None:
            text = f"Runnable {step} has no first or no last node"
            raise ValueError(text)
        graph.add_edge(given, first)
        graph.add_edge(last, output)
    return graph


def parallel_graph(
    runnable: Runnable[Any, Any], steps: Mapping[str, Runnable[Any, Any]], config: Any
) -> Graph:
    """Return the graphs of the steps side by side."""
    graph = Graph()
    given = graph.add_node(_model(runnable, "Input", config))
    output = graph.add_node(_model(runnable, "Output", config))
    return _between(graph, given, output, list(steps.values()), config)


def assign_graph(mapper: Any, config: Any) -> Graph:
    """Return the graph of the added steps, with the input passed beside them."""
    from dragoman.runnables.passthrough import RunnablePassthrough

    graph: Graph = mapper.get_graph(config)
    first, last = graph.first_node(), graph.last_node()
    assert first is not None
    assert last is not None
    beside = graph.add_node(RunnablePassthrough())
    graph.add_edge(first, beside)
    graph.add_edge(beside, last)
    return graph


def lambda_graph(
    runnable: Runnable[Any, Any], deps: Sequence[Runnable[Any, Any]], config: Any
) -> Graph:
    """Return the graph of a function: that of the runnables it refers to, if any."""
    if not deps:
        return graph_of(runnable, config)
    graph = Graph()
    given = graph.add_node(_model(runnable, "Input", config))
    output = graph.add_node(_model(runnable, "Output", config))
    return _between(graph, given, output, deps, config)


def prompts_of(runnable: Runnable[Any, Any], config: Any) -> list[Any]:
    """Return the prompt templates in a runnable's graph."""
    # By what a template can do: the templates themselves stand above this package.
    nodes = runnable.get_graph(config).nodes.values()
    return [node.data for node in nodes if callable(getattr(node.data, "format_prompt", None))]
