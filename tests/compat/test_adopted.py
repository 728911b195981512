"""A LangChain model as ours: calls, streams, tools, objects, errors."""

import pytest
from langchain_core.exceptions import ModelRateLimitError as TheirRateLimit
from langchain_core.language_models import BaseChatModel as TheirModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage as TheirMessage
from langchain_core.messages import AIMessageChunk as TheirChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from dragoman.compat import from_langchain_model, wrap_model
from dragoman.errors import ModelRateLimitError
from dragoman.messages import AIMessage, AIMessageChunk, HumanMessage
from dragoman.output_parsers import StrOutputParser
from dragoman.prompts import ChatPromptTemplate
from dragoman.testing import FakeListChatModel, Reply, ScriptedServer
from dragoman.tools import tool


class City(BaseModel):
    """A city."""

    name: str


class Caller(TheirModel):
    """Calls its first tool with what it is told to."""

    args: str = '{"name": "Paris"}'
    fail: bool = False
    seen: list = []

    @property
    def _llm_type(self):
        return "caller"

    def bind_tools(self, tools, *, tool_choice=None, **kwargs):
        return self.bind(tools=[convert_to_openai_tool(t) for t in tools], tool_choice=tool_choice)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        if self.fail:
            raise TheirRateLimit("slow down")
        self.seen.append(kwargs)
        import json

        name = kwargs["tools"][0]["function"]["name"]
        call = {"name": name, "args": json.loads(self.args), "id": "c1"}
        message = TheirMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


class Cut(TheirModel):
    """Streams a call whose arguments are never finished."""

    @property
    def _llm_type(self):
        return "cut"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        return ChatResult(generations=[ChatGeneration(message=TheirMessage(""))])

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        fragment = {"name": "pay", "args": '{"sum": 1', "id": "c1", "index": 0}
        chunk = TheirChunk("", tool_call_chunks=[fragment], chunk_position="last")
        yield ChatGenerationChunk(message=chunk)


async def test_it_answers_and_streams():
    replies = [TheirMessage("hello there", id=f"m{i}") for i in range(3)]
    model = from_langchain_model(GenericFakeChatModel(messages=iter(replies)))
    reply = model.invoke("Hi")
    assert (type(reply), reply.content, reply.id) == (AIMessage, "hello there", "m0")
    chunks = list(model.stream([HumanMessage("Hi")]))
    assert all(type(chunk) is AIMessageChunk for chunk in chunks)
    assert sum(chunks[1:], chunks[0]).content == "hello there"
    assert (await model.ainvoke("Hi")).content == "hello there"


def test_it_stands_in_a_chain_of_ours():
    model = from_langchain_model(GenericFakeChatModel(messages=iter([TheirMessage("fine")])))
    chain = ChatPromptTemplate.from_messages([("human", "{q}")]) | model | StrOutputParser()
    assert chain.invoke({"q": "How are you?"}) == "fine"


def test_tools_and_objects():
    @tool
    def look(name: str) -> str:
        """Look."""
        return name

    model = from_langchain_model(Caller(seen=[]))
    reply = model.bind_tools([look], tool_choice="any").invoke("Look")
    assert [call["name"] for call in reply.tool_calls] == ["look"]
    assert model.langchain_model.seen[0]["tool_choice"] == "any"
    assert model.with_structured_output(City).invoke("Where?") == City(name="Paris")


def test_a_model_that_cannot_stream_gives_one_chunk():
    bound = from_langchain_model(Caller(seen=[])).bind_tools([City])
    chunks = list(bound.stream("Where?"))
    total = sum(chunks[1:], chunks[0])
    assert total.tool_calls[0]["args"] == {"name": "Paris"}


def test_a_call_that_is_half_received_is_no_call():
    total = None
    for chunk in from_langchain_model(Cut()).stream("Pay"):
        total = chunk if total is None else total + chunk
    assert total.tool_calls == []
    assert total.invalid_tool_calls[0]["args"] == '{"sum": 1'


def test_errors_are_ours():
    with pytest.raises(ModelRateLimitError, match="slow down") as caught:
        from_langchain_model(Caller(fail=True)).invoke("Hi")
    assert isinstance(caught.value.__cause__, TheirRateLimit)
    assert caught.value.is_retryable


def test_models_that_cross_back_are_the_objects_they_were():
    here, there = FakeListChatModel(responses=["a"]), Caller()
    assert from_langchain_model(wrap_model(here)) is here
    assert wrap_model(from_langchain_model(there)) is there
    with pytest.raises(TypeError, match="not str"):
        from_langchain_model("openai:m")


def test_a_real_langchain_provider_is_asked_over_http():
    with ScriptedServer(Reply.message(AIMessage("pong"))) as server:
        there = ChatOpenAI(model="m", base_url=server.url, api_key="k", max_retries=0)
        assert from_langchain_model(there).invoke("ping").content == "pong"
        assert server.requests[0].json["messages"] == [{"role": "user", "content": "ping"}]
