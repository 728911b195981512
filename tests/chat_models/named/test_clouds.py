"""Amazon, Azure and Google Cloud: addresses, signatures, tokens."""

import asyncio
from typing import Any

import pytest

from dragoman.chat_models import AzureChatOpenAI, ChatBedrockConverse, ChatVertexAI
from dragoman.chat_models.parameters import ParameterError
from dragoman.errors import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelRateLimitError,
    ModelStreamError,
)
from dragoman.messages import AIMessage
from dragoman.testing import Reply, ScriptedServer

SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
KEYS = {"aws_access_key_id": "AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key": SECRET}
NAME = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    import os

    for name in list(os.environ):
        if name.startswith(("AWS_", "AZURE_", "OPENAI_", "GOOGLE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def bedrock(server: ScriptedServer, **options: Any) -> ChatBedrockConverse:
    return ChatBedrockConverse(
        model=NAME, region="eu-west-1", base_url=server.url, max_retries=0, **{**KEYS, **options}
    )


def test_bedrock_requests_are_signed_as_botocore_signs_them(
    server: ScriptedServer, hello: AIMessage, colour: Any
) -> None:
    server.add(
        Reply.message(hello, api="bedrock_converse"),
        Reply.message(hello, api="bedrock_converse", stream=True),
    )
    model = bedrock(server, aws_session_token="session-token-1")
    assert SECRET not in repr(model) + str(model.model_dump())
    assert colour.invoke(model, "hi").text == hello.content
    assert "".join(c.text for c in colour.stream(model, "hi")) == hello.content
    quoted = NAME.replace(":", "%3A")
    assert [r.path for r in server.requests] == [
        f"/model/{quoted}/converse",
        f"/model/{quoted}/converse-stream",
    ]
    for request in server.requests:
        assert_signed(server, request)
        assert request.headers["x-amz-security-token"] == "session-token-1"
        assert set(request.json) == {"messages"} | (
            set(request.json) & {"system", "inferenceConfig"}
        )


def assert_signed(server: ScriptedServer, request: Any) -> None:
    """Sign the received request again, at its own time, and compare."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    credentials = Credentials(
        KEYS["aws_access_key_id"], SECRET, request.headers["x-amz-security-token"]
    )
    signer = SigV4Auth(credentials, "bedrock", "eu-west-1")
    again = AWSRequest(
        "POST",
        f"{server.url}{request.path}",
        data=request.body,
        headers={
            "content-type": "application/json",
            "host": request.headers["host"],
            "X-Amz-Date": request.headers["x-amz-date"],
            "X-Amz-Security-Token": request.headers["x-amz-security-token"],
        },
    )
    again.context["timestamp"] = request.headers["x-amz-date"]
    text = signer.string_to_sign(again, signer.canonical_request(again))
    assert request.headers["authorization"].endswith(f"Signature={signer.signature(text, again)}")
    assert "eu-west-1/bedrock/aws4_request" in request.headers["authorization"]


def test_bedrock_exceptions_in_a_stream(
    server: ScriptedServer, hello: AIMessage, colour: Any
) -> None:
    start = Reply.message(hello, api="bedrock_converse", stream=True, only=3)
    fault = Reply.events(
        [("throttlingException", '{"message":"Too many requests"}')], framing="aws"
    )
    start.steps += fault.steps
    server.add(start, fault)
    with pytest.raises(ModelRateLimitError, match="Too many requests") as caught:
        colour.stream(bedrock(server), "hi")
    assert caught.value.partial.text.startswith("Hello")
    with pytest.raises(ModelRateLimitError):
        colour.stream(bedrock(server), "hi")


def test_bedrock_frames_damaged_on_the_way(
    server: ScriptedServer, hello: AIMessage, colour: Any
) -> None:
    reply = Reply.message(hello, api="bedrock_converse", stream=True)
    frame = bytearray(reply.steps[4])
    frame[-6] ^= 1
    reply.steps[4] = bytes(frame)
    server.add(reply)
    with pytest.raises(ModelStreamError, match="checksum") as caught:
        colour.stream(bedrock(server), "hi")
    assert caught.value.partial.text.startswith("Hello")


def test_bedrock_keys_regions_and_errors(
    server: ScriptedServer, hello: AIMessage, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.add(
        Reply.message(hello, api="bedrock_converse"), Reply.json({"message": "bad"}, status=503)
    )
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bearer-token-1")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    ChatBedrockConverse(model=NAME, base_url=server.url).invoke("hi")
    assert server.requests[0].headers["authorization"] == "Bearer bearer-token-1"
    with pytest.raises(ModelAPIError, match="bad"):
        ChatBedrockConverse(model=NAME, base_url=server.url, max_retries=0).invoke("hi")
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK")
    with pytest.raises(ModelAuthenticationError, match="no AWS credentials"):
        ChatBedrockConverse(model=NAME, base_url=server.url).invoke("hi")
    monkeypatch.delenv("AWS_REGION")
    with pytest.raises(ParameterError, match="needs a `region`"):
        ChatBedrockConverse(model=NAME, **KEYS).invoke("hi")


def test_bedrock_s_own_address() -> None:
    model = ChatBedrockConverse(model="m", region="us-east-1", **KEYS)
    from dragoman.chat_models.address import base_url_of, full_url

    base = base_url_of(model.provider, None)
    url = full_url(model.provider, base, stream=False, fields=model._places("m"), query={})
    assert url == "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse"


def test_azure(server: ScriptedServer, hello: AIMessage, colour: Any) -> None:
    server._handler = lambda request: Reply.message(hello)
    common = {
        "azure_endpoint": f"{server.url}/",
        "api_version": "2026-01-01",
        "azure_deployment": "my dep",
    }
    colour.invoke(AzureChatOpenAI(api_key="azure-key-1", **common), "hi")
    assert (
        server.requests[-1].path
        == "/openai/deployments/my%20dep/chat/completions?api-version=2026-01-01"
    )
    assert server.requests[-1].headers["api-key"] == "azure-key-1"
    assert server.requests[-1].json["model"] == "my dep"
    given = iter(["token-one", "token-two"])
    model = AzureChatOpenAI(model="gpt-4o", azure_ad_token_provider=lambda: next(given), **common)
    colour.invoke(model, "hi")
    colour.invoke(model, "hi")
    assert [r.headers["authorization"] for r in server.requests[-2:]] == [
        "Bearer token-one",
        "Bearer token-two",
    ]
    assert "api-key" not in server.requests[-1].headers
    assert server.requests[-1].json["model"] == "gpt-4o"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"api_version": "1"}, "needs `azure_endpoint`"),
        ({"azure_endpoint": "https://r.example"}, "needs `api_version`"),
        (
            {
                "azure_endpoint": "https://r.example",
                "base_url": "https://s.example",
                "api_version": "1",
            },
            "not both",
        ),
        ({"azure_endpoint": "r.example", "api_version": "1"}, "http or https"),
    ],
)
def test_azure_s_contradictions(options: dict, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        AzureChatOpenAI(model="m", api_key="azure-key-1", **options)


def test_azure_without_a_key() -> None:
    with pytest.raises(ModelAuthenticationError, match="AZURE_OPENAI_API_KEY"):
        AzureChatOpenAI(model="m", azure_endpoint="https://r.example", api_version="1")


def test_vertex_with_a_token_function(server: ScriptedServer, hello: AIMessage) -> None:
    server._handler = lambda request: Reply.message(
        hello, api="gemini", stream="stream" in request.path
    )
    tokens = iter(["t-one-1", "t-two-2"])

    async def token() -> str:
        return next(tokens)

    model = ChatVertexAI(
        model="gemini-3-pro",
        project="my-project",
        location="global",
        api_key=token,
        base_url=server.url,
    )

    async def go() -> None:
        assert (await model.ainvoke("hi")).text == hello.content
        assert "".join([c.text async for c in model.astream("hi")]) == hello.content

    asyncio.run(go())
    path = "/v1/projects/my-project/locations/global/publishers/google/models/gemini-3-pro"
    assert [r.path for r in server.requests] == [
        f"{path}:generateContent",
        f"{path}:streamGenerateContent?alt=sse",
    ]
    assert [r.headers["authorization"] for r in server.requests] == [
        "Bearer t-one-1",
        "Bearer t-two-2",
    ]
    assert ChatVertexAI(model="m", project="p", location="europe-west4", api_key="k" * 9)._places(
        "m"
    )["location_host"] == ("europe-west4-aiplatform.googleapis.com")
    with pytest.raises(ParameterError, match="needs `project`"):
        ChatVertexAI(model="m", api_key="k" * 9)
