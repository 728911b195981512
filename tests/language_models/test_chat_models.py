"""One call of a chat model: inputs, ids, metadata, callbacks, cache, limiter, hooks."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from tests.language_models.models import AsyncStreaming, Streaming, Whole

from dragoman.caches import InMemoryCache
from dragoman.callbacks import BaseCallbackHandler
from dragoman.globals import set_llm_cache
from dragoman.language_models import (
    BaseChatModel,
    FakeListChatModel,
    SimpleChatModel,
    is_openai_data_block,
)
from dragoman.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage
from dragoman.outputs import ChatGeneration, ChatGenerationChunk, ChatResult, Generation
from dragoman.prompt_values import StringPromptValue
from dragoman.rate_limiters import BaseRateLimiter


class Recorder(BaseCallbackHandler):
    """Keeps every event of a model's run."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    def on_chat_model_start(self, serialized, messages, **kwargs):
        self.events.append(("start", (messages, kwargs)))

    def on_llm_new_token(self, token, **kwargs):
        self.events.append(("token", token))

    def on_llm_end(self, response, **kwargs):
        self.events.append(("end", response))

    def on_llm_error(self, error, **kwargs):
        self.events.append(("error", error))

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.events]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("hi", [HumanMessage("hi")]),
        (StringPromptValue(text="hi"), [HumanMessage("hi")]),
        ([("system", "s"), "hi"], [SystemMessage("s"), HumanMessage("hi")]),
        ([["human", "Hello"]], [HumanMessage("Hello")]),
        (["human", "Hello"], [HumanMessage("human"), HumanMessage("Hello")]),
        (({"role": "user", "content": "x"},), [HumanMessage("x")]),
    ],
)
def test_every_input_form_becomes_messages(given, expected):
    model = Whole(seen=[])
    assert model.invoke(given).content == "whole"
    assert model.seen[0][0] == expected


@pytest.mark.parametrize("given", [3, None, b"x", {"a": 1}])
def test_other_inputs_are_refused_by_type(given):
    with pytest.raises(ValueError, match="Invalid input type <class"):
        Whole().invoke(given)


def test_stop_and_keywords_reach_the_hook():
    model = Whole(seen=[])
    model.invoke("x", stop=["."], temperature=1)
    assert model.seen[0][1:] == (["."], {"temperature": 1})


def test_a_reply_without_id_gets_that_of_its_run_and_the_hooks_object_stays():
    reply = AIMessage("a")
    model = Whole(reply=reply)
    first, second = model.invoke("x"), model.invoke("x")
    assert first.id.startswith("lc_run--")
    assert first.id.endswith("-0")
    assert first.id != second.id
    assert reply.id is None
    UUID(first.id.removeprefix("lc_run--").removesuffix("-0"))
    assert Whole(reply=AIMessage("a", id="p")).invoke("x").id == "p"


def test_a_run_id_of_the_config_makes_the_id():
    run_id = UUID(int=7)
    assert Whole().invoke("x", {"run_id": run_id}).id == f"lc_run--{run_id}-0"


def test_metadata_of_message_generation_and_result_are_laid_over_each_other():
    class Model(Whole):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            message = AIMessage("a", response_metadata={"q": 1})
            info = {"q": 2, "f": 2}
            generation = ChatGeneration(message=message, generation_info=info)
            return ChatResult(generations=[generation], llm_output={"f": 3, "n": 3})

    assert Model().invoke("x").response_metadata == {"q": 1, "f": 2, "n": 3}


def test_a_hook_without_run_manager_is_called_without_it():
    class Model(Whole):
        def _generate(self, messages, stop=None, **kwargs):
            assert "run_manager" not in kwargs
            return ChatResult(generations=[ChatGeneration(message=AIMessage("a"))])

    assert Model().invoke("x", {"callbacks": [Recorder()]}).content == "a"


async def test_a_sync_model_runs_in_a_thread_under_async():
    class Model(Whole):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()
            return super()._generate(messages, stop, run_manager, **kwargs)

    assert (await Model().ainvoke("x")).content == "whole"


def test_a_hook_that_returns_or_yields_something_else_is_told_what_to_give():
    class Model(Whole):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            return "text"

        def _stream(self, messages, stop=None, run_manager=None, **kwargs):
            yield "text"

    class Plain(Whole):
        def _stream(self, messages, stop=None, run_manager=None, **kwargs):
            yield AIMessageChunk("plain")

    with pytest.raises(TypeError, match=r"`Model._generate` must return a ChatResult, got `str`"):
        Model().invoke("x")
    with pytest.raises(TypeError, match="must yield ChatGenerationChunks, got `str`"):
        list(Model().stream("x"))
    assert next(Plain().stream("x")).content == "plain"


def test_a_single_message_is_refused_with_a_hint():
    with pytest.raises(ValueError, match="Put a single message into a list"):
        Whole().invoke(HumanMessage("x"))


def test_simple_model_writes_a_text():
    class Model(SimpleChatModel):
        @property
        def _llm_type(self):
            return "simple"

        def _call(self, messages, stop=None, run_manager=None, **kwargs):
            return messages[-1].text.upper()

    assert Model().invoke("x").content == "X"
    assert asyncio.run(Model().ainvoke("y")).content == "Y"
    assert [c.content for c in Model().stream("z")] == ["Z"]


def test_a_class_without_its_hooks_cannot_be_built():
    class Model(BaseChatModel):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Model()


def test_the_hook_nearest_to_the_class_counts():
    class Ours(Whole):
        def _reply(self, messages, stop=None, **kwargs):
            return AIMessage("ours")

        def _chunks(self, messages, stop=None, **kwargs):
            yield AIMessageChunk("ours")

    class Users(Ours):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            return ChatResult(generations=[ChatGeneration(message=AIMessage("users"))])

        def _stream(self, messages, stop=None, run_manager=None, **kwargs):
            yield ChatGenerationChunk(message=AIMessageChunk("users"))

    assert Ours().invoke("x").content == "ours"
    assert Users().invoke("x").content == "users"
    assert Ours().stream("x").__next__().content == "ours"
    assert Users().stream("x").__next__().content == "users"


# Callbacks


def test_handlers_hear_of_start_and_end_with_everything_said():
    recorder = Recorder()
    config = {"callbacks": [recorder], "tags": ["t"], "metadata": {"m": 1}, "run_name": "rn"}
    reply = Whole(tags=["own"]).invoke("x", config, stop=["s"], foo=1)
    assert recorder.names == ["start", "end"]
    messages, said = recorder.events[0][1]
    assert messages == [[HumanMessage("x")]]
    assert said["name"] == "rn"
    assert set(said["tags"]) == {"t", "own"}
    assert said["invocation_params"] == {"_type": "whole", "stop": ["s"], "foo": 1}
    assert said["metadata"]["m"] == 1
    assert said["metadata"]["ls_model_type"] == "chat"
    assert recorder.events[1][1].generations[0][0].message == reply


@pytest.mark.parametrize("is_async", [False, True])
def test_handlers_hear_of_errors(is_async):
    class Model(Whole):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            raise OSError("broken")

    recorder = Recorder()
    config = {"callbacks": [recorder]}
    with pytest.raises(OSError, match="broken"):
        asyncio.run(Model().ainvoke("x", config)) if is_async else Model().invoke("x", config)
    assert recorder.names == ["start", "error"]


@pytest.mark.parametrize("model", [Streaming(), AsyncStreaming()])
async def test_handlers_hear_of_each_chunk_of_a_stream(model):
    for stream in ("sync", "async"):
        recorder = Recorder()
        config = {"callbacks": [recorder]}
        if stream == "sync":
            list(model.stream("x", config))
        else:
            _ = [c async for c in model.astream("x", config)]
        assert recorder.names == ["start", "token", "token", "token", "end"]
        assert [value for name, value in recorder.events if name == "token"] == ["a", "b", ""]
        assert recorder.events[-1][1].generations[0][0].text == "ab"


def test_a_handler_that_wants_tokens_makes_invoke_stream():
    class Listener(Recorder):
        wants_tokens = True

    listener = Listener()
    assert Streaming().invoke("x", {"callbacks": [listener]}).content == "ab"
    assert listener.names == ["start", "token", "token", "token", "end"]
    assert Whole().invoke("x", {"callbacks": [Listener()]}).content == "whole"


# Many calls


def test_generate_gives_a_list_of_candidates_for_each_history():
    result = Whole(seen=[]).generate([[HumanMessage("a")], [HumanMessage("b")]])
    assert [[g.text for g in row] for row in result.generations] == [["whole"], ["whole"]]
    assert len({run.run_id for run in result.run}) == 2


async def test_agenerate_waits_for_all_and_raises_the_first_error():
    ended = []

    class Model(Whole):
        async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
            text = messages[0].text
            await asyncio.sleep(0.01 if text == "slow" else 0)
            ended.append(text)
            if text.startswith("bad"):
                raise ValueError(text)
            return self._generate(messages)

    with pytest.raises(ValueError, match="bad1"):
        await Model().agenerate([["slow"], ["bad1"], ["bad2"]])
    assert sorted(ended) == ["bad1", "bad2", "slow"]


def test_batch_keeps_order_and_exceptions():
    class Model(Whole):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            if messages[0].text == "b":
                raise ValueError("b")
            return ChatResult(generations=[ChatGeneration(message=AIMessage(messages[0].text))])

    results = Model().batch(["a", "b", "c"], return_exceptions=True)
    assert [r.content if isinstance(r, AIMessage) else str(r) for r in results] == ["a", "b", "c"]


# Cache


@pytest.fixture
def global_cache():
    cache = InMemoryCache()
    set_llm_cache(cache)
    yield cache
    set_llm_cache(None)


class Counting(Whole):
    """Answers with the number of its calls."""

    calls: list[int] = []

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.calls.append(1)
        message = AIMessage(
            str(len(self.calls)),
            usage_metadata={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


def test_the_same_question_hits_whatever_its_ids_and_costs_nothing():
    model = Counting(cache=InMemoryCache(), calls=[])
    first = model.invoke([HumanMessage("x", id="1")])
    second = model.invoke([HumanMessage("x", id="2")])
    assert (first.content, second.content) == ("1", "1")
    assert second.usage_metadata["total_cost"] == 0
    assert "total_cost" not in first.usage_metadata
    assert first.id != second.id


def test_what_a_caller_changes_is_not_in_the_cache():
    model = Counting(cache=InMemoryCache(), calls=[])
    model.invoke("x").response_metadata["mine"] = 1
    second = model.invoke("x")
    assert second.response_metadata == {}
    second.content = "changed"
    assert model.invoke("x").content == "1"


@pytest.mark.parametrize(
    ("cache", "is_used"), [(None, True), (True, True), (False, False), ("own", False)]
)
def test_which_cache_is_used(global_cache, cache, is_used):
    own = InMemoryCache()
    model = Counting(cache=own if cache == "own" else cache, calls=[])
    asyncio.run(model.ainvoke("x"))
    assert bool(global_cache._cache) is is_used
    assert bool(own._cache) is (cache == "own")


def test_stop_keywords_and_model_are_part_of_the_key(global_cache):
    model = Counting(calls=[])
    for options in ({}, {"stop": ["a"]}, {"t": 1}):
        model.invoke("x", **options)
    assert len(global_cache._cache) == 3


def test_asking_for_a_cache_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match="Asked to cache, but no cache found"):
        Counting(cache=True).invoke("x")


def test_plain_texts_in_a_cache_become_ai_messages():
    class Old(InMemoryCache):
        def lookup(self, prompt, llm_string):
            return [Generation(text="old")]

    reply = Counting(cache=Old(), calls=[]).invoke("x")
    assert isinstance(reply, AIMessage)
    assert reply.content == "old"


def test_errors_are_not_cached_and_streams_do_not_use_the_cache(global_cache):
    class Failing(Whole):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - any
        Failing().invoke("x")
    list(Streaming().stream("x"))
    assert global_cache._cache == {}


# Rate limiter


class Gate(BaseRateLimiter):
    """Counts who passes."""

    def __init__(self) -> None:
        self.passed = 0

    def acquire(self, *, blocking=True):
        assert blocking
        self.passed += 1
        return True

    async def aacquire(self, *, blocking=True):
        return self.acquire(blocking=blocking)


async def test_each_call_passes_the_limiter_once_and_a_hit_does_not():
    gate = Gate()
    model = AsyncStreaming(rate_limiter=gate, cache=InMemoryCache())
    model.invoke("x")
    model.invoke("x")
    await model.ainvoke("y")
    list(model.stream("x"))
    _ = [c async for c in model.astream("x")]
    assert gate.passed == 4
    assert "rate_limiter" not in model.model_dump()


# Output version, profile, fields


@pytest.mark.parametrize("by_env", [False, True])
async def test_output_version_1_makes_content_blocks(monkeypatch, by_env):
    if by_env:
        monkeypatch.setenv("LC_OUTPUT_VERSION", "v1")
    model = Streaming() if by_env else Streaming(output_version="v1")
    for reply in (model.invoke("x"), await model.ainvoke("x")):
        assert reply.content == [{"type": "text", "text": "whole"}]
        assert reply.response_metadata == {"output_version": "v1"}
    blocks = [{"type": "text", "text": t, "index": 0} for t in "ab"]
    assert [c.content for c in model.stream("x")] == [[blocks[0]], [blocks[1]], []]
    assert [c.content async for c in model.astream("x")] == [[blocks[0]], [blocks[1]], []]


def test_output_version_1_counts_blocks_by_type():
    pieces = [
        AIMessageChunk([{"type": "reasoning", "reasoning": "r"}]),
        AIMessageChunk([{"type": "reasoning", "reasoning": "s"}]),
        AIMessageChunk("t"),
        AIMessageChunk([{"type": "text", "text": "u", "index": 9}]),
    ]
    model = Streaming(output_version="v1", pieces=pieces)
    chunks = list(model.stream("x"))[:-1]
    assert [c.content[0]["index"] for c in chunks] == [0, 0, 1, 9]


def test_profile_comes_from_the_hook_unless_given_and_a_failing_hook_is_none():
    class Known(Whole):
        def _resolve_model_profile(self):
            return {"max_input_tokens": 5}

    class Broken(Whole):
        def _resolve_model_profile(self):
            raise OSError

    assert Known().profile == {"max_input_tokens": 5}
    assert Known(profile={"tool_calling": True}).profile == {"tool_calling": True}
    assert Broken().profile is None
    with pytest.warns(UserWarning, match="new_key"):
        assert Whole(profile={"new_key": 1}).profile == {"new_key": 1}


def test_common_fields_are_no_part_of_a_dump_and_versions_are_noted():
    model = Whole(cache=False, tags=["a"], metadata={"m": 1})
    assert set(model.model_dump()) & {"cache", "tags", "metadata", "callbacks", "profile"} == set()
    assert model.metadata["m"] == 1
    assert "dragoman" in model.metadata["lc_versions"]
    with pytest.warns(UserWarning, match="lc_versions"):
        assert isinstance(Whole(metadata={"lc_versions": 3}).metadata["lc_versions"], dict)


def test_asdict_names_the_model():
    model = FakeListChatModel(responses=["a"])
    assert model.asdict() == {"responses": ["a"], "_type": "fake-list-chat-model"}
    with pytest.warns(DeprecationWarning, match="use `asdict`"):
        assert model.dict() == model.asdict()


# Token counts


def test_token_counts_need_no_tokenizer():
    model = Whole()
    assert model.get_num_tokens("12345678") == 2
    assert model.get_num_tokens_from_messages([HumanMessage("hi")]) > 0
    with pytest.raises(ImportError, match="custom_get_token_ids"):
        model.get_token_ids("x")


def test_a_custom_tokenizer_counts_rendered_messages():
    model = Whole(custom_get_token_ids=lambda text: list(text.encode()))
    assert model.get_token_ids("é") == [195, 169]
    assert model.get_num_tokens_from_messages([HumanMessage("ab")]) == len("Human: ab")


# Inputs of older shapes


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"type": "image_url", "image_url": {"url": "u"}}, "image"),
        ({"type": "input_audio", "input_audio": {"data": "d", "format": "wav"}}, "audio"),
        ({"type": "file", "file": {"file_id": "f"}}, "file"),
        ({"type": "file", "file": {"file_data": "f", "filename": "n"}}, "file"),
        ({"type": "file", "base64": "f"}, None),
        ({"type": "text", "text": "t"}, None),
    ],
)
def test_openais_data_blocks_are_told(block, kind):
    assert is_openai_data_block(block) is (kind is not None)
    for wanted in ("image", "audio", "file"):
        assert is_openai_data_block(block, wanted) is (kind == wanted)


def test_old_audio_and_file_blocks_reach_the_model_as_standard_ones():
    content = [
        {"type": "input_audio", "input_audio": {"data": "QQ==", "format": "wav"}},
        {"type": "file", "file": {"file_data": "data:text/plain;base64,QQ==", "filename": "f"}},
        {"type": "file", "file": {"file_id": "id1"}},
        {"type": "image", "source_type": "base64", "data": "QQ==", "mime_type": "image/png"},
        {"type": "file", "source_type": "text", "text": "hello", "metadata": {"k": 1}},
        {"type": "image_url", "image_url": {"url": "https://e.org/x.png"}},
    ]
    message = HumanMessage(content)
    before = repr(message)
    model = Whole(seen=[])
    model.invoke([message])
    assert model.seen[0][0][0].content == [
        {"type": "audio", "base64": "QQ==", "mime_type": "audio/wav"},
        {
            "type": "file",
            "base64": "QQ==",
            "mime_type": "text/plain",
            "extras": {"filename": "f"},
        },
        {"type": "file", "file_id": "id1"},
        {"type": "image", "base64": "QQ==", "mime_type": "image/png"},
        {
            "type": "text-plain",
            "text": "hello",
            "mime_type": "text/plain",
            "extras": {"metadata": {"k": 1}},
        },
        {"type": "image_url", "image_url": {"url": "https://e.org/x.png"}},
    ]
    assert repr(message) == before
