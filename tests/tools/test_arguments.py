"""From what the model gave to what the function gets, whatever the function's signature."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from dragoman.tools import BaseTool, InjectedToolCallId, StructuredTool, tool


def place_only(x: int, /, y: int = 2) -> list[Any]:
    """Show."""
    return [x, y]


def open_ended(x: int, *args: int) -> list[Any]:
    """Show."""
    return [x, args]


def open_ended_with_default(x: int = 1, *args: int, y: int = 3, **kwargs: int) -> list[Any]:
    """Show."""
    return [x, args, y, kwargs]


@pytest.mark.parametrize(
    ("function", "given", "result"),
    [
        (place_only, {"x": "1"}, [1, 2]),
        (open_ended, {"x": 1, "args": [2, 3]}, [1, (2, 3)]),
        (open_ended, {"x": 1}, [1, ()]),
        (open_ended_with_default, {"args": [2], "kwargs": {"z": 4}}, [1, (2,), 3, {"z": 4}]),
    ],
)
def test_arguments_are_given_by_place_where_they_have_to_be(function, given, result):
    assert tool(function).invoke(given) == result


def test_a_method_takes_its_arguments_by_place_too():
    class Show(BaseTool):
        name: str = "show"
        description: str = "Show."

        def _run(self, x: int, /, y: int = 2) -> list[Any]:
            return [x, y]

    assert Show().invoke({"x": "1"}) == [1, 2]


def test_a_callable_object_without_a_hash_is_a_tool():
    @dataclass
    class Add:
        k: int

        def __call__(self, x: int) -> int:
            """Add."""
            return self.k + x

    added = [
        StructuredTool.from_function(Add(k), name="add", description="Add.").invoke({"x": 1})
        for k in (1, 2)
    ]
    assert added == [2, 3]


def test_an_optional_call_id_is_filled_in():
    @tool
    def tell(call_id: Annotated[str, InjectedToolCallId] | None = None) -> str:
        """Tell."""
        return str(call_id)

    call = {"type": "tool_call", "name": "tell", "args": {"call_id": "evil"}, "id": "7"}
    assert tell.invoke(call).content == "7"
