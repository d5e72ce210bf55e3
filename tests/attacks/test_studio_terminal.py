"""Attacks on the studio's owner through a terminal: column names that type a command."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import time

import pytest

from studio_client import element

BASH = shutil.which("bash")
# Ends a bracketed paste, rubs out the line, types a command and Enter.
TYPES = "age\x1b[201~\x15touch owned\n#"


def paste(text: str, folder) -> None:
    """Paste a text into an interactive bash, as a terminal does, without Enter; then close it."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        plain = {"PATH": "/bin:/usr/bin", "TERM": "xterm"}
        os.execve(BASH, ["bash", "--norc", "--noprofile", "-i"], plain)

    def read_until(mark: bytes) -> None:
        seen, end = b"", time.monotonic() + 10
        while mark not in seen and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 4096)
        assert mark in seen, seen

    try:
        os.write(terminal, b"PS1=READY'>'; bind 'set enable-bracketed-paste on'\r")
        read_until(b"READY>")
        os.write(terminal, b"\x1b[200~" + text.encode() + b"\x1b[201~")
        time.sleep(0.3)
        os.write(terminal, b"\x15echo all-$((1+1))\r")  # rubs out what was pasted
        read_until(b"all-2")
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
def test_a_copied_command_does_not_run_what_a_column_is_called(visitor, tmp_path):
    visitor.upload("t.csv", f'"{TYPES}",y\n' + "1,0\n2,1\n3,1\n4,0\n" * 8)
    visitor.finished("/columns")
    form = {"treat-0": "category", "treat-1": "category", "sensitive-1": "on", "public-0": "on"}
    assert visitor.searched(form)["state"] == "done"
    page = visitor.released()
    command, code = element(page, "command"), element(page, "code")
    paste(command, tmp_path)
    assert os.listdir(tmp_path) == []
    for text in (command, code.replace("\n", "")):
        assert not [c for c in text if ord(c) < 32 or 0x7F <= ord(c) < 0xA0]
    # Spelled out, it is the same name.
    said = subprocess.run(
        [BASH, "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True
    )
    assert f"--publish={TYPES}".encode() in said.stdout.split(b"\0")
