"""`RunnableGenerator`: a function from a stream to a stream as a step."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from typing_extensions import override

from dragoman._door import Door
from dragoman.runnables._addable import Accumulator
from dragoman.runnables._inspection import (
    get_lambda_source,
    is_async_generator,
    returned_by,
    taken_by,
)
from dragoman.runnables._one_body import Streaming
from dragoman.runnables._scope import Scope
from dragoman.runnables._stream import aclose_all, aonce
from dragoman.runnables.utils import Input, Output

__all__ = ["RunnableGenerator"]


class RunnableGenerator(Streaming[Input, Output]):
    """A generator function over the input's pieces; `|` makes one from such a function.

    >>> def shout(pieces):
    ...     for piece in pieces:
    ...         yield piece.upper()
    >>> RunnableGenerator(shout).invoke("ab")
    'AB'
    """

    # Where LangChain has the class: dumps name it by this.
    __module__ = "dragoman.runnables.base"

    def __init__(
        self,
        transform: Callable[..., Any],
        atransform: Callable[..., Any] | None = None,
        *,
        name: str | None = None,
    ) -> None:
        """Build from a generator function of either colour, or from one of each.

        Raises:
            TypeError: If `transform` is no generator function.
        """
        if atransform is not None:
            self._atransform = atransform
            function = atransform
        if is_async_generator(transform):
            self._atransform = function = transform
        elif inspect.isgeneratorfunction(transform):
            self._transform = function = transform
        else:
            text = (
                "Expected a generator function type for `transform`."
                f"Instead got an unsupported type: {type(transform)}"
            )
            raise TypeError(text)
        self.name: str | None = name or getattr(function, "__name__", "RunnableGenerator")

    @property
    def _function(self) -> Callable[..., Any]:
        function: Callable[..., Any] = (
            self._transform if hasattr(self, "_transform") else self._atransform
        )
        return function

    @property
    @override
    def InputType(self) -> Any:
        """The type of the pieces that the function takes, or Any."""
        return _piece_type(taken_by(self._function))

    @property
    @override
    def OutputType(self) -> Any:
        """The type of the pieces that the function yields, or Any."""
        return _piece_type(returned_by(self._function))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RunnableGenerator):
            return False
        return self._function == other._function

    def __hash__(self) -> int:
        return hash(self._function)

    @override
    def __repr__(self) -> str:
        if hasattr(self, "_transform"):
            return f"RunnableGenerator({self._transform.__name__})"
        return f"RunnableGenerator({get_lambda_source(self._function) or self.name})"

    @override
    def _said(self) -> dict[str, Any]:
        return {"run_type": None}

    @override
    def _flow(self, inputs: Any, scope: Scope, kwargs: dict[str, Any]) -> list[Any]:
        name = "_atransform" if scope.is_async else "_transform"
        function = getattr(self, name, None)
        if function is None and scope.is_async:
            return [_in_threads(self._transform, inputs, scope, kwargs)]
        if function is None:
            text = f"{self!r} only supports async methods: use `ainvoke` or `astream`."
            raise NotImplementedError(text)
        return [function(inputs, **scope.arguments(function, kwargs))]

    @override
    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        total = Accumulator()
        if door.is_async:
            [pieces] = self._flow(aonce(value), scope, kwargs)
            try:
                async for piece in pieces:
                    total.feed(piece)
            finally:
                await aclose_all([pieces])
        else:
            for piece in self._flow(iter((value,)), scope, kwargs)[0]:
                total.feed(piece)
        return total.value


def _piece_type(hint: Any) -> Any:
    args = getattr(hint, "__args__", None)
    return args[0] if args else Any


async def _in_threads(
    function: Callable[..., Iterator[Any]],
    inputs: AsyncIterator[Any],
    scope: Scope,
    kwargs: dict[str, Any],
) -> AsyncIterator[Any]:
    """Yield what a sync generator function gives for the whole input, each piece made in a thread."""
    import asyncio

    given = [piece async for piece in inputs]
    pieces = function(iter(given), **scope.arguments(function, kwargs))
    end = object()
    try:
        while (piece := await asyncio.to_thread(next, pieces, end)) is not end:
            yield piece
    finally:
        if (close := getattr(pieces, "close", None)) is not None:
            await asyncio.to_thread(close)
