"""`JsonOutputParser`: the JSON value in a model's answer, growing as it streams."""

import json
from json import JSONDecodeError
from typing import Any, ClassVar

from pydantic import BaseModel, SkipValidation

from dragoman._need import need
from dragoman.errors import OutputParserException
from dragoman.output_parsers._refusal import raise_if_refused
from dragoman.output_parsers.format_instructions import JSON_FORMAT_INSTRUCTIONS
from dragoman.output_parsers.transform import BaseCumulativeTransformOutputParser
from dragoman.outputs import Generation
from dragoman.utils.json import (
    parse_and_check_json_markdown,
    parse_json_markdown,
    parse_partial_json,
)

__all__ = [
    "JsonOutputParser",
    "SimpleJsonOutputParser",
    "parse_and_check_json_markdown",
    "parse_json_markdown",
    "parse_partial_json",
]


def schema_text(model: Any) -> str:
    """Return the JSON schema of a pydantic class as text, without its title and type."""
    schema = dict(model.model_json_schema())
    schema.pop("title", None)
    schema.pop("type", None)
    return json.dumps(schema, ensure_ascii=False)


class JsonOutputParser(BaseCumulativeTransformOutputParser[Any]):
    """Gives the JSON value of a text, also inside Markdown fences; nothing is validated.

    Attributes:
        pydantic_object: A pydantic class whose schema the format instructions show.
        diff: Whether a stream yields JSON patches instead of growing values.

    >>> list(JsonOutputParser().transform(iter(['{"a": "x', 'y"}'])))
    [{'a': 'x'}, {'a': 'xy'}]
    """

    _waits: ClassVar[bool] = False  # pure: no threads in a batch

    pydantic_object: SkipValidation[type[BaseModel] | None] = None

    def _diff(self, prev: Any | None, next: Any) -> Any:
        return need("jsonpatch", "parsers").make_patch(prev, next).patch

    def parse_result(self, result: list[Generation], *, partial: bool = False) -> Any:
        """Return the value; None if a partial text has none yet.

        Raises:
            OutputParserException: If the text is no JSON; has `llm_output`.
            ModelRefusalError: If the model declined.
        """
        raise_if_refused(result)
        text = result[0].text.strip()
        try:
            return parse_json_markdown(text)
        except JSONDecodeError as error:
            if partial:
                return None
            message = f"Invalid json output: {text}"
            raise OutputParserException(message, llm_output=text) from error

    def parse(self, text: str) -> Any:
        """Return the value of a text.

        Raises:
            OutputParserException: If it is no JSON.
        """
        return self.parse_result([Generation(text=text)])

    def get_format_instructions(self) -> str:
        """Return what to tell the model: the schema, if there is one."""
        if self.pydantic_object is None:
            return "Return a JSON object."
        return JSON_FORMAT_INSTRUCTIONS.format(schema=schema_text(self.pydantic_object))

    @property
    def _type(self) -> str:
        return "simple_json_output_parser"


SimpleJsonOutputParser = JsonOutputParser
"""The older name."""
