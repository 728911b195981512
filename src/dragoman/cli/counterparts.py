"""Where the names of LangChain are here: the rule, its exceptions as data, and the question itself.

The rule is that only the root changes. Whether it holds for a name is not written down anywhere: the
module is imported and asked, so that this cannot be out of date.
"""

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from dragoman.errors import MissingExtraError

__all__ = ["ROOTS", "Place", "counterpart", "hint_of", "is_module_here", "is_theirs", "module_here"]


class Place(NamedTuple):
    """A module and a name in it."""

    module: str
    name: str


# Packages of which every module `X` is tried as `dragoman.X`.
ROOTS = ("langchain_core", "langchain", "langchain_classic")
# Packages whose public names are tried in `dragoman.chat_models`.
PROVIDERS = (
    "langchain_anthropic",
    "langchain_aws",
    "langchain_azure_ai",
    "langchain_cohere",
    "langchain_deepseek",
    "langchain_fireworks",
    "langchain_google_genai",
    "langchain_google_vertexai",
    "langchain_groq",
    "langchain_mistralai",
    "langchain_ollama",
    "langchain_openai",
    "langchain_openrouter",
    "langchain_perplexity",
    "langchain_together",
    "langchain_xai",
)
# Names that live elsewhere, or under another name: only where the use is the same.
MOVED: dict[str, Place] = {
    f"{module}.{old}": Place(new_module, new)
    for modules, old, new_module, new in (
        ("langgraph.graph langgraph.graph.message", "add_messages", "messages", "add_messages"),
        ("langgraph.graph langgraph.graph.message", "MessagesState", "messages", "MessagesState"),
        ("langgraph.graph.message", "REMOVE_ALL_MESSAGES", "messages", "REMOVE_ALL_MESSAGES"),
        ("langgraph.types", "Command", "agents", "Command"),
        ("langgraph.types", "interrupt", "agents", "interrupt"),
        ("langgraph.prebuilt", "InjectedState", "tools", "InjectedState"),
        ("langgraph.prebuilt", "InjectedStore", "tools", "InjectedStore"),
        ("langgraph.prebuilt langchain.tools", "ToolRuntime", "tools", "ToolRuntime"),
        ("langgraph.checkpoint.memory", "InMemorySaver", "threads", "MemoryThreads"),
        ("langgraph.checkpoint.memory", "MemorySaver", "threads", "MemoryThreads"),
        ("langgraph.store.memory", "InMemoryStore", "agents", "InMemoryStore"),
    )
    for module in modules.split()
}
# Modules of earlier versions, and the modules here in which their names are looked for.
OLD = {
    "langchain.schema": "messages prompt_values outputs documents output_parsers language_models",
    "langchain.schema.document": "documents",
    "langchain.schema.language_model": "language_models",
    "langchain.schema.messages": "messages",
    "langchain.schema.output": "outputs",
    "langchain.schema.output_parser": "output_parsers exceptions",
    "langchain.schema.prompt": "prompt_values",
    "langchain.schema.prompt_template": "prompts",
    "langchain.schema.runnable": "runnables",
    "langchain.schema.runnable.config": "runnables",
}
# What to do instead, by the beginning of the name; the longest one counts.
HINTS = {
    "langchain": "keep LangChain for it; dragoman.compat converts at the border",
    "langchain_core.pydantic_v1": "import it from pydantic",
    "langchain_community": "keep LangChain for it; dragoman.compat converts at the border",
    "langchain_text_splitters": "keep it: it works on texts",
    "langchain_mcp_adapters": "see dragoman.tools.mcp (connect, load_mcp_tools)",
    "langgraph": "keep LangGraph for it; dragoman.compat.wrap_model gives it a model",
    "langgraph.prebuilt.create_react_agent": "use dragoman.agents.create_agent",
    "langgraph.checkpoint.sqlite": "use dragoman.threads.SQLiteThreads(path)",
    "langgraph.checkpoint.postgres": "use dragoman.threads.PostgresThreads(url)",
    "langgraph.types.Send": "dragoman's agents have no graphs",
    "langsmith": "use callbacks, or the OpenTelemetry extra",
}
FAMILY = (*ROOTS, *PROVIDERS, *HINTS)


def is_theirs(module: str) -> bool:
    """Return whether a module belongs to LangChain's family."""
    root = module.partition(".")[0]
    return root in FAMILY or root.startswith("langchain_")


@cache
def module_here(name: str) -> ModuleType | None:
    """Return our module of that name, or None if there is none."""
    try:
        return import_module(name)
    except MissingExtraError:
        return ModuleType(name)  # it is there, and says which extra it wants
    except ModuleNotFoundError as error:
        if error.name is not None and (name + ".").startswith(error.name + "."):
            return None
        return ModuleType(name)


def is_module_here(module: str) -> str | None:
    """Return our name of one of LangChain's modules, or None.

    >>> is_module_here("langchain_core.messages.ai")
    'dragoman.messages.ai'
    """
    root, _, rest = module.partition(".")
    if root not in ROOTS:
        return None
    here = f"dragoman.{rest}" if rest else "dragoman"
    return here if module_here(here) is not None else None


def counterpart(module: str, name: str) -> Place | None:
    """Return where `from module import name` finds its like here, or None.

    >>> counterpart("langgraph.graph.message", "add_messages")
    Place(module='dragoman.messages', name='add_messages')
    """
    moved = MOVED.get(f"{module}.{name}")
    if moved is not None:
        found = Place(f"dragoman.{moved.module}", moved.name)
        return found if _has(*found) else None
    for old in OLD.get(module, "").split():
        if _has(f"dragoman.{old}", name):
            return Place(f"dragoman.{old}", name)
    root, _, rest = module.partition(".")
    if root in PROVIDERS:
        return Place("dragoman.chat_models", name) if _has("dragoman.chat_models", name) else None
    if root not in ROOTS:
        return None
    # A name in a module that is not here may stand in the package above it.
    parts = rest.split(".") if rest else []
    for n_parts in range(len(parts), 0, -1):
        here = ".".join(["dragoman", *parts[:n_parts]])
        if _has(here, name):
            return Place(here, name)
    if not parts and module_here(f"dragoman.{name}") is not None:
        return Place("dragoman", name)
    return None


def _has(module: str, name: str) -> bool:
    found = module_here(module)
    if found is None:
        return False
    return hasattr(found, name) or module_here(f"{module}.{name}") is not None


def hint_of(name: str) -> str:
    """Return what to do about a name that has no counterpart."""
    fitting = [start for start in HINTS if f"{name}.".startswith(start + ".")]
    return HINTS[max(fitting, key=len)] if fitting else HINTS["langchain"]
