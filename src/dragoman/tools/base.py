"""`BaseTool`: a function that a model may call.

A subclass writes `_run` (and `_arun`). Arguments are validated before it runs, injected ones never
come from the schema the model sees, and the result becomes a `ToolMessage` when the tool was
called by a `ToolCall`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import get_annotations
from typing import Any, ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SkipValidation, ValidationError
from typing_extensions import override

from dragoman._door import ASYNC, SYNC, run
from dragoman.callbacks import Callbacks
from dragoman.messages import ToolCall
from dragoman.runnables import RunnableConfig, RunnableSerializable
from dragoman.tools.arguments import parse_input
from dragoman.tools.errors import SchemaAnnotationError, ToolException
from dragoman.tools.execution import Call, execute
from dragoman.tools.inject import DirectlyInjectedToolArg, InjectedToolArg, InjectedToolCallId
from dragoman.tools.schema import (
    FILTERED_ARGS,
    Wants,
    check_injected,
    create_schema_from_function,
    visible_schema,
    wants_of,
)
from dragoman.tools.threads import call_in_thread
from dragoman.utils.json_schema import schema_of_model

__all__ = [
    "FILTERED_ARGS",
    "ArgsSchema",
    "BaseTool",
    "BaseToolkit",
    "InjectedToolArg",
    "InjectedToolCallId",
    "SchemaAnnotationError",
    "ToolException",
    "create_schema_from_function",
]

ArgsSchema = type[BaseModel] | dict[str, Any]
_DirectlyInjectedToolArg = DirectlyInjectedToolArg


class BaseTool(RunnableSerializable[str | dict[str, Any] | ToolCall, Any], ABC):
    """The base of tools.

    Attributes:
        name: What the model calls it by.
        description: What it does, for the model.
        args_schema: A pydantic class, a JSON Schema (then nothing is validated), or None: the
            schema comes from `_run`.
        return_direct: Whether an agent ends with its result.
        verbose: Whether runs are printed.
        callbacks: Handlers of its runs.
        tags: Tags of its runs.
        metadata: Metadata of its runs.
        handle_tool_error: What a `ToolException` becomes: False raises it, True gives its text,
            a str itself, a function its result.
        handle_validation_error: The same for arguments that do not fit.
        response_format: `"content_and_artifact"`: the tool returns both, as a tuple.
        extras: What a provider wants to know beside the schema.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    name: str  # pyright: ignore[reportGeneralTypeIssues, reportIncompatibleVariableOverride] - a tool must have one
    description: str
    args_schema: SkipValidation[ArgsSchema | None] = Field(
        default=None, description="The tool schema."
    )
    return_direct: bool = False
    verbose: bool = False
    callbacks: Callbacks = Field(default=None, exclude=True)
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    handle_tool_error: bool | str | Callable[[ToolException], str | Sequence[Any]] | None = False
    handle_validation_error: bool | str | Callable[[ValidationError], str] | None = False
    response_format: Literal["content", "content_and_artifact"] = "content"
    extras: dict[str, Any] | None = None

    _schemas: dict[Any, Any] = PrivateAttr(default_factory=dict)
    _takes_one_text: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a subclass that annotates `args_schema` as an object.

        Raises:
            SchemaAnnotationError: If it does.
        """
        super().__init_subclass__(**kwargs)
        annotation = get_annotations(cls).get("args_schema")
        if annotation is BaseModel or annotation == "BaseModel":
            message = (
                f"Tool definition for {cls.__name__} must include valid type annotations for "
                "argument 'args_schema' to behave as expected.\n"
                f"Expected annotation of 'Type[BaseModel]' but got '{annotation}'.\n"
                "Expected class looks like:\n\n"
                "class ChildTool(BaseTool):\n    ...\n"
                "    args_schema: Type[BaseModel] = SchemaClass\n    ..."
            )
            raise SchemaAnnotationError(message)

    def __init__(self, **kwargs: Any) -> None:
        """Build a tool from its fields.

        Raises:
            TypeError: If `args_schema` is no pydantic class and no JSON Schema dict.
            SchemaAnnotationError: If an injected argument in it could be set by the model.
        """
        schema = kwargs.get("args_schema")
        if schema is not None and not isinstance(schema, dict):
            is_model = isinstance(schema, type) and issubclass(schema, BaseModel)
            if not is_model:
                message = (
                    "args_schema must be a subclass of pydantic BaseModel or a JSON schema dict. "
                    f"Got: {schema}."
                )
                raise TypeError(message)
            check_injected(schema)
        super().__init__(**kwargs)

    def __getstate__(self) -> dict[Any, Any]:
        """Return what is pickled: everything but the schemas made on demand."""
        state = super().__getstate__()
        private = dict(state.get("__pydantic_private__") or {})
        private["_schemas"] = {}
        return {**state, "__pydantic_private__": private}

    # Schemas -------------------------------------------------------------------------------

    @property
    def is_single_input(self) -> bool:
        """Whether the tool takes one argument."""
        return len([key for key in self.args if key != "kwargs"]) == 1

    @property
    def args(self) -> dict[str, Any]:
        """The JSON Schemas of the arguments that the model gives, by name."""
        if isinstance(self.args_schema, dict):
            schema: Any = self.args_schema
        else:
            schema = self._cached("args", self._arguments_schema)
        return schema.get("properties", {})

    def _arguments_schema(self) -> dict[str, Any]:
        return schema_of_model(self.tool_call_schema)

    @property
    def tool_call_schema(self) -> Any:
        """The schema that the model sees: injected arguments left out."""
        if isinstance(self.args_schema, dict):
            if self.description:
                return {**self.args_schema, "description": self.description}
            return self.args_schema
        return self._cached(
            "tool_call_schema",
            lambda: visible_schema(self.get_input_schema(), self.name, self.description),
        )

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        """Return the pydantic model of all arguments, injected ones too."""
        if isinstance(self.args_schema, dict):
            return super().get_input_schema(config)
        if self.args_schema is not None:
            return self.args_schema
        return self._cached(
            "input_schema", lambda: create_schema_from_function(self.name, self._run)
        )

    @override
    def get_input_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """Return the JSON Schema of all arguments."""
        if isinstance(self.args_schema, dict):
            return self.args_schema
        return self.get_input_schema(config).model_json_schema()

    def _cached(self, what: str, make: Callable[[], Any]) -> Any:
        """Return a schema made once for the present name, description and args_schema."""
        key = (what, self.name, self.description, id(self.args_schema))
        if key not in self._schemas:
            # The class is kept beside what was made of it: its id is not used again.
            self._schemas[key] = (make(), self.args_schema)
        return self._schemas[key][0]

    # Calls ---------------------------------------------------------------------------------

    @override
    def invoke(
        self,
        input: str | dict[str, Any] | ToolCall,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return what the tool gives for arguments, or a `ToolMessage` for a `ToolCall`.

        Args:
            input: A text, a dict of arguments, or a `ToolCall` (its `type` is `tool_call`).
            config: As for every runnable.
            kwargs: Passed to `run`.

        Raises:
            ValidationError: If the arguments do not fit, unless `handle_validation_error`.
            ToolException: If the tool raises it, unless `handle_tool_error`.
        """
        return run(execute(self, SYNC, Call.of(input, config, kwargs)))

    @override
    async def ainvoke(
        self,
        input: str | dict[str, Any] | ToolCall,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return what the tool gives, as `invoke` does; a sync tool runs in a thread."""
        return await execute(self, ASYNC, Call.of(input, config, kwargs))

    def run(
        self,
        tool_input: str | dict[str, Any],
        verbose: bool | None = None,
        start_color: str | None = "green",
        color: str | None = "green",
        callbacks: Callbacks = None,
        *,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        run_name: str | None = None,
        run_id: UUID | None = None,
        config: RunnableConfig | None = None,
        tool_call_id: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return what the tool gives; with a `tool_call_id` as a `ToolMessage`."""
        given = {**(config or {}), "callbacks": callbacks, "tags": tags, "metadata": metadata}
        call = Call(
            tool_input,
            tool_call_id,
            {**given, "run_name": run_name, "run_id": run_id},
            {"color": start_color, **kwargs},
            verbose=verbose,
        )
        return run(execute(self, SYNC, call))

    async def arun(
        self,
        tool_input: str | dict[str, Any],
        verbose: bool | None = None,
        start_color: str | None = "green",
        color: str | None = "green",
        callbacks: Callbacks = None,
        *,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        run_name: str | None = None,
        run_id: UUID | None = None,
        config: RunnableConfig | None = None,
        tool_call_id: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return what the tool gives, as `run` does."""
        given = {**(config or {}), "callbacks": callbacks, "tags": tags, "metadata": metadata}
        call = Call(
            tool_input,
            tool_call_id,
            {**given, "run_name": run_name, "run_id": run_id},
            {"color": start_color, **kwargs},
            verbose=verbose,
        )
        return await execute(self, ASYNC, call)

    # What a subclass writes ----------------------------------------------------------------

    @abstractmethod
    def _run(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result; may take `run_manager` and a parameter annotated `RunnableConfig`."""

    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result; runs `_run` in a thread unless overridden."""
        return await call_in_thread(partial(self._run, *args, **kwargs))

    def _sync_function(self) -> Callable[..., Any] | None:
        """The function that a sync call runs, or None."""
        return self._run

    def _async_function(self) -> Callable[..., Any] | None:
        """The coroutine function that an async call runs; None: the sync one, in a thread."""
        return None if type(self)._arun is BaseTool._arun else self._arun

    def _parse_input(self, tool_input: str | dict[str, Any], tool_call_id: str | None) -> Any:
        """Return the validated arguments; a text stays as it is."""
        return parse_input(self, tool_input, tool_call_id)

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments for the function."""
        parsed = self._parse_input(tool_input, tool_call_id)
        if isinstance(parsed, str):
            return (parsed,), {}
        if isinstance(parsed, Mapping):
            arguments = dict(parsed)
            wants = self._wants_of_own_schema()
            if wants is None:
                return (), arguments
            rest = arguments.pop(wants.positional, None) or () if wants.positional else ()
            more = arguments.pop(wants.keywords, None) or {} if wants.keywords else {}
            # A parameter of its own is none of the `**kwargs`, least of all an injected one.
            kept = {key: more[key] for key in more if key not in (*wants.named, *FILTERED_ARGS)}
            return tuple(rest), {**kept, **arguments}
        message = f"Tool input must be a str or a dict of arguments, got `{type(parsed).__name__}`"
        raise TypeError(message)

    def _wants_of_own_schema(self) -> Wants | None:
        """What the function takes, if the schema was made from it: then `*args` and `**kwargs` have fields."""
        function = self._sync_function() or self._async_function()
        if function is None or not getattr(self.args_schema, "__from_function__", False):
            return None
        return wants_of(function)

    @property
    def _injected_args_keys(self) -> frozenset[str]:
        """The parameters of the function that are injected."""
        function = self._sync_function() or self._async_function()
        return frozenset(wants_of(function).injected) if function is not None else frozenset()


class BaseToolkit(BaseModel, ABC):
    """Several tools that belong together."""

    @abstractmethod
    def get_tools(self) -> list[BaseTool]:
        """Return the tools."""
