"""`@tool` and the other ways to make one; rendering; retrievers."""

import asyncio
from functools import partial
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from dragoman.documents import Document
from dragoman.runnables import RunnableLambda
from dragoman.tools import (
    BaseToolkit,
    StructuredTool,
    Tool,
    create_retriever_tool,
    create_schema_from_function,
    render_text_description,
    render_text_description_and_args,
    tool,
)


def plain(x: int):
    return x


def documented(bar: str, baz: int = 1) -> str:
    """The foo.

    Args:
        bar: The bar.
        baz: The baz.
    """
    return bar * baz


def test_every_way_of_decorating():
    assert tool(documented).name == "documented"
    assert tool("named")(documented).name == "named"
    assert tool(return_direct=True)(documented).return_direct is True
    assert tool("named", description="D", extras={"k": 1})(plain).extras == {"k": 1}


def test_the_description_is_the_whole_docstring_unless_it_is_parsed():
    whole = tool(documented)
    assert whole.description == documented.__doc__.strip()
    assert "bar: The bar." in whole.description
    assert "description" not in whole.args["bar"]
    parsed = tool(documented, parse_docstring=True)
    assert parsed.description == "The foo."
    assert parsed.args["baz"] == {
        "default": 1,
        "description": "The baz.",
        "title": "Baz",
        "type": "integer",
    }
    assert tool(description=" D ")(documented).description == "D"


def test_argument_texts_come_from_docstring_then_annotation():
    @tool(parse_docstring=True)
    def f(
        a: Annotated[str, "text a"],
        b: Annotated[int, Field(description="field b")] = 1,
        c: Annotated[int, "text c"] = 2,
    ) -> None:
        """Doc.

        Args:
            c: doc c
        """

    assert [f.args[name]["description"] for name in "abc"] == ["text a", "field b", "doc c"]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: tool(plain), ValueError, "Function must have a docstring if description not"),
        (lambda: tool(infer_schema=False)(plain), ValueError, "when infer_schema is False"),
        (lambda: tool("a", "b", "c"), ValueError, "Too many arguments for tool decorator"),
        (lambda: tool("a", "b"), TypeError, "not a callable object"),
        (lambda: tool(3), ValueError, "The first argument must be a string or a callable"),
        (lambda: tool(3, RunnableLambda(plain)), ValueError, "Name must be a string"),
        (lambda: tool(None, RunnableLambda(plain)), ValueError, "Runnable without name"),
        (
            lambda: tool("n", RunnableLambda(plain)),
            ValueError,
            "Runnable must have an object schema",
        ),
        (lambda: StructuredTool.from_function(), ValueError, "Function and/or coroutine must be"),
        (lambda: Tool.from_function(None, "n", "d"), ValueError, "Function and/or coroutine"),
        (lambda: StructuredTool(name="a", description="d", func=plain), ValueError, "args_schema"),
        (lambda: tool(plain, parse_docstring=True), ValueError, "Found invalid Google-Style"),
    ],
)
def test_misuse(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_a_documented_argument_that_is_not_there_is_refused():
    def f(bar: str) -> None:
        """The foo.

        Args:
            banana: no
        """

    with pytest.raises(ValueError, match="Arg banana in docstring not found in function signature"):
        tool(f, parse_docstring=True)
    assert tool(f).name == "f"


def test_a_simple_tool_without_schema():
    made = tool("search", infer_schema=False)(documented)
    assert type(made) is Tool
    assert made.invoke("x") == "x"


def test_partials_and_lambdas_work_with_a_name():
    made = StructuredTool.from_function(partial(documented, baz=3), name="p", description="d")
    assert made.invoke({"bar": "a"}) == "aaa"
    made = StructuredTool.from_function(lambda x: x, name="l", description="d")
    assert made.invoke({"x": 1}) == 1


def test_function_and_coroutine_together():
    async def other(bar: str, baz: int = 1) -> str:
        return "async"

    made = StructuredTool.from_function(documented, other)
    assert made.invoke({"bar": "a"}) == "a"
    assert asyncio.run(made.ainvoke({"bar": "a"})) == "async"


def test_a_schema_from_a_function():
    model = create_schema_from_function("M", documented, parse_docstring=True, filter_args=["baz"])
    assert model.model_json_schema() == {
        "description": "The foo.",
        "properties": {"bar": {"description": "The bar.", "title": "Bar", "type": "string"}},
        "required": ["bar"],
        "title": "M",
        "type": "object",
    }


# Runnables


class Args(TypedDict):
    a: int
    b: list[int]


def product(x: Args) -> str:
    return str(x["a"] * max(x["b"]))


def test_a_runnable_of_a_dict_becomes_a_structured_tool():
    for made in (
        tool("n", RunnableLambda(product)),
        RunnableLambda(product).as_tool(name="n", description="d"),
    ):
        assert type(made) is StructuredTool
        assert list(made.args) == ["a", "b"]
        assert made.invoke({"a": 3, "b": [1, 2]}) == "6"
        assert asyncio.run(made.ainvoke({"a": 3, "b": [1, 2]})) == "6"


def test_a_runnable_of_a_text_becomes_a_tool():
    runnable = RunnableLambda(lambda text: text.upper()).with_types(input_type=str)
    made = runnable.as_tool(name="up", description="d")
    assert type(made) is Tool
    assert made.invoke("a") == made.invoke({"text": "a"}) == "A"


def test_the_input_of_a_runnable_may_be_described():
    class Schema(BaseModel):
        """Doc."""

        a: int = Field(description="the a")

    runnable = RunnableLambda(lambda x: str(x["a"]))
    assert runnable.as_tool(arg_types={"a": int}).args == {"a": {"title": "A", "type": "integer"}}
    made = runnable.as_tool(Schema)
    assert made.args["a"]["description"] == "the a"
    assert made.invoke({"a": "3"}) == "3"


# Text and retrievers


def test_tools_as_text():
    made = tool("f", description="d")(plain)
    assert render_text_description([made]) == "f(x: int) - d"
    assert (
        render_text_description_and_args([made, made]).split("\n")
        == ["f(x: int) - d, args: {'x': {'title': 'X', 'type': 'integer'}}"] * 2
    )


@pytest.mark.parametrize("is_async", [False, True])
def test_a_retriever_as_a_tool(is_async):
    found = [Document(page_content="a"), Document(page_content="b")]
    made = create_retriever_tool(
        RunnableLambda(lambda query: found),
        "look_up",
        "Look up.",
        document_separator="|",
        response_format="content_and_artifact",
    )
    given: Any = {"type": "tool_call", "name": "look_up", "args": {"query": "q"}, "id": "1"}
    message = asyncio.run(made.ainvoke(given)) if is_async else made.invoke(given)
    assert message.content == "a|b"
    assert message.artifact == found
    assert made.args["query"]["description"] == "query to look up in retriever"


def test_a_toolkit_gives_tools():
    class Kit(BaseToolkit):
        def get_tools(self):
            return [tool("f", description="d")(plain)]

    assert [t.name for t in Kit().get_tools()] == ["f"]


def test_parameters_of_a_function_in_no_class_may_be_called_self_and_cls():
    def greet(self: str, cls: int = 1) -> str:
        """Greet."""
        return f"{self}{cls}"

    class Room:
        def enter(self, name: str) -> str:
            """Enter."""
            return name

    assert list(tool(greet).args) == ["self", "cls"]
    assert tool(greet).invoke({"self": "a", "cls": 2}) == "a2"
    assert list(tool(Room.enter).args) == ["name"]
    assert tool(Room().enter).invoke({"name": "x"}) == "x"


def test_a_model_without_a_docstring_does_not_describe_itself_by_pydantic_s():
    class Bare(BaseModel):
        v: int

    assert tool(Bare).description == ""
