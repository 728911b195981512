#!/usr/bin/env python3
"""Build what a release would publish, and try it in clean environments, one for each extra.

`python .ci/release_check.py [extra ...]`, from an environment that holds `build` and `uv` (the extra `dev`).
Without arguments every extra but `dev` and `bench` is tried; `base` means none. With `PYTHON=3.13` set, the
environments are of that version.

In each environment: the wheel is installed with that extra, every module is imported (a module may want
an extra only when it is used), and a line of code uses what the extra is for. In `base` each extra's
absence has to be an error that names the command.
"""
# ruff: noqa: T201, S603

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
IN_WHEEL = ("dragoman/py.typed", "dragoman/chat_models/profiles.json", "dragoman/cli/__init__.py")
IN_SDIST = (
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "Makefile",
    "docs/index.md",
    "tests/test_docs.py",
)

IMPORT_ALL = """
import importlib, pkgutil, dragoman
from dragoman.errors import MissingExtraError
# Programs; what tests of yours need; what stands behind the door of an extra.
SKIPPED = ["dragoman.__main__", "dragoman.chat_models.local.child", "dragoman.testing.strategies"]
SKIPPED += [] if HAS_CLI else ["dragoman.cli."]
SKIPPED += [] if HAS_LANGCHAIN else ["dragoman.compat."]
SKIPPED += [] if HAS_LIBCST else ["dragoman.cli.migration", "dragoman.cli.differences"]
failed = []
for _, name, _ in pkgutil.walk_packages(dragoman.__path__, "dragoman."):
    if name.startswith(tuple(SKIPPED)):
        continue
    try:
        importlib.import_module(name)
    except MissingExtraError:
        pass  # says what to install
    except Exception as error:
        failed.append(f"{name}: {type(error).__name__}: {error}")
assert not failed, failed
"""

USES = {
    "base": """
from dragoman.errors import MissingExtraError
from dragoman.language_models import FakeListChatModel
from dragoman.output_parsers import StrOutputParser
from dragoman.prompts import ChatPromptTemplate
from dragoman.threads import SQLiteThreads
import dragoman, subprocess, sys
chain = ChatPromptTemplate.from_messages(["{q}"]) | FakeListChatModel(responses=["Rome"]) | StrOutputParser()
assert chain.invoke({"q": "?"}) == "Rome"
body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
assert dragoman.convert(body, to="gemini").body["contents"]
SQLiteThreads("t.db").thread("a").append(["hi"])
try:
    ChatPromptTemplate.from_messages([("human", "{{ a }}")], template_format="jinja2").invoke({"a": 1})
except MissingExtraError as error:
    assert "dragoman[prompts]" in str(error)
else:
    raise AssertionError
done = subprocess.run([sys.executable, "-m", "dragoman"], capture_output=True, text=True)
assert done.returncode == 1 and "dragoman[cli]" in done.stderr, done
""",
    "cli": """
import subprocess, sys
done = subprocess.run([sys.executable, "-m", "dragoman", "convert", "--to", "anthropic"], capture_output=True, text=True,
    input='{"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 5}')
assert done.returncode == 0 and '"hi"' in done.stdout, done
""",
    "local": """
from dragoman.chat_models import init_chat_model
assert init_chat_model("local", temperature=0, max_tokens=5).invoke("Say hello.").text
""",
    "prompts": """
from dragoman.prompts import PromptTemplate
assert PromptTemplate.from_template("{{ a }}", template_format="jinja2").format(a=1) == "1"
assert PromptTemplate.from_template("{{a}}", template_format="mustache").format(a=1) == "1"
""",
    "parsers": """
from dragoman.output_parsers import XMLOutputParser
assert XMLOutputParser().parse("<a><b>1</b></a>") == {"a": [{"b": "1"}]}
""",
    "tools": """
from dragoman.tools import tool
@tool(parse_docstring=True)
def f(x: int) -> int:
    '''Do it.

    Args:
        x: A number.
    '''
    return x
assert f.args["x"]["description"] == "A number."
""",
    "mcp": "from dragoman.tools.mcp import connect\nconnect(['true'])\n",
    "bedrock": """
from dragoman.chat_models import init_chat_model
init_chat_model("bedrock:anthropic.claude-opus-4-8", region="us-east-1")
import botocore
""",
    "postgres": "from dragoman.threads import PostgresThreads\nPostgresThreads('postgresql://localhost/none')\nimport psycopg\n",
    "otel": "import opentelemetry.trace\nimport dragoman.chat_models.tracing\n",
    "prices": """
from dragoman.chat_models.prices import usage_cost
from dragoman.messages import AIMessage
usage = {"input_tokens": 1000, "output_tokens": 0, "total_tokens": 1000}
assert usage_cost(AIMessage("x", usage_metadata=usage), model="gpt-4o", provider="openai") > 0
""",
    "langchain": """
from dragoman.compat import from_langchain, to_langchain
from dragoman.messages import HumanMessage
assert from_langchain(to_langchain(HumanMessage("hi"))) == HumanMessage("hi")
""",
    "migrate": "import libcst\n",
}


def run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Return what a command prints; its output is shown when it fails."""
    done = subprocess.run(command, check=False, cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(
            f"{' '.join(command)[:120]} ...\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
    return done.stdout


def built(folder: Path) -> Path:
    """Return the wheel, after looking into it and the sdist."""
    run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT))
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    inside = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in IN_WHEEL if name not in inside], "the wheel lacks a file"
    assert not [name for name in inside if name.startswith(("tests/", "docs/"))]
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert not [name for name in IN_SDIST if name not in names], "the sdist lacks a file"
    print(f"built {wheel.name} ({wheel.stat().st_size // 1000} kB), {sdist.name}")
    return wheel


def typed(wheel: Path, folder: Path) -> None:
    """Ask pyright whether every exported name of the wheel has a known type."""
    inside = folder / "typed"
    run(sys.executable, "-m", "zipfile", "-e", str(wheel), str(inside))
    own = Path(sys.executable).parent
    environment = {"PATH": f"{own}:{os.environ['PATH']}", "PYTHONPATH": str(inside)}
    said = run(
        *(str(own / "pyright"), "--verifytypes", "dragoman", "--ignoreexternal"),
        cwd=inside,
        env={**os.environ, **environment},
    )
    print(next(line for line in said.splitlines() if "completeness" in line))


def tried(extra: str, wheel: Path, folder: Path) -> None:
    """Install the wheel with one extra into a new environment and use it."""
    venv = folder / extra
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}") or "uv"
    run(uv, "venv", "--quiet", "--python", os.environ.get("PYTHON", sys.executable), str(venv))
    wanted = str(wheel) if extra == "base" else f"dragoman[{extra}] @ {wheel.as_uri()}"
    run(uv, "pip", "install", "--quiet", "--python", str(venv), wanted)
    has = f"HAS_CLI = {extra in ('cli', 'all')}; HAS_LANGCHAIN = {extra == 'langchain'}; "
    has += f"HAS_LIBCST = {extra in ('all', 'migrate')}"
    code = f"{has}\n{IMPORT_ALL}\n{USES.get(extra, '')}"
    run(str(venv / "bin" / "python"), "-I", "-c", code, cwd=folder)
    print(f"{extra}: installs, imports, works")
    shutil.rmtree(venv)


def main() -> None:
    """Build, then try the extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = sys.argv[1:] or [
        "base",
        *sorted({*project["optional-dependencies"]} - {"dev", "bench"}),
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = built(folder)
        typed(wheel, folder)
        for extra in extras:
            tried(extra, wheel, folder)


if __name__ == "__main__":
    main()
