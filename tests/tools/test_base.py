"""Tools: calls, arguments, results, errors, callbacks, injection."""

import asyncio
import contextvars
import copy
import pickle
import threading
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dragoman.callbacks import BaseCallbackHandler
from dragoman.messages import ToolMessage
from dragoman.runnables import RunnableConfig, RunnableLambda
from dragoman.tools import (
    BaseTool,
    InjectedToolArg,
    InjectedToolCallId,
    SchemaAnnotationError,
    StructuredTool,
    Tool,
    ToolException,
    ToolRuntime,
    tool,
)
from dragoman.tools.arguments import injected_names
from dragoman.utils.function_calling import convert_to_openai_function


def call(args: dict[str, Any], call_id: str | None = "i") -> dict[str, Any]:
    return {"type": "tool_call", "name": "f", "args": args, "id": call_id}


@tool
def pair(a: int, b: str = "x") -> str:
    """Return both."""
    return f"{a!r}{b!r}"


class Own(BaseTool):
    """Written as a class."""

    name: str = "own"
    description: str = "my tool"

    def _run(self, a: int, b: str = "q", run_manager: Any = None) -> str:
        return f"{a!r}{b}"


# Schemas


def test_a_tool_made_of_a_function_has_its_schema():
    assert (pair.name, pair.description) == ("pair", "Return both.")
    assert pair.args == {
        "a": {"title": "A", "type": "integer"},
        "b": {"default": "x", "title": "B", "type": "string"},
    }
    assert pair.tool_call_schema.model_json_schema() == {
        "description": "Return both.",
        "properties": pair.args,
        "required": ["a"],
        "title": "pair",
        "type": "object",
    }
    assert not pair.is_single_input


def test_a_tool_class_without_schema_takes_that_of_its_run():
    assert list(Own().args) == ["a", "b"]
    assert Own().tool_call_schema.model_json_schema()["title"] == "own"
    assert Own().invoke({"a": "1"}) == "1q"
    with pytest.raises(ValidationError):
        Own().invoke({"a": "no number"})


def test_setting_name_description_or_schema_refreshes_what_the_model_sees():
    mine = Own()
    assert mine.tool_call_schema.model_json_schema()["title"] == "own"
    mine.name, mine.description = "new", "newer"
    schema = mine.tool_call_schema.model_json_schema()
    assert (schema["title"], schema["description"]) == ("new", "newer")

    class Other(BaseModel):
        z: int

    mine.args_schema = Other
    assert list(mine.args) == ["z"]


@pytest.mark.parametrize("schema", [3, "x", object(), int])
def test_a_schema_must_be_a_class_or_a_dict(schema):
    with pytest.raises(TypeError, match="args_schema must be a subclass of pydantic BaseModel"):
        Own(args_schema=schema)


def test_a_schema_annotated_as_an_object_is_refused_at_definition():
    with pytest.raises(SchemaAnnotationError, match=r"Expected annotation of 'Type\[BaseModel\]'"):

        class Bad(BaseTool):
            name: str = "bad"
            description: str = "bad"
            args_schema: BaseModel = Own  # type: ignore[assignment]

            def _run(self) -> None: ...


# Arguments


def test_arguments_are_coerced_completed_and_freed_of_unknown_ones():
    given = {"a": "3", "zzz": 2}
    assert pair.invoke(given) == "3'x'"
    assert given == {"a": "3", "zzz": 2}


@pytest.mark.parametrize(
    "given", [{}, {"a": "q"}, 5, None, {"name": "f", "args": {"a": 1}, "id": "i"}]
)
def test_wrong_arguments_are_validation_errors(given):
    with pytest.raises(ValidationError):
        pair.invoke(given)


def test_a_text_is_checked_and_passed_as_it_is():
    assert pair.invoke("5") == "'5''x'"
    with pytest.raises(ValidationError):
        pair.invoke("no number")


def test_a_tool_without_arguments_ignores_what_it_gets():
    @tool
    def nothing() -> str:
        """Do nothing."""
        return "n"

    assert [nothing.invoke(v) for v in ({}, {"q": 1}, "x", "")] == ["n"] * 4


class Point(BaseModel):
    x: int


def test_nested_models_arrive_as_objects():
    @tool
    def f(p: Point, many: list[Point], maybe: Point | None = None) -> Any:
        """Do."""
        return (p, many, maybe)

    assert f.invoke({"p": {"x": "1"}, "many": [{"x": 2}]}) == (Point(x=1), [Point(x=2)], None)


def test_b97_defaults_aliases_and_factories():
    class Schema(BaseModel):
        """Doc."""

        o: int | None = None
        d: list[str] = Field(default_factory=list)
        al: str = Field("x", alias="Alias")

    @tool(args_schema=Schema)
    def f(**kwargs: Any) -> Any:
        """Do."""
        return kwargs

    assert list(f.args) == ["o", "d", "Alias"]
    assert f.invoke({"Alias": "q"}) == {"o": None, "d": [], "al": "q"}
    assert f.invoke({}) == {"o": None, "d": [], "al": "x"}


def test_extra_keys_pass_if_the_schema_allows_them_and_validators_run():
    class Schema(BaseModel):
        model_config = ConfigDict(extra="allow")
        a: int

        @model_validator(mode="before")
        @classmethod
        def add(cls, value: Any) -> Any:
            return {**value, "added": 1}

    @tool(args_schema=Schema)
    def f(**kwargs: Any) -> Any:
        """Do."""
        return kwargs

    assert f.invoke({"a": "1", "z": 2}) == {"a": 1, "z": 2, "added": 1}


def test_any_parameter_name_and_open_ended_parameters():
    @tool
    def f(schema: str, copy: int, _x: int, config: str, *args: int, **kwargs: str) -> Any:
        """Do."""
        return (schema, copy, _x, config, args, kwargs)

    given = {"schema": "s", "copy": "1", "_x": 2, "config": "c"}
    assert f.invoke(given) == ("s", 1, 2, "c", (), {})
    assert f.args["schema"]["title"] == "Schema"
    assert list(f.args)[:4] == list(given)
    assert f.invoke({**given, "kwargs": {"q": "z"}})[-1] == {"q": "z"}


JSON_SCHEMA = {
    "type": "object",
    "title": "J",
    "description": "d of schema",
    "properties": {"a": {"type": "integer"}},
}


def test_a_json_schema_validates_nothing():
    mine = StructuredTool.from_function(
        lambda **kwargs: kwargs, name="j", description="d", args_schema=JSON_SCHEMA
    )
    assert mine.args == {"a": {"type": "integer"}}
    assert mine.invoke({"a": "x", "b": 1}) == {"a": "x", "b": 1}
    assert mine.tool_call_schema == {**JSON_SCHEMA, "description": "d"}
    assert mine.get_input_jsonschema() == JSON_SCHEMA
    with pytest.raises(ValueError, match="String tool inputs are not allowed"):
        mine.invoke("x")
    named = tool("j", args_schema=JSON_SCHEMA)(lambda **kwargs: kwargs)
    assert named.description == "d of schema"


# Results


@pytest.mark.parametrize(
    ("returned", "content"),
    [
        ("text", "text"),
        ("", ""),
        (1, "1"),
        (None, "null"),
        (True, "true"),
        ([1, "a"], '[1, "a"]'),
        (["a", {"type": "text", "text": "x"}], ["a", {"type": "text", "text": "x"}]),
        ([{"type": "user", "text": "x"}], '[{"type": "user", "text": "x"}]'),
        ([], []),
        ({"a": "é"}, '{"a": "é"}'),
        ((1, 2), "[1, 2]"),
        ({"b", "a"}, '["a", "b"]'),
        (b"x", "b'x'"),
        (ValueError("no"), "ValueError: no"),
        ((n for n in (1, 2)), "[1, 2]"),
        (float("inf"), "Infinity"),
    ],
)
def test_b100_what_a_tool_returns_becomes_the_same_text_always(returned, content):
    @tool
    def f() -> Any:
        """Do."""
        return returned

    message = f.invoke(call({}))
    assert message == ToolMessage(content, name="f", tool_call_id="i")


def test_a_call_without_id_gives_the_bare_result_and_an_empty_id_counts():
    assert pair.invoke(call({"a": 1}, None)) == "1'x'"
    assert pair.invoke(call({"a": 1}, "")).tool_call_id == ""
    assert pair.run({"a": 1}) == "1'x'"
    assert pair.run({"a": 1}, tool_call_id="t").tool_call_id == "t"
    assert asyncio.run(pair.arun({"a": 1})) == "1'x'"


def test_messages_that_the_tool_made_pass_through():
    made = ToolMessage("hi", tool_call_id="own")

    @tool
    def one() -> Any:
        """Do."""
        return made

    @tool
    def many() -> Any:
        """Do."""
        return [made]

    assert one.invoke(call({})) is made
    assert one.invoke({}) is made
    assert many.invoke(call({})) == [made]


def test_content_and_artifact():
    @tool(response_format="content_and_artifact")
    def f(ok: bool) -> Any:
        """Do."""
        return ("c", {"art": 1}) if ok else "c"

    assert f.invoke({"ok": True}) == "c"
    message = f.invoke(call({"ok": True}))
    assert (message.content, message.artifact) == ("c", {"art": 1})
    with pytest.raises(ValueError, match="a two-tuple of the message content and raw tool output"):
        f.invoke({"ok": False})


def test_the_callers_call_is_not_changed():
    arguments = {"a": 1}
    given = call(arguments)
    pair.invoke(given)
    assert given == call({"a": 1})


# Errors


@tool
def failing(kind: str) -> str:
    """Fail."""
    if kind == "value":
        raise ValueError("v")
    raise ToolException(*([kind] if kind else []))


@pytest.mark.parametrize(
    ("rule", "kind", "text"),
    [
        (True, "boom", "boom"),
        (True, "", "Tool execution error"),
        ("handled", "boom", "handled"),
        (lambda e: f"cb {e}", "boom", "cb boom"),
        (lambda e: [{"type": "text", "text": "t"}], "boom", [{"type": "text", "text": "t"}]),
    ],
)
def test_tool_errors_become_results_when_handled(rule, kind, text):
    mine = failing.model_copy(update={"handle_tool_error": rule})
    assert mine.invoke({"kind": kind}) == text
    message = asyncio.run(mine.ainvoke(call({"kind": kind})))
    assert (message.content, message.status) == (text, "error")
    with pytest.raises(ValueError, match="v"):
        mine.invoke({"kind": "value"})


def test_tool_errors_are_raised_otherwise():
    with pytest.raises(ToolException, match="boom"):
        failing.invoke({"kind": "boom"})


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (True, "Tool input validation error"),
        ("handled", "handled"),
        (lambda e: type(e).__name__, "ValidationError"),
    ],
)
def test_validation_errors_alike(rule, text):
    mine = pair.model_copy(update={"handle_validation_error": rule})
    assert mine.invoke({"a": "q"}) == text
    assert mine.invoke(call({"a": "q"})).status == "error"


# Injection


@tool
def injecting(
    a: int,
    call_id: Annotated[str, InjectedToolCallId],
    secret: Annotated[dict[str, Any], InjectedToolArg],
    other: Annotated[int, InjectedToolArg()] = 7,
) -> Any:
    """Do."""
    return [a, call_id, secret, other]


def test_injected_arguments_are_invisible_to_the_model_and_supplied_by_the_caller():
    assert list(injecting.args) == ["a"]
    parameters = convert_to_openai_function(injecting)["parameters"]
    assert list(parameters["properties"]) == ["a"]
    assert set(injecting.get_input_schema().model_fields) == {"a", "call_id", "secret", "other"}
    assert injected_names(injecting) == {"call_id", "secret", "other"}
    message = injecting.invoke(call({"a": "1", "secret": {"k": 1}}))
    assert message.content == '[1, "i", {"k": 1}, 7]'
    with pytest.raises(ValidationError, match="secret"):
        injecting.invoke(call({"a": 1}))


def test_a_call_id_cannot_be_given_by_the_model_and_needs_a_call():
    message = injecting.invoke(call({"a": 1, "secret": {}, "call_id": "spoofed"}))
    assert '"i"' in message.content
    with pytest.raises(ValueError, match="InjectedToolCallId argument, tool must always be"):
        injecting.invoke({"a": 1, "secret": {}})


def test_injection_through_a_custom_schema_with_and_without_the_argument():
    class With(BaseModel):
        """With."""

        a: Annotated[int, InjectedToolArg]
        b: int = 1

    class Inherits(With):
        """Inherits."""

        c: int

    class Without(BaseModel):
        """Without."""

        b: int

    @tool(args_schema=Inherits)
    def f(a: int, b: int, c: int) -> Any:
        """Do."""
        return (a, b, c)

    value = object()

    @tool(args_schema=Without)
    def g(b: int, a: Annotated[Any, InjectedToolArg], z: Annotated[str, InjectedToolArg] = "z"):
        """Do."""
        return (a, b, z)

    assert list(f.args) == ["b", "c"]
    assert f.invoke({"a": 1, "c": "2"}) == (1, 1, 2)
    assert list(g.args) == ["b"]
    assert g.invoke({"b": "1", "a": value}) == (value, 1, "z")


def test_directly_injected_types_and_postponed_annotations():
    @tool
    def f(a: "int", runtime: ToolRuntime, b: "Annotated[int, InjectedToolArg]" = 1) -> Any:
        """Do."""
        return (a, runtime.tool_call_id, b)

    runtime = ToolRuntime(
        state={}, context=None, config={}, stream_writer=None, tool_call_id="t", store=None
    )
    assert list(f.args) == ["a"]
    assert f.invoke({"a": "1", "runtime": runtime, "b": 5}) == (1, "t", 5)


# Config, callbacks, async


class Recorder(BaseCallbackHandler):
    """Keeps every event of a tool's run."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any, dict[str, Any]]] = []

    def on_tool_start(self, serialized, input_str, **kwargs):
        self.events.append(("start", input_str, kwargs))

    def on_tool_end(self, output, **kwargs):
        self.events.append(("end", output, kwargs))

    def on_tool_error(self, error, **kwargs):
        self.events.append(("error", error, kwargs))


@pytest.mark.parametrize("is_async", [False, True])
def test_handlers_hear_of_runs_without_injected_values(is_async):
    recorder = Recorder()
    config = {"callbacks": [recorder], "run_name": "rn"}
    given = call({"a": 1, "secret": {"hidden": 1}})
    message = (
        asyncio.run(injecting.ainvoke(given, config))
        if is_async
        else injecting.invoke(given, config)
    )
    (start, text, said), (end, output, _) = recorder.events
    assert (start, end, output) == ("start", "end", message)
    assert text == "{'a': 1}"
    assert said["inputs"] == {"a": 1}
    assert said["tool_call_id"] == "i"
    assert said["name"] == "rn"


def test_handlers_hear_of_errors():
    recorder = Recorder()
    with pytest.raises(ToolException):
        failing.invoke({"kind": "boom"}, {"callbacks": [recorder]})
    assert [name for name, *_ in recorder.events] == ["start", "error"]


@tool
def asking(a: int, my: RunnableConfig, opt: RunnableConfig | None = None, callbacks: Any = None):
    """Do."""
    return (a, my["configurable"], callbacks is not None)


def test_config_and_callbacks_are_given_and_in_no_schema():
    assert list(asking.args) == ["a"]
    config = {"configurable": {"k": 1}}
    assert asking.invoke({"a": 1}, config) == (1, {"k": 1}, True)
    assert asyncio.run(asking.ainvoke({"a": 1}, config)) == (1, {"k": 1}, True)


def test_what_a_tool_calls_is_told_to_the_same_handlers():
    names = []

    class Handler(BaseCallbackHandler):
        def on_chain_start(self, *args, **kwargs):
            names.append(kwargs.get("name"))

    inner = RunnableLambda(lambda x: x, name="inner")

    @tool
    def f(a: int) -> int:
        """Do."""
        return inner.invoke(a)

    config = {"callbacks": [Handler()]}
    f.invoke({"a": 1}, config)
    asyncio.run(f.ainvoke({"a": 1}, config))
    assert names == ["inner", "inner"]


def test_a_sync_tool_runs_in_a_thread_under_async_with_its_context():
    variable = contextvars.ContextVar("variable", default="unset")

    @tool
    def f() -> Any:
        """Do."""
        return (threading.current_thread() is threading.main_thread(), variable.get())

    async def go():
        variable.set("set")
        return await f.ainvoke({})

    assert asyncio.run(go()) == (False, "set")


def test_an_async_tool_cannot_run_sync():
    @tool
    async def f(a: int) -> int:
        """Do."""
        return a + 1

    assert asyncio.run(f.ainvoke({"a": 1})) == 2
    with pytest.raises(NotImplementedError, match="StructuredTool does not support sync"):
        f.invoke({"a": 1})


def test_a_class_may_write_both_colours():
    class Both(BaseTool):
        name: str = "both"
        description: str = "d"

        def _run(self, a: int, config: RunnableConfig, run_manager: Any = None) -> Any:
            return ("sync", a, config["tags"])

        async def _arun(self, a: int, config: RunnableConfig) -> Any:
            return ("async", a, config["tags"])

    config = {"tags": ["t"]}
    assert Both().invoke({"a": 1}, config) == ("sync", 1, ["t"])
    assert asyncio.run(Both().ainvoke({"a": 1}, config)) == ("async", 1, ["t"])


# As runnables and values


def test_tools_are_runnables():
    assert (pair | RunnableLambda(str.upper)).invoke({"a": 1}) == "1'X'"
    assert pair.batch([{"a": 1}, {"a": 2}]) == ["1'x'", "2'x'"]


def test_tools_can_be_copied_and_pickled():
    assert copy.deepcopy(pair).invoke({"a": 1}) == "1'x'"
    assert Own().tool_call_schema is not None
    mine = Own(name="n")
    assert mine.args
    assert pickle.loads(pickle.dumps(mine)).invoke({"a": 1}) == "1q"


def test_the_simple_tool_takes_one_argument():
    simple = Tool("n", lambda x: x, "d")
    assert simple.args == {"tool_input": {"type": "string"}}
    assert simple.invoke("x") == simple.invoke({"q": "x"}) == "x"
    assert asyncio.run(simple.ainvoke("x")) == "x"
    with pytest.raises(ToolException, match="Too many arguments to single-input tool n"):
        simple.invoke({"a": 1, "b": 2})
    with pytest.raises(NotImplementedError, match="Tool does not support sync invocation"):
        Tool(name="n", func=None, description="d").invoke("x")


def test_a_decorated_function_is_pickled_by_its_place():
    assert pickle.loads(pickle.dumps(pair)) is pair
