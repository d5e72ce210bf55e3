"""The command as a process of its own, without its second of imports.

A server, one for each process of the tests, has imported all that the command needs and does nothing but
fork: the child has the arguments, folder, environment, streams and exit code of a command that was
started by its name. What is about the start itself, or ends it from outside, starts FUNNEL.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

FUNNEL = [sys.executable, "-m", "privacyfunnel"]
PATIENCE = 300  # seconds
SERVER = """
import json, os, sys
import privacyfunnel.audits, privacyfunnel.cli.app, privacyfunnel.frontiers.frontier
import privacyfunnel.plots, privacyfunnel.releases.release, privacyfunnel.report.page
import duckdb, matplotlib.figure, pandas, pyarrow.parquet, sklearn.ensemble
from privacyfunnel.cli import main

for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        try:
            os.environ.clear()
            os.environ.update(asked["environment"])
            os.chdir(asked["cwd"])
            for stream, place in enumerate([os.devnull, *asked["streams"]]):
                os.dup2(os.open(place, os.O_RDWR), stream)
            sys.argv = ["funnel", *asked["arguments"]]
            main()
        finally:
            os._exit(70)  # main ends the process itself
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(server.communicate)  # which ends what it reads, and it
    return server


def funnel(*args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``funnel`` with these arguments in a folder."""
    server, arguments = _server(), [str(arg) for arg in args]
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
        asked = {
            "arguments": arguments,
            "cwd": str(cwd),
            "environment": {**os.environ, "COLUMNS": "100"},
            "streams": [out.name, err.name],
        }
        server.stdin.write(json.dumps(asked) + "\n")
        server.stdin.flush()
        assert select.select([server.stdout], [], [], PATIENCE)[0], f"{arguments} takes too long"
        code = int(server.stdout.readline())
        said = (Path(stream.name).read_text("utf-8") for stream in (out, err))
        return subprocess.CompletedProcess(["funnel", *arguments], code, *said)
