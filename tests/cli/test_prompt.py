import json
import os
import subprocess

import pytest
from tests.cli.support import COMMAND, environment, is_one_line_of_error, run, streamed

from dragoman.testing import ScriptedServer


def asked(server: ScriptedServer) -> str:
    return server.requests[-1].json["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("args", "said", "expected"),
    [
        (["What", "is", "it?"], "", "What is it?"),
        (["What is it?"], "", "What is it?"),
        ([], "From a pipe.\n", "From a pipe.\n"),
        (["Sum this up:"], "A text.\n", "Sum this up:\n\nA text.\n"),
        ([], "\ufeffwith a mark", "with a mark"),
        (["é 你 🙂"], "", "é 你 🙂"),
        (["--", "--json"], "", "--json"),
    ],
)
def test_the_prompt_is_the_argument_and_what_comes_through_the_pipe(args, said, expected):
    with ScriptedServer(streamed("ok")) as server:
        done = run("chat", "--model", "openai:m", *args, said=said, url=server.url)
        assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")
        assert asked(server) == expected


@pytest.mark.parametrize("said", ["", "  \n\t\n"])
def test_an_empty_prompt_is_an_error(said):
    done = run("chat", said=said)
    assert done.returncode == 1
    assert is_one_line_of_error(done.stderr)
    assert "the prompt is empty" in done.stderr


def test_bytes_that_are_no_text_are_an_error():
    done = run("chat", said=b"\xff\xfe\x00")
    assert done.returncode == 1
    assert is_one_line_of_error(done.stderr)
    assert "not UTF-8 text (byte 0)" in done.stderr


def test_an_open_pipe_in_which_nothing_comes_does_not_hold_a_question_up():
    read, write = os.pipe()
    with ScriptedServer(streamed("ok")) as server:
        done = subprocess.run(
            [*COMMAND, "chat", "--model", "openai:m", "hi"],
            stdin=read,
            capture_output=True,
            env=environment(server.url),
            timeout=60,
        )
        assert (done.returncode, done.stdout) == (0, b"ok\n")
        assert asked(server) == "hi"
    os.close(read)
    os.close(write)


def test_a_closed_standard_input_is_an_empty_one():
    with ScriptedServer(streamed("ok")) as server:
        command = " ".join(
            json.dumps(word) for word in [*COMMAND, "chat", "--model", "openai:m", "hi"]
        )
        done = subprocess.run(
            ["sh", "-c", f"{command} <&-"], capture_output=True, env=environment(server.url)
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"ok\n", b"")
