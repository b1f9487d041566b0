"""`graze explore` in a folder of its own, and a browser without a screen that looks at its page."""

import http.client
import math
import os
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

import h5py
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

sys.path.insert(0, os.path.join(os.environ["GRAZE_SOURCE"], "tests/cli/support"))
from graze_cli import GRAZE, one_mass  # noqa: E402

PATIENCE = 120  # seconds, sanitizers included

SWEEP = """graze = 1
title = "Sweep of a test"
[model]
name = "two_dof_stops"
d1 = -0.3
d2 = 0.1
[analysis]
name = "sweep"
axis = { parameter = "delta", from = 0.7, to = 1.0, points = 61 }
transient = 60
record = 16
max_period = 8
"""

BASINS = one_mass("""name = "basins"
axis = { state = "x1", from = -2.0, to = 0.0, points = 9 }
axis2 = { state = "v1", from = -2.0, to = 2.0, points = 9 }""",
                  omega=2.55, damping=0.02, stop="position = 0\nrestitution = 0.95", title="Basins of a test")


class Explorer:
    """The program that serves a page."""

    def __init__(self, *arguments, folder):
        self.process = subprocess.Popen([GRAZE, "explore", *arguments, "--no-browser"], cwd=folder,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        parts = urllib.parse.urlsplit(self.address)
        self.port, self.path = parts.port, parts.path

    def ask(self, path="", body=None, **headers):
        """Status and content of an answer; headers with _ for -."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        given = {"Host": f"127.0.0.1:{self.port}", "Content-Type": "application/json"}
        given.update({name.replace("_", "-"): value for name, value in headers.items()})
        try:
            connection.putrequest("GET" if body is None else "POST", self.path + path, skip_host=True)
            for name, value in given.items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate()


class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="graze_explore_")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.downloads = os.path.join(cls.folder, "downloads")
        os.mkdir(cls.downloads)
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                         "--window-size=1366,768", "--no-first-run", "--disable-background-networking"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.add_experimental_option("prefs", {"download.default_directory": cls.downloads,
                                                  "download.prompt_for_download": False,
                                                  "profile.default_content_setting_values.automatic_downloads": 1})
        cls.browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        cls.addClassCleanup(cls.browser.quit)
        cls.browser.set_script_timeout(PATIENCE)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def run_graze(self, *arguments):
        result = subprocess.run([GRAZE, *arguments], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(0, result.returncode, result.stderr)
        return result.stdout

    def js(self, expression):
        return self.browser.execute_script("return " + expression)

    def wait(self, condition, what="the page"):
        end = time.monotonic() + PATIENCE
        while not self.js(condition):
            if time.monotonic() > end:
                self.fail(f"{what}: {condition} stays false; {self.text('error')} {self.text('status')}")
            time.sleep(0.02)

    def text(self, name):
        return self.js(f"document.getElementById('{name}').textContent")

    def element(self, name):
        return self.browser.find_element(By.ID, name)

    def press(self, name):
        self.browser.execute_script("document.getElementById(arguments[0]).click()", name)

    def load(self, address):
        self.browser.get("about:blank")
        self.browser.get_log("browser")
        self.browser.get(address)
        self.wait("document.body?.dataset.ready === 'yes'")

    def assert_no_faults(self):
        faults = [entry["message"] for entry in self.browser.get_log("browser")
                  if entry["level"] == "SEVERE" and " 400 " not in entry["message"]]
        self.assertEqual([], faults)

    def shown_events(self):
        return [[cell.replace("−", "-") for cell in row] for row in self.js(
            "[...document.querySelectorAll('#events tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")]

    def assert_motion_as_run(self, case):
        """The events on the page are those that `graze run` of a case writes, to the digits shown."""
        self.run_graze("run", case, "-o", "motion.h5", "--quiet", "--force")
        with h5py.File(self.path("motion.h5")) as file:
            names = file["event_kind"].attrs["flag_meanings"].split()
            kinds = [names[k].replace("_", " ") for k in file["event_kind"][:]]
            times, speeds = file["event_time"][:], file["event_approach_speed"][:]
        shown = self.shown_events()
        self.assertGreater(len(kinds), 1)
        self.assertEqual(kinds, [row[0] for row in shown])
        for row, time, speed in zip(shown, times, speeds):
            self.assertEqual(float(f"{time:.7g}"), float(row[2]))
            self.assertEqual(float(f"{speed:.5g}") if math.isfinite(speed) else "–", float(row[3]) if row[3] != "–" else "–")

    def click_at(self, x, y, plot="graze.plot"):
        """A click where a plot shows the place (x, y)."""
        canvas, left, top = self.js(f"[{plot}.canvas, {plot}.px({x}), {plot}.py({y})]")
        ActionChains(self.browser).move_to_element_with_offset(
            canvas, round(left - canvas.size["width"] / 2), round(top - canvas.size["height"] / 2)).click().perform()

    def counted(self, name, action):
        """Does something and waits for the page to have counted one more."""
        before = int(self.js(f"document.body.dataset.{name} ?? 0"))
        action()
        self.wait(f"Number(document.body.dataset.{name} ?? 0) > {before}")

    def downloaded(self, name, action):
        path = os.path.join(self.downloads, name)
        if os.path.exists(path):
            os.remove(path)
        action()
        end = time.monotonic() + PATIENCE
        while not (os.path.exists(path) and os.path.getsize(path) > 0):
            if time.monotonic() > end:
                self.fail(f"{name} is not downloaded")
            time.sleep(0.02)
        return path
