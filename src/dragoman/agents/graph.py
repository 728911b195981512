"""The steps of an agent as a graph, for drawings."""

from typing import TYPE_CHECKING

from dragoman.runnables.graph import Graph

if TYPE_CHECKING:
    from dragoman.agents.agent import Agent

__all__ = ["agent_graph"]

START, END = "__start__", "__end__"


def agent_graph(agent: "Agent") -> Graph:
    """Return the steps by their names; an edge that is not always taken is conditional."""
    graph = Graph()
    steps = [START, "model", *(["tools"] if agent.tools else []), *agent.steps, END]
    nodes = {step: graph.add_node(None, step) for step in steps}
    joined: set[tuple[str, str]] = set()

    def join(source: str, target: str | None, *, conditional: bool = False) -> None:
        edge = (source, target or END)
        if edge not in joined and edge[1] in nodes:
            joined.add(edge)
            graph.add_edge(nodes[source], nodes[edge[1]], conditional=conditional)

    turn, ending = agent.jump("model"), agent.jump("end")
    join(START, agent.first_step)
    if agent.first_after_model is not None:
        join("model", agent.first_after_model)
    decides = agent.last_after_model or "model"
    is_looping = bool(agent.tools)
    for step in agent.steps:
        if step != decides:
            join(step, agent.after(step), conditional=bool(agent.jumps[step]))
    join(decides, "tools", conditional=True)
    join(decides, ending, conditional=is_looping or decides in agent.steps)
    if is_looping:
        returns = any(tool.return_direct for tool in agent.tools.values())
        join("tools", turn, conditional=returns)
        if returns:
            join("tools", ending, conditional=True)
    for step, targets in agent.jumps.items():
        for target in sorted(targets):
            join(step, agent.jump(target), conditional=True)
    return graph
