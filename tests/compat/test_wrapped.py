"""A dragoman model as LangChain's: calls, streams, tools, objects, errors."""

import pytest
from langchain_core import exceptions as theirs
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from pydantic import BaseModel

from dragoman import messages as ours
from dragoman.chat_models import init_chat_model
from dragoman.compat import wrap_model
from dragoman.compat.wrapped import WrappedChatModel
from dragoman.errors import TranscriptError
from dragoman.testing import FakeListChatModel, GenericFakeChatModel, Reply, ScriptedServer

REPLY = ours.AIMessage(
    "Hello there",
    id="msg_1",
    response_metadata={"model_name": "m", "finish_reason": "stop", "model_provider": "openai"},
    usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
)
CALL = ours.AIMessage("", tool_calls=[{"name": "City", "args": {"name": "Paris"}, "id": "c1"}])


class City(BaseModel):
    """A city."""

    name: str


@tool
def get_weather(city: str) -> str:
    """Tell the weather."""
    return f"sunny in {city}"


def scripted(server, **options):
    model = init_chat_model("openai:m", base_url=server.url, api_key="k", max_retries=0, **options)
    return wrap_model(model)


def answers(message, n=1):
    return [Reply.message(message) for _ in range(n)]


def streams(message):
    return Reply.message(message, stream=True)


async def test_a_reply_keeps_text_usage_id_and_metadata():
    with ScriptedServer(*answers(REPLY, 2)) as server:
        model = scripted(server)
        for reply in (model.invoke("Hi"), await model.ainvoke([HumanMessage("Hi")])):
            assert type(reply) is AIMessage
            assert (reply.content, reply.id) == ("Hello there", "msg_1")
            assert reply.usage_metadata["total_tokens"] == 5
            assert reply.response_metadata["finish_reason"] == "stop"
        assert server.requests[0].json["messages"] == [{"role": "user", "content": "Hi"}]


async def test_a_stream_adds_up_to_the_reply():
    with ScriptedServer(streams(REPLY), streams(REPLY)) as server:
        model = scripted(server)
        chunks = list(model.stream("Hi"))
        more = [chunk async for chunk in model.astream("Hi")]
    for stream in (chunks, more):
        assert all(type(chunk) is AIMessageChunk for chunk in stream)
        total = sum(stream[1:], stream[0])
        assert (total.content, total.id, total.chunk_position) == ("Hello there", "msg_1", "last")
        assert total.usage_metadata["output_tokens"] == 2


def test_a_reply_without_an_id_gets_the_id_of_langchains_run():
    runs = []

    class Watch(BaseCallbackHandler):
        def on_chat_model_start(self, serialized, messages, *, run_id, **kwargs):
            runs.append(run_id)

    model = wrap_model(FakeListChatModel(responses=["a"]))
    reply = model.invoke("Hi", {"callbacks": [Watch()]})
    assert reply.id == f"lc_run--{runs[0]}-0"


def test_handlers_of_langchain_see_tokens_and_usage():
    tokens = []

    class Watch(BaseCallbackHandler):
        def on_llm_new_token(self, token, **kwargs):
            tokens.append(token)

    usage = UsageMetadataCallbackHandler()
    with ScriptedServer(streams(REPLY)) as server:
        list(scripted(server).stream("Hi", {"callbacks": [Watch(), usage]}))
    assert "".join(tokens) == "Hello there"
    assert usage.usage_metadata["m"]["total_tokens"] == 5


def test_it_stands_in_a_chain_of_langchain():
    model = wrap_model(FakeListChatModel(responses=["fine"]))
    chain = ChatPromptTemplate.from_messages([("human", "{q}")]) | model | StrOutputParser()
    assert chain.invoke({"q": "How are you?"}) == "fine"
    assert "".join(chain.stream({"q": "How are you?"})) == "fine"


def test_tools_of_both_sides_are_sent():
    from dragoman.tools import tool as our_tool

    @our_tool
    def add(a: int) -> int:
        """Add."""
        return a

    with ScriptedServer(*answers(CALL)) as server:
        bound = scripted(server).bind_tools([get_weather, add, City], tool_choice="City")
        reply = bound.invoke("Where?")
        body = server.requests[0].json
    assert [t["function"]["name"] for t in body["tools"]] == ["get_weather", "add", "City"]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "City"}}
    assert reply.tool_calls == [
        {"name": "City", "args": {"name": "Paris"}, "id": "c1", "type": "tool_call"}
    ]


async def test_structured_output_whole_and_streamed():
    with ScriptedServer(*answers(CALL, 3), streams(CALL)) as server:
        model = scripted(server)
        assert model.with_structured_output(City).invoke("Where?") == City(name="Paris")
        assert await model.with_structured_output(City).ainvoke("Where?") == City(name="Paris")
        raw = model.with_structured_output(City, include_raw=True).invoke("Where?")
        assert (type(raw["raw"]), raw["parsed"]) == (AIMessage, City(name="Paris"))
        assert raw["parsing_error"] is None
        assert list(model.with_structured_output(City).stream("Where?")) == [City(name="Paris")]


def test_the_methods_of_structured_output_are_ours():
    text = ours.AIMessage('{"name": "Rome"}')
    with ScriptedServer(*answers(text)) as server:
        model = scripted(server).with_structured_output(City, method="json_schema", strict=True)
        assert model.invoke("Where?") == City(name="Rome")
        form = server.requests[0].json["response_format"]["json_schema"]
    assert (form["name"], form["strict"]) == ("City", True)


def test_an_answer_that_does_not_fit_is_langchains_error():
    wrong = ours.AIMessage("", tool_calls=[{"name": "City", "args": {}, "id": "c1"}])
    with ScriptedServer(*answers(wrong)) as server:
        model = scripted(server).with_structured_output(City)
        with pytest.raises(theirs.OutputParserException, match="name"):
            model.invoke("Where?")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, theirs.ModelAuthenticationError),
        (404, theirs.ModelNotFoundError),
        (429, theirs.ModelRateLimitError),
        (503, theirs.ModelAPIError),
    ],
)
async def test_errors_are_langchains_with_ours_as_their_cause(status, expected):
    refusal = Reply.json({"error": {"message": "no", "type": "t"}}, status=status)
    with ScriptedServer(refusal, refusal, refusal) as server:
        model = scripted(server)
        for ask in (lambda: model.invoke("Hi"), lambda: list(model.stream("Hi"))):
            with pytest.raises(expected, match="no") as caught:
                ask()
            assert (caught.value.status, caught.value.__cause__.status) == (status, status)
            assert caught.value.is_retryable is expected.is_retryable
        with pytest.raises(expected):
            await model.ainvoke("Hi")


def test_an_error_without_a_namesake_stays_ours():
    pending = AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c1"}])
    history = [HumanMessage("x"), pending, HumanMessage("y")]
    with ScriptedServer() as server:
        model = scripted(server, history="strict")
        with pytest.raises(TranscriptError):
            model.invoke(history)
        assert server.requests == []


def test_a_stream_that_is_left_frees_the_connection():
    with ScriptedServer(Reply.message(REPLY, stream=True, end="hang")) as server:
        stream = scripted(server).stream("Hi")
        next(stream)
        stream.close()
        assert server.wait_idle()


def test_a_name_with_options_makes_the_model():
    model = wrap_model("openai:gpt-5-mini", api_key="k", temperature=0.5)
    params = model._get_ls_params()
    assert (params["ls_provider"], params["ls_model_name"]) == ("openai", "gpt-5-mini")
    assert params["ls_temperature"] == 0.5
    assert model.profile["tool_calling"] is True
    assert "'k'" not in repr(model)


def test_something_else_is_refused():
    with pytest.raises(TypeError, match="not int"):
        wrap_model(3)
    with pytest.raises(TypeError, match="name with options"):
        wrap_model(FakeListChatModel(responses=["a"]), temperature=1)


def test_tokens_are_counted_by_our_model():
    model = wrap_model(GenericFakeChatModel(messages=iter([])))
    assert isinstance(model, WrappedChatModel)
    assert model.get_num_tokens_from_messages([HumanMessage("one two three")]) > 0
