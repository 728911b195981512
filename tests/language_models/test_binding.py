"""What `bind_tools` puts into a call."""

import pytest
from pydantic import BaseModel
from tests.language_models.models import Tooled

from dragoman.language_models.binding import tools_kwargs
from dragoman.tools import tool


class Out(BaseModel):
    """An answer."""

    n: int


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def names(found):
    return [tool["function"]["name"] for tool in found["tools"]]


def test_every_kind_of_tool_becomes_openai_json():
    given = [
        add,
        Out,
        {"name": "f", "description": "d", "parameters": {"type": "object"}},
        {"type": "function", "function": {"name": "g"}},
        {"name": "h", "input_schema": {"type": "object"}},
    ]
    assert names(tools_kwargs(given)) == ["add", "Out", "f", "g", "h"]


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 2},
        {"google_search": {}},
        {"type": "web_search"},
        {"cachePoint": {"type": "default"}},
    ],
)
def test_a_providers_own_tool_passes_as_it_is(tool):
    assert tools_kwargs([tool])["tools"] == [tool]


@pytest.mark.parametrize(
    ("given", "choice"),
    [
        (None, None),
        ("auto", "auto"),
        ("none", "none"),
        ("any", "any"),
        ("required", "any"),
        (True, "any"),
        (False, None),
        ("add", "add"),
        ({"type": "tool", "name": "add"}, {"type": "tool", "name": "add"}),
    ],
)
def test_choices(given, choice):
    assert tools_kwargs([add], tool_choice=given).get("tool_choice") == choice


def test_a_choice_that_names_no_tool_is_an_error():
    with pytest.raises(ValueError, match=r"tool_choice 'sub' names none of the tools \['add'\]"):
        tools_kwargs([add], tool_choice="sub")


def test_options_are_left_out_unless_given():
    assert set(tools_kwargs([add])) == {"tools"}
    found = tools_kwargs(
        [add, {"type": "function", "function": {"name": "g", "parameters": {}}}],
        strict=True,
        parallel_tool_calls=False,
    )
    assert found["parallel_tool_calls"] is False
    assert all(tool["function"]["strict"] for tool in found["tools"])


def test_a_bound_model_sends_them_with_each_call():
    model = Tooled(seen=[])
    model.bind_tools([add], tool_choice="any", temperature=0).invoke("x")
    kwargs = model.seen[0][2]
    assert set(kwargs) == {"tools", "tool_choice", "temperature"}


def test_the_users_dict_is_not_changed():
    tool = {"type": "function", "function": {"name": "g", "parameters": {"type": "object"}}}
    before = repr(tool)
    tools_kwargs([tool], strict=True)
    assert repr(tool) == before


@pytest.mark.parametrize("given", [add, tool(add), {"name": "add", "parameters": {}}, "add", None])
def test_a_single_tool_without_a_list_is_refused_in_words(given):
    kind = type(given).__name__
    with pytest.raises(TypeError, match=f"tools has to be a list, got {kind}; write \\[tool\\]"):
        tools_kwargs(given)
