"""The page that `graze view` writes: it opens without a program or a network and shows the motions it holds."""

import os
import re
import sys
import unittest

from selenium.webdriver.common.keys import Keys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from browser import BASINS, SWEEP, BrowserTest  # noqa: E402
from graze_cli import BRANCHES  # noqa: E402


class PageInOneFile(BrowserTest):
    def view(self, case, name):
        self.write(f"{name}.toml", case)
        self.run_graze("run", f"{name}.toml", "-o", f"{name}.h5", "--quiet", "--force")
        self.run_graze("view", f"{name}.h5", "-o", f"{name}.html")
        os.remove(self.path(f"{name}.h5"))
        self.load("file://" + self.path(f"{name}.html"))

    def tearDown(self):
        self.assert_no_faults()

    def test_sweep(self):
        self.view(SWEEP, "sweep")
        with open(self.path("sweep.html"), encoding="utf-8") as file:
            head = file.read().split('id="frames"')[0]
        self.assertEqual([], re.findall(r'(?:src|href)="', head))
        self.assertEqual(61, self.js("graze.diagram.x.length"))
        self.counted("motions", lambda: self.click_at(self.js("graze.diagram.x[20]"), self.js("graze.diagram.values('x1').at(20, 0)")))
        self.assertEqual(20, self.js("graze.place.point"))
        self.assert_motion_as_run(self.downloaded("motion.toml", lambda: self.press("export-motion")))
        self.counted("motions", lambda: self.element("slider").send_keys(Keys.ARROW_RIGHT))
        self.assertEqual(21, self.js("graze.place.point"))
        self.js("graze.plot.setView({x: [0.8, 0.9], y: graze.plot.view.y})")
        self.assertEqual(61, self.js("graze.diagram.x.length"))
        self.press("back")
        self.assertAlmostEqual(0.7, self.js("graze.plot.view.x[0]"))
        self.assertTrue(self.js("document.getElementById('p-r1').disabled"))
        self.assertTrue(self.js("document.getElementById('continue').disabled"))
        self.downloaded("visible.csv", lambda: self.press("export-csv"))

    def test_branches(self):
        self.view(BRANCHES, "branches")
        legend = self.js("graze.plot.legend.map((entry) => entry.name)")
        self.assertEqual(["stable", "unstable"], legend[:2])
        self.assertIn("grazing", legend)
        p = self.js("[...graze.diagram.x].findIndex((x, p) => graze.diagram.data.at('impacts', p) > 0 && "
                    "graze.diagram.data.at('stable', p) === 'yes')")
        self.assertGreaterEqual(p, 0)
        self.counted("motions", lambda: self.js(f"graze.select({p})"))
        self.assertIn("stable", self.text("facts"))
        self.assertEqual(2, self.js("graze.place.multipliers.length"))
        shown = self.shown_events()
        self.assertEqual({"impact"}, {row[0] for row in shown})
        speeds = [float(row[3]) for row in shown]
        self.assertAlmostEqual(speeds[0], speeds[-1], places=4)  # periodic

    def test_basins(self):
        self.view(BASINS, "basins")
        self.assertTrue(all("period" in entry for entry in self.js("graze.plot.legend.map((entry) => entry.name)")))
        self.counted("motions", lambda: self.js("graze.select(40)"))
        self.assertGreater(len(self.shown_events()), 0)


if __name__ == "__main__":
    unittest.main()
