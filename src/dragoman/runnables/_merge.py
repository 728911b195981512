"""One stream split among several readers, and several streams read at once.

Every reader runs in one thread or task of its own from start to end, so that generators keep their
context variables, and asks for the next piece only when the last one was taken: an abandoned merge has
read at most one piece ahead.
"""

import asyncio
import queue
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextvars import copy_context
from typing import Any

from dragoman.runnables._stream import aclose_all, close_all

__all__ = ["amerge", "atee", "merge", "tee"]

_END: Any = object()


def tee(source: Iterator[Any], n: int) -> list[Iterator[Any]]:
    """Return `n` iterators over `source` that threads may read at the same time."""
    lock = threading.Lock()
    buffers: list[deque[Any]] = [deque() for _ in range(n)]
    failed: list[BaseException] = []

    def reader(own: deque[Any]) -> Iterator[Any]:
        try:
            while True:
                with lock:
                    if not own:
                        if failed:
                            raise failed[0]
                        try:
                            item = next(source, _END)
                        except BaseException as error:
                            failed.append(error)
                            raise
                        for buffer in buffers:
                            buffer.append(item)
                    item = own.popleft()
                if item is _END:
                    return
                yield item
        finally:
            with lock:
                # A reader that left collects no more.
                buffers[:] = [buffer for buffer in buffers if buffer is not own]

    return [reader(buffer) for buffer in buffers[:]]


def atee(source: AsyncIterator[Any], n: int) -> list[AsyncIterator[Any]]:
    """Return `n` async iterators over `source` that tasks may read at the same time."""
    lock = asyncio.Lock()
    buffers: list[deque[Any]] = [deque() for _ in range(n)]
    failed: list[BaseException] = []

    async def reader(own: deque[Any]) -> AsyncIterator[Any]:
        try:
            while True:
                if not own:
                    async with lock:
                        if not own:
                            if failed:
                                raise failed[0]
                            try:
                                item = await anext(source, _END)
                            except asyncio.CancelledError:
                                raise
                            except BaseException as error:
                                failed.append(error)
                                raise
                            for buffer in buffers:
                                buffer.append(item)
                item = own.popleft()
                if item is _END:
                    return
                yield item
        finally:
            buffers[:] = [buffer for buffer in buffers if buffer is not own]

    return [reader(buffer) for buffer in buffers[:]]


def merge(streams: Mapping[str, Iterator[Any]]) -> Iterator[tuple[str, Any]]:
    """Yield `(key, piece)` from all streams as the pieces come; one stream needs no thread."""
    if len(streams) == 1:
        [(key, stream)] = streams.items()
        yield from ((key, piece) for piece in stream)
        return
    arrived: queue.SimpleQueue[tuple[str, Any, BaseException | None]] = queue.SimpleQueue()
    turns = {key: threading.Semaphore(1) for key in streams}
    stopped = threading.Event()

    def pump(key: str, stream: Iterator[Any]) -> None:
        while not stopped.is_set():
            turns[key].acquire()
            if stopped.is_set() or (piece := next(stream, _END)) is _END:
                return
            arrived.put((key, piece, None))

    def read(key: str, stream: Iterator[Any]) -> None:
        error: BaseException | None = None
        try:
            try:
                pump(key, stream)
            finally:
                close_all([stream])
        except BaseException as failure:  # noqa: BLE001 - handed to the consumer below
            error = failure
        arrived.put((key, _END, error))

    threads = [
        threading.Thread(target=copy_context().run, args=(read, key, stream), daemon=True)
        for key, stream in streams.items()
    ]
    n_open = len(threads)
    try:
        for thread in threads:
            thread.start()
        while n_open:
            key, piece, error = arrived.get()
            if error is not None:
                raise error
            if piece is _END:
                n_open -= 1
                continue
            yield key, piece
            turns[key].release()
    finally:
        stopped.set()
        for turn in turns.values():
            turn.release()
        for thread in threads:
            if thread.ident is not None:
                thread.join()


async def amerge(streams: Mapping[str, AsyncIterator[Any]]) -> AsyncIterator[tuple[str, Any]]:
    """Yield `(key, piece)` from all streams as the pieces come; one stream needs no task."""
    if len(streams) == 1:
        [(key, stream)] = streams.items()
        try:
            async for piece in stream:
                yield key, piece
        finally:
            await aclose_all([stream])
        return
    arrived: asyncio.Queue[tuple[str, Any, BaseException | None]] = asyncio.Queue()
    turns = {key: asyncio.Semaphore(1) for key in streams}

    async def read(key: str, stream: AsyncIterator[Any]) -> None:
        error: BaseException | None = None
        try:
            while True:
                await turns[key].acquire()
                piece = await anext(stream, _END)
                if piece is _END:
                    break
                arrived.put_nowait((key, piece, None))
        except asyncio.CancelledError:
            raise
        except BaseException as failure:  # noqa: BLE001 - handed to the consumer below
            error = failure
        finally:
            await aclose_all([stream])
            arrived.put_nowait((key, _END, error))

    tasks = [asyncio.create_task(read(key, stream)) for key, stream in streams.items()]
    n_open = len(tasks)
    try:
        while n_open:
            key, piece, error = await arrived.get()
            if error is not None:
                raise error
            if piece is _END:
                n_open -= 1
                continue
            yield key, piece
            turns[key].release()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
