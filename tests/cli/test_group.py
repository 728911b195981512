import subprocess
import sys

import pytest
from tests.cli.support import COMMAND, environment, is_one_line_of_error, run

import dragoman
from dragoman.cli import COMMANDS


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)]
)
def test_help_works_everywhere(args):
    done = run(*args)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_version_is_the_packages():
    assert run("--version").stdout == f"dragoman {dragoman.__version__}\n"


def test_help_names_every_command_and_loads_none():
    code = (
        "import sys\n"
        "from dragoman.cli.group import run\n"
        "run(['--help'])\n"
        "print([m for m in sys.modules if m.startswith('dragoman.cli.')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name, text in COMMANDS.items():
        assert name in done.stdout
        assert text.split(maxsplit=1)[0] in done.stdout
    assert done.stdout.splitlines()[-1] == "['dragoman.cli.output', 'dragoman.cli.group']"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nope"], "No such command 'nope'; see `dragoman --help`"),
        (["--nope"], "No such option '--nope'; see `dragoman --help`"),
        (["chat", "--nope"], "; see `dragoman chat --help`"),
        (["chat", "--max-tokens", "0", "hi"], "--max-tokens"),
        (["chat", "--temperature", "hot", "hi"], "--temperature"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_1(args, said):
    done = run(*args)
    assert done.returncode == 1
    assert done.stdout == ""
    assert is_one_line_of_error(done.stderr)
    assert said in done.stderr


def test_a_mistake_of_ours_is_one_line_too_and_shows_where_when_asked():
    code = (
        "import sys, click\n"
        "from dragoman.cli import COMMANDS, group\n"
        "@click.command()\n"
        "def command():\n    {}['key']\n"
        "sys.modules['dragoman.cli.broken'] = type(sys)('broken')\n"
        "sys.modules['dragoman.cli.broken'].command = command\n"
        "COMMANDS['broken'] = 'x'\n"
        "sys.exit(group.run(['broken']))\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert done.returncode == 1
    assert is_one_line_of_error(done.stderr)
    assert "unexpected KeyError: 'key'" in done.stderr
    shown = subprocess.run(
        command, capture_output=True, text=True, env=environment(DRAGOMAN_DEBUG="1")
    )
    assert "Traceback" in shown.stderr


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_a_missing_extra_prints_the_line_that_installs_it(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from dragoman.cli import main; main(['chat', 'hi'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert is_one_line_of_error(done.stderr)
    assert 'pip install "dragoman[cli]"' in done.stderr


def test_a_reader_that_leaves_is_no_error():
    process = subprocess.Popen(
        [*COMMAND, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait()
