"""Parsers of the oldest form of a call: `additional_kwargs["function_call"]`."""

import json
from json import JSONDecodeError
from typing import Any, ClassVar, cast

from pydantic import BaseModel, model_validator

from dragoman._need import need
from dragoman.errors import OutputParserException
from dragoman.messages.partial_json import parse_partial_json
from dragoman.output_parsers._refusal import raise_if_refused
from dragoman.output_parsers.base import BaseGenerationOutputParser
from dragoman.output_parsers.transform import BaseCumulativeTransformOutputParser
from dragoman.outputs import ChatGeneration, Generation

__all__ = [
    "JsonKeyOutputFunctionsParser",
    "JsonOutputFunctionsParser",
    "OutputFunctionsParser",
    "PydanticAttrOutputFunctionsParser",
    "PydanticOutputFunctionsParser",
]


def _call_of(result: list[Generation]) -> dict[str, Any] | None:
    """Return the first candidate's function call, or None.

    Raises:
        OutputParserException: If it is no message.
    """
    raise_if_refused(result)
    generation = result[0]
    if not isinstance(generation, ChatGeneration):
        message = "This output parser can only be used with a chat generation."
        raise OutputParserException(message)
    call = generation.message.additional_kwargs.get("function_call")
    return dict(cast("dict[str, Any]", call)) if isinstance(call, dict) else None


def _missing() -> OutputParserException:
    return OutputParserException("Could not parse function call: 'function_call'")


class OutputFunctionsParser(BaseGenerationOutputParser[Any]):
    """Gives a function call as it stands.

    Attributes:
        args_only: Whether to give its arguments (JSON text) only.
    """

    _waits: ClassVar[bool] = False  # pure: no threads in a batch

    args_only: bool = True

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Return the call or its arguments.

        Raises:
            OutputParserException: If there is no message, or no call in it.
        """
        call = _call_of(result)
        if call is None:
            raise _missing()
        return call["arguments"] if self.args_only else call


class JsonOutputFunctionsParser(BaseCumulativeTransformOutputParser[Any]):
    """Gives the arguments of a function call as JSON values.

    Attributes:
        strict: Whether control characters inside JSON strings are refused.
        args_only: Whether to leave out the name.
    """

    _waits: ClassVar[bool] = False  # pure: no threads in a batch

    strict: bool = False
    args_only: bool = True

    @property
    def _type(self) -> str:
        return "json_functions"

    def _diff(self, prev: Any | None, next: Any) -> Any:
        return need("jsonpatch", "parsers").make_patch(prev, next).patch

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Return the arguments, or name and arguments; None if a partial call has none yet.

        Raises:
            OutputParserException: If there is no message, no call, or its arguments are no JSON.
        """
        if len(result) != 1:
            message = f"Expected exactly one result, but got {len(result)}"
            raise OutputParserException(message)
        call = _call_of(result)
        if call is None:
            if partial:
                return None
            raise _missing()
        try:
            if partial:
                arguments = parse_partial_json(call.get("arguments") or "", strict=self.strict)
            else:
                arguments = json.loads(call["arguments"], strict=self.strict)
        except (JSONDecodeError, KeyError, TypeError) as error:
            if partial:
                return None
            message = f"Could not parse function call data: {error}"
            raise OutputParserException(message) from error
        return arguments if self.args_only else {**call, "arguments": arguments}

    def parse(self, text: str) -> Any:
        """Raise NotImplementedError: text holds no calls."""
        raise NotImplementedError


class JsonKeyOutputFunctionsParser(JsonOutputFunctionsParser):
    """Gives one argument of a function call.

    Attributes:
        key_name: The argument's name.
    """

    key_name: str

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Return the argument; None if a partial call does not have it yet.

        Raises:
            KeyError: If a whole call does not have it.
        """
        value = super().parse_result(result, partial=partial)
        if partial and value is None:
            return None
        return value.get(self.key_name) if partial else value[self.key_name]


class PydanticOutputFunctionsParser(OutputFunctionsParser):
    """Gives the arguments of a function call as an instance of a pydantic class.

    Attributes:
        pydantic_schema: The class, or classes by function name.
    """

    pydantic_schema: type[BaseModel] | dict[str, type[BaseModel]]

    @model_validator(mode="before")
    @classmethod
    def validate_schema(cls, values: Any) -> Any:
        """Find out whether the name is needed: with several classes it is."""
        if not isinstance(values, dict):
            return values
        schema = values.get("pydantic_schema")
        if isinstance(schema, dict) and values.get("args_only"):
            message = "If multiple pydantic schemas are provided then args_only should be False."
            raise ValueError(message)
        return {**values, "args_only": not isinstance(schema, dict)}

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Return the instance.

        Raises:
            OutputParserException: If there is no message, or no call in it.
            pydantic.ValidationError: If the arguments do not fit the class.
            KeyError: If there is no class for the function.
        """
        value = super().parse_result(result)
        if self.args_only:
            return cast("type[BaseModel]", self.pydantic_schema).model_validate_json(value)
        schemas = cast("dict[str, type[BaseModel]]", self.pydantic_schema)
        return schemas[value["name"]].model_validate_json(value["arguments"])


class PydanticAttrOutputFunctionsParser(PydanticOutputFunctionsParser):
    """Gives one attribute of such an instance.

    Attributes:
        attr_name: The attribute's name.
    """

    attr_name: str

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Return the attribute."""
        return getattr(super().parse_result(result), self.attr_name)
