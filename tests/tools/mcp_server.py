"""An MCP server for the tests: over stdio, or over HTTP at the port given."""

import logging
import os
import sys

from mcp import types
from mcp.server import MCPServer

app = MCPServer("demo")


@app.tool()
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@app.tool()
def echo(arguments: dict) -> str:
    """Return the arguments."""
    return repr(arguments)


@app.tool()
def die() -> str:
    """End the server."""
    os._exit(3)


@app.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("no such city")


@app.tool()
def media() -> list:
    """Give content of every kind."""
    text = types.TextResourceContents(uri="note://a", text="note", mime_type="text/plain")
    blob = types.BlobResourceContents(uri="note://b", blob="QQ==", mime_type="application/pdf")
    return [
        types.TextContent(type="text", text="t"),
        types.ImageContent(type="image", data="QQ==", mime_type="image/png"),
        types.AudioContent(type="audio", data="QQ==", mime_type="audio/wav"),
        types.EmbeddedResource(type="resource", resource=text),
        types.EmbeddedResource(type="resource", resource=blob),
        types.ResourceLink(type="resource_link", uri="note://c", name="c", description="more"),
    ]


@app.resource("note://a")
def note() -> str:
    """Give a note."""
    return "hello"


@app.prompt()
def greet(name: str) -> str:
    """Greet."""
    return f"Hi {name}"


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    if len(sys.argv) > 1:
        app.run("streamable-http", port=int(sys.argv[1]))
    else:
        app.run("stdio")
