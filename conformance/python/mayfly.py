"""Starts the binary under test and moves its clock."""

import json
import os
import re
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

# The account key that every emulator shares and publishes.
KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

# Where the clock of a virtual mayfly starts: a whole second, so that a
# deadline in a date and one counted from a write fall together.
SOMEDAY = "2030-01-01T00:00:00Z"


class Mayfly:
    """One mayfly process, in memory, with both APIs on free ports of 127.0.0.1."""

    def __init__(self, *flags, host="127.0.0.1"):
        self.flags = flags
        args = ["--nosql", f"{host}:0", "--mongo", f"{host}:0", "--admin", "127.0.0.1:0"]
        self._process = subprocess.Popen(
            [binary(), "--memory", *args, *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        # It tells its addresses when it is ready, and ends with a line of advice.
        self.output = ""
        for line in self._process.stdout:
            self.output += line
            if line.startswith("Stop with"):
                break
        else:
            raise RuntimeError(f"mayfly {' '.join(flags)} did not get ready:\n{self.output}")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

        def port(what):
            return re.search(what + r" +\w+://[^/]*:(\d+)/", self.output)[1]

        self.https = f"https://{host}:{port('NoSQL')}"
        self.http = f"http://{host}:{port('NoSQL')}"
        self.mongo = f"mongodb://{host}:{port('MongoDB')}/?replicaSet=globaldb"
        self._admin = f"http://127.0.0.1:{port('Admin')}"

        self._scratch = tempfile.TemporaryDirectory(prefix="mayfly-python-")
        self.authority = Path(self._scratch.name) / "ca.pem"
        with urllib.request.urlopen(self.http + "/_mayfly/ca.pem") as answer:
            self.authority.write_bytes(answer.read())

    def _read(self):  # or else the pipe fills and mayfly waits
        for line in self._process.stdout:
            self.output += line

    def advance(self, seconds):
        """Moves a virtual clock; what is due by then has happened when it returns."""
        body = json.dumps({"duration": f"{seconds}s"}).encode()
        urllib.request.urlopen(urllib.request.Request(self._admin + "/clock/advance", data=body)).close()

    def split(self, container, range_id):
        """Splits a range of a container, dbs/…/colls/…, and waits for the end."""
        _, database, _, name = container.split("/")
        ranges = f"{self._admin}/_mayfly/v1/databases/{database}/containers/{name}/ranges"
        headers = {"Content-Type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(f"{ranges}/{range_id}/split", b"{}", headers)).close()
        while True:
            with urllib.request.urlopen(ranges) as answer:
                now = json.load(answer)
            if not now.get("split"):
                break
            time.sleep(0.01)
        if any(r["id"] == range_id for r in now["ranges"]):
            raise RuntimeError(f"range {range_id} of {container} was not split")

    def stop(self):
        self._process.terminate()
        self._process.wait(10)
        self._reader.join(10)
        self._process.stdout.close()
        self._scratch.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def binary():
    path = os.environ.get("TESTED_BIN")
    if not path:
        raise RuntimeError("TESTED_BIN must name a mayfly binary; `make python` in the folder above builds one")
    return path
