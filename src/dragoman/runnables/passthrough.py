"""Steps that pass their input on: as it is, with keys added, or some of its keys."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from typing_extensions import override

from dragoman._door import Door
from dragoman.runnables._addable import Accumulator, AddableDict
from dragoman.runnables._fields import ConfigurableFieldSpec
from dragoman.runnables._merge import atee, tee
from dragoman.runnables._one_body import Streaming
from dragoman.runnables._scope import Scope
from dragoman.runnables._stream import aclose_all, close_all
from dragoman.runnables.config import RunnableConfig
from dragoman.runnables.parallel import RunnableParallel
from dragoman.runnables.runnable import RunnableLike
from dragoman.runnables.serializable import RunnableSerializable
from dragoman.runnables.utils import is_async_callable

__all__ = ["RunnableAssign", "RunnablePassthrough", "RunnablePick", "aidentity", "identity"]

NOT_A_DICT = "The input to RunnablePassthrough.assign() must be a dict."


def identity(x: Any) -> Any:
    """Return `x`."""
    return x


async def aidentity(x: Any) -> Any:
    """Return `x`."""
    return x


class RunnablePassthrough(RunnableSerializable[Any, Any], Streaming[Any, Any]):
    """Gives its input back; `func`, if given, is called with it for its side effect.

    >>> RunnablePassthrough().invoke({"a": 1})
    {'a': 1}
    >>> RunnablePassthrough.assign(b=lambda x: x["a"] + 1).invoke({"a": 1})
    {'a': 1, 'b': 2}
    """

    input_type: Any = None
    func: Callable[..., Any] | None = None
    afunc: Callable[..., Awaitable[Any]] | None = None

    def __init__(
        self,
        func: Callable[..., Any] | None = None,
        afunc: Callable[..., Awaitable[Any]] | None = None,
        *,
        input_type: Any = None,
        **kwargs: Any,
    ) -> None:
        """Build; a coroutine function given as `func` counts as `afunc`."""
        if func is not None and is_async_callable(func):
            func, afunc = None, func
        super().__init__(func=func, afunc=afunc, input_type=input_type, **kwargs)

    @classmethod
    @override
    def is_lc_serializable(cls) -> bool:
        return True

    @classmethod
    @override
    def get_lc_namespace(cls) -> list[str]:
        return ["langchain", "schema", "runnable"]

    @classmethod
    def assign(cls, **kwargs: RunnableLike) -> "RunnableAssign":  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return a step that adds keys to its input dict, computed from it."""
        return RunnableAssign(RunnableParallel(kwargs))

    @property
    @override
    def InputType(self) -> Any:
        """The given type, or Any."""
        return self.input_type or Any

    @property
    @override
    def OutputType(self) -> Any:
        """The given type, or Any."""
        return self.input_type or Any

    @property
    def _waits(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.func is not None or self.afunc is not None

    @override
    def _said(self) -> dict[str, Any]:
        return {"run_type": None}

    async def _aside(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> None:
        """Call the function there is for this colour."""
        if door.is_async and self.afunc is not None:
            await self.afunc(value, **scope.arguments(self.afunc, kwargs))
        elif self.func is not None:
            function, arguments = self.func, scope.arguments(self.func, kwargs)
            await door.call(lambda: function(value, **arguments))

    @override
    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        if self._waits:
            await self._aside(door, value, scope, kwargs)
        return value

    @override
    def _flow(self, inputs: Any, scope: Scope, kwargs: dict[str, Any]) -> list[Any]:
        if not self._waits:
            # Its own iterator: closing this stage must not close what it reads.
            return [_aeach(inputs) if scope.is_async else _each(inputs)]
        pieces = self._apieces if scope.is_async else self._pieces
        return [pieces(inputs, scope, kwargs)]

    def _pieces(self, inputs: Iterator[Any], scope: Scope, kwargs: dict[str, Any]) -> Iterator[Any]:
        from dragoman._door import SYNC, run

        total = Accumulator()
        for piece in inputs:
            total.feed(piece)
            yield piece
        if not total.is_empty:
            run(self._aside(SYNC, total.value, scope, kwargs))

    async def _apieces(
        self, inputs: AsyncIterator[Any], scope: Scope, kwargs: dict[str, Any]
    ) -> AsyncIterator[Any]:
        from dragoman._door import ASYNC

        total = Accumulator()
        async for piece in inputs:
            total.feed(piece)
            yield piece
        if not total.is_empty:
            await self._aside(ASYNC, total.value, scope, kwargs)


def _each(inputs: Iterator[Any]) -> Iterator[Any]:
    yield from inputs


async def _aeach(inputs: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for piece in inputs:
        yield piece


if TYPE_CHECKING:
    _Mapper = RunnableParallel[Any]
else:  # with its argument it would be a class of its own, of which no parallel is an instance
    _Mapper = RunnableParallel


class RunnableAssign(
    RunnableSerializable[dict[str, Any], dict[str, Any]], Streaming[dict[str, Any], dict[str, Any]]
):
    """Adds to its input dict the keys of a parallel, computed from it."""

    mapper: _Mapper

    def __init__(self, mapper: "RunnableParallel[Any]", **kwargs: Any) -> None:
        super().__init__(mapper=mapper, **kwargs)

    @classmethod
    @override
    def is_lc_serializable(cls) -> bool:
        return True

    @classmethod
    @override
    def get_lc_namespace(cls) -> list[str]:
        return ["langchain", "schema", "runnable"]

    @override
    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        name = name or self.name or f"RunnableAssign<{','.join(self.mapper.steps__)}>"
        return super().get_name(suffix, name=name)

    @property
    def _waits(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.mapper._waits

    @override
    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        from pydantic import RootModel

        needed = self.mapper.get_input_schema(config)
        if not issubclass(needed, RootModel):
            return needed
        return super().get_input_schema(config)

    @override
    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        from pydantic import RootModel

        from dragoman.runnables._schemas import fields_model

        needed = self.mapper.get_input_schema(config)
        added = self.mapper.get_output_schema(config)
        if issubclass(needed, RootModel) or issubclass(added, RootModel):
            return super().get_output_schema(config)
        fields = {
            key: (info.annotation, ... if info.is_required() else info.default)
            for model in (needed, added)
            for key, info in model.model_fields.items()
        }
        return fields_model("RunnableAssignOutput", fields)

    @property
    @override
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured per call: of the added steps."""
        return self.mapper.config_specs

    @override
    def get_graph(self, config: RunnableConfig | None = None) -> Any:
        from dragoman.runnables.graph import assign_graph

        return assign_graph(self.mapper, config)

    @override
    def _said(self) -> dict[str, Any]:
        return {"run_type": None}

    @override
    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        if not isinstance(value, dict):
            raise ValueError(NOT_A_DICT)
        added = await door.invoke(self.mapper, value, scope.child(), **kwargs)
        return {**cast("dict[str, Any]", value), **added}

    @override
    def _flow(self, inputs: Any, scope: Scope, kwargs: dict[str, Any]) -> list[Any]:
        return [
            self._apieces(inputs, scope, kwargs)
            if scope.is_async
            else self._pieces(inputs, scope, kwargs)
        ]

    def _kept(self, piece: Any) -> AddableDict:
        """Return a piece without the keys that are computed."""
        if not isinstance(piece, Mapping):
            raise ValueError(NOT_A_DICT)
        made = self.mapper.steps__
        return AddableDict({k: v for k, v in cast("Any", piece).items() if k not in made})

    def _pieces(self, inputs: Iterator[Any], scope: Scope, kwargs: dict[str, Any]) -> Iterator[Any]:
        kept, needed = tee(inputs, 2)
        added = self.mapper.transform(needed, cast("Any", scope.child()), **kwargs)
        try:
            for piece in kept:
                if rest := self._kept(piece):
                    yield rest
            yield from added
        finally:
            close_all([kept, needed, added])

    async def _apieces(
        self, inputs: AsyncIterator[Any], scope: Scope, kwargs: dict[str, Any]
    ) -> AsyncIterator[Any]:
        kept, needed = atee(inputs, 2)
        added = self.mapper.atransform(needed, cast("Any", scope.child()), **kwargs)
        try:
            async for piece in kept:
                if rest := self._kept(piece):
                    yield rest
            async for piece in added:
                yield piece
        finally:
            await aclose_all([kept, needed, added])


class RunnablePick(RunnableSerializable[dict[str, Any], Any], Streaming[dict[str, Any], Any]):
    """Gives one value of its input dict, or the part of it with the given keys.

    >>> RunnablePick("a").invoke({"a": 1, "b": 2})
    1
    >>> RunnablePick(["a"]).invoke({"a": 1, "b": 2})
    {'a': 1}
    """

    _waits: ClassVar[bool] = False
    keys: str | list[str]

    def __init__(self, keys: str | list[str], **kwargs: Any) -> None:
        super().__init__(keys=keys, **kwargs)

    @classmethod
    @override
    def is_lc_serializable(cls) -> bool:
        return True

    @classmethod
    @override
    def get_lc_namespace(cls) -> list[str]:
        return ["langchain", "schema", "runnable"]

    @override
    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        keys = [self.keys] if isinstance(self.keys, str) else self.keys
        name = name or self.name or f"RunnablePick<{','.join(keys)}>"
        return super().get_name(suffix, name=name)

    @override
    def _said(self) -> dict[str, Any]:
        return {"run_type": None}

    def _pick(self, value: Any) -> Any:
        """Return what is picked, or None if nothing is there."""
        if not isinstance(value, dict):
            raise ValueError(NOT_A_DICT)
        given = cast("dict[str, Any]", value)
        if isinstance(self.keys, str):
            return given.get(self.keys)
        picked = {key: given[key] for key in self.keys if key in given}
        return AddableDict(picked) if picked else None

    @override
    async def _run(self, door: Door, value: Any, scope: Scope, kwargs: dict[str, Any]) -> Any:
        picked = self._pick(value)
        return dict(picked) if isinstance(picked, AddableDict) and picked is not value else picked

    @override
    def _flow(self, inputs: Any, scope: Scope, kwargs: dict[str, Any]) -> list[Any]:
        return [self._apieces(inputs) if scope.is_async else self._pieces(inputs)]

    def _pieces(self, inputs: Iterator[Any]) -> Iterator[Any]:
        for piece in inputs:
            if (picked := self._pick(piece)) is not None:
                yield picked

    async def _apieces(self, inputs: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for piece in inputs:
            if (picked := self._pick(piece)) is not None:
                yield picked
