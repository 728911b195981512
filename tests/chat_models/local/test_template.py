import http.client
import json
from urllib.parse import urlsplit

import pytest

from dragoman.chat_models import local
from dragoman.chat_models.local.template import TEMPLATE

pytestmark = pytest.mark.local_model

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds.",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}


def render(messages: list, tools: list | None = None) -> str:
    server = local.server()
    connection = http.client.HTTPConnection(urlsplit(server.base_url).netloc)
    body = json.dumps({"messages": messages} | ({"tools": tools} if tools else {}))
    headers = {"Authorization": f"Bearer {server.api_key}", "Content-Type": "application/json"}
    connection.request("POST", "/apply-template", body, headers)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer["prompt"]


def turn(role: str, text: str) -> str:
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


OPEN = "<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([{"role": "user", "content": "hi"}], turn("user", "hi") + OPEN),
        (
            [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
            turn("system", "Be brief.") + turn("user", "hi") + OPEN,
        ),
        (
            [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                }
            ],
            turn("user", "a\nb") + OPEN,
        ),
        (
            [
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": "b"},
                {"role": "user", "content": "c"},
            ],
            turn("user", "a") + turn("assistant", "b") + turn("user", "c") + OPEN,
        ),
        # No newline may be lost or added: a reply that is continued must go on where it stopped.
        ([{"role": "user", "content": " a\n\n"}], turn("user", " a\n\n") + OPEN),
    ],
)
def test_turns_are_chatml(messages, expected):
    assert render(messages) == expected


def test_calls_and_results_stand_in_tags_and_results_share_a_turn():
    prompt = render(
        [
            {"role": "user", "content": "add"},
            {"role": "assistant", "content": "Well:", "tool_calls": [CALL, CALL | {"id": "c2"}]},
            {"role": "tool", "tool_call_id": "c1", "content": "2"},
            {"role": "tool", "tool_call_id": "c2", "content": "3"},
        ]
    )
    call = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
    results = "\n<tool_response>\n2\n</tool_response>\n<tool_response>\n3\n</tool_response>"
    expected = (
        turn("user", "add")
        + turn("assistant", f"Well:\n{call}\n{call}")
        + f"<|im_start|>user{results}<|im_end|>\n"
        + OPEN
    )
    assert prompt == expected


@pytest.mark.parametrize("system", [None, "Be brief."])
def test_tools_stand_in_the_system_turn(system):
    messages = [{"role": "system", "content": system}] if system else []
    prompt = render([*messages, {"role": "user", "content": "hi"}], [TOOL])
    head, _, rest = prompt.partition("<|im_end|>\n")
    assert head.startswith(
        "<|im_start|>system\n" + (f"{system}\n\nYou may" if system else "You may")
    )
    tools = head.partition("<tools>\n")[2].partition("\n</tools>")[0]
    assert json.loads(tools) == TOOL
    assert rest == turn("user", "hi") + OPEN


def test_llama_cpp_recognises_the_template():
    server = local.server()
    connection = http.client.HTTPConnection(urlsplit(server.base_url).netloc)
    connection.request("GET", "/props", headers={"Authorization": f"Bearer {server.api_key}"})
    props = json.loads(connection.getresponse().read())
    connection.close()
    for name in (
        "supports_tools",
        "supports_tool_calls",
        "supports_parallel_tool_calls",
        "supports_system_role",
    ):
        assert props["chat_template_caps"][name]
    assert props["chat_template"] == TEMPLATE.strip()
