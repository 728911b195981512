"""What langchain-core dumps loads here, and what is dumped here loads there."""

import json
import warnings

import pytest

from dragoman.load import dumpd, dumps, loads
from dragoman.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

langchain_core = pytest.importorskip("langchain_core")


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # their `load` is marked beta
        yield


def there():
    import langchain_core.load
    import langchain_core.messages
    import langchain_core.output_parsers
    import langchain_core.prompts
    import langchain_core.prompts.structured

    return langchain_core


MESSAGES = [
    (HumanMessage, {"content": "é \U0001f600", "id": "1", "name": "n"}),
    (HumanMessage, {"content": [{"type": "text", "text": "a"}, {"lc": 1, "type": "x"}]}),
    (SystemMessage, {"content": "s", "additional_kwargs": {"k": {"lc": 1, "a": [1]}}}),
    (
        AIMessage,
        {
            "content": "",
            "tool_calls": [{"name": "f", "args": {"a": [1, {"b": None}]}, "id": "1"}],
            "invalid_tool_calls": [{"name": "g", "args": "{", "id": "2", "error": "e"}],
            "usage_metadata": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
            "response_metadata": {"model_name": "m", "logprobs": None},
        },
    ),
    (AIMessage, {"content": [{"type": "thinking", "thinking": "t", "signature": "s"}]}),
    (ToolMessage, {"content": "x", "tool_call_id": "1", "artifact": {"a": 1}, "status": "error"}),
    (ChatMessage, {"content": "x", "role": "r"}),
    (FunctionMessage, {"content": "x", "name": "f"}),
    (RemoveMessage, {"id": "1"}),
    (AIMessageChunk, {"content": "x"}),
]


@pytest.mark.parametrize(("cls", "fields"), MESSAGES, ids=lambda v: getattr(v, "__name__", ""))
def test_messages_travel_both_ways(cls, fields):
    ours = cls(**fields)
    theirs = getattr(there().messages, cls.__name__)(**fields)
    load, dump = there().load.loads, there().load.dumps

    assert dumpd(ours) == json.loads(dump(theirs))
    assert loads(dump(theirs)) == ours
    assert loads(dump([theirs])) == [ours]
    assert load(dumps(ours), allowed_objects="core") == theirs
    assert load(dumps([ours]), allowed_objects="core") == [theirs]


def prompts(module, messages):
    p = module
    return [
        p.PromptTemplate.from_template("{a} {{b}} {c:.2f}", partial_variables={"c": 1.5}),
        p.PromptTemplate.from_template("{{a.b}} {{#l}}{{x}}{{/l}}", template_format="mustache"),
        p.ChatPromptTemplate(
            [
                ("system", "Be {tone}."),
                ("placeholder", "{history}"),
                p.MessagesPlaceholder("more", n_messages=2),
                messages.AIMessage("{fixed}"),
                (
                    "human",
                    [
                        {"type": "text", "text": "{q}"},
                        {"type": "image_url", "image_url": {"url": "{u}"}},
                        {"type": "custom", "data": ["{d}"]},
                    ],
                ),
                p.ChatMessagePromptTemplate.from_template("{z}", role="critic"),
            ]
        ),
        p.ChatPromptTemplate([("human", "{a}")]).partial(a="x"),
        p.structured.StructuredPrompt([("human", "{a}")], {"title": "x"}, method="json_mode"),
        p.DictPromptTemplate(template={"a": "{x}"}, template_format="f-string"),
    ]


@pytest.mark.parametrize("number", range(6))
def test_prompts_travel_both_ways(number):
    from dragoman import messages as our_messages
    from dragoman import prompts as our_prompts

    ours = prompts(our_prompts, our_messages)[number]
    theirs = prompts(there().prompts, there().messages)[number]
    load, dump = there().load.loads, there().load.dumps

    assert json.loads(dumps(ours)) == json.loads(dump(theirs))
    assert loads(dump(theirs), allowed_objects="core") == ours
    back = load(dumps(ours), allowed_objects="core")
    assert type(back) is type(theirs)
    assert json.loads(dump(back)) == json.loads(dump(theirs))


def test_filled_prompts_are_the_same():
    from dragoman import messages as our_messages
    from dragoman import prompts as our_prompts

    values = {
        "tone": "kind",
        "history": [("user", "a"), ("ai", "b")],
        "more": ["x", "y", "z"],
        "q": "{why}?",
        "u": "https://e.org/1.png",
        "d": 1,
        "z": "",
    }
    ours = prompts(our_prompts, our_messages)[2].invoke(values)
    theirs = prompts(there().prompts, there().messages)[2].invoke(values)

    assert json.loads(dumps(ours)) == json.loads(there().load.dumps(theirs))
    assert loads(there().load.dumps(theirs), allowed_objects="core") == ours
    assert ours.to_string() == theirs.to_string()


def test_chains_and_parsers_travel_both_ways():
    from dragoman.output_parsers import CommaSeparatedListOutputParser, StrOutputParser
    from dragoman.prompts import ChatPromptTemplate

    parsers = there().output_parsers
    for our_parser, their_parser in (
        (StrOutputParser(), parsers.StrOutputParser()),
        (CommaSeparatedListOutputParser(), parsers.CommaSeparatedListOutputParser()),
    ):
        ours = ChatPromptTemplate([("human", "{a}")]) | our_parser
        theirs = there().prompts.ChatPromptTemplate([("human", "{a}")]) | their_parser

        assert json.loads(dumps(ours)) == json.loads(there().load.dumps(theirs))
        assert loads(there().load.dumps(theirs), allowed_objects="core") == ours
        back = there().load.loads(dumps(ours), allowed_objects="core")
        assert [type(step).__name__ for step in back.steps] == [
            type(step).__name__ for step in ours.steps
        ]


def test_generations_and_documents_travel_both_ways():
    import langchain_core.documents
    import langchain_core.outputs

    from dragoman.documents import Document
    from dragoman.outputs import ChatGeneration, Generation

    outputs = langchain_core.outputs
    pairs = [
        (
            Generation(text="x", generation_info={"a": 1}),
            outputs.Generation(text="x", generation_info={"a": 1}),
        ),
        (
            ChatGeneration(message=AIMessage("x")),
            outputs.ChatGeneration(message=there().messages.AIMessage("x")),
        ),
        (
            Document("x", metadata={"a": 1}),
            langchain_core.documents.Document("x", metadata={"a": 1}),
        ),
    ]
    for ours, theirs in pairs:
        assert json.loads(dumps(ours)) == json.loads(there().load.dumps(theirs))
        assert loads(there().load.dumps(theirs), allowed_objects="core") == ours
        assert there().load.loads(dumps(ours), allowed_objects="core") == theirs


def test_tagged_values_are_plain_dicts_there():
    message = HumanMessage("x", additional_kwargs={"t": (1, 2)})

    back = there().load.loads(dumps(message), allowed_objects="messages")

    assert back.additional_kwargs == {"t": {"__type__": "tuple", "value": [1, 2]}}
