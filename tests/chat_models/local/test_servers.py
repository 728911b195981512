import asyncio
import json
import os
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from tests.chat_models.local.support import eventually, is_alive, script

from dragoman.chat_models import init_chat_model, local
from dragoman.chat_models.local import servers as module
from dragoman.errors import MissingExtraError, ModelError, ModelNotFoundError, ModelStreamError

pytestmark = pytest.mark.local_model


def client(server: local.LocalServer) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {server.api_key}"}
    return httpx2.Client(base_url=server.base_url, headers=headers, timeout=None, trust_env=False)


def ask(text: str, **options) -> dict:
    return {
        "messages": [{"role": "user", "content": text}],
        "temperature": 0,
        "max_tokens": 8,
    } | options


@pytest.mark.soak
def test_a_real_model_answers():
    with client(local.server()) as http:
        reply = http.post("/chat/completions", json=ask("What is the capital of Italy?")).json()
    assert "Rome" in reply["choices"][0]["message"]["content"]
    assert reply["model"] == "smollm2-135m"


def test_it_asks_for_its_key_and_repr_does_not_tell_it():
    server = local.server()
    assert server.api_key not in repr(server)
    url = f"{server.base_url}/chat/completions"
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        assert httpx2.post(url, json=ask("hi"), headers=headers, trust_env=False).status_code == 401


def test_one_file_has_one_server_however_many_ask_at_once():
    local.stop()
    assert local.running() is None
    found = []
    threads = [threading.Thread(target=lambda: found.append(local.server())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len({id(server) for server in found}) == 1
    assert local.running() is found[0]


def test_a_server_that_died_is_replaced():
    first = local.server()
    process = module._children[""].process
    process.kill()
    process.wait()
    assert local.running() is None
    second = local.server()
    assert second.base_url != first.base_url
    with client(second) as http:
        assert http.get("/models").json()["data"][0]["id"] == "smollm2-135m"


def kill_child() -> None:
    process = module._children[""].process
    process.kill()
    process.wait()


def test_a_server_that_dies_mid_reply_is_an_error_that_holds_what_came_and_the_next_call_works():
    model = init_chat_model("local", temperature=0, max_tokens=200)
    stream = model.stream("Write a very long story about a ship.")
    first = next(stream) + next(stream)
    kill_child()
    with pytest.raises(ModelStreamError) as caught:
        list(stream)
    assert caught.value.partial.text.startswith(first.text)
    assert caught.value.is_retryable
    assert "Rome" in model.invoke("What is the capital of Italy?").text


async def test_a_call_whose_server_dies_before_it_answers_is_sent_to_the_next_one():
    model = init_chat_model("local", temperature=0, max_tokens=60)
    calls = [asyncio.create_task(model.ainvoke("Write a long story.")) for _ in range(2)]
    await asyncio.sleep(0.2)
    await asyncio.to_thread(kill_child)
    replies = await asyncio.gather(*calls)
    assert [reply.usage_metadata["output_tokens"] for reply in replies] == [60] * 2


@pytest.mark.soak
def test_any_other_file_runs_under_its_own_name(tmp_path):
    path = tmp_path / "my-model.gguf"
    path.symlink_to(local.find_weights())
    try:
        server = local.server(str(path))
        # The same file by another name is the same server.
        assert local.server(os.path.relpath(os.path.realpath(path))) is server
        assert server is not local.running()
        with client(server) as http:
            reply = http.post("/chat/completions", json=ask("hi", max_tokens=2)).json()
        assert reply["model"] == server.model
        assert reply["usage"]["completion_tokens"] == 2
    finally:
        module._end(module._children.pop(os.path.realpath(path)).process)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda p: None, ModelNotFoundError, "there is no such file; give the path of a .gguf"),
        (lambda p: p.mkdir(), ModelNotFoundError, "it is a folder"),
        (lambda p: p.write_bytes(b"PK\3\4"), ModelError, "is not a GGUF file"),
        (lambda p: p.write_bytes(b""), ModelError, "is not a GGUF file"),
        (
            lambda p: p.write_bytes(b"GGUF" + b"\3" * 100),
            ModelError,
            "check that the file is complete",
        ),
    ],
    ids=["missing", "folder", "other kind", "empty", "damaged"],
)
def test_a_path_that_cannot_run_is_an_error_that_says_so(tmp_path, make, error, text):
    path = tmp_path / "m.gguf"
    make(path)
    with pytest.raises(error) as caught:
        local.server(path)
    assert text in str(caught.value)
    assert not caught.value.is_retryable
    assert str(path) not in module._children


def test_a_child_killed_while_it_loads_is_an_error(monkeypatch):
    local.stop()
    greet = module._greet

    def killed(process, settings):
        process.kill()
        return greet(process, settings)

    monkeypatch.setattr(module, "_greet", killed)
    with pytest.raises(ModelError, match=r"ended while it loaded .* too little memory"):
        local.server()
    monkeypatch.undo()
    assert local.server() is local.running()


def test_a_missing_extra_names_the_command_that_installs_it():
    text = (
        "import importlib.util, sys\n"
        "sys.modules['xllamacpp'] = None\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n, *a: None if n == 'xllamacpp' else found(n, *a)\n"
        "from dragoman.chat_models import local\n"
        "from dragoman.errors import MissingExtraError\n"
        "try:\n    local.server()\n"
        "except MissingExtraError as error:\n    print(error)\n"
    )
    out, err = script(text).communicate()
    assert 'pip install "dragoman[local]"' in out
    assert err == ""
    assert issubclass(MissingExtraError, ImportError)


@pytest.mark.parametrize(
    ("value", "expected"), [("1", 1), ("3", 3), ("0", None), ("-1", None), ("many", None)]
)
def test_the_number_of_threads_can_be_set(monkeypatch, value, expected):
    monkeypatch.setenv("DRAGOMAN_LOCAL_THREADS", value)
    if expected is None:
        with pytest.raises(ModelError, match="set it to a whole number from 1 up"):
            module._threads()
    else:
        assert module._threads() == expected


def test_by_default_one_core_stays_free(monkeypatch):
    monkeypatch.delenv("DRAGOMAN_LOCAL_THREADS")
    cores = len(os.sched_getaffinity(0))
    assert module._threads() == max(1, min(cores - 1, 8))


START = (
    "import os, sys, time\n"
    "from dragoman.chat_models import local\n"
    "from dragoman.chat_models.local import servers as module\n"
    "url = local.server().base_url\n"
    "print(module._children[''].process.pid, url, flush=True)\n"
)


def pid_of(parent: "subprocess.Popen[str]") -> int:
    assert parent.stdout is not None
    line = parent.stdout.readline()
    if not line:
        raise AssertionError(parent.communicate()[1])
    return int(line.split()[0])


def test_a_process_that_ends_leaves_no_child_and_prints_nothing():
    parent = script(START)
    pid = pid_of(parent)
    out, err = parent.communicate()
    assert (out, err, parent.returncode) == ("", "", 0)
    assert eventually(lambda: not is_alive(pid))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killing_the_parent_leaves_no_child(number):
    parent = script(START + "time.sleep(600)\n")
    pid = pid_of(parent)
    assert is_alive(pid)
    parent.send_signal(number)
    parent.communicate()
    assert eventually(lambda: not is_alive(pid))


def test_killing_the_parent_in_the_middle_of_a_reply_leaves_no_child():
    text = START + (
        "import http.client, json\n"
        "s = local.server()\n"
        "c = http.client.HTTPConnection(url.split('/')[2])\n"
        "body = {'messages': [{'role': 'user', 'content': 'Tell a long story'}], 'stream': True}\n"
        "c.request('POST', '/v1/chat/completions', json.dumps(body), {'Authorization': 'Bearer ' + s.api_key})\n"
        "print(c.getresponse().readline(), flush=True)\n"
        "time.sleep(600)\n"
    )
    parent = script(text)
    pid = pid_of(parent)
    assert "data:" in parent.stdout.readline()
    parent.kill()
    parent.communicate()
    assert eventually(lambda: not is_alive(pid))


def test_a_forked_process_has_a_server_of_its_own_and_keeps_none_alive():
    text = START + (
        "if os.fork() == 0:\n"
        "    assert local.running() is None\n"
        "    other = local.server().base_url\n"
        "    assert other != url\n"
        "    print(module._children[''].process.pid, os.getpid(), flush=True)\n"
        "    sys.stdin.read()\n"
        "    local.stop()\n"
        "    os._exit(0)\n"
        "time.sleep(600)\n"
    )
    parent = script(text)
    assert parent.stdin is not None
    assert parent.stdout is not None
    first = pid_of(parent)
    second, forked = map(int, parent.stdout.readline().split())
    parent.kill()
    # The forked process lives on; it inherited the pipe, and must have let go of it.
    assert eventually(lambda: not is_alive(first))
    assert is_alive(forked)
    assert is_alive(second)
    parent.stdin.close()
    assert eventually(lambda: not is_alive(forked))
    assert eventually(lambda: not is_alive(second))
    assert parent.stderr is not None
    assert parent.stderr.read() == ""
    parent.stdout.close()
    parent.stderr.close()
    parent.wait()


@pytest.mark.soak
def test_many_callers_queue_and_all_get_their_reply(scale):
    server = local.server()
    replies = []

    def call() -> None:
        with client(server) as http:
            replies.append(http.post("/chat/completions", json=ask("hi", max_tokens=2)).json())

    threads = [threading.Thread(target=call) for _ in range(min(5 * scale, 200))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [reply["usage"]["completion_tokens"] for reply in replies] == [2] * len(threads)


async def test_models_on_both_doors_queue_for_the_one_slot(scale):
    model = init_chat_model("local", max_tokens=2)
    n = min(2 * scale, 100)
    replies = await asyncio.gather(*(model.ainvoke(f"hi {i}") for i in range(n)))
    with ThreadPoolExecutor(n) as pool:
        replies += pool.map(model.invoke, [f"hi {i}" for i in range(n)])
    assert [reply.usage_metadata["output_tokens"] for reply in replies] == [2] * (2 * n)


def test_a_dropped_client_frees_the_slot_streamed_or_queued():
    server = local.server()
    long = ask("Tell me a very long story.", max_tokens=3000, ignore_eos=True)
    with client(server) as http:
        with http.stream("POST", "/chat/completions", json=long | {"stream": True}) as reply:
            assert next(reply.iter_lines()).startswith("data:")

        # Two at once: one holds the slot, one waits for it; both give up.
        def give_up() -> None:
            with client(server) as other, pytest.raises(httpx2.ReadTimeout):
                other.post("/chat/completions", json=long, timeout=0.3)

        threads = [threading.Thread(target=give_up) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        reply = http.post("/chat/completions", json=ask("hi", max_tokens=2)).json()
        assert reply["usage"]["completion_tokens"] == 2

        def is_idle() -> bool:
            headers = {"Authorization": f"Bearer {server.api_key}"}
            slots = http.get(server.base_url.removesuffix("/v1") + "/slots", headers=headers)
            return not any(slot["is_processing"] for slot in slots.json())

        assert eventually(is_idle)


def test_it_listens_on_the_loopback_only_and_allows_no_web_page():
    server = local.server()
    assert server.base_url.startswith("http://127.0.0.1:")
    headers = {"Origin": "https://evil.example", "Authorization": f"Bearer {server.api_key}"}
    with client(server) as http:
        answer = http.get("/models", headers=headers)
    assert answer.headers.get("access-control-allow-origin", "") not in (
        "*",
        "https://evil.example",
    )


def test_the_key_is_not_on_the_command_line():
    server = local.server()
    pid = module._children[""].process.pid
    shown = subprocess.run(
        ["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, text=True
    )
    assert "child.py" in shown.stdout
    assert server.api_key not in shown.stdout


def test_python_that_ends_while_threads_wait_for_a_reply_ends():
    text = START + (
        "import json, threading, http.client\n"
        "def ask():\n"
        "    c = http.client.HTTPConnection(url.split('/')[2])\n"
        "    body = {'messages': [{'role': 'user', 'content': 'Tell a story'}], 'max_tokens': 3000, 'ignore_eos': True}\n"
        "    c.request('POST', '/v1/chat/completions', json.dumps(body), {'Authorization': 'Bearer ' + local.server().api_key})\n"
        "    try: c.getresponse()\n"
        "    except Exception: pass\n"
        "for _ in range(3): threading.Thread(target=ask, daemon=True).start()\n"
        "time.sleep(0.3)\n"
    )
    parent = script(text)
    pid = pid_of(parent)
    _, err = parent.communicate(timeout=60)
    assert err == ""
    assert parent.returncode == 0
    assert eventually(lambda: not is_alive(pid))


def test_settings_are_json_and_name_the_template_for_the_bundled_model_only(tmp_path):
    bundled = module._settings("")
    assert json.loads(json.dumps(bundled)) == bundled
    assert "<tool_call>" in bundled["template"]
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF")
    assert module._settings(str(path))["template"] is None
