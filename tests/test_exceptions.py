"""LangChain's names for the errors."""

import pytest

from dragoman import errors, exceptions
from dragoman.exceptions import (
    ErrorCode,
    LangChainException,
    ModelError,
    ModelRefusalError,
    OutputParserException,
    create_message,
)


def test_the_names_are_those_of_errors():
    for name in exceptions.__all__:
        thing = getattr(exceptions, name)
        assert getattr(errors, name, thing) is thing
    assert LangChainException is errors.DragomanError
    assert issubclass(exceptions.TracerException, LangChainException)


@pytest.mark.parametrize(
    ("name", "retryable"),
    [
        ("ModelAuthenticationError", False),
        ("ModelPermissionDeniedError", False),
        ("ModelInvalidRequestError", False),
        ("ModelNotFoundError", False),
        ("ContextOverflowError", False),
        ("ModelRefusalError", False),
        ("ModelRateLimitError", True),
        ("ModelAPIError", True),
        ("ModelConnectionError", True),
        ("ModelTimeoutError", True),
    ],
)
def test_which_are_retryable(name, retryable):
    cls = getattr(exceptions, name)

    assert issubclass(cls, ModelError)
    assert cls.is_retryable is retryable


def test_output_parser_exceptions():
    error = OutputParserException("bad", observation="o", llm_output="l", send_to_llm=True)

    assert isinstance(error, ValueError)
    assert isinstance(error, LangChainException)
    assert (error.observation, error.llm_output, error.send_to_llm) == ("o", "l", True)
    assert "OUTPUT_PARSING_FAILURE" in str(error)
    cause = KeyError("x")
    assert OutputParserException(cause).args == (cause,)
    with pytest.raises(ValueError, match="are required if 'send_to_llm' is True"):
        OutputParserException("bad", send_to_llm=True)


def test_refusals():
    block = {"type": "refusal", "refusal": "No.", "extras": {"category": "cyber"}}

    assert str(ModelRefusalError()) == "Model refused to produce the requested output"
    error = ModelRefusalError.from_refusal(block, raw_message="m")
    assert str(error) == "Model refused to produce the requested output (category='cyber'): No."
    assert error.raw_message == "m"


def test_codes_stand_in_texts():
    assert "INVALID_TOOL_RESULTS" in create_message(
        message="x", error_code=ErrorCode.INVALID_TOOL_RESULTS
    )
    assert {code.value for code in ErrorCode} == {
        "INVALID_PROMPT_INPUT",
        "INVALID_TOOL_RESULTS",
        "MESSAGE_COERCION_FAILURE",
        "MODEL_AUTHENTICATION",
        "MODEL_NOT_FOUND",
        "MODEL_RATE_LIMIT",
        "OUTPUT_PARSING_FAILURE",
    }
