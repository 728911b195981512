import json
import signal
import subprocess

import pytest
from tests.chat_models.local.support import eventually
from tests.cli.support import (
    COMMAND,
    environment,
    is_one_line_of_error,
    run,
    streamed,
)

from dragoman.messages import messages_from_json
from dragoman.testing import Reply, ScriptedServer
from dragoman.testing.replies import Act

MODEL = ("chat", "--model", "openai:m")


@pytest.mark.local_model
def test_the_bundled_model_answers():
    done = run("chat", "--temperature", "0", "What is the capital of Italy?")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Rome" in done.stdout


def test_a_reply_is_the_text_alone_in_a_pipe_and_ends_with_a_newline():
    with ScriptedServer(streamed("Hello \x1b[1mthere", reasoning_content="hm")) as server:
        done = run(*MODEL, "hi", url=server.url)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello \x1b[1mthere\n", "")


def test_a_reply_is_streamed():
    with ScriptedServer(streamed("one two", end="hang")) as server:
        process = subprocess.Popen(
            [*COMMAND, *MODEL, "hi"], stdout=subprocess.PIPE, env=environment(server.url)
        )
        assert process.stdout is not None
        # The reply has not ended, and its text is here.
        assert process.stdout.read(7) == b"one two"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        process.stdout.close()
        assert server.wait_idle()


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], {}),
        (["--temperature", "0.5"], {"temperature": 0.5}),
        (["--temperature", "0"], {"temperature": 0}),
        (["--max-tokens", "7"], {"max_tokens": 7}),
    ],
)
def test_options_reach_the_wire(args, expected):
    with ScriptedServer(streamed("ok")) as server:
        run(*MODEL, *args, "hi", url=server.url)
        body = server.requests[0].json
    names = {"temperature": ("temperature",), "max_tokens": ("max_tokens", "max_completion_tokens")}
    found = {
        name: body[key] for name, keys in names.items() for key in keys if body.get(key) is not None
    }
    assert found == expected
    assert body["model"] == "m"
    assert body["stream"] is True


def test_a_system_message_comes_first():
    with ScriptedServer(streamed("ok")) as server:
        run(*MODEL, "--system", "Be brief.", "hi", url=server.url)
        messages = server.requests[0].json["messages"]
    assert [(m["role"], m["content"]) for m in messages] == [
        ("system", "Be brief."),
        ("user", "hi"),
    ]


def test_the_model_can_come_from_the_environment():
    with ScriptedServer(streamed("ok")) as server:
        done = run("chat", "hi", url=server.url, DRAGOMAN_MODEL="openai:other")
        assert (done.returncode, done.stdout) == (0, "ok\n")
        assert server.requests[0].json["model"] == "other"


def test_json_prints_the_reply_as_one_native_message_a_line():
    with ScriptedServer(streamed("Hello\nthere")) as server:
        done = run(*MODEL, "--json", "hi", url=server.url)
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    (message,) = messages_from_json(f"[{line}]".encode())
    assert json.loads(line)["type"] == "ai"
    assert message.text == "Hello\nthere"
    assert message.usage_metadata["output_tokens"] == 1


KEY = "sk-secret"


@pytest.mark.parametrize(
    ("model", "reply", "said"),
    [
        (
            "openai:m",
            Reply.json({"error": {"message": "no such\nmodel"}}, status=404),
            "no such model",
        ),
        ("openai:m", Reply.json({"error": {"message": f"bad key {KEY}"}}, status=401), "bad key"),
        ("openai:m", Reply.json({"error": {"message": "too long"}}, status=400), "too long"),
        ("nobody:m", None, "nobody"),
        ("nobody", None, "nobody"),
        ("llamacpp:/no/such.gguf", None, "there is no such file"),
    ],
)
def test_what_goes_wrong_is_one_line_and_exit_code_1(model, reply, said):
    with ScriptedServer(*[reply] if reply else []) as server:
        done = run("chat", "--model", model, "hi", url=server.url)
    assert done.returncode == 1
    assert done.stdout == ""
    assert is_one_line_of_error(done.stderr)
    assert said in done.stderr
    assert KEY not in done.stderr


def test_a_missing_key_is_one_line_that_names_it():
    done = run("chat", "--model", "openai:m", "hi")
    assert done.returncode == 1
    assert is_one_line_of_error(done.stderr)
    assert "OPENAI_API_KEY" in done.stderr


def test_no_weights_and_no_network_is_one_line(tmp_path):
    from tests.chat_models.local.support import NO_REGISTRY

    done = run("chat", "hi", DRAGOMAN_CACHE=str(tmp_path), **NO_REGISTRY)
    assert done.returncode == 1
    assert is_one_line_of_error(done.stderr)
    assert "connect to the network" in done.stderr


@pytest.mark.parametrize("end", ["reset", "close"])
def test_a_reply_that_breaks_off_shows_what_came_and_says_so(end):
    with ScriptedServer(streamed("half a", end=end)) as server:
        done = run(*MODEL, "hi", url=server.url)
    assert done.returncode == 1
    assert done.stdout == "half a\n"
    assert is_one_line_of_error(done.stderr)


@pytest.mark.local_model
def test_a_prompt_too_long_for_the_bundled_model_is_one_line():
    done = run("chat", said="word " * 6000)
    assert done.returncode == 1
    assert is_one_line_of_error(done.stderr)
    assert "context" in done.stderr


def test_a_server_that_hangs_can_be_left():
    with ScriptedServer(Reply.fault(Act.HANG)) as server:
        process = subprocess.Popen(
            [*COMMAND, *MODEL, "hi"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(server.url),
        )
        assert eventually(lambda: bool(server.requests))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (130, b"")
        assert b"Traceback" not in err
