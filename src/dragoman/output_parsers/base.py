"""The bases of output parsers: what a model said, as data.

A parser takes a message or a string; both reach `parse_result` as a list of one generation. The
parsers of this package are pure functions, and the async methods call them as they are; a user's
parser may block, so that it is run in a thread.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar, cast
from warnings import warn

from dragoman.callbacks.ambient import is_bare
from dragoman.messages import AnyMessage
from dragoman.messages.base import BaseMessage
from dragoman.outputs import ChatGeneration, Generation
from dragoman.prompt_values import PromptValue
from dragoman.runnables.base import RunnableSerializable
from dragoman.runnables.config import RunnableConfig

__all__ = ["BaseGenerationOutputParser", "BaseLLMOutputParser", "BaseOutputParser"]

T = TypeVar("T")
LanguageModelOutput = BaseMessage | str


def generation_of(value: Any) -> Generation:
    """Return a model's output, a message or a string, as a generation."""
    if isinstance(value, BaseMessage):
        return ChatGeneration(message=value)
    return Generation(text=value)


class BaseLLMOutputParser(ABC, Generic[T]):
    """Turns generations into a value; no runnable."""

    @abstractmethod
    def parse_result(self, result: list[Generation], *, partial: bool = False) -> T:
        """Return the value of a list of candidates, of which the first counts.

        Args:
            result: The candidates for one input.
            partial: Whether the text may be cut off, as in the middle of a stream.
        """

    async def aparse_result(self, result: list[Generation], *, partial: bool = False) -> T:
        """Return the value, as `parse_result`."""
        return await _run(self, lambda: self.parse_result(result, partial=partial))


def _is_ours(parser: object) -> bool:
    return type(parser).__module__.startswith("dragoman.")


async def _run(parser: object, function: Callable[[], T]) -> T:
    if _is_ours(parser):
        return function()
    return await asyncio.to_thread(function)


class BaseGenerationOutputParser(
    BaseLLMOutputParser[T], RunnableSerializable[LanguageModelOutput, T]
):
    """A runnable parser of generations."""

    @property
    def InputType(self) -> Any:  # noqa: N802 - LangChain's name
        """A string or a message."""
        return str | AnyMessage

    @property
    def OutputType(self) -> Any:  # noqa: N802 - LangChain's name
        """The type in the brackets of the base class: `BaseOutputParser[T]`.

        Raises:
            TypeError: If the class does not say.
        """
        for base in type(self).__mro__:
            metadata = cast("dict[str, Any]", getattr(base, "__pydantic_generic_metadata__", {}))
            origin, arguments = metadata.get("origin"), metadata.get("args")
            if (
                arguments
                and isinstance(origin, type)
                and issubclass(origin, BaseLLMOutputParser)
                and not isinstance(arguments[0], TypeVar)
            ):
                return arguments[0]
        message = (
            f"Runnable {type(self).__name__} doesn't have an inferable OutputType. "
            "Override the OutputType property to specify the output type."
        )
        raise TypeError(message)

    def invoke(
        self,
        input: str | BaseMessage,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> T:
        """Return the value of a message or string."""
        if is_bare(config):
            return self._parse(input)
        return self._call_with_config(self._parse, input, config, run_type="parser")

    async def ainvoke(
        self,
        input: str | BaseMessage,
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> T:
        """Return the value of a message or string."""
        if is_bare(config):
            return self._parse(input) if _is_ours(self) else await self._aparse(input)
        return await self._acall_with_config(self._aparse, input, config, run_type="parser")

    def _parse(self, value: Any) -> T:
        return self.parse_result([generation_of(value)])

    async def _aparse(self, value: Any) -> T:
        return await self.aparse_result([generation_of(value)])


class BaseOutputParser(BaseGenerationOutputParser[T]):
    """A runnable parser of text: subclasses write `parse`.

    >>> class YesNo(BaseOutputParser[bool]):
    ...     def parse(self, text):
    ...         return text.strip().lower() == "yes"
    >>> YesNo().invoke("Yes")
    True
    """

    @abstractmethod
    def parse(self, text: str) -> T:
        """Return the value of a text."""

    async def aparse(self, text: str) -> T:
        """Return the value of a text."""
        return await _run(self, lambda: self.parse(text))

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> T:
        """Return the value of the first candidate's text."""
        return self.parse(result[0].text)

    def _parse(self, value: Any) -> T:
        # A message of text needs no generation around it, unless a subclass looks at that.
        if (
            isinstance(value, BaseMessage)
            and value.content.__class__ is str
            and type(self).parse_result is BaseOutputParser.parse_result
        ):
            return self.parse(value.content)  # pyright: ignore[reportArgumentType] - a str
        return super()._parse(value)

    def parse_with_prompt(self, completion: str, prompt: PromptValue) -> Any:
        """Return the value of a text; for parsers that use the prompt to repair it."""
        return self.parse(completion)

    def get_format_instructions(self) -> str:
        """Return what a prompt should tell the model about the form of its answer."""
        raise NotImplementedError

    @property
    def _type(self) -> str:
        """The word that names this class in dumps."""
        message = (
            f"_type property is not implemented in class {type(self).__name__}. "
            "This is required for serialization."
        )
        raise NotImplementedError(message)

    def asdict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the fields as plain data, with `_type` where the class has one."""
        fields = self.model_dump(**kwargs)
        with suppress(NotImplementedError):
            fields["_type"] = self._type
        return fields

    def dict(self, **kwargs: Any) -> Any:
        """Return `asdict()`; the older name, with a DeprecationWarning."""
        warn("`dict` is deprecated; use `asdict`", DeprecationWarning, stacklevel=2)
        return self.asdict(**kwargs)
