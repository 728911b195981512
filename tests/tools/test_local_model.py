"""Tools called by the bundled model: its constrained decoding gives arguments that fit."""

import pytest
from tests.tools.zoo import ZOO

from dragoman.chat_models import init_chat_model
from dragoman.messages import ToolMessage

pytestmark = pytest.mark.local_model

NAMES = [
    "integer",
    "boolean",
    "string",
    "enum",
    "literal",
    "described",
    "model",
    "several",
    "dataclass",
    "typed dict",
]


@pytest.mark.parametrize(
    "name", [NAMES[-1], *(pytest.param(n, marks=pytest.mark.soak) for n in NAMES[:-1])]
)
def test_arguments_of_a_forced_call_pass_the_tool(name):
    made, *_ = ZOO[name]
    model = init_chat_model("local", temperature=0, max_tokens=120)
    bound = model.bind_tools([made], tool_choice=made.name)
    reply = bound.invoke("Call the tool with short values: a is 3, b is x, x is 5.")
    assert [call["name"] for call in reply.tool_calls] == [made.name]
    result = made.invoke(reply.tool_calls[0])
    assert isinstance(result, ToolMessage)
    assert result.status == "success"
