"""MCP servers: over stdio and HTTP, and one that dies in the middle of a call."""

import asyncio
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp import types

from dragoman.errors import EncodeError, MissingExtraError
from dragoman.messages import AIMessage, HumanMessage
from dragoman.tools import aexecute_tool_calls
from dragoman.tools.mcp import (
    connect,
    from_mcp_content,
    load_mcp_prompt,
    load_mcp_resource,
    load_mcp_tools,
    to_mcp_content,
)

SERVER = str(Path(__file__).parent / "mcp_server.py")
STDIO = [sys.executable, SERVER]


@pytest.fixture(scope="module")
def url():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, SERVER, str(port)], stderr=subprocess.DEVNULL)
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}/mcp"
    process.kill()
    process.wait()


def call(name, args, number="1"):
    return {"name": name, "args": args, "id": number}


@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_the_tools_of_a_server_answer_calls(over, url):
    async with connect(STDIO if over == "stdio" else url, timeout_s=30) as client:
        tools = await load_mcp_tools(client, prefix="demo_")
        assert [t.name for t in tools] == [
            f"demo_{name}" for name in ("add", "echo", "die", "fail", "media")
        ]
        assert tools[0].description == "Add two numbers."
        assert tools[0].args["a"]["type"] == "integer"
        reply = AIMessage(
            "",
            tool_calls=[
                call("demo_add", {"a": 2}, "1"),
                call("demo_add", {"a": "two"}, "2"),
                call("demo_fail", {}, "3"),
                call("demo_echo", {"arguments": {"k": 1}}, "4"),
            ],
        )
        added, wrong, failed, echoed = await aexecute_tool_calls(reply, tools)
    assert (added.content, added.status, added.artifact) == ("3", "success", {"result": 3})
    assert wrong.status == failed.status == "error"
    assert "fail" in failed.content
    assert echoed.content == "{'k': 1}"


async def test_content_of_every_kind_becomes_blocks():
    async with connect(STDIO) as client:
        tools = {t.name: t for t in await load_mcp_tools(client)}
        message = await tools["media"].ainvoke({"type": "tool_call", **call("media", {})})
        resource = await load_mcp_resource(client, "note://a")
        prompt = await load_mcp_prompt(client, "greet", {"name": "Ada"})
    assert message.content == [
        {"type": "text", "text": "t"},
        {"type": "image", "base64": "QQ==", "mime_type": "image/png"},
        {"type": "audio", "base64": "QQ==", "mime_type": "audio/wav"},
        {"type": "text", "text": "note", "extras": {"uri": "note://a"}},
        {
            "type": "file",
            "base64": "QQ==",
            "mime_type": "application/pdf",
            "extras": {"uri": "note://b"},
        },
        {"type": "text", "text": "c: note://c\nmore"},
    ]
    assert resource == [{"type": "text", "text": "hello", "extras": {"uri": "note://a"}}]
    assert prompt == [HumanMessage("Hi Ada")]


async def test_a_server_that_dies_in_a_call_is_an_answer():
    async with connect(STDIO) as client:
        tools = await load_mcp_tools(client)
        reply = AIMessage("", tool_calls=[call("die", {}, "1")])
        (died,) = await asyncio.wait_for(aexecute_tool_calls(reply, tools), 30)
        again = AIMessage("", tool_calls=[call("add", {"a": 1}, "2")])
        (after,) = await asyncio.wait_for(aexecute_tool_calls(again, tools), 30)
    for message in (died, after):
        assert message.status == "error"
        assert "did not answer" in message.content


async def test_the_tools_cannot_be_called_sync():
    async with connect(STDIO) as client:
        tools = await load_mcp_tools(client)
    with pytest.raises(NotImplementedError, match="sync"):
        tools[0].invoke({"a": 1})


def test_content_goes_back_to_mcp():
    blocks = [
        "a",
        {"type": "text", "text": "t"},
        {"type": "image", "base64": "QQ==", "mime_type": "image/png"},
        {"type": "audio", "base64": "QQ==", "mime_type": "audio/wav"},
        {"type": "file", "base64": "QQ==", "mime_type": "application/pdf"},
    ]
    items = to_mcp_content(blocks)
    assert [item.type for item in items] == ["text", "text", "image", "audio", "resource"]
    again = from_mcp_content(items)
    assert again[1:4] == blocks[1:4]
    assert again[4] == {**blocks[4], "extras": {"uri": "file:///file"}}
    assert from_mcp_content([types.TextContent(type="text", text="x")]) == "x"
    assert to_mcp_content("x")[0].text == "x"


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "image", "url": "https://e.org/x.png"}, "without `base64`"),
        ({"type": "reasoning", "reasoning": "r"}, "without `base64`"),
        ({"type": "video", "base64": "QQ=="}, "`video` block"),
    ],
)
def test_what_mcp_cannot_carry_is_refused_with_its_place(block, words):
    with pytest.raises(EncodeError, match=words) as caught:
        to_mcp_content(["a", block])
    assert caught.value.path == "$[1]"


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(MissingExtraError, match=r"dragoman\[mcp\]"):
        connect("http://127.0.0.1:1/mcp")
