"""`Runnable`: anything that turns an input into an output, alone, in batches and in streams.

A subclass writes `invoke` (and `ainvoke`, where waiting is more than a thread's work); everything
else follows from it. One that can stream writes `stream` or, if it can work on a stream of inputs,
`transform`, with their async twins. The algebra (`|`, `assign`, `bind`, `with_retry` ...) builds
new runnables and changes none; what it builds stands in the neighbouring files.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, get_type_hints

from dragoman._door import ASYNC, SYNC, run
from dragoman.callbacks.ambient import is_bare
from dragoman.runnables import _batch
from dragoman.runnables._addable import Accumulator
from dragoman.runnables._fields import ConfigurableFieldSpec
from dragoman.runnables._scope import ASYNC_PLAIN, PLAIN, Scope, called, traced
from dragoman.runnables._stream import aclose_all, astream_traced, stream_traced
from dragoman.runnables.config import RunnableConfig, run_in_executor, with_keys
from dragoman.runnables.utils import Input, Output

if TYPE_CHECKING:
    from pydantic import BaseModel

    from dragoman.runnables.graph import Graph

__all__ = ["Runnable", "RunnableLike"]


class Runnable(ABC, Generic[Input, Output]):
    """The interface of every step of a chain."""

    name: str | None
    _waits: ClassVar[bool] = True
    """Whether a call may wait for something; one that never does needs no threads in a batch."""

    # ------------------------------------------------------------ names and schemas

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        """Return the name: the given one, the instance's own, or the class's; `suffix` appended."""
        base = name or getattr(self, "name", None) or _class_name(type(self))
        if not suffix:
            return base
        return base + "_" + suffix.lower() if base[0].islower() else base + suffix.title()

    @property
    def InputType(self) -> Any:  # noqa: N802 - LangChain's name
        """The type of the input.

        Raises:
            TypeError: If it cannot be told from the class.
        """
        return self._inferable(0, "InputType", "input")

    @property
    def OutputType(self) -> Any:  # noqa: N802 - LangChain's name
        """The type of the output.

        Raises:
            TypeError: If it cannot be told from the class.
        """
        return self._inferable(1, "OutputType", "output")

    def _inferable(self, index: int, label: str, word: str) -> Any:
        from dragoman.runnables._schemas import generic_argument

        found = generic_argument(type(self), index)
        if found is None:
            text = (
                f"Runnable {self.get_name()} doesn't have an inferable {label}. "
                f"Override the {label} property to specify the {word} type."
            )
            raise TypeError(text)
        return found

    @property
    def input_schema(self) -> "type[BaseModel]":
        """The pydantic model of the input."""
        return self.get_input_schema()

    @property
    def output_schema(self) -> "type[BaseModel]":
        """The pydantic model of the output."""
        return self.get_output_schema()

    def get_input_schema(self, config: RunnableConfig | None = None) -> "type[BaseModel]":
        """Return the pydantic model of the input."""
        from dragoman.runnables._schemas import model_of

        return model_of(self.get_name("Input"), self.InputType, module=type(self).__module__)

    def get_output_schema(self, config: RunnableConfig | None = None) -> "type[BaseModel]":
        """Return the pydantic model of the output."""
        from dragoman.runnables._schemas import model_of

        return model_of(self.get_name("Output"), self.OutputType, module=type(self).__module__)

    def get_input_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """Return the JSON Schema of the input."""
        return self.get_input_schema(config).model_json_schema()

    def get_output_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """Return the JSON Schema of the output."""
        return self.get_output_schema(config).model_json_schema()

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call."""
        return []

    def config_schema(self, *, include: Sequence[str] | None = None) -> "type[BaseModel]":
        """Return the pydantic model of the config with `configurable` and the keys of `include`."""
        from dragoman.runnables._schemas import config_model, configurable_model

        specs = self.config_specs
        configurable = configurable_model("Configurable", specs) if specs else None
        # Handlers are no JSON: any value will do there.
        kinds = {**get_type_hints(RunnableConfig), "callbacks": list[Any] | Any | None}
        return config_model(self.get_name("Config"), configurable, list(include or ()), kinds)

    def get_config_jsonschema(self, *, include: Sequence[str] | None = None) -> dict[str, Any]:
        """Return the JSON Schema of the config."""
        return self.config_schema(include=include).model_json_schema()

    def get_graph(self, config: RunnableConfig | None = None) -> "Graph":
        """Return the graph: input, this runnable, output."""
        from dragoman.runnables.graph import graph_of

        return graph_of(self, config)

    def get_prompts(self, config: RunnableConfig | None = None) -> list[Any]:
        """Return the prompt templates used in this runnable."""
        from dragoman.runnables.graph import prompts_of

        return prompts_of(self, config)

    # ------------------------------------------------------------ the algebra

    def __or__(self, other: "RunnableLike") -> Any:
        from dragoman.runnables.sequence import RunnableSequence

        return RunnableSequence(self, other)

    def __ror__(self, other: "RunnableLike") -> Any:
        from dragoman.runnables.sequence import RunnableSequence

        return RunnableSequence(other, self)

    def pipe(self, *others: "RunnableLike", name: str | None = None) -> Any:
        """Return the sequence of this and `others`."""
        from dragoman.runnables.sequence import RunnableSequence

        return RunnableSequence(self, *others, name=name)

    def pick(self, keys: str | list[str]) -> Any:
        """Return the sequence of this and a pick of keys from its output dict."""
        from dragoman.runnables.passthrough import RunnablePick

        return self | RunnablePick(keys)

    def assign(self, **kwargs: "RunnableLike") -> Any:
        """Return the sequence of this and an assignment of new keys to its output dict."""
        from dragoman.runnables.parallel import RunnableParallel
        from dragoman.runnables.passthrough import RunnableAssign

        return self | RunnableAssign(RunnableParallel(kwargs))

    def bind(self, **kwargs: Any) -> "Runnable[Input, Output]":
        """Return this runnable with arguments given in advance."""
        from dragoman.runnables.binding import RunnableBinding

        return RunnableBinding(bound=self, kwargs=kwargs, config={})

    def with_config(
        self, config: RunnableConfig | None = None, **kwargs: Any
    ) -> "Runnable[Input, Output]":
        """Return this runnable with a config given in advance."""
        from dragoman.runnables.binding import RunnableBinding

        return RunnableBinding(bound=self, config=with_keys(config, kwargs), kwargs={})

    def with_listeners(
        self,
        *,
        on_start: Callable[..., None] | None = None,
        on_end: Callable[..., None] | None = None,
        on_error: Callable[..., None] | None = None,
    ) -> "Runnable[Input, Output]":
        """Return this runnable with functions that are given its `Run` at start, end and error.

        A listener takes the run, or the run and the config.
        """
        from dragoman.runnables.listeners import with_listeners

        return with_listeners(self, on_start=on_start, on_end=on_end, on_error=on_error)

    def with_alisteners(
        self,
        *,
        on_start: Callable[..., Awaitable[None]] | None = None,
        on_end: Callable[..., Awaitable[None]] | None = None,
        on_error: Callable[..., Awaitable[None]] | None = None,
    ) -> "Runnable[Input, Output]":
        """Return this runnable with coroutine functions for listeners."""
        from dragoman.runnables.listeners import with_alisteners

        return with_alisteners(self, on_start=on_start, on_end=on_end, on_error=on_error)

    def with_types(
        self, *, input_type: Any = None, output_type: Any = None
    ) -> "Runnable[Input, Output]":
        """Return this runnable with other types in its schemas."""
        from dragoman.runnables.binding import RunnableBinding

        return RunnableBinding(
            bound=self, custom_input_type=input_type, custom_output_type=output_type, kwargs={}
        )

    def with_retry(
        self,
        *,
        retry_if_exception_type: "tuple[type[BaseException], ...] | Callable[[BaseException], bool]" = (
            Exception,
        ),
        wait_exponential_jitter: bool = True,
        exponential_jitter_params: Any = None,
        stop_after_attempt: int = 3,
    ) -> "Runnable[Input, Output]":
        """Return this runnable, tried again when it fails; the last error is raised."""
        from dragoman.runnables.retry import RunnableRetry

        return RunnableRetry(
            bound=self,
            kwargs={},
            config={},
            retry_exception_types=retry_if_exception_type,
            wait_exponential_jitter=wait_exponential_jitter,
            max_attempt_number=stop_after_attempt,
            exponential_jitter_params=exponential_jitter_params,
        )

    def map(self) -> "Runnable[Any, list[Any]]":
        """Return a runnable that does this for each item of a list."""
        from dragoman.runnables.each import RunnableEach

        return RunnableEach(bound=self)

    def with_fallbacks(
        self,
        fallbacks: "Sequence[Runnable[Any, Any]]",
        *,
        exceptions_to_handle: tuple[type[BaseException], ...] = (Exception,),
        exception_key: str | None = None,
    ) -> Any:
        """Return this runnable with others to try, in order, when it fails."""
        from dragoman.runnables.fallbacks import RunnableWithFallbacks

        return RunnableWithFallbacks(
            runnable=self,
            fallbacks=fallbacks,
            exceptions_to_handle=exceptions_to_handle,
            exception_key=exception_key,
        )

    def as_tool(
        self,
        args_schema: "type[BaseModel] | None" = None,
        *,
        name: str | None = None,
        description: str | None = None,
        arg_types: dict[str, type] | None = None,
    ) -> Any:
        """Return a tool that runs this: a `Tool` for str input, a `StructuredTool` for a dict."""
        from dragoman.tools import convert_runnable_to_tool

        return convert_runnable_to_tool(
            self, args_schema=args_schema, name=name, description=description, arg_types=arg_types
        )

    # ------------------------------------------------------------ calls

    @abstractmethod
    def invoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:
        """Return the output for `input`."""

    async def ainvoke(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Output:
        """Return the output for `input`; by default `invoke` in a worker thread."""
        return await run_in_executor(None, self.invoke, input, config, **kwargs)

    def batch(
        self,
        inputs: list[Input],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Output]:
        """Return the outputs in order, `max_concurrency` computed at a time in threads."""
        if not inputs:
            return []
        return run(
            _batch.batch(
                SYNC, self, inputs, config, return_exceptions=return_exceptions, kwargs=kwargs
            )
        )

    async def abatch(
        self,
        inputs: list[Input],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Output]:
        """Return the outputs in order, `max_concurrency` computed at a time."""
        if not inputs:
            return []
        return await _batch.batch(
            ASYNC, self, inputs, config, return_exceptions=return_exceptions, kwargs=kwargs
        )

    def batch_as_completed(
        self,
        inputs: Sequence[Input],
        config: RunnableConfig | Sequence[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> Iterator[tuple[int, Any]]:
        """Yield `(index, output)` as the outputs come."""
        return _batch.batch_as_completed(
            self, inputs, config, return_exceptions=return_exceptions, kwargs=kwargs
        )

    def abatch_as_completed(
        self,
        inputs: Sequence[Input],
        config: RunnableConfig | Sequence[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> AsyncIterator[tuple[int, Any]]:
        """Yield `(index, output)` as the outputs come."""
        return _batch.abatch_as_completed(
            self, inputs, config, return_exceptions=return_exceptions, kwargs=kwargs
        )

    # ------------------------------------------------------------ streams

    def stream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        """Yield the output in pieces; by default in one."""
        yield self.invoke(input, config, **kwargs)

    async def astream(
        self, input: Input, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        """Yield the output in pieces; by default in one."""
        yield await self.ainvoke(input, config, **kwargs)

    def transform(
        self, input: Iterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Output]:
        """Yield the output for a stream of input pieces; by default these are added up first."""
        total = Accumulator()
        for piece in input:
            total.feed(piece)
        if not total.is_empty:
            yield from self.stream(total.value, config, **kwargs)

    async def atransform(
        self, input: AsyncIterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Output]:
        """Yield the output for a stream of input pieces; by default these are added up first."""
        total = Accumulator()
        async for piece in input:
            total.feed(piece)
        if total.is_empty:
            return
        output = self.astream(total.value, config, **kwargs)
        try:
            async for piece in output:
                yield piece
        finally:
            await aclose_all([output])

    def astream_events(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        version: Literal["v1", "v2"] = "v2",
        include_names: Sequence[str] | None = None,
        include_types: Sequence[str] | None = None,
        include_tags: Sequence[str] | None = None,
        exclude_names: Sequence[str] | None = None,
        exclude_types: Sequence[str] | None = None,
        exclude_tags: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Yield a `StreamEvent` for each start, piece and end of this and of what it calls.

        Raises:
            NotImplementedError: For another version than "v2".
        """
        from dragoman.runnables.events import EventFilter, stream_events

        wanted = EventFilter(
            include_names, include_types, include_tags, exclude_names, exclude_types, exclude_tags
        )
        return stream_events(self, input, config, wanted, version, kwargs)

    # ------------------------------------------------------------ frames for subclasses

    def _call_with_config(
        self,
        func: Callable[..., Any],
        input_: Any,
        config: RunnableConfig | None,
        run_type: str | None = None,
        serialized: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return `func(input_)`, with the handlers told of start, end and error."""
        if is_bare(config):
            return func(input_, **PLAIN.arguments(func, kwargs))
        said = {"run_type": run_type, "serialized": serialized}
        return run(traced(SYNC, self, input_, config, called(func), kwargs, **said))

    async def _acall_with_config(
        self,
        func: Callable[..., Awaitable[Any]],
        input_: Any,
        config: RunnableConfig | None,
        run_type: str | None = None,
        serialized: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return `await func(input_)`, with the handlers told of start, end and error."""
        if is_bare(config):
            return await func(input_, **ASYNC_PLAIN.arguments(func, kwargs))
        said = {"run_type": run_type, "serialized": serialized}
        return await traced(ASYNC, self, input_, config, called(func), kwargs, **said)

    def _transform_stream_with_config(
        self,
        inputs: Iterator[Any],
        transformer: Callable[..., Iterator[Any]],
        config: RunnableConfig | None,
        run_type: str | None = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        """Yield what `transformer(inputs)` yields, with the handlers told of start, end and error."""
        return stream_traced(
            self, inputs, config, _one_stage(transformer), kwargs, run_type=run_type
        )

    def _atransform_stream_with_config(
        self,
        inputs: AsyncIterator[Any],
        transformer: Callable[..., AsyncIterator[Any]],
        config: RunnableConfig | None,
        run_type: str | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Yield what `transformer(inputs)` yields, with the handlers told of start, end and error."""
        flow = _one_stage(transformer)
        return astream_traced(self, inputs, config, flow, kwargs, run_type=run_type)


def _one_stage(transformer: Callable[..., Any]) -> Any:
    def flow(inputs: Any, scope: Scope, kwargs: dict[str, Any]) -> list[Any]:
        return [transformer(inputs, **scope.arguments(transformer, kwargs))]

    return flow


def _class_name(cls: type) -> str:
    meta = getattr(cls, "__pydantic_generic_metadata__", None)
    return (meta.get("origin") or cls).__name__ if meta else cls.__name__


RunnableLike = Runnable[Any, Any] | Callable[..., Any] | Mapping[str, Any]
"""What a chain accepts as a step."""
