"""Schemas of tools: no way in which a model could set an injected argument."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import AliasPath, BaseModel, Field
from typing_extensions import TypedDict

from dragoman.tools import (
    BaseTool,
    InjectedToolArg,
    SchemaAnnotationError,
    StructuredTool,
    create_schema_from_function,
)


class Model(BaseModel):
    q: str
    user: Annotated[str, InjectedToolArg] = "anon"


@dataclass
class Data:
    user: Annotated[str, InjectedToolArg] = "anon"


class Keys(TypedDict):
    user: Annotated[str, InjectedToolArg]


class Outer(BaseModel):
    inner: dict[str, Data | None]


class Tree(BaseModel):
    n: int
    children: "list[Tree]" = []


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        (Model, "at.user"),
        (Data, "at.user"),
        (Keys, "at.user"),
        (list[Model] | None, "at.user"),
        (Outer, "at.inner.user"),
        (list[Annotated[str, InjectedToolArg]], "at"),
    ],
)
def test_an_injected_argument_inside_another_is_refused(kind, place):
    def find(at: kind) -> str:
        """Find."""
        return ""

    class Find(BaseTool):
        name: str = "find"
        description: str = "Find."

        def _run(self, at: kind) -> str:
            return ""

    words = f"`{place}` of `find` is injected, but stands inside an argument"
    with pytest.raises(SchemaAnnotationError, match=words):
        StructuredTool.from_function(find)
    with pytest.raises(SchemaAnnotationError, match=words):
        Find().invoke({"at": {}})


def test_a_schema_with_an_injected_argument_inside_another_or_behind_a_path_is_refused():
    class Behind(BaseModel):
        user: Annotated[str, InjectedToolArg] = Field("a", validation_alias=AliasPath("at", "u"))

    def find(**kwargs: Any) -> str:
        """Find."""
        return ""

    with pytest.raises(SchemaAnnotationError, match=r"`inner\.user` of `Outer` is injected"):
        StructuredTool.from_function(find, args_schema=Outer)
    with pytest.raises(SchemaAnnotationError, match="its alias is a path"):
        StructuredTool.from_function(find, args_schema=Behind)


def test_what_is_injected_may_hold_anything_and_other_types_may_recur():
    def find(at: Tree, state: Annotated[Model, InjectedToolArg]) -> str:
        """Find."""
        return ""

    assert list(create_schema_from_function("find", find).model_fields) == ["at", "state"]
