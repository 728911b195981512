"""`ChatPromptTemplate`: what it holds, how it fills, adds, slices and stores."""

import asyncio
import copy
import pickle

import pytest

from dragoman.load import dumpd, load
from dragoman.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage
from dragoman.prompt_values import ChatPromptValue
from dragoman.prompts import (
    AIMessagePromptTemplate,
    ChatPromptTemplate,
    FewShotChatMessagePromptTemplate,
    HumanMessagePromptTemplate,
    MessagesPlaceholder,
    PromptTemplate,
    StringPromptTemplate,
    SystemMessagePromptTemplate,
)
from dragoman.runnables import RunnableLambda


def test_the_tutorial():
    prompt = ChatPromptTemplate.from_messages(
        [
            SystemMessagePromptTemplate.from_template("You translate."),
            HumanMessagePromptTemplate.from_template("Translate: {text}"),
        ]
    )

    expected = [SystemMessage("You translate."), HumanMessage("Translate: 你好")]
    assert prompt.format_messages(text="你好") == expected
    assert asyncio.run(prompt.aformat_messages(text="你好")) == expected
    value = prompt.invoke({"text": "你好"})
    assert value == ChatPromptValue(messages=expected)
    assert value.to_messages() == expected
    assert (
        value.to_string()
        == prompt.format(text="你好")
        == "System: You translate.\nHuman: Translate: 你好"
    )
    assert asyncio.run(prompt.aformat(text="x")) == prompt.format(text="x")


def test_all_kinds_of_items_mix():
    fixed = AIMessage("{not} a template", id="1")
    prompt = ChatPromptTemplate(
        [
            ("system", "{a}"),
            ["user", "{b}"],
            {"role": "assistant", "content": "{c}"},
            "{d}",
            fixed,
            (HumanMessage, "{e}"),
            AIMessagePromptTemplate.from_template("{f}"),
            ("placeholder", "{h}"),
            ChatPromptTemplate([("human", "{g}")]),
        ]
    )

    messages = prompt.format_messages(**{k: k for k in "abcdefg"})

    assert prompt.input_variables == list("abcdefg")
    assert [m.content for m in messages] == ["a", "b", "c", "d", "{not} a template", "e", "f", "g"]
    assert messages[4] is fixed
    assert [m.type for m in messages] == [
        *("system", "human", "ai", "human", "ai", "human", "ai", "human")
    ]


def test_b79_values_with_braces_are_put_in_as_they_are():
    prompt = ChatPromptTemplate([("system", '{{"a": {x}}}'), ("human", "{x}")])

    assert [m.content for m in prompt.format_messages(x="{y} {{z}}")] == [
        '{"a": {y} {{z}}}',
        "{y} {{z}}",
    ]


def test_adding():
    left = ChatPromptTemplate([("human", "{a}")]).partial(a=1)

    for other, count in (
        (ChatPromptTemplate([("ai", "{b}")]).partial(b=2), 2),
        (AIMessage("x"), 2),
        (AIMessagePromptTemplate.from_template("x"), 2),
        ([("ai", "x"), "y"], 3),
        ((("ai", "x"),), 2),
        ("x", 2),
    ):
        both = left + other
        assert len(both) == count
        assert both.partial_variables["a"] == 1
        assert both.input_variables == []
        assert len(both.format_messages()) == count
    with pytest.raises(NotImplementedError, match="Unsupported operand type for"):
        left + 3


def test_messages_add_up_to_a_prompt():
    prompt = HumanMessage("a") + HumanMessage("b") + "{c}"

    assert isinstance(prompt, ChatPromptTemplate)
    assert [m.content for m in prompt.format_messages(c="c")] == ["a", "b", "c"]


def test_slices_and_growth():
    prompt = ChatPromptTemplate([("system", "{a}"), ("human", "{b}")])

    assert isinstance(prompt[0], SystemMessagePromptTemplate)
    assert prompt[1:].input_variables == ["b"]
    prompt.append(("ai", "{c}"))
    prompt.extend(["{d}", MessagesPlaceholder("h", optional=True)])
    assert len(prompt) == 5
    assert prompt.input_variables == ["a", "b", "c", "d"]
    assert prompt.optional_variables == ["h"]
    assert len(prompt.invoke(dict.fromkeys("abcd", "x")).messages) == 4


def test_partial_values():
    prompt = ChatPromptTemplate([("system", "{a}"), ("human", "{b}"), ("placeholder", "{h}")])

    filled = prompt.partial(a=lambda: "now", h=["earlier"])

    assert filled.input_variables == ["b"]
    assert [m.content for m in filled.format_messages(b="x")] == ["now", "x", "earlier"]
    assert [m.content for m in filled.format_messages(b="x", a="own", h=[])] == ["own", "x"]
    assert prompt.input_variables == ["a", "b"]


def test_b84_optional_variables_make_a_placeholder_optional():
    prompt = ChatPromptTemplate(
        [MessagesPlaceholder("h"), ("human", "{q}")], optional_variables=["h"]
    )

    assert prompt.input_variables == ["q"]
    assert len(prompt.invoke({"q": "x"}).messages) == 1
    assert len(prompt.invoke({"q": "x", "h": None}).messages) == 1


def test_a_name_that_is_both_wanted_and_optional_is_wanted():
    prompt = ChatPromptTemplate([("placeholder", "{h}"), MessagesPlaceholder("h")])

    assert prompt.input_variables == ["h"]


def test_wrong_variables_are_named():
    with pytest.raises(ValueError, match=r"Expected: \{'a'\}\. Got: \['b'\]"):
        ChatPromptTemplate([("human", "{a}")], input_variables=["b"], validate_template=True)
    with pytest.raises(KeyError, match=r"missing variables \{'a'\}"):
        ChatPromptTemplate([("human", "{a}")]).invoke({})


def test_a_list_of_any_length_is_formatted_in_linear_time():
    history = [HumanMessage("x"), AIMessage("y")] * 500
    prompt = ChatPromptTemplate([("system", "s"), MessagesPlaceholder("h"), ("human", "{q}")])

    messages = prompt.format_messages(h=history, q="q")

    assert messages[1:-1] == history
    assert all(a is b for a, b in zip(messages[1:], history, strict=False))


def test_users_templates_keep_their_own_format():
    class Shout(HumanMessagePromptTemplate):
        def format(self, **kwargs):
            return HumanMessage(super().format(**kwargs).text.upper())

    prompt = ChatPromptTemplate([Shout.from_template("{a}")])

    assert prompt.format_messages(a="x") == [HumanMessage("X")]


def test_additional_kwargs_go_into_the_message():
    template = HumanMessagePromptTemplate.from_template("{a}", additional_kwargs={"k": 1})

    first, second = (ChatPromptTemplate([template]).format_messages(a=1)[0] for _ in range(2))

    assert first.additional_kwargs == {"k": 1}
    assert first.additional_kwargs is not second.additional_kwargs


def test_copies_and_dumps_are_equal():
    prompt = ChatPromptTemplate(
        [
            ("system", "{a}"),
            ("placeholder", "{h}"),
            ("human", ["{b}", {"x": "{c}"}]),
            AIMessage("k"),
        ]
    ).partial(a="x")

    for twin in (
        pickle.loads(pickle.dumps(prompt)),
        copy.deepcopy(prompt),
        prompt.model_copy(),
        load(dumpd(prompt), allowed_objects="core"),
    ):
        assert twin == prompt
        assert twin.invoke({"b": 1, "c": 2}) == prompt.invoke({"b": 1, "c": 2})


def test_showing():
    prompt = ChatPromptTemplate([("system", "s {a}"), ("placeholder", "{h}")])

    assert prompt.pretty_repr().splitlines()[0] == "=" * 32 + " System Message " + "=" * 32
    assert prompt.pretty_repr().endswith(
        "Messages Placeholder =============================\n\n{h}"
    )
    assert prompt.get_name() == "ChatPromptTemplate"
    assert repr(ChatPromptTemplate(["{a}"])) == (
        "ChatPromptTemplate(input_variables=['a'], input_types={}, partial_variables={}, "
        "messages=[HumanMessagePromptTemplate(prompt=PromptTemplate(input_variables=['a'], "
        "input_types={}, partial_variables={}, template='{a}'), additional_kwargs={})])"
    )


def test_from_template_and_a_sequence():
    prompt = ChatPromptTemplate.from_template("{a}")

    assert prompt.format_messages(a=1) == [HumanMessage("1")]
    assert (prompt | RunnableLambda(lambda v: v.to_string())).invoke({"a": 1}) == "Human: 1"


def test_other_formats():
    mustache = ChatPromptTemplate(
        [("human", "{{#rows}}{{x}} {{/rows}}{{a.b}}")], template_format="mustache"
    )
    jinja = ChatPromptTemplate([("human", "{{ a }}")], template_format="jinja2")

    assert (
        mustache.invoke({"rows": [{"x": 1}, {"x": 2}], "a": {"b": "<"}}).to_string()
        == "Human: 1 2 &lt;"
    )
    assert jinja.invoke({"a": 1}).to_string() == "Human: 1"


def test_chat_messages_and_few_shot_examples_stand_inside():
    one = ChatPromptTemplate([("human", "{q}"), ("ai", "{a}")])
    shots = FewShotChatMessagePromptTemplate(examples=[{"q": "1", "a": "2"}], example_prompt=one)
    prompt = ChatPromptTemplate([ChatMessage("x", role="critic"), shots, ("human", "{z}")])

    assert prompt.input_variables == ["z"]
    assert [m.content for m in prompt.format_messages(z="3")] == ["x", "1", "2", "3"]


def test_a_prompt_of_a_prompt_template_class():
    prompt = ChatPromptTemplate([(HumanMessagePromptTemplate, "q {z}")])

    assert prompt.format_messages(z=1) == [HumanMessage("q 1")]
    assert isinstance(prompt.messages[0].prompt, PromptTemplate)


class Spelled(StringPromptTemplate):
    """A user's template that says which of its methods was called."""

    def format(self, **kwargs):
        return f"sync {kwargs['a']}"

    async def aformat(self, **kwargs):
        return f"async {kwargs['a']}"


def test_a_users_template_inside_is_asked_in_the_calls_own_colour():
    inner = HumanMessagePromptTemplate(prompt=Spelled(input_variables=["a"]))
    prompt = ChatPromptTemplate([("system", "{a}"), inner])

    assert [m.content for m in prompt.invoke({"a": "1"}).messages] == ["1", "sync 1"]
    assert [m.content for m in asyncio.run(prompt.ainvoke({"a": "1"})).messages] == ["1", "async 1"]


def test_a_subclass_that_writes_its_messages_is_asked_for_them():
    class Own(ChatPromptTemplate):
        def format_messages(self, **kwargs):
            return [*super().format_messages(**kwargs), AIMessage("sync")]

        async def aformat_messages(self, **kwargs):
            return [*await super().aformat_messages(**kwargs), AIMessage("async")]

    prompt = Own(["{a}"])

    assert [m.content for m in prompt.invoke({"a": "1"}).messages] == ["1", "sync"]
    assert [m.content for m in asyncio.run(prompt.ainvoke({"a": "1"})).messages] == ["1", "async"]


def test_a_partial_function_is_called_once_for_each_prompt():
    calls = []
    prompt = ChatPromptTemplate([("human", ["{n}"]), "{n}"]).partial(
        n=lambda: calls.append(1) or len(calls)
    )

    assert prompt.invoke({}).to_string().endswith("1")
    assert asyncio.run(prompt.ainvoke({})).to_string().endswith("2")
    assert len(calls) == 2
