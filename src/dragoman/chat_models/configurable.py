"""A model that is chosen when it is called, by `config["configurable"]`.

It holds default parameters and the names a config may set. What is done to it before a model is known
(`bind_tools`, `with_structured_output`, `with_config`) is kept as a list of steps, and done to the
model once it is made, which is at every call.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

from dragoman.chat_models.factory import make_model
from dragoman.language_models.base import LanguageModelInput
from dragoman.runnables import Runnable, RunnableConfig
from dragoman.runnables.config import ensure_config

__all__ = ["ConfigurableModel"]

Fields: TypeAlias = Literal["any"] | Sequence[str]
_QUEUED = frozenset({"bind_tools", "with_structured_output"})


class ConfigurableModel(Runnable[LanguageModelInput, Any]):
    """What `init_chat_model` returns when something stays open.

    Args:
        defaults: Parameters of `init_chat_model`.
        fields: The names a config may set; "any" is all of them.
        prefix: Stands before these names in a config, with an underscore after it.
        steps: What is done to the model once it is made: `(method, args, kwargs)`.
    """

    def __init__(
        self,
        *,
        defaults: Mapping[str, Any] | None = None,
        fields: Fields = "any",
        prefix: str = "",
        steps: Sequence[tuple[str, tuple[Any, ...], dict[str, Any]]] = (),
    ) -> None:
        if fields != "any" and (isinstance(fields, str) or not isinstance(fields, Iterable)):
            message = (
                "`configurable_fields` has to be 'any' or a list of names, "
                f"got {fields!r:.80}; write [name] for a single one"
            )
            raise TypeError(message)
        self._defaults = dict(defaults or {})
        self._fields: Fields = fields if fields == "any" else tuple(fields)
        self._prefix = prefix + "_" if prefix and not prefix.endswith("_") else prefix
        self._steps = tuple(steps)

    def __repr__(self) -> str:
        known = self._defaults.get("model") or "chosen when called"
        return f"ConfigurableModel({known}, fields={self._fields!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _QUEUED:
            # `with_structured_output` and `bind_tools` are not asked of a model that is not known yet.
            def queue(*args: Any, **kwargs: Any) -> ConfigurableModel:
                return self._with(steps=(*self._steps, (name, args, kwargs)))

            return queue
        message = f"{name} is not a BaseChatModel attribute"
        if self._defaults.get("model"):
            model = self._model()
            if hasattr(model, name):
                return getattr(model, name)
            message += " and is not implemented on the default model"
        raise AttributeError(message + ".")

    def _with(self, **changes: Any) -> "ConfigurableModel":
        said: dict[str, Any] = {
            "defaults": self._defaults,
            "fields": self._fields,
            "prefix": self._prefix,
            "steps": self._steps,
            **changes,
        }
        return ConfigurableModel(**said)

    def _chosen(self, config: RunnableConfig | None) -> dict[str, Any]:
        """Return the parameters that a config sets."""
        values = ensure_config(config).get("configurable") or {}
        chosen = {
            name.removeprefix(self._prefix): value
            for name, value in values.items()
            if name.startswith(self._prefix)
        }
        if self._fields == "any":
            return chosen
        return {name: value for name, value in chosen.items() if name in self._fields}

    def _model(self, config: RunnableConfig | None = None) -> Runnable[Any, Any]:
        """Return the model for one call, with all steps done."""
        params = {**self._defaults, **self._chosen(config)}
        name = params.pop("model", None)
        if name is None:
            message = (
                "no model was chosen; give `model` in `config={'configurable': {'"
                f"{self._prefix}model': ...}}}}`"
            )
            raise TypeError(message)
        model: Any = make_model(name, params.pop("model_provider", None), params)
        for method, args, kwargs in self._steps:
            model = getattr(model, method)(*args, **kwargs)
        return model

    def with_config(
        self, config: RunnableConfig | None = None, **kwargs: Any
    ) -> "ConfigurableModel":
        """Return this model with what the config sets as its defaults; the rest goes to every call."""
        given: Any = {**(config or {}), **kwargs}
        full = ensure_config(given)
        chosen = self._chosen(full)
        rest = {key: value for key, value in full.items() if key != "configurable"}
        others = {
            name: value
            for name, value in (full.get("configurable") or {}).items()
            if name.removeprefix(self._prefix) not in chosen or not name.startswith(self._prefix)
        }
        steps = self._steps
        if rest or others:
            baked: Any = {**rest, "configurable": others}
            steps = (*steps, ("with_config", (), {"config": baked}))
        # What is baked in stays configurable, under the same names.
        return self._with(defaults={**self._defaults, **chosen}, steps=steps)

    @property
    def InputType(self) -> Any:  # noqa: N802 - the established name
        """The type of inputs, for schemas."""
        return str | list[Any] | Any

    def invoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return the chosen model's reply."""
        return self._model(config).invoke(input, config, **kwargs)

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Any:
        """Return the chosen model's reply."""
        return await self._model(config).ainvoke(input, config, **kwargs)

    def stream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        """Return the chosen model's stream."""
        return self._model(config).stream(input, config, **kwargs)

    def astream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Return the chosen model's stream."""
        return self._model(config).astream(input, config, **kwargs)

    def batch(
        self,
        inputs: list[LanguageModelInput],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """Return the replies in order; with several configs each input has a model of its own."""
        one = _one(config)
        if one is _SEVERAL:
            return super().batch(inputs, config, return_exceptions=return_exceptions, **kwargs)
        model = self._model(one)
        return model.batch(inputs, one, return_exceptions=return_exceptions, **kwargs)

    async def abatch(
        self,
        inputs: list[LanguageModelInput],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """Return the replies in order, as `batch` does."""
        one = _one(config)
        if one is _SEVERAL:
            return await super().abatch(
                inputs, config, return_exceptions=return_exceptions, **kwargs
            )
        model = self._model(one)
        return await model.abatch(inputs, one, return_exceptions=return_exceptions, **kwargs)

    def transform(
        self,
        input: Iterator[Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        """Yield the chosen model's output for a stream of input pieces."""
        yield from self._model(config).transform(input, config, **kwargs)

    async def atransform(
        self,
        input: AsyncIterator[Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Yield the chosen model's output for a stream of input pieces."""
        output: Any = self._model(config).atransform(input, config, **kwargs)
        try:
            async for piece in output:
                yield piece
        finally:
            await output.aclose()


_SEVERAL = cast("RunnableConfig", object())


def _one(config: RunnableConfig | list[RunnableConfig] | None) -> RunnableConfig | None:
    """Return the one config there is, or `_SEVERAL`."""
    if isinstance(config, list):
        return config[0] if len(config) == 1 else _SEVERAL
    return config
