"""Signatures and models of every kind that people give to `@tool`.

Each entry has a name, a tool, arguments that fit and arguments that do not. The schemas that the
providers get for them are checked in beside this file; `python -m tests.tools.zoo` writes them anew,
to be read before they are committed.
"""

import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    TypeVar,
)

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from typing_extensions import TypedDict

from dragoman.codecs.schemas import encode_schema
from dragoman.tools import BaseTool, InjectedToolArg, StructuredTool, tool
from dragoman.utils.function_calling import convert_to_openai_function

DIALECTS = ("openai", "anthropic", "gemini", "bedrock")
EXPECTED = Path(__file__).parent / "zoo.json"

T = TypeVar("T")
Id = NewType("Id", int)


class Colour(enum.Enum):
    """A colour."""

    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    S = 1
    L = 2


class Point(BaseModel):
    """A point."""

    x: int
    y: int = Field(0, description="the other one")


class Tree(BaseModel):
    """A tree."""

    value: int
    children: list["Tree"] = []


class Man(BaseModel):
    name: str
    wife: Optional["Woman"] = None


class Woman(BaseModel):
    name: str
    husband: Man | None = None


Man.model_rebuild()


class Box(BaseModel, Generic[T]):
    """A box."""

    content: T


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class Keywords(BaseModel):
    """Properties that are called like keywords."""

    title: str
    default: int
    properties: list[str] = []
    type: str = "t"
    required: bool = True
    description: str = ""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    a: int


class Checked(BaseModel):
    even: int

    @field_validator("even")
    @classmethod
    def is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("odd")
        return value


class Place(TypedDict):
    """A place."""

    name: str
    people: NotRequired[int]


@dataclasses.dataclass
class Song:
    title: str
    notes: list[int] = dataclasses.field(default_factory=list)


class Pair(NamedTuple):
    a: int
    b: str


def of(annotation: Any, default: Any = ...) -> StructuredTool:
    """Return a tool with one argument `x`."""
    if default is ...:

        def f(x):
            return x

    else:

        def f(x=default):
            return x

    f.__annotations__ = {"x": annotation}
    return StructuredTool.from_function(f, name="f", description="Do.")


def many(a: int, b: str = "x", *, c: float | None = None) -> str:
    """Take several.

    Args:
        a: the first
        c: the last
    """
    return f"{a}{b}{c}"


def located(x: int, y: int) -> str:
    """Take what a class says."""
    return f"{x}{y}"


def reserved(schema: str, copy: int, _x: int, model_config: str = "m", json: bool = False) -> str:
    """Take reserved names."""
    return f"{schema}{copy}{_x}{model_config}{json}"


def hidden(a: int, secret: Annotated[str, InjectedToolArg] = "s") -> str:
    """Hide something."""
    return f"{a}{secret}"


def open_ended(a: int, *args: int, **kwargs: str) -> str:
    """Take anything."""
    return f"{a}{args}{kwargs}"


def nothing() -> str:
    """Take nothing."""
    return ""


def numpy_style(a: int) -> int:
    """Read another style.

    Parameters
    ----------
    a : int
        the first
    """
    return a


class Aliased(BaseModel):
    """An alias."""

    q: str = Field(alias="Query")


class Written(BaseTool):
    """A tool class."""

    name: str = "written"
    description: str = "Written as a class."

    def _run(self, a: int, tags: list[str] | None = None) -> str:
        return f"{a}{tags}"


BAD = object()
"""Stands where every argument fits."""

ZOO: dict[str, tuple[BaseTool, dict[str, Any], Any]] = {
    "integer": (of(int), {"x": 1}, {"x": "a"}),
    "number": (of(float), {"x": 1.5}, {"x": []}),
    "infinite default": (of(float, float("inf")), {"x": 1.5}, {"x": []}),
    "boolean": (of(bool), {"x": True}, {"x": "perhaps"}),
    "string": (of(str), {"x": "a"}, {"x": 1}),
    "null": (of(None), {"x": None}, {"x": 1}),
    "optional": (of(int | None, None), {"x": None}, {"x": "a"}),
    "union": (of(int | list[str]), {"x": ["a"]}, {"x": {}}),
    "enum": (of(Colour, Colour.RED), {"x": "blue"}, {"x": "green"}),
    "integer enum": (of(Size), {"x": 2}, {"x": 3}),
    "literal": (of(Literal["a", "b"]), {"x": "a"}, {"x": "c"}),
    "one literal": (of(Literal["a"]), {"x": "a"}, {"x": "c"}),
    "mixed literal": (of(Literal[1, "a", None]), {"x": 1}, {"x": 2}),
    "list": (of(list[int], []), {"x": [1]}, {"x": ["a"]}),
    "list of lists": (of(list[list[int]]), {"x": [[1]]}, {"x": [1]}),
    "set": (of(set[int]), {"x": [1, 2]}, {"x": 1}),
    "sequence": (of(Sequence[int]), {"x": [1]}, {"x": 1}),
    "tuple": (of(tuple[int, str]), {"x": [1, "a"]}, {"x": [1]}),
    "long tuple": (of(tuple[int, ...]), {"x": [1, 2]}, {"x": ["a"]}),
    "named tuple": (of(Pair), {"x": [1, "a"]}, {"x": [1]}),
    "dict": (of(dict[str, list[int]]), {"x": {"a": [1]}}, {"x": {"a": 1}}),
    "plain dict": (of(dict), {"x": {"a": 1}}, {"x": 1}),
    "mapping": (of(Mapping[str, int]), {"x": {"a": 1}}, {"x": 1}),
    "anything": (of(Any), {"x": {}}, {}),
    "datetime": (of(datetime.datetime), {"x": "2026-01-02T03:04:05"}, {"x": "now"}),
    "date": (of(datetime.date), {"x": "2026-01-02"}, {"x": "now"}),
    "duration": (of(datetime.timedelta), {"x": "P1D"}, {"x": "long"}),
    "decimal": (of(decimal.Decimal), {"x": "1.5"}, {"x": "a"}),
    "uuid": (of(uuid.UUID), {"x": str(uuid.UUID(int=1))}, {"x": "a"}),
    "path": (of(pathlib.PurePosixPath), {"x": "/a"}, {"x": 1}),
    "secret": (of(SecretStr), {"x": "a"}, {"x": 1}),
    "new type": (of(Id), {"x": 1}, {"x": "a"}),
    "limits": (of(Annotated[int, Field(gt=3, le=5)]), {"x": 4}, {"x": 6}),
    "pattern": (of(Annotated[str, Field(pattern="^a+$", max_length=3)]), {"x": "aa"}, {"x": "b"}),
    "described": (of(Annotated[int, "how many"]), {"x": 1}, {"x": "a"}),
    "model": (of(Point), {"x": {"x": 1}}, {"x": {"y": 1}}),
    "default model": (of(Point, Point(x=1)), {"x": {"x": 2}}, {"x": {"y": 1}}),
    "list of models": (of(list[Point]), {"x": [{"x": 1}]}, {"x": [{}]}),
    "optional model": (of(Point | None, None), {"x": {"x": 1}}, {"x": 1}),
    "recursive model": (
        of(Tree),
        {"x": {"value": 1, "children": [{"value": 2}]}},
        {"x": {"value": 1, "children": [{}]}},
    ),
    "mutually recursive": (
        of(Man),
        {"x": {"name": "a", "wife": {"name": "b"}}},
        {"x": {"name": "a", "wife": {}}},
    ),
    "generic model": (of(Box[int]), {"x": {"content": 1}}, {"x": {"content": "a"}}),
    "tagged union": (
        of(Annotated[Cat | Dog, Field(discriminator="kind")]),
        {"x": {"kind": "dog", "tricks": []}},
        {"x": {"kind": "dog"}},
    ),
    "keyword properties": (
        of(Keywords),
        {"x": {"title": "a", "default": 1}},
        {"x": {"title": "a"}},
    ),
    "closed model": (of(Strict), {"x": {"a": 1}}, {"x": {"a": 1, "b": 2}}),
    "validated model": (of(Checked), {"x": {"even": 2}}, {"x": {"even": "a"}}),
    "typed dict": (of(Place), {"x": {"name": "a"}}, {"x": {}}),
    "dataclass": (of(Song), {"x": {"title": "a"}}, {"x": {}}),
    "several": (tool(many, parse_docstring=True), {"a": 1, "c": 2.5}, {"b": "x"}),
    "reserved names": (tool(reserved), {"schema": "s", "copy": 1, "_x": 2}, {"schema": "s"}),
    "injected": (tool(hidden), {"a": 1}, {}),
    "open ended": (tool(open_ended), {"a": 1}, {}),
    "no arguments": (tool(nothing), {}, BAD),
    "numpy docstring": (tool(numpy_style, parse_docstring=True), {"a": 1}, {}),
    "schema class": (tool(args_schema=Point)(located), {"x": 1}, {}),
    "alias": (tool(args_schema=Aliased)(lambda q: q), {"Query": "a"}, {"q": "a"}),
    "tool class": (Written(), {"a": 1}, {"a": "x"}),
    "json schema": (
        tool("j", args_schema={"type": "object", "properties": {"a": {"type": "integer"}}})(many),
        {"a": 1},
        BAD,
    ),
}


def schemas(made: BaseTool) -> dict[str, Any]:
    """Return the function and its parameters in each dialect that writes them differently."""
    function = convert_to_openai_function(made)
    parameters = function["parameters"]
    found = {"openai": encode_schema(parameters, "openai")}
    for dialect in DIALECTS[1:]:
        encoded = encode_schema(parameters, dialect)
        if encoded != found["openai"]:
            found[dialect] = encoded
    return {"name": function["name"], "description": function["description"], **found}


if __name__ == "__main__":
    everything = {name: schemas(made) for name, (made, *_) in ZOO.items()}
    EXPECTED.write_text(json.dumps(everything, indent=1) + "\n")
