"""Programs run within limits: what they say, what they may use, and that nothing of them is left."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sonnx_clip.root.errors import UserError
from sonnx_clip.root.run_program import Running, run_limited, version_of

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 20  # seconds


def sh(text):
    return ["sh", "-c", text]


def ended(pid):
    """Whether a process ends within our patience."""
    for _ in range(PATIENCE * 100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True  # init has yet to take note of it
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def test_output_and_exit_status(tmp_path):
    done = run_limited(sh("pwd; printf 'a\\377' >&2; cat; exit 3"), 30, folder=tmp_path)
    assert (done.status, done.text, done.error, done.words) == (3, f"{tmp_path}\n", b"a\xff", "a�")
    assert not done.killed
    assert done.unstarted is None
    done = run_limited(sh("echo one; echo two >&2; echo three; kill -9 $$"), None, together=True)
    assert (done.status, done.text, done.error) == (-9, "one\ntwo\nthree\n", b"")
    assert not done.killed


def test_processor_time_includes_children():
    work = f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.2: pass'"
    assert run_limited(sh(f"{work}; {work}"), 60).cpu >= 0.4


def test_timeout_ends_the_program_with_its_children():
    done = run_limited(sh("trap '' TERM INT; sleep 600 & echo $!; sleep 600"), 0.5)
    assert (done.status, done.killed) == (-signal.SIGKILL, True)
    assert ended(int(done.text))


def test_child_processes_end_with_the_program():
    done = run_limited(sh("sleep 600 & echo $!"), 30)
    assert (done.status, done.killed) == (0, False)
    assert ended(int(done.text))


@pytest.mark.parametrize("target", ["", ">&2", "> file"])
def test_files_and_outputs_are_limited(tmp_path, target):
    most = 5120
    done = run_limited(sh(f"exec cat /dev/zero {target}"), 60, largest_file=most, folder=tmp_path)
    sizes = [len(done.output), len(done.error)]
    sizes += [file.stat().st_size for file in tmp_path.iterdir()]
    assert (done.status, max(sizes)) == (-signal.SIGXFSZ, most)


def test_memory_is_limited():
    take = [sys.executable, "-c", "print(len(bytes(600 << 20)))"]
    assert run_limited(take, 60, megabytes=4000).status == 0
    refused = run_limited(take, 60, megabytes=400)
    assert refused.status != 0
    assert not refused.text


@pytest.mark.parametrize("tied", [True, False])
def test_missing_program_is_reported(tied):
    done = run_limited(["/no/such/program"], 30, together=True, tied=tied)
    assert (done.status, done.killed) == (127, False)
    assert isinstance(done.unstarted, FileNotFoundError)
    assert done.text.startswith("/no/such/program: ")


def test_variables_of_the_user_win(monkeypatch):
    monkeypatch.setenv("ONE", "of the user")
    monkeypatch.delenv("TWO", raising=False)
    given = {"ONE": "ours", "TWO": "ours too"}
    assert (
        run_limited(sh('echo "$ONE, $TWO"'), 30, environment=given).text
        == "of the user, ours too\n"
    )


def test_program_started_after_the_stop_ends_at_once():
    running = Running()
    running.stop()
    done = run_limited(["sleep", "600"], 60, running)
    assert (done.status, done.killed) == (-9, False)  # not by its own limit


def test_interrupt_ends_the_program(tmp_path):
    pid = tmp_path / "pid"
    timer = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_limited(sh(f"echo $$ >{pid}; exec sleep 600"), 60)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert ended(int(pid.read_text()))


def test_program_ends_when_its_parent_is_killed():
    if shutil.which("setpriv") is None:
        pytest.skip("without setpriv a program ends by its own limit")
    reader, writer = os.pipe()
    script = f"echo $$ >/proc/$PPID/fd/{writer}; exec sleep 600"
    code = f"from sonnx_clip.root.run_program import run_limited; run_limited(['sh', '-c', {script!r}], 60)"
    with subprocess.Popen([sys.executable, "-c", code], pass_fds=(writer,), cwd=ROOT) as parent:
        os.close(writer)
        pid = int(os.read(reader, 64))
        os.close(reader)
        parent.kill()
    assert ended(pid)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("#!/bin/sh\necho no; exit 4", "tool --version ends with exit status 4"),
        ("no program", "tool does not run: .*Exec format error"),
        ("#!/bin/sh\nsleep 600", r"tool does not run: no answer within 0\.3 s"),
        (None, "tool is not installed"),
    ],
)
def test_tool_without_a_version_is_one_message(script, message, tmp_path, monkeypatch):
    if script is not None:
        (tmp_path / "tool").write_text(f"{script}\n")
        (tmp_path / "tool").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    seconds = 0.3 if script and "sleep" in script else 30
    with pytest.raises(UserError, match=message) as caught:
        version_of(("tool", "--version"), "buy it", seconds)
    assert caught.value.todo == "buy it"
