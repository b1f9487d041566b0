"""How long a user of `graze explore` waits: medians of 20 zooms of the quick start's diagram and of 20 clicks into it, in
a browser of 1366 x 768 without a screen. From the project's folder:

    GRAZE=build/release/graze GRAZE_SOURCE=. /usr/bin/python3 tests/bench/bench_explore.py [RESULT_OR_CASE]
"""

import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.environ["GRAZE_SOURCE"], "tests/explore/support"))
os.environ["GRAZE"] = os.path.abspath(os.environ["GRAZE"])
os.environ["GRAZE_SOURCE"] = os.path.abspath(os.environ["GRAZE_SOURCE"])
from browser import BrowserTest, Explorer  # noqa: E402

TIMES = 20


class Waiting(BrowserTest):
    def runTest(self):
        given = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.environ["GRAZE_SOURCE"], "data/cases/quickstart.toml")
        explorer = Explorer(os.path.abspath(given), folder=self.folder)
        self.addCleanup(explorer.end)
        self.load(explorer.address)
        low, high = self.js("graze.plot.view.x")
        first, full, panels = [], [], []
        for k in range(TIMES):
            middle = low + (0.15 + 0.7 * k / TIMES) * (high - low)
            half = 0.1 * (high - low)
            self.counted("computed", lambda: self.js(
                f"graze.plot.setView({{x: [{middle - half}, {middle + half}], y: graze.plot.view.y}})"))
            first.append(self.js("graze.times.first"))
            full.append(self.js("graze.times.full"))
            self.counted("motions", lambda: self.js("graze.select(graze.diagram.track(0).count >> 1)"))
            panels.append(self.js("graze.times.panels"))
        for name, values in (("zoom to first picture", first), ("zoom to full picture", full), ("click to panels", panels)):
            print(f"{name}: median {statistics.median(values):.0f} ms, "
                  f"{min(values):.0f} to {max(values):.0f} ms", flush=True)


if __name__ == "__main__":
    Waiting.setUpClass()
    test = Waiting()
    try:
        test.runTest()
    finally:
        test.doCleanups()
        Waiting.doClassCleanups()
