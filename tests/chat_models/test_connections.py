"""Connections are given back, whatever ends a call; loops, threads and processes (fault B111)."""

import asyncio
import gc
import resource
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from dragoman.chat_models import init_chat_model
from dragoman.messages import AIMessage
from dragoman.testing import Reply, ScriptedServer

LONG = AIMessage("word " * 40)


@pytest.fixture
def slow(server: ScriptedServer) -> ScriptedServer:
    """A server whose streams take half a second, and whose other replies come at once."""

    def answer(request: Any) -> Reply:
        wants_stream = b'"stream":true' in request.body
        return Reply.message(
            LONG, stream=wants_stream, **({"wait_s": 0.012} if wants_stream else {})
        )

    server._handler = answer
    return server


class Boom(Exception):
    pass


def leave_sync(model: Any, how: str) -> None:
    stream = model.stream("hi")
    if how == "break":
        for _ in stream:
            break
        del stream
    elif how == "close":
        next(stream)
        stream.close()
    elif how == "with":
        with stream:
            next(stream)
    elif how == "error":
        with suppress(Boom):
            for _ in stream:
                raise Boom
        del stream
    elif how == "throw":
        next(stream)
        with pytest.raises(Boom):
            stream._source.throw(Boom())


@pytest.mark.parametrize("how", ["break", "close", "with", "error", "throw"])
def test_ten_abandoned_streams_and_the_eleventh_call_works(
    how: str, make: Any, slow: ScriptedServer
) -> None:
    model = make(max_connections=2, timeout={"read": 2})
    for _ in range(10):
        leave_sync(model, how)
    assert model.invoke("hi").text.startswith("word")
    assert slow.wait_idle(2)


async def leave_async(model: Any, how: str) -> None:
    stream = model.astream("hi")
    if how == "break":
        async for _ in stream:
            break
    elif how == "aclose":
        await anext(stream)
        await stream.aclose()
    elif how == "with":
        async with stream:
            await anext(stream)
    elif how == "error":
        with suppress(Boom):
            async for _ in stream:
                raise Boom
    elif how == "cancel":

        async def consume() -> None:
            async for _ in stream:
                pass

        task = asyncio.create_task(consume())
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    elif how == "cancel before the reply":
        task = asyncio.create_task(model.ainvoke("hi", stream=True))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    elif how == "timeout":
        with suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                async for _ in stream:
                    pass


@pytest.mark.parametrize(
    "how", ["break", "aclose", "with", "error", "cancel", "cancel before the reply", "timeout"]
)
async def test_ten_abandoned_async_streams_and_the_eleventh_call_works(
    how: str, make: Any, slow: ScriptedServer
) -> None:
    model = make(max_connections=2, timeout={"read": 2})
    for _ in range(10):
        await leave_async(model, how)
    assert (await model.ainvoke("hi")).text.startswith("word")


async def test_error_replies_give_their_connection_back(
    make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    model = make(max_connections=2, timeout={"read": 2}, max_retries=0)
    server.add(*[Reply.json({"error": {"message": "no"}}, status=429)] * 10, Reply.message(hello))
    for _ in range(10):
        with pytest.raises(Exception, match="no"):
            await model.ainvoke("hi")
    assert (await model.ainvoke("hi")).content == hello.content
    assert server.n_connections == 1


def test_connections_are_reused(
    colour: Any, make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    model = make()
    server.add(*[Reply.message(hello), Reply.message(hello, stream=True)] * 5)

    async def many() -> None:
        for _ in range(5):
            await model.ainvoke("hi")
            assert [c async for c in model.astream("hi")]

    if colour.is_async:
        asyncio.run(many())
    else:
        for _ in range(5):
            model.invoke("hi")
            assert list(model.stream("hi"))
    assert server.n_connections == 1
    assert len(server.requests) == 10


def test_models_share_connections(make: Any, server: ScriptedServer, hello: AIMessage) -> None:
    server.add(*[Reply.message(hello)] * 4)
    for name in ("a", "b", "c", "d"):
        make(f"openai:{name}").invoke("hi")
    assert server.n_connections == 1


def test_three_loops_in_a_row_and_two_threads_with_loops(
    make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    model = make()
    server._handler = lambda request: Reply.message(hello, stream=b'"stream":true' in request.body)

    async def work() -> list[str]:
        texts = [(await model.ainvoke("hi")).content for _ in range(2)]
        return [*texts, "".join([c.content async for c in model.astream("hi")])]

    for _ in range(3):
        assert asyncio.run(work()) == [hello.content] * 3
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: asyncio.run(work()), range(4)))
    assert results == [[hello.content] * 3] * 4
    assert server.wait_idle()


def test_a_loop_closed_without_farewell(
    make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    model = make()
    server._handler = lambda request: Reply.message(hello)
    for _ in range(3):
        loop = asyncio.new_event_loop()
        assert loop.run_until_complete(model.ainvoke("hi")).content == hello.content
        loop.close()
    assert asyncio.run(model.ainvoke("hi")).content == hello.content
    gc.collect()
    assert server.wait_idle()


def test_threads_end_without_open_connections(
    make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    server._handler = lambda request: Reply.message(hello)
    model = make()
    threads = [threading.Thread(target=model.invoke, args=("hi",)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    del threads, thread
    gc.collect()
    assert server.wait_idle()


def test_a_client_of_one_s_own_is_used_and_left_open(
    make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    server._handler = lambda request: Reply.message(hello)
    with httpx2.Client(headers={"x-mine": "1"}) as client:
        model = make(http_client=client)
        model.invoke("hi")
        model.invoke("hi")
        assert not client.is_closed
    assert server.requests[-1].headers["x-mine"] == "1"
    assert server.n_connections == 1

    async def go() -> None:
        async with httpx2.AsyncClient(headers={"x-mine": "2"}) as client:
            await make(http_async_client=client).ainvoke("hi")
            assert not client.is_closed

    asyncio.run(go())
    assert server.requests[-1].headers["x-mine"] == "2"


def test_a_client_of_the_older_httpx_will_do(
    make: Any, server: ScriptedServer, hello: AIMessage
) -> None:
    import httpx

    server._handler = lambda request: Reply.message(hello, stream=b'"stream":true' in request.body)
    with httpx.Client() as client:
        model = make(http_client=client)
        assert model.invoke("hi").text == hello.content
        assert "".join(c.text for c in model.stream("hi")) == hello.content


def test_a_proxy_is_used_and_the_loopback_passes_by_the_environment_s(
    make: Any, server: ScriptedServer, hello: AIMessage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server._handler = lambda request: Reply.message(hello)
    assert make().invoke("hi").content == hello.content
    there = make(base_url="http://models.example/v1", proxy=server.url)
    assert there.invoke("hi").content == hello.content
    assert server.requests[-1].path == "http://models.example/v1/chat/completions"
    monkeypatch.setenv("HTTP_PROXY", server.url)
    assert make(base_url="http://models.example/v1").invoke("hi").content == hello.content


SERVER = """
import sys
from dragoman.messages import AIMessage
from dragoman.testing import Reply, ScriptedServer
reply = Reply.message(AIMessage("word " * 40), stream=True, wait_s=0.05)
with ScriptedServer(lambda request: reply) as server:
    print(server.port, flush=True)
    sys.stdin.read()
"""


def test_many_streams_at_a_time(scale: int, capsys: pytest.CaptureFixture[str]) -> None:
    """50 streams at once, 1,000 under soak, from one process; the server has its own."""
    count = 50 * scale
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        port = int(process.stdout.readline())
        model = init_chat_model("m", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)

        async def one() -> str:
            return "".join([chunk.text async for chunk in model.astream("hi")])

        async def everything() -> list[str]:
            return await asyncio.gather(*(one() for _ in range(count)))

        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        texts = asyncio.run(everything())
        grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        process.communicate()
    assert len(texts) == count
    assert set(texts) == {LONG.content}
    if scale > 1:
        with capsys.disabled():
            print(f"\n{count} streams at once: at most {grown_kb / count:.0f} kB of memory each")


PROGRAM = """
import asyncio, sys, threading, warnings
from dragoman.chat_models import init_chat_model
model = init_chat_model("openai:gpt-4o", base_url=sys.argv[1], api_key="k" * 12, max_retries=0)
how = sys.argv[2]
async def once():
    async for chunk in model.astream("hi"):
        return chunk
if how == "sync":
    model.invoke("hi"); stream = model.stream("hi"); next(stream)
elif how == "runs":
    for _ in range(3): asyncio.run(once())
elif how == "left open":
    async def main():
        stream = model.astream("hi"); await anext(stream)
        chain = (model | (lambda m: m)).astream("hi"); await anext(chain)
        return stream, chain
    for _ in range(3): asyncio.run(main())
elif how == "closed loop":
    loop = asyncio.new_event_loop(); loop.run_until_complete(model.ainvoke("hi")); loop.close()
elif how == "thread":
    threads = [threading.Thread(target=model.invoke, args=("hi",)) for _ in range(3)]
    [t.start() for t in threads]; [t.join() for t in threads]
print("done")
"""


@pytest.mark.parametrize("how", ["sync", "runs", "left open", "closed loop", "thread"])
def test_no_warning_at_exit(how: str, slow: ScriptedServer) -> None:
    command = [sys.executable, "-W", "error", "-c", PROGRAM, f"{slow.url}/v1", how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.strip(), done.stderr) == ("done", "")
