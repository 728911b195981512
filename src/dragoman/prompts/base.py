"""The base of prompt templates: variables, partial values, the runnable's doors, saving.

A prompt never waits: `ainvoke` runs the same code as `invoke`, and the `a` methods of subclasses
differ from the plain ones only where a user's example selector must be awaited.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast
from warnings import warn

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from dragoman.callbacks.ambient import is_bare
from dragoman.errors import ErrorCode, create_message
from dragoman.prompt_values import ChatPromptValueConcrete, PromptValue, StringPromptValue
from dragoman.prompts.checked import Checked
from dragoman.runnables.base import RunnableSerializable
from dragoman.runnables.config import RunnableConfig, ensure_config

if TYPE_CHECKING:
    from dragoman.documents import Document

__all__ = ["BasePromptTemplate", "aformat_document", "format_document", "input_model"]

FormatOutputType = TypeVar("FormatOutputType")

_NAMES = frozenset({str})
_MAX_SHOWN = 20
"""So many names are listed in an error text."""


def invalid_input(message: str) -> str:
    """Return `message` with the line that names its error code."""
    return create_message(message=message, error_code=ErrorCode.INVALID_PROMPT_INPUT)


class BasePromptTemplate(
    Checked, RunnableSerializable[dict[str, Any], PromptValue], ABC, Generic[FormatOutputType]
):
    """A template with named variables; invoked with a dict, it gives a prompt value.

    Attributes:
        input_variables: Names a caller must supply.
        optional_variables: Names a caller may supply.
        input_types: Name -> type, for schemas; `str` where absent.
        partial_variables: Name -> value, or a function without arguments that gives it.
        output_parser: Kept beside the prompt for those who look for it; not applied.
        metadata: Merged into the config of a run.
        tags: Merged into the config of a run.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        arbitrary_types_allowed=True, protected_namespaces=()
    )

    _waits: ClassVar[bool] = False  # filling a template takes microseconds: no threads in a batch

    input_variables: list[str]
    optional_variables: list[str] = Field(default=[])
    input_types: dict[str, Any] = Field(default_factory=dict, exclude=True)
    output_parser: Any = None
    partial_variables: Mapping[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] | None = None
    tags: list[str] | None = None

    @model_validator(mode="after")
    def validate_variable_names(self) -> Self:
        """Refuse names that runs use themselves, and names that are both wanted and given."""
        for kind, names in (
            ("input", self.input_variables),
            ("partial", self.partial_variables),
        ):
            if "stop" in names:
                message = (
                    f"Cannot have an {kind} variable named 'stop', as it is used internally, "
                    "please rename."
                )
                raise ValueError(invalid_input(message))
        overlap = set(self.input_variables) & set(self.partial_variables)
        if overlap:
            message = f"Found overlapping input and partial variables: {overlap}"
            raise ValueError(invalid_input(message))
        return self

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Return True."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return ["langchain", "schema", "prompt_template"]

    @property
    def OutputType(self) -> Any:  # noqa: N802 - LangChain's name
        """The prompt values this gives."""
        return StringPromptValue | ChatPromptValueConcrete

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        """Return a model with a field for each variable; optional ones default to None."""
        required = {name: (self.input_types.get(name, str), ...) for name in self.input_variables}
        optional = {
            name: (self.input_types.get(name, str), None) for name in self.optional_variables
        }
        return input_model({**required, **optional})

    def invoke(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> PromptValue:
        """Return the prompt value for `input`; a value that is no dict fills the only variable.

        Raises:
            TypeError: If `input` is no dict and there is not exactly one variable.
            KeyError: If variables are missing.
        """
        if is_bare(config) and not (self.metadata or self.tags):
            return self._fill(input)
        return self._call_with_config(
            self._fill, input, self._own_config(config), run_type="prompt", serialized=None
        )

    async def ainvoke(
        self,
        input: dict[str, Any],
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> PromptValue:
        """Return the prompt value for `input`, as `invoke`."""
        if is_bare(config) and not (self.metadata or self.tags):
            return await self._afill(input)
        return await self._acall_with_config(
            self._afill, input, self._own_config(config), run_type="prompt", serialized=None
        )

    def _own_config(self, config: RunnableConfig | None) -> RunnableConfig | None:
        if not self.metadata and not self.tags:
            return config
        own = ensure_config(config)
        if self.metadata:
            own["metadata"] = {**own.get("metadata", {}), **self.metadata}
        if self.tags:
            own["tags"] = [*own.get("tags", []), *self.tags]
        return own

    def _fill(self, value: dict[str, Any]) -> PromptValue:
        return self.format_prompt(**self._validate_input(value))

    async def _afill(self, value: dict[str, Any]) -> PromptValue:
        return await self.aformat_prompt(**self._validate_input(value))

    def _validate_input(self, value: Any) -> dict[str, Any]:
        given = self._named(value)
        return given if _NAMES.issuperset(map(type, given)) else _only_names(given)

    def _named(self, value: Any) -> dict[str, Any]:
        """Return the values by name, none of the wanted ones missing; there may be other keys."""
        if not isinstance(value, dict):
            if len(self.input_variables) != 1:
                message = (
                    f"Expected mapping type as input to {type(self).__name__}. "
                    f"Received {type(value)}."
                )
                raise TypeError(invalid_input(message))
            return {self.input_variables[0]: value}
        given = cast("dict[str, Any]", value)
        for name in self.input_variables:
            if name not in given:
                raise self._missing(given)
        return given

    def _missing(self, given: Mapping[Any, Any]) -> KeyError:
        missing = [name for name in self.input_variables if name not in given]
        shown = sorted(map(str, given))[:_MAX_SHOWN]
        message = (
            f"Input to {type(self).__name__} is missing variables {_as_set(missing)}.  "
            f"Expected: {self.input_variables} Received: {shown}\n"
            f"Note: if you intended {{{missing[0]}}} to be part of the string and not a "
            f"variable, please escape it with double curly braces like: '{{{{{missing[0]}}}}}'."
        )
        return KeyError(invalid_input(message))

    @abstractmethod
    def format_prompt(self, **kwargs: Any) -> PromptValue:
        """Return the prompt value for these variables."""

    async def aformat_prompt(self, **kwargs: Any) -> PromptValue:
        """Return the prompt value for these variables."""
        return self.format_prompt(**kwargs)

    def partial(self, **kwargs: Any) -> "BasePromptTemplate[FormatOutputType]":
        """Return a new prompt in which these variables are filled already.

        A value may be a function without arguments; it is called each time the prompt is used.
        """
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        fields["input_variables"] = [n for n in self.input_variables if n not in kwargs]
        fields["partial_variables"] = {**self.partial_variables, **kwargs}
        return type(self)(**fields)

    def _merge_partial_and_user_variables(self, **kwargs: Any) -> dict[str, Any]:
        if not self.partial_variables:
            return kwargs
        values = {
            name: value() if callable(value) and name not in kwargs else value
            for name, value in self.partial_variables.items()
        }
        return {**values, **kwargs}

    @abstractmethod
    def format(self, **kwargs: Any) -> FormatOutputType:
        """Return the filled template."""

    async def aformat(self, **kwargs: Any) -> FormatOutputType:
        """Return the filled template."""
        return self.format(**kwargs)

    @property
    def _prompt_type(self) -> str:
        """The word that names this class in files."""
        raise NotImplementedError

    def asdict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the fields as plain data, with `_type` where the class has one."""
        fields = self.model_dump(**kwargs)
        with suppress(NotImplementedError):  # a user's class that is never saved needs none
            fields["_type"] = self._prompt_type
        return fields

    def dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return `asdict()`; the older name, with a DeprecationWarning."""
        warn("`dict` is deprecated; use `asdict`", DeprecationWarning, stacklevel=2)
        return self.asdict(**kwargs)

    def save(self, file_path: Path | str) -> None:
        """Write the prompt to a file, as JSON or YAML by the suffix the path resolves to.

        Raises:
            ValueError: If there are partial variables, or the suffix is neither.
            NotImplementedError: If the class has no `_type`.
        """
        from dragoman.prompts.loading import save_prompt

        warn("`save` is deprecated; use `dragoman.load.dumps`", DeprecationWarning, stacklevel=2)
        if self.partial_variables:
            message = "Cannot save prompt with partial variables."
            raise ValueError(message)
        fields = self.asdict()
        if "_type" not in fields:
            message = f"Prompt {self} does not support saving."
            raise NotImplementedError(message)
        save_prompt(fields, Path(file_path))


def _as_set(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_MAX_SHOWN])
    return f"{{{shown}}}"


def _only_names(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the entries whose keys can be variables; a dict may carry others."""
    return {key: value for key, value in values.items() if isinstance(key, str)}


def input_model(fields: Mapping[str, tuple[Any, Any]]) -> type[BaseModel]:
    """Return a model named PromptInput with these fields (name -> type and default).

    A name pydantic does not allow or uses itself (`_private`, `json`, `schema`) becomes the alias
    of another; the schema shows the name.
    """
    shaped: dict[str, Any] = {}
    for name, (kind, default) in fields.items():
        if name.startswith("_") or hasattr(BaseModel, name):
            title = name.lstrip("_").replace("_", " ").title()
            shaped[f"private_{name}"] = (kind, Field(default, alias=name, title=title))
        else:
            shaped[name] = (kind, default)
    config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())
    return create_model("PromptInput", __config__=config, **shaped)


def _document_values(doc: "Document", prompt: "BasePromptTemplate[str]") -> dict[str, Any]:
    values = {"page_content": doc.page_content, **doc.metadata}
    missing = sorted(set(prompt.input_variables) - set(values))
    if missing:
        wanted = [name for name in prompt.input_variables if name != "page_content"]
        message = (
            f"Document prompt requires documents to have metadata variables: {wanted}. "
            f"Received document with missing metadata: {missing}."
        )
        raise ValueError(invalid_input(message))
    return {name: values[name] for name in prompt.input_variables}


def format_document(doc: "Document", prompt: "BasePromptTemplate[str]") -> str:
    """Return a document as text: its page content and metadata put into `prompt`.

    Raises:
        ValueError: If `prompt` needs metadata the document does not have.
    """
    return prompt.format(**_document_values(doc, prompt))


async def aformat_document(doc: "Document", prompt: "BasePromptTemplate[str]") -> str:
    """Return a document as text, as `format_document`."""
    return await prompt.aformat(**_document_values(doc, prompt))


ValueOrFunction = str | Callable[[], str]
"""What `partial` takes for each name."""
