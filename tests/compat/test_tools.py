"""Tools cross in both directions and are run by the other side's agents."""

from typing import Annotated

import pytest
from langchain_core import tools as theirs
from langchain_core.runnables import RunnableConfig as TheirConfig
from langgraph.prebuilt import InjectedState as TheirState
from pydantic import BaseModel, Field, ValidationError

from dragoman import tools as ours
from dragoman.compat import from_langchain, to_langchain
from dragoman.messages import ToolMessage
from dragoman.runnables import RunnableConfig
from dragoman.tools import execute_tool_calls
from dragoman.utils.function_calling import convert_to_openai_tool

CALL = {"name": "add", "args": {"a": 2, "b": 3}, "id": "c1", "type": "tool_call"}


class Numbers(BaseModel):
    """Two numbers."""

    a: int = Field(description="one")
    b: int = 1


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


async def aadd(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


OURS = ours.StructuredTool.from_function(add, aadd, args_schema=Numbers)
THEIRS = theirs.StructuredTool.from_function(add, aadd, args_schema=Numbers)


def test_a_tool_that_crosses_back_is_the_object_it_was():
    assert from_langchain(to_langchain(OURS)) is OURS
    assert to_langchain(from_langchain(THEIRS)) is THEIRS


@pytest.mark.parametrize("schema", [Numbers, Numbers.model_json_schema()])
def test_both_sides_show_the_model_the_same_schema(schema):
    here = ours.StructuredTool.from_function(add, args_schema=schema)
    there = theirs.StructuredTool.from_function(add, args_schema=schema)

    assert convert_to_openai_tool(from_langchain(there)) == convert_to_openai_tool(here)
    assert to_langchain(here).args == there.args


async def test_a_tool_of_ours_answers_a_call_there():
    tool = to_langchain(OURS)

    assert tool.invoke({"a": 2, "b": 3}) == 5
    assert await tool.ainvoke({"a": 2}) == 3
    answer = tool.invoke(CALL)
    assert (type(answer).__module__, answer.content, answer.tool_call_id, answer.name) == (
        "langchain_core.messages.tool",
        "5",
        "c1",
        "add",
    )


async def test_a_tool_of_theirs_answers_a_call_here():
    tool = from_langchain(THEIRS)

    assert tool.invoke({"a": 2, "b": 3}) == 5
    assert await tool.ainvoke({"a": 2}) == 3
    assert tool.invoke(CALL) == ToolMessage("5", tool_call_id="c1", name="add")


@pytest.mark.parametrize("cross", [lambda: to_langchain(OURS), lambda: from_langchain(THEIRS)])
def test_arguments_are_validated_by_the_side_that_calls(cross):
    with pytest.raises(ValidationError):
        cross().invoke({"a": "no number"})


def test_artifacts_cross():
    def look(q: str):
        """Look."""
        return f"found {q}", {"rows": [1]}

    here = ours.StructuredTool.from_function(look, response_format="content_and_artifact")
    there = theirs.StructuredTool.from_function(look, response_format="content_and_artifact")
    call = {"name": "look", "args": {"q": "x"}, "id": "c1", "type": "tool_call"}
    for answer in (to_langchain(here).invoke(call), from_langchain(there).invoke(call)):
        assert (answer.content, answer.artifact) == ("found x", {"rows": [1]})


def test_tool_exceptions_are_handled_as_the_tool_says():
    def fail(exception):
        def f(x: int) -> int:
            """Fail."""
            raise exception("no luck")

        return f

    here = ours.StructuredTool.from_function(
        fail(ours.ToolException), handle_tool_error=lambda e: f"handled {type(e).__module__}: {e}"
    )
    there = theirs.StructuredTool.from_function(fail(theirs.ToolException), handle_tool_error=True)
    call = {"name": "f", "args": {"x": 1}, "id": "c1", "type": "tool_call"}
    answer = to_langchain(here).invoke(call)
    assert answer.content.startswith("handled dragoman.")
    assert answer.content.endswith("no luck")
    assert answer.status == "error"
    assert from_langchain(there).invoke(call).content == "no luck"
    raw = ours.StructuredTool.from_function(fail(ours.ToolException))
    with pytest.raises(theirs.ToolException, match="no luck"):
        to_langchain(raw).invoke(call)


def test_the_config_arrives_whatever_the_parameter_is_called():
    def here(x: int, settings: RunnableConfig) -> str:
        """Tell."""
        return settings["configurable"]["user"]

    def there(x: int, config: TheirConfig) -> str:
        """Tell."""
        return config["configurable"]["user"]

    config = {"configurable": {"user": "Ada"}}
    assert to_langchain(ours.tool(here)).invoke({"x": 1}, config) == "Ada"
    assert from_langchain(theirs.tool(there)).invoke({"x": 1}, config) == "Ada"


def test_marks_of_injected_arguments_are_translated():
    @ours.tool
    def here(
        x: int,
        call: Annotated[str, ours.InjectedToolCallId],
        state: Annotated[list, ours.InjectedState("messages")],
    ) -> str:
        """Tell."""
        return f"{x} {call} {len(state)}"

    crossed = to_langchain(here)
    mark = crossed.args_schema.model_fields["state"].metadata[0]
    assert (type(mark), mark.field) == (TheirState, "messages")
    assert list(crossed.args) == ["x"]
    answer = crossed.invoke(
        {"name": "here", "args": {"x": 1, "state": [1]}, "id": "c7", "type": "tool_call"}
    )
    assert answer.content == "1 c7 1"


def test_injected_values_of_their_tools_never_come_from_the_model():
    @theirs.tool
    def there(x: int, secret: Annotated[str, theirs.InjectedToolArg], n: int = 0) -> str:
        """Tell."""
        return f"{x} {secret}"

    from dragoman.messages import AIMessage

    crossed = from_langchain(there)
    assert list(crossed.args) == ["x", "n"]
    call = {"name": "there", "args": {"x": 1, "secret": "forged"}, "id": "c1"}
    (answer,) = execute_tool_calls(AIMessage("", tool_calls=[call]), [crossed])
    assert answer.status == "error"
    assert "forged" not in answer.content
    (answer,) = execute_tool_calls(
        AIMessage("", tool_calls=[call]), [crossed], injected={"secret": "real"}
    )
    assert answer.content == "1 real"


def test_a_class_of_ones_own_crosses_too():
    class Theirs(theirs.BaseTool):
        name: str = "shout"
        description: str = "Shouts."

        def _run(self, text: str, run_manager=None) -> str:
            return text.upper()

    class Ours(ours.BaseTool):
        name: str = "shout"
        description: str = "Shouts."

        def _run(self, text: str) -> str:
            return text.upper()

    assert from_langchain(Theirs()).invoke({"text": "a"}) == "A"
    assert to_langchain(Ours()).invoke({"text": "a"}) == "A"
