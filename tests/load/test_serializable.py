"""`Serializable` as users subclass it."""

from typing import Generic, TypeVar

from pydantic import Field

from dragoman.load import Serializable, dumpd
from dragoman.load.serializable import namespace_of, to_json_not_implemented
from dragoman.prompts import PromptTemplate

T = TypeVar("T")


class Base(Serializable):
    key: str | None = Field(alias="api_key", default=None)
    region: str = "eu"

    model_config = {"populate_by_name": True}

    @property
    def lc_secrets(self):
        return {"key": "BASE_KEY"}

    @property
    def lc_attributes(self):
        return {"region": self.region}

    @classmethod
    def is_lc_serializable(cls):
        return True


class Child(Base):
    options: dict = Field(default_factory=dict)
    tags: list = Field(default_factory=list)
    hidden: int = Field(default=1, exclude=True)
    other: str | None = None

    @property
    def lc_secrets(self):
        return {"options.token": "CHILD_TOKEN", "other": "OTHER"}


def test_only_useful_fields_are_stored_and_attributes_always():
    assert Child().to_json()["kwargs"] == {"region": "eu"}
    assert Child(options={"a": 1}, hidden=2).to_json()["kwargs"] == {
        "region": "eu",
        "options": {"a": 1},
    }


def test_secrets_and_attributes_are_collected_from_all_classes():
    child = Child(api_key="k", options={"token": "t", "x": 1}, other="o")

    kwargs = dumpd(child)["kwargs"]

    secret = {"lc": 1, "type": "secret"}
    assert kwargs["key"] == {**secret, "id": ["BASE_KEY"]}
    assert kwargs["options"] == {"token": {**secret, "id": ["CHILD_TOKEN"]}, "x": 1}
    assert kwargs["other"] == {**secret, "id": ["OTHER"]}
    assert child.options == {"token": "t", "x": 1}


def test_a_class_is_not_stored_unless_it_says_so():
    class Plain(Serializable):
        a: int = 1

    assert Plain.is_lc_serializable() is False
    assert Plain().to_json()["type"] == "not_implemented"
    assert dumpd(Plain())["repr"] == "Plain()"


def test_ids():
    class Box(Serializable, Generic[T]):
        item: T

    assert Box[int].lc_id()[-1] == "Box"
    assert namespace_of(PromptTemplate) == ["langchain_core", "prompts", "prompt"]
    assert PromptTemplate.lc_id() == ["langchain", "prompts", "prompt", "PromptTemplate"]
    assert Base.get_lc_namespace() == Base.__module__.split(".")


def test_repr_shows_what_differs_from_the_default():
    assert repr(Base(region="us")) == "Base(region='us')"


class Awkward:
    def __repr__(self):
        raise RuntimeError("no")

    def __bool__(self):
        raise RuntimeError("no")

    def __eq__(self, other):
        raise RuntimeError("no")

    __hash__ = None


def test_awkward_values_do_not_break_dumping():
    class Holder(Serializable):
        model_config = {"arbitrary_types_allowed": True}
        thing: object = None

        @classmethod
        def is_lc_serializable(cls):
            return True

    assert to_json_not_implemented(Awkward())["repr"] is None
    assert dumpd(Holder(thing=Awkward()))["kwargs"]["thing"]["type"] == "not_implemented"


def test_a_secret_that_is_not_set_is_not_stored():
    assert "other" not in Child(other=None).to_json()["kwargs"]
