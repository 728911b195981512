"""Text models: `BaseLLM` takes prompts and gives text, `LLM` is the short way to write one."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, ClassVar
from warnings import warn

from dragoman._door import ASYNC, SYNC, run
from dragoman.callbacks import Callbacks
from dragoman.language_models.base import BaseLanguageModel, LanguageModelInput
from dragoman.language_models.calls import sync_manager
from dragoman.language_models.completions import (
    astream_text,
    batch_texts,
    generate_texts,
    stream_text,
)
from dragoman.language_models.hooks import takes_manager
from dragoman.outputs import Generation, GenerationChunk, LLMResult
from dragoman.prompt_values import PromptValue
from dragoman.runnables import RunnableConfig
from dragoman.runnables.config import run_in_executor

__all__ = ["LLM", "BaseLLM"]


class BaseLLM(BaseLanguageModel[str], ABC):
    """The base of text models: a prompt in, a `str` out.

    A subclass writes `_generate` (all prompts of a call at once) and `_llm_type`, and where it can
    `_agenerate`, `_stream` and `_astream`.
    """

    @property
    def OutputType(self) -> type[str]:  # noqa: N802 - the established name
        """The type of outputs, for schemas."""
        return str

    _takes_manager: ClassVar[bool] = False

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls._takes_manager = takes_manager(cls._generate)

    # One call ------------------------------------------------------------------------------

    def invoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> str:
        """Return the text that continues `input`; messages are rendered as a dialogue.

        Raises:
            ValueError: If `input` is no string, prompt value or list of message-likes.
        """
        prompt = self._convert_input(input).to_string()
        result = run(generate_texts(self, SYNC, [prompt], [config], stop, kwargs))
        return result.generations[0][0].text

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> str:
        """Return the text that continues `input`, as `invoke` does."""
        prompt = self._convert_input(input).to_string()
        result = await generate_texts(self, ASYNC, [prompt], [config], stop, kwargs)
        return result.generations[0][0].text

    def stream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> Iterator[str]:
        """Yield the text that continues `input` in pieces; whole, if the model cannot stream."""
        return stream_text(self, input, config, stop, kwargs)

    def astream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[str]:
        """Yield the text that continues `input` in pieces, as `stream` does."""
        return astream_text(self, input, config, stop, kwargs)

    # Many calls ----------------------------------------------------------------------------

    def batch(
        self,
        inputs: list[Any],
        config: Any = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """Return a text for each input.

        One `_generate` for all of them, or for `max_concurrency` at a time. With
        `return_exceptions`, an error stands for every input of its `_generate`.
        """
        return run(
            batch_texts(
                self, SYNC, inputs, config, return_exceptions=return_exceptions, kwargs=kwargs
            )
        )

    async def abatch(
        self,
        inputs: list[Any],
        config: Any = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """Return a text for each input, as `batch` does."""
        return await batch_texts(
            self, ASYNC, inputs, config, return_exceptions=return_exceptions, kwargs=kwargs
        )

    def generate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        callbacks: Any = None,
        *,
        tags: Any = None,
        metadata: Any = None,
        run_name: Any = None,
        run_id: Any = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return the candidates for each prompt.

        Each of the keyword arguments may be one for all or a list with one for each prompt.

        Raises:
            ValueError: If `prompts` is no list, or such a list has another length.
        """
        configs = _configs(prompts, callbacks, tags, metadata, run_name, run_id)
        return run(generate_texts(self, SYNC, prompts, configs, stop, kwargs))

    async def agenerate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        callbacks: Any = None,
        *,
        tags: Any = None,
        metadata: Any = None,
        run_name: Any = None,
        run_id: Any = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return the candidates for each prompt, as `generate` does."""
        configs = _configs(prompts, callbacks, tags, metadata, run_name, run_id)
        return await generate_texts(self, ASYNC, prompts, configs, stop, kwargs)

    def generate_prompt(
        self,
        prompts: list[PromptValue],
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return the candidates for each prompt value."""
        return self.generate([p.to_string() for p in prompts], stop, callbacks, **kwargs)

    async def agenerate_prompt(
        self,
        prompts: list[PromptValue],
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return the candidates for each prompt value."""
        return await self.agenerate([p.to_string() for p in prompts], stop, callbacks, **kwargs)

    # What a subclass writes ----------------------------------------------------------------

    @property
    @abstractmethod
    def _llm_type(self) -> str:
        """A word for the kind of model, for logs and cache keys."""

    @abstractmethod
    def _generate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return the candidates for all prompts."""

    async def _agenerate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return the candidates for all prompts; runs `_generate` in a thread unless overridden."""
        if self._takes_manager:
            kwargs["run_manager"] = sync_manager(run_manager)
        return await run_in_executor(None, self._generate, prompts, stop, **kwargs)

    def _stream(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> Iterator[GenerationChunk]:
        """Yield the pieces of one text, for models that can."""
        message = f"`{type(self).__name__}` does not stream; write `_stream`"
        raise NotImplementedError(message)

    async def _astream(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[GenerationChunk]:
        """Yield the pieces of one text; runs `_stream` in a thread unless overridden."""
        from dragoman.language_models.streaming import in_thread

        async for chunk in in_thread(self._stream(prompt, stop=stop, **kwargs)):
            yield chunk

    # What handlers and caches are told -------------------------------------------------------

    def asdict(self) -> dict[str, Any]:
        """Return what identifies this model, and its `_type`."""
        return {**self._identifying_params, "_type": self._llm_type}

    def dict(self, **kwargs: Any) -> Any:
        """Return `asdict()`; the older name."""
        warn("`dict` is deprecated; use `asdict`", DeprecationWarning, stacklevel=2)
        return self.asdict()

    def _get_invocation_params(
        self, stop: list[str] | None = None, **kwargs: Any
    ) -> Mapping[str, Any]:
        return {**self.asdict(), "stop": stop, **kwargs}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Mapping[str, Any]:
        name = type(self).__name__.removesuffix("LLM").lower()
        params: dict[str, Any] = {"ls_provider": name, "ls_model_type": "llm"}
        return {**params, "ls_stop": stop} if stop else params

    def __str__(self) -> str:
        """Return the class name and the parameters that identify the model."""
        return f"{type(self).__name__}\nParams: {dict(self._identifying_params)}"


def _configs(
    prompts: Any, callbacks: Any, tags: Any, metadata: Any, run_name: Any, run_id: Any
) -> list[dict[str, Any] | None]:
    """Return one config a prompt from arguments that are one for all, or a list of one for each."""
    if not isinstance(prompts, list):
        raise ValueError(
            "Argument 'prompts' is expected to be of type list[str], received argument of type "
            f"{type(prompts)}."
        )
    count: int = len(prompts)
    configs: list[dict[str, Any]] = [{} for _ in range(count)]
    given = {"tags": tags, "metadata": metadata, "run_name": run_name, "run_id": run_id}
    given["callbacks"] = callbacks
    for key, value in given.items():
        if not value:
            continue
        if _is_per_prompt(key, value):
            if len(value) != count:
                message = (
                    f"`{key}` must have one entry for each of the {count} prompts, has {len(value)}"
                )
                raise ValueError(message)
            values: Sequence[Any] = value
        else:
            # One run id cannot name several runs: it is the first one's.
            values = [value if key != "run_id" or i == 0 else None for i in range(count)]
        for config, one in zip(configs, values, strict=True):
            if one:
                config[key] = one
    return [config or None for config in configs]


def _is_per_prompt(key: str, value: Any) -> bool:
    if not isinstance(value, list):
        return False
    if key in ("tags", "callbacks"):
        first: Any = value[0]
        return isinstance(first, list) or first is None or hasattr(first, "handlers")
    return True


class LLM(BaseLLM):
    """A text model that is a function: a subclass writes `_call`.

    >>> class Upper(LLM):
    ...     def _call(self, prompt, stop=None, run_manager=None, **kwargs):
    ...         return prompt.upper()
    ...
    ...     @property
    ...     def _llm_type(self):
    ...         return "upper"
    >>> Upper().invoke("hi")
    'HI'
    """

    _call_takes_manager: ClassVar[bool] = False

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls._call_takes_manager = takes_manager(cls._call)

    @abstractmethod
    def _call(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> str:
        """Return the text that continues `prompt`."""

    async def _acall(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> str:
        """Return the text that continues `prompt`; runs `_call` in a thread unless overridden."""
        if self._call_takes_manager:
            kwargs["run_manager"] = sync_manager(run_manager)
        return await run_in_executor(None, self._call, prompt, stop, **kwargs)

    def _generate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> LLMResult:
        if self._call_takes_manager:
            kwargs["run_manager"] = run_manager
        texts = [self._call(prompt, stop=stop, **kwargs) for prompt in prompts]
        return LLMResult(generations=[[Generation(text=text)] for text in texts])

    async def _agenerate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> LLMResult:
        if takes_manager(type(self)._acall):
            kwargs["run_manager"] = run_manager
        texts = [await self._acall(prompt, stop=stop, **kwargs) for prompt in prompts]
        return LLMResult(generations=[[Generation(text=text)] for text in texts])
