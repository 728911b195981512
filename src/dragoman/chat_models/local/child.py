"""The child process in which the model runs: a program, not a module of the package.

Its standard input is a pipe whose other end only the parent holds. The first line on it is the
settings as JSON; after that nothing comes, and the end of the pipe means that the parent is gone,
however it went. Its standard output carries one JSON line: `{"address": ...}` or `{"error": ...}`.

It imports nothing of dragoman, so that it starts at once.
"""

import json
import os
import signal
import sys
from importlib import import_module
from typing import Any


def _serve(settings: dict[str, Any]) -> Any:
    xllamacpp: Any = import_module("xllamacpp")
    p: Any = xllamacpp.CommonParams()
    p.model.path = settings["path"]
    p.n_ctx = settings["n_ctx"]
    p.n_parallel = 1
    p.n_threads_http = settings["n_threads_http"]
    if settings["n_threads"]:
        p.cpuparams.n_threads = settings["n_threads"]
        p.cpuparams_batch.n_threads = settings["n_threads"]
    p.verbosity = 0
    p.use_jinja = True
    if settings["template"]:
        p.chat_template = settings["template"]
    # Without an alias every reply would carry the path of the file as its model.
    p.model_alias = {settings["model"]}
    p.cache_ram_mib = 0
    p.n_ctx_checkpoints = 0
    p.ui = False
    # The defaults are no key and CORS "*": any web page could use the server.
    p.api_keys = [settings["api_key"]]
    p.cors_origins = ""
    return xllamacpp.Server(p)


def _leave(*_: object) -> None:
    os._exit(0)


def main() -> None:
    """Serve until the parent is gone."""
    # Ctrl-C in a terminal reaches the whole group; it means the reply, not the server.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    answer = os.fdopen(os.dup(1), "w")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    server: Any = None
    try:
        server = _serve(json.loads(sys.stdin.readline()))
        print(json.dumps({"address": server.listening_address}), file=answer, flush=True)
        sys.stdin.read()
    except BaseException as error:  # noqa: BLE001 - the parent is told whatever it was
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answer, flush=True)
    finally:
        # Never the server's destructor: it would wait for the requests in flight.
        os._exit(0)


if __name__ == "__main__":
    main()
