"""`PydanticOutputParser`: a model's answer as an instance of a pydantic class."""

import json
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, SkipValidation, ValidationError

from dragoman.errors import OutputParserException
from dragoman.output_parsers.format_instructions import PYDANTIC_FORMAT_INSTRUCTIONS
from dragoman.output_parsers.json import JsonOutputParser, schema_text
from dragoman.outputs import Generation

__all__ = ["PydanticOutputParser"]

TBaseModel = TypeVar("TBaseModel", bound=BaseModel)


class PydanticOutputParser(JsonOutputParser, Generic[TBaseModel]):
    """Gives an instance of `pydantic_object`.

    >>> class City(BaseModel):
    ...     name: str
    >>> PydanticOutputParser(pydantic_object=City).parse('{"name": "Bursa"}')
    City(name='Bursa')
    """

    pydantic_object: SkipValidation[type[TBaseModel]]  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues]

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Return the instance; None if a partial text does not make one yet.

        Raises:
            OutputParserException: If the text is no JSON, or not valid for the class.
            ModelRefusalError: If the model declined.
        """
        try:
            value = super().parse_result(result, partial=partial)
            return None if value is None and partial else self._parse_obj(value)
        except OutputParserException:
            if partial:
                return None
            raise

    def _parse_obj(self, obj: Any) -> Any:
        try:
            return self.pydantic_object.model_validate(obj)
        except ValidationError as error:
            raise self._parser_exception(error, obj) from error

    def _parser_exception(self, error: Exception, value: Any) -> OutputParserException:
        text = json.dumps(value, ensure_ascii=False)
        name = self.pydantic_object.__name__
        message = f"Failed to parse {name} from completion {text}. Got: {error}"
        return OutputParserException(message, llm_output=text)

    def parse(self, text: str) -> TBaseModel:
        """Return the instance of a text.

        Raises:
            OutputParserException: If the text is no JSON, or not valid for the class.
        """
        return cast("TBaseModel", super().parse(text))

    def get_format_instructions(self) -> str:
        """Return what to tell the model: the schema."""
        return PYDANTIC_FORMAT_INSTRUCTIONS.format(schema=schema_text(self.pydantic_object))

    @property
    def _type(self) -> str:
        return "pydantic"

    @property
    def OutputType(self) -> type[TBaseModel]:  # noqa: N802 - LangChain's name
        """The class."""
        return self.pydantic_object
