"""A page in headless Chromium, driven over the pipe of its debugging protocol."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
SWITCHES = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage --remote-debugging-pipe --window-size=1400,1000"
)
PATIENCE = 30.0  # seconds for a browser that has to start on a busy machine


class BrowserPage:
    """One page; `problems` are the errors on its console, its policy's refusals among them."""

    def __init__(self, profile: Path) -> None:
        assert BROWSER is not None
        to_browser, self.orders = os.pipe()
        self.answers, from_browser = os.pipe()
        # the browser reads from 3 and writes to 4
        command = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(
            [
                "bash",
                "-c",
                command,
                BROWSER,
                BROWSER,
                *SWITCHES.split(),
                f"--user-data-dir={profile}",
            ],
            pass_fds=(to_browser, from_browser),
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.read, self.number, self.session = b"", 0, None
        self.problems: list[str] = []
        self.requests: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        self.session = None
        self.ask("Browser.close")
        self.process.wait(PATIENCE)
        os.close(self.orders)
        os.close(self.answers)

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:  # Any: JSON
        """The answer to a command of the protocol."""
        self.number += 1
        order = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            order["sessionId"] = self.session
        os.write(self.orders, json.dumps(order).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self._note(message)

    def _message(self) -> dict[str, Any]:
        end = monotonic() + PATIENCE
        while b"\0" not in self.read:
            assert monotonic() < end, "the browser does not answer"
            self.read += os.read(self.answers, 1 << 16)
        first, self.read = self.read.split(b"\0", 1)
        return json.loads(first)

    def _note(self, message: dict[str, Any]) -> None:
        method, parameters = message["method"], message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.problems.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.problems.append(str(parameters["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(self, path: Path) -> None:
        self.problems.clear()
        self.requests.clear()
        self.ask("Page.navigate", url=path.as_uri())
        self.until("document.readyState === 'complete'")

    def value(self, script: str) -> Any:  # Any: JSON
        """What an expression is in the page."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until an expression is true."""
        wait(lambda: bool(self.value(script)), script)

    def mouse(self, kind: str, x: float, y: float, **more: object) -> None:
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def middle(self, script: str) -> tuple[float, float]:
        """The middle of an element, which is scrolled to."""
        self.value(f"{script}.scrollIntoView({{block: 'center'}})")
        edge = f"{script}.getBoundingClientRect()"
        x, y = self.value(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({edge})")
        return x, y

    def click(self, script: str) -> None:
        """Press and release the mouse on the middle of an element."""
        x, y = self.middle(script)
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)


def wait(done: Callable[[], bool], what: str) -> None:
    end = monotonic() + PATIENCE
    while not done():
        assert monotonic() < end, f"never: {what}"
