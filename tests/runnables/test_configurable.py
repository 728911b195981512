"""Fields and runnables chosen per call."""

import pytest

from dragoman.runnables import (
    ConfigurableField,
    ConfigurableFieldMultiOption,
    ConfigurableFieldSingleOption,
    ConfigurableFieldSpec,
    RunnableLambda,
    RunnableSerializable,
)


class Echo(RunnableSerializable):
    text: str = "default"
    words: list[str] = []

    def invoke(self, input, config=None, **kwargs):
        return f"{self.text}:{input}"

    def shout(self):
        return self.text.upper()


def chosen(**values):
    return {"configurable": values}


async def test_a_field_is_set_per_call(colour):
    step = Echo(text="a").configurable_fields(
        text=ConfigurableField(id="t", name="Text", description="what to say")
    )

    assert await colour.invoke(step, 1) == "a:1"
    assert await colour.invoke(step, 1, chosen(t="b")) == "b:1"
    assert await colour.stream(step, 1, chosen(t="b")) == ["b:1"]
    assert await colour.batch(step, [1, 2], [chosen(t="b"), chosen(t="c")]) == ["b:1", "c:2"]
    assert await colour.invoke(step.with_config(configurable={"t": "w"}), 1) == "w:1"
    assert step.config_specs == [
        ConfigurableFieldSpec(
            id="t", annotation=str, name="Text", description="what to say", default="a"
        )
    ]


def test_a_field_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="Configuration key nope not found in"):
        Echo().configurable_fields(nope=ConfigurableField(id="n"))


async def test_a_field_is_set_by_the_name_of_an_option(colour):
    single = Echo().configurable_fields(
        text=ConfigurableFieldSingleOption(id="t", options={"x": "1", "y": "2"}, default="x")
    )
    multi = Echo().configurable_fields(
        words=ConfigurableFieldMultiOption(id="w", options={"x": "1", "y": "2"}, default=["x"])
    )

    assert await colour.invoke(single, 0) == "1:0"
    assert await colour.invoke(single, 0, chosen(t="y")) == "2:0"
    with pytest.raises(KeyError):
        await colour.invoke(single, 0, chosen(t="z"))
    assert multi.prepare(chosen(w=["y", "x"]))[0].words == ["2", "1"]
    assert [member.value for member in single.config_specs[0].annotation] == ["x", "y"]


async def test_an_alternative_is_chosen_per_call(colour):
    step = Echo(text="a").configurable_alternatives(
        ConfigurableField(id="which"),
        default_key="first",
        other=Echo(text="b"),
        made=lambda: Echo(text="c"),
    )

    assert await colour.invoke(step, 1) == "a:1"
    assert await colour.invoke(step, 1, chosen(which="first")) == "a:1"
    assert await colour.invoke(step, 1, chosen(which="other")) == "b:1"
    assert await colour.invoke(step, 1, chosen(which="made")) == "c:1"
    assert await colour.batch(step, [1, 2], [chosen(which="other"), {}]) == ["b:1", "a:2"]
    with pytest.raises(ValueError, match="Unknown alternative: nope"):
        await colour.invoke(step, 1, chosen(which="nope"))


async def test_prefixed_keys_tell_the_fields_of_alternatives_apart(colour):
    field = ConfigurableField(id="t")
    step = (
        Echo(text="a")
        .configurable_fields(text=field)
        .configurable_alternatives(
            ConfigurableField(id="which"),
            prefix_keys=True,
            other=Echo(text="b").configurable_fields(text=field),
        )
    )

    assert [spec.id for spec in step.config_specs] == [
        "which",
        "which==default/t",
        "which==other/t",
    ]
    config = chosen(**{"which": "other", "which==other/t": "B", "which==default/t": "A"})
    assert await colour.invoke(step, 1, config) == "B:1"
    assert await colour.invoke(step, 1, chosen(**{"which==default/t": "A"})) == "A:1"


def test_specs_of_a_chain_are_those_of_its_steps():
    step = Echo().configurable_fields(text=ConfigurableField(id="t"))
    chain = RunnableLambda(lambda x: x) | step | {"a": step, "b": lambda x: x}

    assert [spec.id for spec in chain.config_specs] == ["t"]
    schema = chain.config_schema(include=["tags"]).model_json_schema()
    assert sorted(schema["properties"]) == ["configurable", "tags"]
    assert schema["$defs"]["Configurable"]["properties"]["t"]["default"] == "default"


def test_conflicting_specs_are_an_error():
    one = Echo(text="1").configurable_fields(text=ConfigurableField(id="t"))
    two = Echo(text="2").configurable_fields(text=ConfigurableField(id="t"))
    with pytest.raises(ValueError, match="conflicting config specs"):
        _ = (one | two).config_specs


def test_what_it_does_not_know_is_asked_of_the_one_in_force():
    step = Echo(text="a").configurable_fields(text=ConfigurableField(id="t"))

    assert step.text == "a"
    assert step.shout() == "A"
    assert step.with_config(configurable={"t": "b"}).shout() == "B"
    with pytest.raises(AttributeError):
        _ = step.nothing


async def test_inside_a_chain_the_config_reaches_it(colour):
    step = Echo(text="a").configurable_fields(text=ConfigurableField(id="t"))
    chain = RunnableLambda(lambda x: x) | {"out": step}

    assert await colour.invoke(chain, 1, chosen(t="b")) == {"out": "b:1"}
    assert await colour.invoke(chain.with_config(configurable={"t": "c"}), 1) == {"out": "c:1"}
