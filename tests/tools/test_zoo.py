"""Schemas of every kind of tool, as each provider gets them, against what is checked in."""

import asyncio
import copy
import json
import re

import jsonschema
import pytest
from pydantic import ValidationError
from tests.tools.zoo import BAD, DIALECTS, EXPECTED, ZOO, schemas

from dragoman.messages import AIMessage, ToolMessage
from dragoman.tools import execute_tool_calls

KNOWN = json.loads(EXPECTED.read_text())
# What a JSON Schema cannot say of arguments that pydantic refuses: formats, and laxer numbers.
ONLY_PYDANTIC = frozenset({"datetime", "date", "duration", "uuid", "decimal"})


def test_the_zoo_is_large_and_all_of_it_is_checked_in():
    assert len(ZOO) >= 40
    assert list(KNOWN) == list(ZOO)


@pytest.mark.parametrize("name", ZOO)
def test_every_provider_gets_the_schema_that_is_checked_in(name):
    # Python 3.13 takes the indentation out of docstrings.
    made, known = (
        re.sub(r"\\n +", r"\\n", json.dumps(found, sort_keys=True))
        for found in (schemas(ZOO[name][0]), KNOWN[name])
    )
    assert made == known


@pytest.mark.parametrize("name", ZOO)
def test_schemas_are_valid_and_tell_good_arguments_from_bad(name):
    _, good, bad = ZOO[name]
    for dialect in DIALECTS:
        if dialect == "gemini":
            continue  # OpenAPI's subset: `nullable` is no JSON Schema
        schema = KNOWN[name].get(dialect, KNOWN[name]["openai"])
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(good, schema)
        if bad is not BAD and name not in ONLY_PYDANTIC:
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(bad, schema)


@pytest.mark.parametrize("name", ZOO)
def test_tools_run_with_good_arguments_and_refuse_bad_ones(name):
    made, good, bad = ZOO[name]
    before = copy.deepcopy(good)
    assert made.invoke(good) == asyncio.run(made.ainvoke(good))
    assert good == before
    if bad is not BAD:
        with pytest.raises(ValidationError):
            made.invoke(bad)
        reply = AIMessage("", tool_calls=[{"name": made.name, "args": bad, "id": "1"}])
        (result,) = execute_tool_calls(reply, [made])
        assert isinstance(result, ToolMessage)
        assert result.status == "error"
        assert "Error: wrong arguments:" in result.content
