"""Prompts in files."""

import json
import logging

import pytest

from dragoman.output_parsers import StrOutputParser
from dragoman.prompts import ChatPromptTemplate, PromptTemplate, load_prompt
from dragoman.prompts.loading import load_prompt_from_config

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("Say {a}")
    (tmp_path / "code.py").write_text("secret")
    (tmp_path / "link.txt").symlink_to(tmp_path / "code.py")
    (tmp_path / "examples.json").write_text('[{"q": "1", "a": "2"}]')
    (tmp_path / "one.json").write_text('{"_type": "prompt", "template": "{q}={a}"}')
    return tmp_path


def test_a_prompt_and_its_template_in_a_file(folder):
    (folder / "p.json").write_text('{"_type": "prompt", "template_path": "t.txt"}')
    (folder / "p.yaml").write_text("template: 'Say {a}'\noutput_parser: {_type: default}\n")

    assert load_prompt("p.json").format(a=1) == "Say 1"
    assert load_prompt("p.yaml").output_parser == StrOutputParser()


def test_a_missing_type_is_a_prompt_and_logged(caplog):
    with caplog.at_level(logging.WARNING):
        load_prompt_from_config({"template": "{a}"})

    assert "No `_type` key found" in caplog.text


def test_few_shot_and_chat():
    few = load_prompt_from_config(
        {
            "_type": "few_shot",
            "example_prompt_path": "one.json",
            "examples": "examples.json",
            "suffix_path": "t.txt",
            "prefix": "p",
        }
    )
    assert few.format(a="x") == "p\n\n1=2\n\nSay x"
    chat = load_prompt_from_config(
        {"_type": "chat", "messages": [{"prompt": {"template": "{a}"}}], "input_variables": ["a"]}
    )
    assert chat.format(a=1) == "Human: 1"


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"_type": "pickle"}, "Loading pickle prompt not supported"),
        ({"template_path": "/etc/passwd.txt"}, "is absolute"),
        ({"template_path": "../t.txt"}, "contains '..' components"),
        ({"template_path": "code.py"}, "Only '.txt' files are supported"),
        ({"template_path": "link.txt"}, "Only '.txt' files are supported"),
        ({"template_path": "t.txt", "template": "x"}, "cannot be provided"),
        ({"template_path": 3}, "a path must be a string"),
        ({"template": "{{ a }}", "template_format": "jinja2"}, "arbitrary code execution"),
        ({"template": "{a.b}"}, "attribute access"),
        ({"template": "x", "output_parser": {"_type": "os.system"}}, "Unsupported output parser"),
        ({"_type": "few_shot", "template_format": "jinja2"}, "arbitrary code execution"),
        ({"_type": "few_shot", "suffix_path": "/x.txt"}, "is absolute"),
        ({"_type": "few_shot", "example_prompt_path": "../one.json"}, "contains '..'"),
        (
            {"_type": "few_shot", "example_prompt_path": "one.json", "example_prompt": {}},
            "Only one of example_prompt",
        ),
        ({"_type": "few_shot", "examples": "/e.json"}, "is absolute"),
        ({"_type": "few_shot", "examples": "t.txt"}, "Only json or yaml"),
        ({"_type": "few_shot", "examples": 3}, "Invalid examples format"),
        ({"_type": "chat", "messages": []}, "Can't load chat prompt without template"),
        ({"_type": "chat", "template_format": "jinja2"}, "arbitrary code execution"),
    ],
)
def test_what_is_refused(config, text):
    before = json.dumps(config)

    with pytest.raises(ValueError, match=text):
        load_prompt_from_config({"_type": "prompt", **config})
    assert json.dumps(config) == before


def test_dangerous_paths_are_allowed_on_request(folder):
    config = {"_type": "prompt", "template_path": str(folder / "t.txt")}

    assert load_prompt_from_config(config, allow_dangerous_paths=True).format(a=1) == "Say 1"


def test_files_that_are_no_prompts(folder):
    (folder / "list.json").write_text("[1]")

    with pytest.raises(RuntimeError, match="no longer supported"):
        load_prompt("lc://prompts/x")
    with pytest.raises(ValueError, match=r"unsupported file type \.txt"):
        load_prompt("t.txt")
    with pytest.raises(ValueError, match="holds no object"):
        load_prompt("list.json")


@pytest.mark.parametrize(
    "act",
    [
        lambda: load_prompt_from_config({"_type": "prompt", "template": "{a}"}),
        lambda: PromptTemplate.from_template("{a}").dict(),
        lambda: ChatPromptTemplate([("human", "{a}")]).dict(),
        lambda: StrOutputParser().dict(),
    ],
)
def test_older_names_warn_and_work(act):
    with pytest.warns(DeprecationWarning, match="deprecated"):
        assert act()


def test_saving_and_loading_warn_once_each(tmp_path):
    file = tmp_path / "p.json"
    with pytest.warns(DeprecationWarning, match="`save` is deprecated") as said:
        PromptTemplate.from_template("{a}").save(file)
    assert len(said) == 1
    with pytest.warns(DeprecationWarning, match="`load_prompt` is deprecated") as said:
        prompt = load_prompt(file)
    assert len(said) == 1
    assert prompt.format(a=1) == "1"
