"""The named doors: one class a provider, each found where it is promised."""

import pytest

from dragoman.chat_models import named
from dragoman.chat_models.model import ProviderChatModel
from dragoman.chat_models.providers import PROVIDERS


@pytest.mark.parametrize("name", named.__all__)
def test_a_door_is_a_model_of_its_provider(name: str) -> None:
    cls = getattr(named, name)
    assert issubclass(cls, ProviderChatModel)
    assert cls.__name__ == name
    assert PROVIDERS[cls.provider_name].title == name
    assert cls.__doc__


def test_every_provider_with_a_key_has_a_door() -> None:
    own = {"ChatLocal", "ChatLlamaCpp"}
    assert {row.title for row in PROVIDERS.values()} - own == set(named.__all__)
    assert set(named.__all__) <= set(dir(named))
    assert not hasattr(named, "ChatBogus")
