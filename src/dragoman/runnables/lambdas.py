"""`RunnableLambda`: a function as a step.

A function may be sync, a coroutine function or a generator function; it may take `config` and
`run_manager`; when it returns a runnable, that one is called with the same input.
"""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cached_property
from typing import Any, cast

from typing_extensions import override

from dragoman._door import Door
from dragoman.runnables._addable import Accumulator
from dragoman.runnables._inspection import (
    get_function_first_arg_dict_keys,
    get_function_nonlocals,
    get_lambda_source,
    is_async_callable,
    is_async_generator,
    returned_by,
    taken_by,
)
from dragoman.runnables._one_body import Streaming
from dragoman.runnables._scope import Scope
from dragoman.runnables._stream import aclose_all
from dragoman.runnables.config import DEFAULT_RECURSION_LIMIT, RunnableConfig, patch_config
from dragoman.runnables.runnable import Runnable
from dragoman.runnables.utils import ConfigurableFieldSpec, Input, Output, get_unique_config_specs

__all__ = ["RunnableLambda"]

SYNC_ONLY = "Cannot invoke a coroutine function synchronously.Use `ainvoke` instead."


class RunnableLambda(Streaming[Input, Output]):
    """A function as a runnable.

    Under async a sync function runs in a worker thread, with the caller's context variables.

    >>> RunnableLambda(lambda x: x + 1).batch([1, 2])
    [2, 3]
    """

    # Where LangChain has the class: dumps name it by this.
    __module__ = "dragoman.runnables.base"

    def __init__(
        self,
        func: Callable[..., Any],
        afunc: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Build from a function of either colour, or from one of each.

        Raises:
            TypeError: If `func` is no function, or both are coroutine functions.
        """
        if afunc is not None:
            self.afunc: Callable[..., Any] = afunc
        if is_async_callable(func) or is_async_generator(func):
            if afunc is not None:
                text = (
                    "Func was provided as a coroutine function, but afunc was "
                    "also provided. If providing both, func should be a regular "
                    "function to avoid ambiguity."
                )
                raise TypeError(text)
            self.afunc = func
        elif callable(func):
            self.func = func
        else:
            text = (
                f"Expected a callable type for `func`.Instead got an unsupported type: {type(func)}"
            )
            raise TypeError(text)
        known = getattr(func, "__name__", None)
        self.name: str | None = name or (known if known != "<lambda>" else None)

    @property
    def _function(self) -> Callable[..., Any]:
        """The sync function, or the async one where there is no other."""
        function: Callable[..., Any] = self.func if hasattr(self, "func") else self.afunc
        return function

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RunnableLambda):
            return False
        mine = (getattr(self, "func", None), getattr(self, "afunc", None))
        return mine == (getattr(other, "func", None), getattr(other, "afunc", None))

    def __hash__(self) -> int:
        return hash((getattr(self, "func", None), getattr(self, "afunc", None)))

    @cached_property
    def _text(self) -> str:
        return get_lambda_source(self._function) or "..."

    @override
    def __repr__(self) -> str:
        # The keyword shows that there is no sync function to call.
        keyword = "" if hasattr(self, "func") else "afunc="
        return f"RunnableLambda({keyword}{self._text})"

    # ------------------------------------------------------------ schemas

    @property
    @override
    def InputType(self) -> Any:
        """The annotation of the function's first parameter, or Any."""
        return taken_by(self._function)

    @property
    @override
    def OutputType(self) -> Any:
        """The function's return annotation, or Any."""
        hint = returned_by(self._function)
        origin = getattr(hint, "__origin__", None)
        if inspect.isgeneratorfunction(self._function) or is_async_generator(self._function):
            return hint.__args__[0] if origin is not None and hint.__args__ else Any
        return hint

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables._schemas import fields_model, model_of

        function, title = self._function, self.get_name("Input")
        if isinstance(function, type(len)) or not callable(function):
            return model_of(title, Any)
        if self.InputType is not Any:
            return super().get_input_schema(config)
        if keys := get_function_first_arg_dict_keys(function):
            return fields_model(title, dict.fromkeys(keys, (Any, ...)))
        return super().get_input_schema(config)

    @cached_property
    def deps(self) -> list[Runnable[Any, Any]]:
        """The runnables that the function refers to."""
        found: list[Runnable[Any, Any]] = []
        for value in get_function_nonlocals(self._function):
            if isinstance(value, Runnable):
                found.append(value)
            elif isinstance(owner := getattr(value, "__self__", None), Runnable):
                found.append(owner)
        return found

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call: of the runnables the function refers to."""
        return get_unique_config_specs(spec for dep in self.deps for spec in dep.config_specs)

    @override
    def get_graph(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables.graph import lambda_graph

        return lambda_graph(self, self.deps, config)

    # ------------------------------------------------------------ calls

    @override
    def _said(self) -> dict[str, Any]:
        return {"run_type": None}

    @override
    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        output = await self._output(door, value, scope, kwargs)
        if not isinstance(output, Runnable):
            return output
        return await door.invoke(output, value, self._deeper(value, scope), **kwargs)

    async def _output(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        """Return what the function returns; the pieces of a generator function added up."""
        if door.is_async and hasattr(self, "afunc"):
            function: Any = self.afunc
            arguments = scope.arguments(function, kwargs)
            if not is_async_generator(function):
                return await function(value, **arguments)
            total = Accumulator()
            async for piece in function(value, **arguments):
                total.feed(piece)
            return total.value
        function = self._sync_function()
        arguments = scope.arguments(function, kwargs)

        def call() -> Any:
            output = function(value, **arguments)
            if not inspect.isgeneratorfunction(function):
                return output
            total = Accumulator()
            for piece in output:
                total.feed(piece)
            return total.value

        return await door.call(call)

    def _sync_function(self) -> Callable[..., Any]:
        if not hasattr(self, "func"):
            raise TypeError(SYNC_ONLY)
        return self.func

    def _deeper(self, value: Any, scope: Scope) -> RunnableConfig:
        """Return the config for a runnable that the function returned."""
        config = scope.child()
        limit = (config or {}).get("recursion_limit", DEFAULT_RECURSION_LIMIT)
        if limit <= 0:
            text = f"Recursion limit reached when invoking {self} with input {_short(value)}."
            raise RecursionError(text)
        return patch_config(config, recursion_limit=limit - 1)

    # ------------------------------------------------------------ streams

    @override
    def _flow(self, inputs: Any, scope: Scope, kwargs: dict[str, Any]) -> list[Any]:
        stages = self._apieces if scope.is_async else self._pieces
        return [stages(inputs, scope, kwargs)]

    def _pieces(self, inputs: Iterator[Any], scope: Scope, kwargs: dict[str, Any]) -> Iterator[Any]:
        total = Accumulator()
        for piece in inputs:
            total.feed(piece)
        if total.is_empty:
            return
        value = total.value
        function = self._sync_function()
        output = function(value, **scope.arguments(function, kwargs))
        if inspect.isgeneratorfunction(function):
            yield from output
        elif isinstance(output, Runnable):
            yield from output.stream(value, self._deeper(value, scope), **kwargs)
        else:
            yield output

    async def _apieces(
        self, inputs: AsyncIterator[Any], scope: Scope, kwargs: dict[str, Any]
    ) -> AsyncIterator[Any]:
        from dragoman._door import ASYNC

        total = Accumulator()
        async for piece in inputs:
            total.feed(piece)
        if total.is_empty:
            return
        value = total.value
        afunc = getattr(self, "afunc", None)
        if afunc is not None and is_async_generator(afunc):
            output: Any = afunc(value, **scope.arguments(afunc, kwargs))
        else:
            output = await self._output(ASYNC, value, scope, kwargs)
            if not isinstance(output, Runnable):
                yield output
                return
            config = self._deeper(value, scope)
            output = cast("Runnable[Any, Any]", output).astream(value, config, **kwargs)
        try:
            async for piece in output:
                yield piece
        finally:
            await aclose_all([output])


def _short(value: Any) -> str:
    from dragoman.errors import short

    return short(value) if not isinstance(value, str) else value[:80]
