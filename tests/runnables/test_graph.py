"""Graphs of chains, as data and as drawings."""

import pytest

from dragoman.prompts import ChatPromptTemplate
from dragoman.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough, chain
from dragoman.runnables.graph import CurveStyle, Edge, Graph, NodeStyles
from dragoman.runnables.graph_ascii import draw_ascii


def first(x): ...


def left(x): ...


def last(x): ...


@pytest.fixture
def graph():
    whole = RunnableLambda(first) | {"a": left, "b": RunnablePassthrough()} | RunnableLambda(last)
    return whole.get_graph()


# Drawn by langchain-core 1.8.3 for the same chain.
MERMAID = """---
config:
  flowchart:
    curve: linear
---
graph TD;
	first_input([first_input]):::first
	first(first)
	Parallel\\3ca\\2cb\\3eInput(Parallel<a,b>Input)
	Parallel\\3ca\\2cb\\3eOutput(Parallel<a,b>Output)
	left(left)
	Passthrough(Passthrough)
	last(last)
	last_output([last_output]):::last
	first_input --> first;
	Parallel\\3ca\\2cb\\3eInput --> left;
	left --> Parallel\\3ca\\2cb\\3eOutput;
	Parallel\\3ca\\2cb\\3eInput --> Passthrough;
	Passthrough --> Parallel\\3ca\\2cb\\3eOutput;
	first --> Parallel\\3ca\\2cb\\3eInput;
	last --> last_output;
	Parallel\\3ca\\2cb\\3eOutput --> last;
	classDef default fill:#f2f0ff,line-height:1.2
	classDef first fill-opacity:0
	classDef last fill:#bfb6fc
"""


def test_mermaid(graph):
    assert graph.draw_mermaid() == MERMAID
    plain = graph.draw_mermaid(with_styles=False)
    assert plain.startswith("graph TD;\n\tfirst_input --> first;\n")
    assert "classDef" not in plain


def test_mermaid_options(graph):
    text = graph.draw_mermaid(
        curve_style=CurveStyle.BASIS,
        node_colors=NodeStyles(default="fill:red"),
        frontmatter_config={"config": {"theme": "neutral"}},
    )
    assert "    curve: basis" in text
    assert "  theme: neutral" in text
    assert "classDef default fill:red" in text


def test_edges_with_labels_and_conditions():
    graph = Graph()
    one, two = graph.add_node(None, id="one"), graph.add_node(None, id="two")
    graph.add_edge(one, two, data="go on", conditional=True)
    graph.add_edge(one, two, data="go")
    graph.add_edge(one, two, conditional=True)

    assert graph.draw_mermaid(with_styles=False) == (
        "graph TD;\n\tone -. &nbsp;go on&nbsp; .-> two;\n"
        "\tone -- &nbsp;go&nbsp; --> two;\n\tone -.-> two;\n"
    )


def test_json(graph):
    shown = graph.to_json()

    assert shown["nodes"][0] == {"id": 0, "type": "schema", "data": "first_input"}
    assert shown["nodes"][1] == {
        "id": 1,
        "type": "runnable",
        "data": {"id": ["langchain_core", "runnables", "base", "RunnableLambda"], "name": "first"},
    }
    assert shown["edges"][0] == {"source": 0, "target": 1}
    with_schemas = graph.to_json(with_schemas=True)
    assert with_schemas["nodes"][0]["data"] == {"title": "first_input"}


def test_ascii():
    whole = RunnableLambda(first) | RunnableLambda(last)

    assert whole.get_graph().draw_ascii() == "\n".join(
        [
            "+-------------+",
            "| first_input |",
            "+-------------+",
            "       *",
            "       *",
            "       *",
            "   +-------+",
            "   | first |",
            "   +-------+",
            "       *",
            "       *",
            "       *",
            "   +------+",
            "   | last |",
            "   +------+",
            "       *",
            "       *",
            "       *",
            "+-------------+",
            "| last_output |",
            "+-------------+",
        ]
    )


def test_ascii_of_branches_long_edges_and_cycles(graph, capsys):
    text = graph.draw_ascii()
    for label in ("first_input", "left", "Passthrough", "Parallel<a,b>Output", "last_output"):
        assert f"| {label} |" in text
    edges = [Edge("a", "b"), Edge("b", "c"), Edge("a", "c", conditional=True), Edge("c", "a")]
    drawn = draw_ascii({"a": "A", "b": "B", "c": "C"}, edges)
    assert [drawn.index(f"| {label} |") for label in "ABC"] == sorted(
        drawn.index(f"| {label} |") for label in "ABC"
    )
    assert "." in drawn
    assert draw_ascii({}, []) == ""
    graph.print_ascii()
    assert capsys.readouterr().out == text + "\n"


def test_a_function_shows_the_runnables_it_calls():
    inner = RunnableLambda(first)

    @chain
    def outer(x):
        return inner.invoke(x)

    text = outer.get_graph().draw_mermaid(with_styles=False)
    assert text == "graph TD;\n\touter_input --> first;\n\tfirst --> outer_output;\n\n"[:-1]


def test_assignments_show_what_is_passed_beside():
    graph = RunnablePassthrough.assign(a=first).get_graph()
    names = [node.name for node in graph.nodes.values()]
    assert names == ["Parallel<a>Input", "Parallel<a>Output", "first", "Passthrough"]


def test_first_and_last_nodes_are_trimmed_only_if_others_take_their_place(graph):
    n_nodes = len(graph.nodes)
    graph.trim_first_node()
    graph.trim_last_node()
    assert len(graph.nodes) == n_nodes - 2
    assert (graph.first_node().name, graph.last_node().name) == ("first", "last")

    alone = Graph()
    node = alone.add_node(None, id="only")
    alone.trim_first_node()
    assert alone.nodes == {"only": node}


def test_a_graph_refuses_what_does_not_fit():
    graph = Graph()
    node = graph.add_node(None, id="a")
    with pytest.raises(ValueError, match="Node with id a already exists"):
        graph.add_node(None, id="a")
    with pytest.raises(ValueError, match="Target node b not in graph"):
        graph.add_edge(node, node._replace(id="b"))
    graph.remove_node(node)
    assert not graph


def test_prefixed_graphs_keep_their_names_apart():
    inner = Graph()
    inner.add_edge(inner.add_node(None, id="a"), inner.add_node(None, id="b"))
    outer = Graph()
    begin, end = outer.extend(inner, prefix="sub")

    assert (begin.id, end.id) == ("sub:a", "sub:b")
    assert outer.edges == [Edge("sub:a", "sub:b")]


def test_prompts_are_found():
    one = ChatPromptTemplate.from_template("{a}")
    two = ChatPromptTemplate.from_template("{b}")
    whole = RunnableParallel(a=one, b=two | RunnableLambda(last))

    assert whole.get_prompts() == [one, two]
