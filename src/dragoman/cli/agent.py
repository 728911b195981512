"""`dragoman agent`: a model that works on a task with tools, step by step, asking before it acts."""

import os
import sys
from typing import Any

import click

from dragoman.agents import Agent, Command, create_agent
from dragoman.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from dragoman.cli.approval import decide
from dragoman.cli.steps import Steps
from dragoman.cli.stores import open_store, store_option
from dragoman.cli.toolbox import load_tools
from dragoman.messages import HumanMessage
from dragoman.threads import MemoryThreads

__all__ = ["command"]


class _FirstTurnTool(AgentMiddleware[Any, Any]):
    """Tells the bundled model when to call a tool: it does not choose well by itself."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        is_first = request.messages[-1].type == "human"
        return handler(request.override(tool_choice="any" if is_first else "none"))


@click.command("agent")
@click.argument("task", nargs=-1)
@click.option(
    "--tools",
    "specs",
    multiple=True,
    metavar="MODULE:NAME",
    help="A function, a tool, or a list of them; may be given several times.",
)
@click.option(
    "--model",
    default=lambda: os.environ.get("DRAGOMAN_MODEL", "local"),
    show_default="DRAGOMAN_MODEL, else local",
    metavar="PROVIDER:NAME",
    help="The model, such as openai:gpt-5.",
)
@click.option("--system", metavar="TEXT", help="What the model is told before the task.")
@click.option("--thread", metavar="NAME", help="Keep the conversation, or go on with it.")
@store_option
@click.option("--yes", is_flag=True, help="Run every call without asking.")
@click.option("--max-steps", type=click.IntRange(min=1), default=100, show_default=True)
def command(
    task: tuple[str, ...],
    specs: tuple[str, ...],
    model: str,
    system: str | None,
    thread: str | None,
    store: str,
    yes: bool,
    max_steps: int,
) -> None:
    """Work on TASK with tools.

    Each call is shown, and run once you allow it. Steps go to standard error, the answer to standard
    output. With --thread the conversation is kept; without a TASK a run that was stopped goes on.
    """
    text = " ".join(task).strip()
    if not text and thread is None:
        raise click.UsageError("give a task, or the --thread to go on with")
    tools = load_tools(specs)
    if tools and not yes and not sys.stdin.isatty():
        raise click.UsageError(
            "there is no terminal to ask at before a tool runs; allow all by --yes"
        )
    middleware: list[AgentMiddleware[Any, Any]] = []
    if tools and model == "local":
        middleware.append(_FirstTurnTool())
    if not yes:
        middleware.append(HumanInTheLoopMiddleware({tool.name: True for tool in tools}))
    agent = create_agent(
        model,
        tools,
        system_prompt=system,
        middleware=middleware,
        checkpointer=MemoryThreads() if thread is None else open_store(store, make=True),
        max_steps=max_steps,
    )
    _work(agent, text, {"configurable": {"thread_id": thread or "task"}})


def _work(agent: Agent, text: str, config: dict[str, Any]) -> None:
    """Run until there is an answer; ask what the agent asks."""
    given: Any = {"messages": [HumanMessage(text)]} if text else None
    if given is None:
        questions = agent.get_state(config).interrupts
        given = _answers(questions) if questions else None
    while True:
        with Steps() as steps:
            for mode, item in agent.stream(given, config, stream_mode=["messages", "updates"]):
                steps.show(mode, item)
        if not steps.questions:
            return
        given = _answers(steps.questions)


def _answers(questions: Any) -> Command:
    return Command(resume={question.id: decide(question.value) for question in questions})
