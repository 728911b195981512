"""What every language model has: common fields, inputs, and token counts.

Token counts need no other package and no network: a user's `custom_get_token_ids`, a model's exact
counter where it has one, else the approximation of `count_tokens_approximately`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypedDict, TypeVar
from warnings import warn

from pydantic import ConfigDict, Field, model_validator

from dragoman import __version__
from dragoman.caches import BaseCache
from dragoman.callbacks import Callbacks
from dragoman.errors import MissingExtraError
from dragoman.globals import get_verbose
from dragoman.messages import BaseMessage, MessageLikeRepresentation, get_buffer_string
from dragoman.outputs import LLMResult
from dragoman.prompt_values import ChatPromptValue, PromptValue, StringPromptValue
from dragoman.runnables import Runnable, RunnableSerializable

__all__ = [
    "BaseLanguageModel",
    "LangSmithParams",
    "LanguageModelInput",
    "LanguageModelLike",
    "LanguageModelOutput",
    "LanguageModelOutputVar",
]

LanguageModelInput = PromptValue | str | Sequence[MessageLikeRepresentation]
LanguageModelOutput = BaseMessage | str
LanguageModelLike = Runnable[Any, Any]
LanguageModelOutputVar = TypeVar("LanguageModelOutputVar")


class LangSmithParams(TypedDict, total=False):
    """What handlers are told about a model beside its input."""

    ls_provider: str
    ls_model_name: str
    ls_model_type: str
    ls_temperature: float | None
    ls_max_tokens: int | None
    ls_stop: list[str] | None
    ls_integration: str


class BaseLanguageModel(RunnableSerializable[LanguageModelInput, LanguageModelOutputVar], ABC):
    """The base of chat models and of text models.

    Attributes:
        cache: A cache, or whether to use the global one; None uses the global one if it is set.
        verbose: Whether runs are printed.
        callbacks: Handlers of this model's runs.
        tags: Tags of its runs.
        metadata: Metadata of its runs; gains `lc_versions`.
        custom_get_token_ids: A tokenizer for counting.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(arbitrary_types_allowed=True)

    cache: BaseCache | bool | None = Field(default=None, exclude=True)
    verbose: bool = Field(default_factory=get_verbose, exclude=True, repr=False)
    callbacks: Callbacks = Field(default=None, exclude=True)
    tags: list[str] | None = Field(default=None, exclude=True)
    metadata: dict[str, Any] | None = Field(default=None, exclude=True)
    custom_get_token_ids: Callable[[str], list[int]] | None = Field(default=None, exclude=True)

    @model_validator(mode="after")
    def _note_version(self) -> Any:
        given = (self.metadata or {}).get("lc_versions")
        if given is not None and not isinstance(given, Mapping):
            message = (
                f"metadata['lc_versions'] must be a dict, got {type(given).__name__}; replaced"
            )
            warn(message, UserWarning, stacklevel=2)
            given = None
        versions = {"dragoman": __version__, **(given or {})}
        self.metadata = {**(self.metadata or {}), "lc_versions": versions}
        return self

    @property
    def InputType(self) -> Any:  # noqa: N802 - the established name
        """The type of inputs, for schemas."""
        from dragoman.messages import AnyMessage

        return str | StringPromptValue | ChatPromptValue | list[AnyMessage]

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        """What makes this model differ from others of its class."""
        return self.lc_attributes

    def _convert_input(self, model_input: LanguageModelInput) -> PromptValue:
        if isinstance(model_input, PromptValue):
            return model_input
        if isinstance(model_input, str):
            return StringPromptValue(text=model_input)
        from dragoman.language_models.inputs import to_messages

        return ChatPromptValue(messages=to_messages(model_input))

    @abstractmethod
    def generate_prompt(
        self,
        prompts: list[PromptValue],
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return the candidates for each prompt."""

    @abstractmethod
    async def agenerate_prompt(
        self,
        prompts: list[PromptValue],
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Return the candidates for each prompt."""

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Runnable[Any, Any]:
        """Not every model can: chat models that take tools do.

        Raises:
            NotImplementedError: Here.
        """
        raise NotImplementedError("with_structured_output is not implemented for this model.")

    def get_token_ids(self, text: str) -> list[int]:
        """Return the ids that `custom_get_token_ids` gives.

        Raises:
            MissingExtraError: If the model has no tokenizer; counting does not need one.
        """
        if self.custom_get_token_ids is not None:
            return self.custom_get_token_ids(text)
        message = (
            f"`{type(self).__name__}` has no tokenizer; pass `custom_get_token_ids=`, or call "
            "`get_num_tokens`, which estimates"
        )
        raise MissingExtraError(message)

    def _has_tokenizer(self) -> bool:
        is_own = type(self).get_token_ids is not BaseLanguageModel.get_token_ids
        return is_own or self.custom_get_token_ids is not None

    def get_num_tokens(self, text: str) -> int:
        """Return how many tokens `text` is; an estimate for models without a tokenizer."""
        if self._has_tokenizer():
            return len(self.get_token_ids(text))
        # The rate of count_tokens_approximately: four characters a token.
        return -(-len(text) // 4)

    def get_num_tokens_from_messages(
        self, messages: list[BaseMessage], tools: Sequence[Any] | None = None
    ) -> int:
        """Return how many tokens the messages are, and the tools' schemas where they are given.

        An estimate for models without a tokenizer; binary blocks cost by kind.
        """
        is_own = type(self).get_num_tokens is not BaseLanguageModel.get_num_tokens
        if not is_own and not self._has_tokenizer():
            from dragoman.transcript import count_tokens_approximately

            return count_tokens_approximately(messages, tools=list(tools) if tools else None)
        count = sum(self.get_num_tokens(get_buffer_string([message])) for message in messages)
        if tools:
            import json

            from dragoman.utils.function_calling import convert_to_openai_tool

            count += sum(self.get_num_tokens(json.dumps(convert_to_openai_tool(t))) for t in tools)
        return count
