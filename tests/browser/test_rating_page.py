"""The rating page in JupyterLab, driven in a headless Chromium: rate, stop, reload, resume, finish."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from litsynth.experiments.judge_concordance.rating_store import LOG, TABLE
from litsynth.experiments.judge_concordance.ratings import read_ratings
from litsynth.experiments.judge_concordance.sampling import write_sample
from litsynth.files import write_json

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]

TOKEN = "only-for-this-test"
HOSTILE = '<script>window.stolen = 1</script><img src="x" onerror="window.stolen = 2"> & $x^2$ <b>bold</b>'
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
         "--disable-component-update", "--disable-default-apps", "--disable-sync", "--no-first-run",
         "--disable-features=Translate,OptimizationHints,MediaRouter"]
PATIENCE = 60_000  # milliseconds; the machine may be busy


def chromium() -> str:
    """Return where Chromium is; skips, saying so, where there is none."""
    pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    named = os.environ.get("LITSYNTH_CHROMIUM")
    found = next((path for name in (named, "chromium", "chromium-browser", "google-chrome") if name
                  for path in [shutil.which(name)] if path), None)
    if not found:
        pytest.skip("no Chromium on this machine; LITSYNTH_CHROMIUM names one")
    return found


@pytest.fixture
def sample(workspace: Path) -> Path:
    """A sample of five cells; the hidden columns hold words that must never appear on the page."""
    rows = [{"blinded_id": f"c0000000000{i}", "item": f"item-{i}", "condition": "HIDDEN-CONDITION",
             "domain": "HIDDEN-DOMAIN", "system": "HIDDEN-SYSTEM", "panel": 1, "question": f"Question number {i}?",
             "reference_fact": f"Fact number {i}.", "quote": f"Quote number {i}.",
             "response": HOSTILE if i == 0 else f"Answer number {i}."} for i in range(5)]
    return write_sample(workspace / "data" / "ratings" / "five", pd.DataFrame(rows))


@pytest.fixture
def lab(workspace: Path, sample: Path, root: Path) -> Iterator[str]:
    """A JupyterLab on the loopback address over a copy of the rating notebook; yields the notebook's address."""
    folder = workspace / "notebooks"
    folder.mkdir()
    shutil.copy(root / "notebooks" / "rating" / "rate_sample.ipynb", folder)
    places = {f"JUPYTER_{name.upper()}_DIR": str(workspace / "jupyter" / name)
              for name in ("config", "data", "runtime")}
    quiet = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    write_json(workspace / "jupyter" / "config" / "labconfig" / "default_setting_overrides.json", quiet)
    environment = {**os.environ, **places, "IPYTHONDIR": str(workspace / "ipython"), "JUPYTER_PREFER_ENV_PATH": "1",
                   "LITSYNTH_HOME": str(root), "LITSYNTH_DATA": str(workspace / "data")}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1",
               "--ServerApp.port=0", f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}",
               "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
               "--LabApp.extension_manager=readonly"]
    with (workspace / "lab.log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        yield f"{_address(server, workspace)}lab/tree/rate_sample.ipynb?token={TOKEN}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def _address(server: subprocess.Popen[bytes], workspace: Path) -> str:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and server.poll() is None:
        for path in (workspace / "jupyter" / "runtime").glob("jpserver-*.json"):
            if path.stat().st_size:
                return json.loads(path.read_text())["url"].replace("localhost", "127.0.0.1")
        time.sleep(0.2)
    raise AssertionError("JupyterLab did not start:\n" + (workspace / "lab.log").read_text()[-3000:])


class Rater:
    """A person at the page."""

    def __init__(self, page, address: str) -> None:
        self.page, self.address = page, address

    def open(self) -> None:
        """Open the notebook and run all its cells, as after a reload."""
        self.page.goto(self.address)
        self.page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=PATIENCE)
        # Running before the kernel is there would ask which one to take.
        self.page.locator("#jp-main-statusbar", has_text="| Idle").wait_for(timeout=PATIENCE)
        self.page.locator("#jp-MainMenu >> text=Run").click()
        self.page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()
        try:
            self.button("Credit").wait_for(timeout=PATIENCE)
        except Exception:
            self.shoot("rating_page_missing")
            raise

    def button(self, name: str):
        """Return the page's button with exactly this name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def expect(self, words: str) -> None:
        """Wait until the page's status says these words."""
        self.page.locator("[role=status]", has_text=words).wait_for(timeout=PATIENCE)

    def shoot(self, name: str) -> None:
        """Take a picture where somebody wants to look at one."""
        folder = os.environ.get("LITSYNTH_SCREENSHOTS")
        if folder:
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"))


def _log(sample: Path) -> list[dict]:
    path = sample / LOG
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_rate_stop_reload_resume_finish(lab, sample):
    executable = chromium()
    from playwright.sync_api import sync_playwright

    outside: list[str] = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=executable, args=FLAGS)
        try:
            page = browser.new_page(viewport={"width": 1400, "height": 1100})
            page.on("request", lambda request: outside.append(request.url) if not request.url.startswith(
                ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")) else None)
            rater = Rater(page, lab)
            _first_sitting(rater, sample)
            page.close()  # the kernel lives on; the rater comes back another day
            page = browser.new_page(viewport={"width": 1400, "height": 1100})
            rater = Rater(page, lab)
            _second_sitting(rater, sample)
        finally:
            browser.close()
    assert outside == [], "the page asked for something beyond this machine"
    rated = read_ratings(sample / TABLE, [f"c0000000000{i}" for i in range(5)])
    assert rated["status"].tolist() == ["rated", "rated", "cannot tell", "rated", "rated"]
    assert rated["human"].tolist() == [0, 0, pd.NA, 1, 1]
    assert rated["comment"].tolist() == ["", "", "two doses, which one?", "", ""]


def _first_sitting(rater: Rater, sample: Path) -> None:
    rater.open()
    rater.expect("0 of 5 rated")
    shown = rater.page.locator(".jp-Notebook").inner_text()
    assert "<script>window.stolen = 1</script>" in shown, "text stands for itself"
    assert rater.page.evaluate("window.stolen") is None
    rater.shoot("rating_page_first")
    rater.button("Credit").click()
    rater.expect("1 of 5 rated")
    assert [(row["blinded_id"], row["rating"]) for row in _log(sample)] == [("c00000000000", "credit")], "saved at once"
    # With the keyboard alone: from one button to the next, then Enter.
    rater.button("Credit").focus()
    rater.page.keyboard.press("Tab")
    rater.page.keyboard.press("Enter")
    rater.expect("2 of 5 rated")
    assert _log(sample)[-1]["rating"] == "no credit"
    rater.page.get_by_label("Comment").fill("two doses, which one?")
    rater.button("Cannot tell").click()
    rater.expect("3 of 5 rated")
    rater.shoot("rating_page_third")


def _second_sitting(rater: Rater, sample: Path) -> None:
    rater.open()
    rater.expect("3 of 5 rated")
    assert "Question number 3?" in rater.page.locator(".jp-Notebook").inner_text(), "resumes where it stopped"
    rater.button("Credit").click()
    rater.expect("4 of 5 rated")
    rater.button("Credit").click()
    rater.expect("All 5 cells are rated")
    for _ in range(4):  # second thoughts about the first cell
        rater.button("Previous").click()
    rater.expect("this cell: credit")
    rater.button("No credit").click()
    rater.expect("this cell: no credit")
    rater.shoot("rating_page_finished")
    everything = rater.page.content()
    assert "HIDDEN" not in everything, "neither system nor condition nor domain reaches the page"
    assert len(_log(sample)) >= 6
