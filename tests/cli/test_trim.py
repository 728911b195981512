import json

import pytest
from tests.cli.support import call, is_one_line_of_error

from dragoman.messages import convert_to_messages, count_tokens_approximately

HISTORY = [{"role": "system", "content": "Be brief."}] + [
    {"role": role, "content": f"{role} number {i} says something"}
    for i in range(20)
    for role in ("user", "assistant")
]
NATIVE = [{"type": m.type, "content": m.content} for m in convert_to_messages(HISTORY)]


@pytest.fixture
def trim(monkeypatch, capsys):
    def trim(*args, value=NATIVE):
        code, out, err = call(monkeypatch, capsys, "trim", *args, said=json.dumps(value))
        return code, json.loads(out) if out else None, err

    return trim


def test_the_end_that_fits_is_kept_with_the_system_message(trim):
    code, kept, err = trim("--max-tokens", "100", "--start-on", "human")
    assert (code, err) == (0, "")
    assert kept[0] == NATIVE[0]
    assert kept[1]["type"] == "human"
    assert kept[1:] == NATIVE[-len(kept) + 1 :]
    assert count_tokens_approximately(convert_to_messages(kept)) <= 100


@pytest.mark.parametrize(
    ("args", "first", "last"),
    [
        (["--no-system", "--max-tokens", "60"], None, NATIVE[-1]),
        (["--strategy", "first", "--max-tokens", "60"], NATIVE[0], None),
        (["--end-on", "human", "--max-tokens", "60"], NATIVE[0], NATIVE[-2]),
    ],
)
def test_options_choose_what_is_kept(trim, args, first, last):
    _, kept, _ = trim(*args)
    assert 1 < len(kept) < len(NATIVE)
    assert first is None or kept[0] == first
    assert last is None or kept[-1] == last


def test_a_body_stays_a_body(trim):
    _, kept, _ = trim("--max-tokens", "60", value={"model": "m", "messages": HISTORY, "user": "me"})
    assert (kept["model"], kept["user"]) == ("m", "me")
    assert kept["messages"][-1] == HISTORY[-1]
    assert len(kept["messages"]) < len(HISTORY)


@pytest.mark.local_model
def test_a_model_can_count(trim):
    _, kept, _ = trim("--max-tokens", "60", "--count-with", "local")
    assert kept[-1] == NATIVE[-1]
    assert len(kept) < len(NATIVE)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "--max-tokens"),
        (["--max-tokens", "0"], "--max-tokens"),
        (["--max-tokens", "3"], "tokens"),
        (["--max-tokens", "60", "--count-with", "nobody:x"], "nobody"),
        (["--max-tokens", "60", "--strategy", "middle"], "--strategy"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_2(trim, args, said):
    code, kept, err = trim(*args)
    assert (code, kept) == (2, None)
    assert is_one_line_of_error(err)
    assert said in err
