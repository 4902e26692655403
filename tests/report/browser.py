"""Headless Chromium on a page from disk, cut off from any network; skips where it is missing."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["console_errors", "needs_browser", "opened", "requested"]

_BROWSER, _DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

needs_browser = pytest.mark.skipif(
    not (_BROWSER and _DRIVER),
    reason="Chromium is missing: apt-get install chromium chromium-driver",
)

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars",
)  # fmt: skip


@contextmanager
def opened(page: Path, profile: Path) -> Iterator[Any]:
    """A driver that has the page open, with the network off."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(_BROWSER)
    for flag in (*_FLAGS, f"--user-data-dir={profile}", "--window-size=1280,1000"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(_DRIVER)))
    try:
        driver.execute_cdp_cmd("Network.enable", {})
        driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
        )
        driver.get("about:blank")
        driver.get_log("performance")  # what the browser's own first page asked for
        driver.get(page.as_uri())
        yield driver
    finally:
        driver.quit()


def console_errors(driver: Any) -> list[str]:
    """What the console holds, the content security policy's complaints among it."""
    return [entry["message"] for entry in driver.get_log("browser")]


def requested(driver: Any) -> set[str]:
    """Every address that the page asked for."""
    messages = (json.loads(entry["message"])["message"] for entry in driver.get_log("performance"))
    return {
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    }
