"""Chromium without a window, driven over two pipes (DevTools protocol): what a user does, and sees of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import pytest

PATIENCE_SECONDS = 60

# The browser speaks on descriptors 3 and 4, whatever ours are.
_START = """
import os, sys
ends = [os.dup(int(end)) for end in sys.argv[1:3]]
while min(ends) < 5: ends = [os.dup(end) for end in ends]
for at, end in zip((3, 4), ends): os.dup2(end, at)
os.execv(sys.argv[3], sys.argv[3:])
"""


def chromium() -> str:
    """The browser's path."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    path = next(filter(None, found), None)
    if path is None:
        pytest.skip("Chromium is needed to see what a browser makes of the page: apt-get install chromium")
    return path


class Browser:
    """One tab of a browser of its own."""

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        words = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"]
        words += [f"--user-data-dir={self._profile.name}", "--remote-debugging-pipe", "about:blank"]
        theirs, to = os.pipe()
        fro, out = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(theirs), str(out), *words],
            pass_fds=(theirs, out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(out)
        self._to, self._fro = os.fdopen(to, "wb", buffering=0), os.fdopen(fro, "rb", buffering=0)
        self._rest, self._number, self._session = b"", 0, ""
        self._loaded = 0
        self.troubles: list[str] = []
        (tab,) = [each for each in self("Target.getTargets")["targetInfos"] if each["type"] == "page"]
        attached = self("Target.attachToTarget", targetId=tab["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self(f"{domain}.enable")

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call the browser and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._to.write(json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        assert "error" not in answer, answer["error"]
        return dict(answer["result"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = self._fro.read(1 << 16)
            assert data, "the browser has ended"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        """Keep what the browser complains of: exceptions, refused resources, violations of the policy."""
        self._loaded += event.get("method") == "Page.loadEventFired"
        if event.get("method") == "Runtime.exceptionThrown":
            self.troubles.append(str(event["params"]["exceptionDetails"]))
        if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
            self.troubles.append(str(event["params"]["entry"]))

    def open(self, url: str) -> None:
        """Go to an address, and wait until all is there that its page names."""
        before = self._loaded
        self("Page.navigate", url=url)
        while self._loaded == before:
            self._note(self._next())

    def tell(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page."""
        answer = self("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression is true, as JavaScript has it."""
        awaited(lambda: self.tell(f"Boolean({expression})"), expression)

    def text(self, selector: str) -> str:
        """What a user reads in an element."""
        return str(self.tell(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))

    def point(self, x: float, y: float) -> None:
        """Move the pointer to a place in the window."""
        self("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        codes = {"Enter": 13, "ArrowRight": 39, "ArrowDown": 40}
        text = {"text": "\r"} if key == "Enter" else {}
        self("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=codes[key], **text)
        self("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=codes[key])

    def close(self) -> None:
        """End the browser."""
        self._session = ""
        self("Browser.close")
        self._process.wait(PATIENCE_SECONDS)
        self._to.close()
        self._fro.close()
        self._profile.cleanup()


def awaited(look: Callable[[], Any], what: str) -> Any:
    """Ask again and again until the answer is true."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < deadline, f"{what} did not become true"
        time.sleep(0.02)
    return found
