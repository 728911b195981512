"""What `load` builds, and what it refuses to build."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.documents import Document
from dragoman.errors import MessageError
from dragoman.load import Serializable, dumpd, dumps, load, loads
from dragoman.load.load import Reviver, default_init_validator
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)
from dragoman.output_parsers import CommaSeparatedListOutputParser, StrOutputParser
from dragoman.outputs import ChatGeneration, ChatGenerationChunk, Generation, GenerationChunk
from dragoman.prompt_values import ChatPromptValue, ImagePromptValue, StringPromptValue
from dragoman.prompts import (
    ChatPromptTemplate,
    DictPromptTemplate,
    PromptTemplate,
    StructuredPrompt,
)
from dragoman.runnables import RunnablePassthrough

MESSAGES = [
    HumanMessage("hi", id="1", name="n"),
    AIMessage(
        "x",
        tool_calls=[{"name": "f", "args": {"a": 1}, "id": "1"}],
        invalid_tool_calls=[{"name": "g", "args": "{", "id": "2", "error": "cut"}],
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        response_metadata={"model_name": "m"},
    ),
    SystemMessage([{"type": "text", "text": "s"}]),
    ToolMessage("x", tool_call_id="1", artifact={"a": [1]}, status="error"),
    ChatMessage("x", role="critic"),
    FunctionMessage("x", name="f"),
    RemoveMessage(id="3"),
    HumanMessageChunk("a"),
    AIMessageChunk("a", tool_call_chunks=[{"name": "f", "args": '{"a"', "id": "1", "index": 0}]),
    SystemMessageChunk("a"),
    ToolMessageChunk("a", tool_call_id="1"),
    ChatMessageChunk("a", role="r"),
    FunctionMessageChunk("a", name="f"),
]


def constructor(*identifier, **kwargs):
    return {"lc": 1, "type": "constructor", "id": list(identifier), "kwargs": kwargs}


AI = ("langchain", "schema", "messages", "AIMessage")


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
def test_every_message_class_comes_back(message):
    for back in (load(dumpd(message)), loads(dumps(message)), loads(dumps([message]))[0]):
        assert back == message
        assert type(back) is type(message)


def test_all_messages_at_once_come_back():
    assert loads(dumps(MESSAGES)) == MESSAGES
    assert loads(dumps({"history": MESSAGES})) == {"history": MESSAGES}


@pytest.mark.parametrize(
    "value",
    [
        Document("x", metadata={"a": 1}, id="i"),
        Generation(text="x", generation_info={"a": 1}),
        GenerationChunk(text="x"),
        ChatGeneration(message=AIMessage("x")),
        ChatGenerationChunk(message=AIMessageChunk("x")),
        StringPromptValue(text="x"),
        ChatPromptValue(messages=[HumanMessage("x")]),
        ImagePromptValue(image_url={"url": "https://e.org"}),
        PromptTemplate.from_template("{a} {b}", partial_variables={"b": "1"}),
        PromptTemplate.from_template("{{a}}", template_format="mustache"),
        ChatPromptTemplate(
            [
                ("system", "{a}"),
                ("placeholder", "{h}"),
                ("human", ["{b}", {"type": "image_url", "image_url": "{u}"}, {"x": "{z}"}]),
                AIMessage("fixed"),
            ]
        ),
        DictPromptTemplate(template={"a": "{x}"}, template_format="f-string"),
        StructuredPrompt([("human", "{a}")], {"title": "x"}, method="json_schema"),
        StrOutputParser(),
        CommaSeparatedListOutputParser(),
    ],
    ids=lambda v: type(v).__name__,
)
def test_core_objects_come_back_when_core_is_allowed(value):
    assert load(dumpd(value), allowed_objects="core") == value
    assert loads(dumps([value]), allowed_objects="all") == [value]
    with pytest.raises(ValueError, match="not allowed"):
        loads(dumps(value))


def test_a_chain_comes_back_and_runs():
    chain = ChatPromptTemplate([("human", "{a}")]) | StrOutputParser()
    passed = {"a": RunnablePassthrough()} | PromptTemplate.from_template("<{a}>")

    assert loads(dumps(chain), allowed_objects="core") == chain
    assert loads(dumps(passed), allowed_objects="core").invoke("x").text == "<x>"


@pytest.mark.parametrize(
    "identifier",
    [
        AI,
        ("langchain_core", "messages", "AIMessage"),
        ("langchain_core", "messages", "ai", "AIMessage"),
    ],
)
def test_old_and_other_ids_of_a_class_are_known(identifier):
    assert load(constructor(*identifier, content="x")) == AIMessage("x")
    legacy = ("langchain_core", "prompts", "message", "_DictMessagePromptTemplate")
    prompt = load(
        constructor(*legacy, template={"a": "{x}"}, template_format="f-string"),
        allowed_objects="core",
    )
    assert prompt == DictPromptTemplate(template={"a": "{x}"}, template_format="f-string")


@pytest.mark.parametrize(
    "identifier",
    [
        ("os", "system"),
        ("subprocess", "Popen"),
        ("builtins", "eval"),
        ("langchain", "AIMessage"),
        ("langchain", "x", "AIMessage"),
        ("langchain_core", "load", "serializable", "Serializable"),
        ("langchain_core", "prompts", "loading", "load_prompt"),
        ("dragoman", "chat_models", "ChatOpenAI"),
        ("AIMessage",),
    ],
)
@pytest.mark.parametrize("allowed", [None, "messages", "core", "all", [HumanMessage]])
def test_b85_an_id_outside_the_table_is_refused(identifier, allowed):
    with pytest.raises(ValueError, match="not allowed"):
        load(constructor(*identifier, content="x"), allowed_objects=allowed)


def test_messages_mode_leaves_out_the_legacy_classes():
    for message in (ChatMessage("x", role="r"), FunctionMessage("x", name="f")):
        assert loads(dumps([message])) == [message]
        for text in (dumps([message]), dumps(message)):
            with pytest.raises(ValueError, match="not allowed"):
                loads(text, allowed_objects="messages")


class City(Serializable):
    name: str
    token: str | None = None
    size: int = 0

    @property
    def lc_secrets(self):
        return {"token": "CITY_TOKEN"}

    @classmethod
    def is_lc_serializable(cls):
        return True


def test_a_users_class_loads_when_it_is_passed():
    city = City(name="Bursa", size=3)

    assert load(dumpd(city), allowed_objects=[City]) == city
    with pytest.raises(ValueError, match="not allowed"):
        load(dumpd(city), allowed_objects="all")
    with pytest.raises(ValueError, match="not allowed"):
        load(dumpd(AIMessage("x")), allowed_objects=[City])
    assert load(dumpd([city, AIMessage("x")]), allowed_objects=[City, AIMessage]) == [
        city,
        AIMessage("x"),
    ]


@pytest.mark.parametrize("allowed", [[int], ["AIMessage"], "everything", [None]])
def test_what_is_allowed_must_be_classes_that_can_be_stored(allowed):
    with pytest.raises(TypeError, match="allowed_objects must contain Serializable subclasses"):
        load({}, allowed_objects=allowed)


def test_secrets_are_replaced_and_come_from_the_map_or_on_request_from_the_environment(monkeypatch):
    monkeypatch.setenv("CITY_TOKEN", "from the environment")
    stored = dumpd(City(name="x", token="secret"))

    assert "secret" not in json.dumps(stored["kwargs"]).replace('"secret"', "")
    assert stored["kwargs"]["token"] == {"lc": 1, "type": "secret", "id": ["CITY_TOKEN"]}
    assert load(stored, allowed_objects=[City]).token is None
    assert load(stored, allowed_objects=[City], secrets_map={"CITY_TOKEN": "v"}).token == "v"
    from_env = load(stored, allowed_objects=[City], secrets_from_env=True)
    assert from_env.token == "from the environment"


def test_a_users_dict_shaped_like_a_secret_stays_a_dict(monkeypatch):
    monkeypatch.setenv("HOME", "never read")
    marker = {"lc": 1, "type": "secret", "id": ["HOME"]}
    messages = [HumanMessage([{"type": "text", "text": "x", "k": marker}])]

    back = loads(dumps(messages), secrets_from_env=True, secrets_map={"HOME": "v"})

    assert back == messages


def test_markers_of_what_could_not_be_stored():
    stored = dumpd({"a": object})

    with pytest.raises(NotImplementedError, match="doesn't implement serialization"):
        load(stored)
    assert load(stored, ignore_unserializable_fields=True) == {"a": None}


def test_namespaces():
    class Foreign(City):
        @classmethod
        def get_lc_namespace(cls):
            return ["elsewhere", "things"]

    stored = dumpd(Foreign(name="x"))

    assert load(stored, allowed_objects=[Foreign]) == Foreign(name="x")
    mapped = {("elsewhere", "things", "Other"): ("dragoman", "documents", "base", "Document")}
    stored["id"] = ["elsewhere", "things", "Other"]
    stored["kwargs"] = {"page_content": "x"}
    back = load(
        stored,
        allowed_objects="core",
        additional_import_mappings=mapped,
        valid_namespaces=["elsewhere"],
    )
    assert back == Document("x")


def test_b82_jinja2_is_refused_unless_the_caller_says_otherwise():
    stored = dumpd(PromptTemplate.from_template("{{ a }}", template_format="jinja2"))

    with pytest.raises(ValueError, match="Jinja2 templates are not allowed during deserialization"):
        load(stored, allowed_objects="core")
    assert load(stored, allowed_objects="core", init_validator=None).format(a=1) == "1"
    seen = []
    load(dumpd(AIMessage("x")), init_validator=lambda path, kwargs: seen.append((path, kwargs)))
    assert seen[0][0] == AI
    default_init_validator(AI, {"template_format": "f-string"})


@pytest.mark.parametrize(
    ("identifier", "kwargs"),
    [
        (
            ("langchain", "prompts", "few_shot_with_templates", "FewShotPromptWithTemplates"),
            {
                "examples": [],
                "example_prompt": {"template": "{{ a }}", "template_format": "jinja2"},
                "suffix": constructor(
                    *("langchain", "prompts", "prompt", "PromptTemplate"),
                    template="x",
                    input_variables=[],
                ),
            },
        ),
        (
            ("langchain", "prompts", "chat", "HumanMessagePromptTemplate"),
            {"prompt": [{"template": {"url": "{{ a }}"}, "template_format": "jinja2"}]},
        ),
        (
            ("langchain", "prompts", "chat", "ChatPromptTemplate"),
            {"messages": [["human", "{{ a }}"]], "template_format": "jinja2"},
        ),
    ],
)
def test_b82_jinja2_cannot_hide_in_a_plain_dict(identifier, kwargs):
    with pytest.raises(ValueError, match="Jinja2 templates are not allowed"):
        load(constructor(*identifier, **kwargs), allowed_objects="core")


def test_data_that_mentions_jinja2_is_data():
    message = HumanMessage("x", additional_kwargs={"template_format": "jinja2"})

    assert load(dumpd(message)) == message


@pytest.mark.parametrize(
    "template", ["{a.__class__}", "{a[0]}", "{0}", '{"x": 1}', "{a:{b}}", "{a:>99999999}"]
)
def test_b79_b81_an_unsafe_template_in_a_dump_is_refused(template):
    prompt = ("langchain", "prompts", "prompt", "PromptTemplate")
    kwargs = {"template": template, "input_variables": ["a"], "template_format": "f-string"}

    with pytest.raises(ValueError, match="f-string"):
        load(constructor(*prompt, **kwargs), allowed_objects="core")


def test_great_depth_is_an_error():
    text = "[" * 300 + "]" * 300

    with pytest.raises(ValueError, match="nested more than 200 levels"):
        loads(text)
    with pytest.raises(ValueError, match="nested more than 200 levels"):
        loads("[" * 100_000 + "]" * 100_000)


@pytest.mark.parametrize(
    "value",
    [
        {"lc": 2, "type": "constructor", "id": list(AI), "kwargs": {}},
        {"lc": 1, "type": "unknown", "id": ["a"]},
        {"lc": 1, "type": "secret"},
        {"__lc_escaped__": {"a": 1}, "b": 1},
        {"__type__": "unknown", "value": "x"},
        {"__type__": "datetime", "value": "x", "more": 1},
    ],
)
def test_what_is_no_marker_stays_a_dict(value):
    assert load(value) == value


@pytest.mark.parametrize(
    "value",
    [
        {"lc": 1, "type": "secret", "id": ["A", "B"]},
        {"lc": 1, "type": "constructor", "id": [], "kwargs": {}},
        {"lc": 1, "type": "constructor", "id": [["x"]], "kwargs": {}},
        {"lc": 1, "type": "constructor", "id": list(AI), "kwargs": [1]},
        constructor(*AI),
        constructor(*AI, content=3),
        {"__type__": "datetime", "value": "tomorrow"},
        {"__type__": "set", "value": [[1]]},
        {"__type__": "dict", "value": [1]},
    ],
)
def test_broken_markers_are_value_errors(value):
    with pytest.raises(MessageError):
        load({"a": [value]})


def test_unknown_fields_of_later_versions_survive():
    stored = constructor(*AI, content="x", novel={"a": 1})

    message = load(stored)

    assert message.novel == {"a": 1}
    assert dumpd(message)["kwargs"]["novel"] == {"a": 1}
    assert loads(json.dumps([stored])) == [message]


def test_the_reviver_works_alone():
    reviver = Reviver("core")

    assert reviver(constructor(*AI, content="x")) == AIMessage("x")
    assert reviver({"a": 1}) == {"a": 1}


# ---------------------------------------------------------------- B85: hostile data

MARKERS = st.sampled_from(
    [
        {"lc": 1, "type": "secret", "id": ["HOME"]},
        {"lc": 1, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": "false"}},
        {"lc": 1, "type": "constructor", "id": list(AI), "kwargs": {"content": "built"}},
        {"lc": 1, "type": "not_implemented", "id": ["a"], "repr": None},
        {"lc": 1},
        {"lc": None, "x": "y"},
        {"__lc_escaped__": {"lc": 1, "type": "secret", "id": ["HOME"]}},
        {"__lc_escaped__": [1]},
        {"__type__": "bytes", "value": "AA=="},
        {"__type__": "dict", "value": [["lc", 1]]},
        {"__type__": 3},
    ]
)
HOSTILE = st.recursive(
    st.one_of(MARKERS, st.none(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["a", "lc", "type", "id", "kwargs", "__lc_escaped__", "__type__", "value"]
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=8,
)


def check_hostile(value, monkeypatch):
    messages = [
        HumanMessage([{"type": "odd", "data": value}], additional_kwargs={"k": value}),
        AIMessage(
            "x",
            response_metadata={"m": [value]},
            tool_calls=[{"name": "f", "args": {"v": value}, "id": "1"}],
        ),
        ToolMessage("x", tool_call_id="1", artifact={"deep": {"deep": {"deep": [value]}}}),
    ]
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["dragoman.load.load"], "import_module", _only_messages)
        patch.setattr(sys.modules["dragoman.load.load"].os, "environ", _Untouchable())
        for text in (dumps(messages), dumps({"m": messages}), dumps([value])):
            back = loads(text, secrets_from_env=True)
            assert back in (messages, {"m": messages}, [value])


class _Untouchable(dict):
    def get(self, *args):
        raise AssertionError("the environment was read")

    __getitem__ = __contains__ = get


def _only_messages(name):
    import importlib

    assert name.startswith("dragoman.messages.")
    return importlib.import_module(name)


def test_b85_hostile_user_data_comes_back_as_data(monkeypatch):
    # 10 examples of the strategy, 50 times: hypothesis' profile grows with the soak.
    @given(st.lists(HOSTILE, min_size=10, max_size=10))
    def run(values):
        for value in values:
            check_hostile(value, monkeypatch)

    run()


@given(st.lists(HOSTILE, min_size=10, max_size=10))
def test_b85_hostile_text_builds_nothing_but_messages_and_builtins(values):
    for value in values:
        try:
            back = loads(json.dumps(value))
        except (ValueError, NotImplementedError):
            continue
        assert only_plain(back)


def only_plain(value):
    if isinstance(value, (HumanMessage, AIMessage)):
        return True
    if type(value) in (dict, list):
        inner = list(value.values()) if isinstance(value, dict) else value
        return all(map(only_plain, inner))
    return type(value) in (str, int, float, bool, bytes, type(None))


BUILT = "a stored ChatPromptTemplate cannot be built: "


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (False, BUILT + ".*'bool' object is not iterable"),
        (5, BUILT + ".*'int' object is not iterable"),
        ([5, {}], BUILT + ".*Unsupported message type"),
        ([[[], {}]], BUILT + ".*Unsupported message type"),
        ("}{", "Single '}'"),
        ([[]], "Expected 2-tuple"),
    ],
)
def test_a_stored_component_that_cannot_be_built_is_a_value_error(messages, said):
    stored = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "prompts", "chat", "ChatPromptTemplate"],
        "kwargs": {"messages": messages},
    }

    with pytest.raises(ValueError, match=said):
        load(stored, allowed_objects="core")
