"""Chromium without a window, steered through a pipe (the DevTools protocol). Standard library only."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from typing import Any

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_TIMEOUT_S = 60.0


def find_browser() -> str | None:
    """Returns the program named by XTTS_BROWSER, or one on PATH; None: there is none."""
    return os.environ.get("XTTS_BROWSER") or next(filter(None, map(shutil.which, _PROGRAMS)), None)


class Browser:
    """One page. Use as a context manager; one thread at a time."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="xtts-browser-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4.
        command = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars"]
        options += ["--no-first-run", "--disable-extensions", "--disable-background-networking"]
        options += [f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", command, "browser", str(to_browser), str(from_browser), program, *options],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._id = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        try:
            pages = self.call("Target.getTargets")["targetInfos"]
            target = next(page["targetId"] for page in pages if page["type"] == "page")
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._write)
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    def _message(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                raise TimeoutError("the browser does not answer")
            more = os.read(self._read, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._buffer += more
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Sends one command and returns its result. Events on the way are kept."""
        self._id += 1
        command: dict[str, Any] = {"id": self._id, "method": method, "params": arguments}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._write, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            message = self._message(deadline)
            if "id" not in message:
                self.events.append(message)
            elif message["id"] == self._id:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                result: dict[str, Any] = message["result"]
                return result

    def open(self, url: str, width: int, *, dark: bool = False, medium: str = "screen") -> None:
        """Loads a page into a window of that width and waits until it is there."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", media=medium, features=scheme)
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + _TIMEOUT_S
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message(deadline))

    def evaluate(self, script: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """key: "Tab" or "Enter"."""
        code, text = {"Tab": (9, "\t"), "Enter": (13, "\r")}[key]
        names: dict[str, Any] = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **names)
        self.call("Input.dispatchKeyEvent", type="keyUp", **names)

    def screenshot(self) -> bytes:
        """The page from its top, as far as a picture reaches."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000), "scale": 1}
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        return base64.b64decode(answer["data"])

    def pdf(self) -> bytes:
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])
