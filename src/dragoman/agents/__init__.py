"""Agents: model, tools, model, until there is an answer (experimental).

`create_agent` puts a model, tools and middleware together. With a thread store as checkpointer a run
survives crashes, cancels and questions to people.
"""

from dragoman.agents.agent import Agent, StateSnapshot
from dragoman.agents.control import (
    AgentStepLimitError,
    Command,
    GraphInterrupt,
    Interrupt,
    interrupt,
)
from dragoman.agents.factory import create_agent
from dragoman.agents.runtime import InMemoryStore, Runtime
from dragoman.agents.state import AgentState, AgentStateError

__all__ = [
    "Agent",
    "AgentState",
    "AgentStateError",
    "AgentStepLimitError",
    "Command",
    "GraphInterrupt",
    "InMemoryStore",
    "Interrupt",
    "Runtime",
    "StateSnapshot",
    "create_agent",
    "interrupt",
]
