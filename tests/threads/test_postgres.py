"""What is special about a server: it may be restarted, and it keeps passwords."""

import threading

import pytest

from dragoman.errors import StoreError
from dragoman.messages import HumanMessage
from dragoman.threads import PostgresThreads


def test_a_restart_in_the_middle_loses_and_repeats_nothing(postgres, scale):
    store, each, errors = PostgresThreads(postgres.url), 25 * scale, []
    halfway = threading.Barrier(5)

    def write(writer):
        try:
            for number in range(each):
                if number == each // 2:
                    halfway.wait(60)
                store.thread("restart").append([HumanMessage(f"{writer}/{number}")])
        except Exception as error:
            errors.append(error)
            halfway.abort()

    writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    halfway.wait(60)
    postgres.stop()
    postgres.start()
    for writer in writers:
        writer.join()
    assert errors == []
    texts = [m.content for m in store.thread("restart").load().messages]
    for n in range(4):
        assert [t for t in texts if t.startswith(f"{n}/")] == [f"{n}/{i}" for i in range(each)]
    assert len(texts) == 4 * each
    store.delete("restart")
    store.close()


def test_an_unreachable_server_is_an_error_without_the_password():
    store = PostgresThreads("postgresql://u:s3cret@127.0.0.1:9/db", retry_s=0)
    with pytest.raises(StoreError, match="cannot be used") as caught:
        store.thread("t").load()
    assert "s3cret" not in str(caught.value)
