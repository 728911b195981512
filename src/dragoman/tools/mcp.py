"""Tools, resources and prompts of MCP servers, as dragoman's own (extra `mcp`).

`connect` opens a client of the official package; the `load_mcp_...` functions take any client or
session that has its methods, so that this module needs the package only to connect and to write
MCP content. A server's tools are async. What a server reports as an error, and a connection that
breaks, become error results that a model can read.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NoReturn

from dragoman._need import need
from dragoman.errors import EncodeError
from dragoman.messages import AIMessage, BaseMessage, HumanMessage
from dragoman.tools.errors import ToolException
from dragoman.tools.structured import StructuredTool

__all__ = [
    "connect",
    "from_mcp_content",
    "load_mcp_prompt",
    "load_mcp_resource",
    "load_mcp_tools",
    "to_mcp_content",
]


def connect(
    server: str | Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
) -> AbstractAsyncContextManager[Any]:
    """Return a client of an MCP server, to be entered with `async with`.

    Args:
        server: The URL of a server (streamable HTTP), or the command line that starts one (stdio).
        env: The environment of a started server; by default the few variables that the package
            deems safe to pass on.
        timeout_s: Seconds to wait for an answer; None for as long as it takes.

    Raises:
        MissingExtraError: If the package `mcp` is not installed.
    """
    mcp = need("mcp", "mcp")
    if isinstance(server, str):
        return mcp.Client(server, read_timeout_seconds=timeout_s)
    command, *args = server
    parameters = mcp.StdioServerParameters(
        command=command, args=args, env=dict(env) if env is not None else None
    )
    return mcp.Client(parameters, read_timeout_seconds=timeout_s)


async def load_mcp_tools(client: Any, *, prefix: str = "") -> list[StructuredTool]:
    """Return the tools of a server, in its order.

    Args:
        client: An entered client or session; the tools use it, so they live as long.
        prefix: Put before each name, where several servers have tools of the same name.
    """
    tools: list[StructuredTool] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor) if cursor else await client.list_tools()
        tools += [_tool(client, described, prefix) for described in page.tools]
        cursor = page.next_cursor
        if not cursor:
            return tools


def _tool(client: Any, described: Any, prefix: str) -> StructuredTool:
    async def call(**arguments: Any) -> tuple[Any, Any]:
        try:
            result = await client.call_tool(described.name, arguments)
        except Exception as error:  # noqa: BLE001 - every fault of the connection is told the same way
            _fail(described.name, error)
        content = from_mcp_content(result.content)
        if result.is_error:
            raise ToolException(_text(content) or f"`{described.name}` failed")
        structured = result.structured_content
        if not content and structured is not None:
            content = structured
        return content, structured

    annotations = described.annotations
    metadata: dict[str, Any] = {"mcp_name": described.name}
    if annotations is not None:
        metadata["mcp_annotations"] = annotations.model_dump(exclude_none=True)
    return StructuredTool(
        name=f"{prefix}{described.name}",
        description=described.description or described.title or "",
        args_schema=dict(described.input_schema),
        coroutine=call,
        response_format="content_and_artifact",
        handle_tool_error=True,
        metadata=metadata,
    )


def _fail(name: str, error: Exception) -> NoReturn:
    said = str(error) or type(error).__name__
    message = f"The MCP server of `{name}` did not answer: {said}"
    raise ToolException(message) from error


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block.get("type") == "text")


async def load_mcp_resource(client: Any, uri: str) -> list[dict[str, Any]]:
    """Return the contents of a resource as standard blocks."""
    result = await client.read_resource(uri)
    return [_resource_block(item) for item in result.contents]


async def load_mcp_prompt(
    client: Any, name: str, arguments: Mapping[str, str] | None = None
) -> list[BaseMessage]:
    """Return the messages of a prompt."""
    result = await client.get_prompt(name, dict(arguments or {}))
    roles: dict[str, type[BaseMessage]] = {"user": HumanMessage, "assistant": AIMessage}
    return [roles[m.role](content=from_mcp_content([m.content])) for m in result.messages]


# Content -----------------------------------------------------------------------------------


def from_mcp_content(items: Sequence[Any]) -> Any:
    """Return MCP content as standard blocks; a single text as a `str`.

    Embedded texts become text blocks and other data image, audio or file blocks, with their uri in
    `extras`; a link to a resource is told as text, as no provider can follow it.
    """
    blocks = [_READERS[item.type](item) for item in items]
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        return blocks[0]["text"]
    return blocks


def _text_block(item: Any) -> dict[str, Any]:
    return {"type": "text", "text": item.text}


def _media_block(item: Any) -> dict[str, Any]:
    return {"type": item.type, "base64": item.data, "mime_type": item.mime_type}


def _embedded_block(item: Any) -> dict[str, Any]:
    return _resource_block(item.resource)


def _link_block(item: Any) -> dict[str, Any]:
    told = [f"{item.title or item.name}: {item.uri}"]
    if item.description:
        told.append(item.description)
    return {"type": "text", "text": "\n".join(told)}


_READERS = {
    "audio": _media_block,
    "image": _media_block,
    "resource": _embedded_block,
    "resource_link": _link_block,
    "text": _text_block,
}


def _resource_block(resource: Any) -> dict[str, Any]:
    extras = {"uri": str(resource.uri)}
    if hasattr(resource, "text"):
        return {"type": "text", "text": resource.text, "extras": extras}
    mime = resource.mime_type or "application/octet-stream"
    family = mime.partition("/")[0]
    kind = family if family in ("image", "audio") else "file"
    return {"type": kind, "base64": resource.blob, "mime_type": mime, "extras": extras}


def to_mcp_content(content: str | Sequence[str | Mapping[str, Any]]) -> list[Any]:
    """Return a message's content as MCP content, for servers that answer with dragoman's messages.

    Texts, images and audio become themselves, files embedded resources.

    Raises:
        EncodeError: If a block is of another kind, or its data are only known by a URL or id.
        MissingExtraError: If the package `mcp` is not installed.
    """
    types = need("mcp.types", "mcp")
    given = [content] if isinstance(content, str) else content
    return [_mcp_item(types, block, f"$[{index}]") for index, block in enumerate(given)]


def _mcp_item(types: Any, block: Any, path: str) -> Any:
    if isinstance(block, str):
        return types.TextContent(type="text", text=block)
    kind, mime = block.get("type"), block.get("mime_type")
    if kind in ("text", "text-plain") and isinstance(block.get("text"), str):
        return types.TextContent(type="text", text=block["text"])
    if "base64" not in block:
        message = f"MCP cannot carry a `{kind}` block without `base64`"
        raise EncodeError(message, path=path, hint="fetch its data first")
    if kind == "image":
        return types.ImageContent(type="image", data=block["base64"], mime_type=mime or "image/png")
    if kind == "audio":
        return types.AudioContent(type="audio", data=block["base64"], mime_type=mime or "audio/wav")
    if kind == "file":
        extras = block.get("extras") or {}
        uri = extras.get("uri") or f"file:///{extras.get('filename', 'file')}"
        resource = types.BlobResourceContents(uri=uri, blob=block["base64"], mime_type=mime)
        return types.EmbeddedResource(type="resource", resource=resource)
    raise EncodeError(f"MCP cannot carry a `{kind}` block", path=path, hint="make it text first")
