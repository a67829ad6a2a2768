"""A headless Chromium that is driven over its debugging protocol: messages on two pipes, each ended by a zero byte."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    """One browser with one page. Errors of scripts, and loads of anything, are collected in `errors` and `loads`."""

    def __init__(self, program="chromium"):
        self.profile = tempfile.mkdtemp()
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()

        def place():  # Chromium reads from descriptor 3 and writes to 4
            os.dup2(to_read, 13)
            os.dup2(from_write, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)
            for fd in (3, 4):
                os.set_inheritable(fd, True)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe",
             "--user-data-dir=" + self.profile, "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.errors = []
        self.loads = []
        self.events = []
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        if self.process.poll() is None:
            try:
                self.session = None
                self.call("Browser.close", seconds=10)
            except (OSError, RuntimeError):
                self.process.kill()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_write)
        os.close(self.from_read)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _message(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.from_read], [], [], left)[0]:
                raise RuntimeError("the browser does not answer")
            data = os.read(self.from_read, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        method = message.get("method")
        if method == "Runtime.exceptionThrown":
            details = message["params"]["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
            self.errors.append(message["params"]["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.loads.append(message["params"]["request"]["url"])
        if method:
            self.events.append(method)
        return message

    def call(self, method, params=None, seconds=60):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params or {}}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + seconds
        while True:
            answer = self._message(until)
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]

    def open(self, path):
        self.errors, self.loads, self.events = [], [], []
        self.call("Page.navigate", {"url": path if path.startswith("http:") else "file://" + os.path.abspath(path)})
        until = time.monotonic() + 60
        while "Page.loadEventFired" not in self.events:
            self._message(until)

    def run(self, script):
        """The value of an expression; an exception in it is an error."""
        answer = self.call("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(script[:80] + ": " + answer["exceptionDetails"].get("exception", {}).get("description", "?"))
        return answer["result"].get("value")

    def size(self, width, height, dark=False, media=""):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.call("Emulation.setEmulatedMedia", {
            "media": media, "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def press(self, key, code=None):
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", {
                "type": kind, "key": key, "code": code or key, "text": text if kind == "keyDown" else "",
                "windowsVirtualKeyCode": {"Tab": 9, "Enter": 13, " ": 32}.get(key, 0)})

    def picture(self, path, whole=True):
        answer = self.call("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})
        if whole:
            box = self.call("Page.getLayoutMetrics")["cssContentSize"]
            answer = self.call("Page.captureScreenshot", {
                "format": "png", "captureBeyondViewport": True,
                "clip": {"x": 0, "y": 0, "width": box["width"], "height": min(box["height"], 16000), "scale": 1}})
        with open(path, "wb") as out:
            out.write(base64.b64decode(answer["data"]))
