"""Case files on the page of `graze explore`, own equations among them, and the results that are no sweeps over one
parameter."""

import os
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from browser import BASINS, BrowserTest, Explorer  # noqa: E402
from graze_cli import BRANCHES, SIMULATE, SWEEP  # noqa: E402

EQUATIONS = """graze = 1
title = "An oscillator at a wall, typed"
[model]
name = "equations"
parameters = { zeta = 0.05, F = 1.0, omega = 0.9, gap = 0.8, r = { value = 0.7, min = 0, max = 1, meaning = "restitution" } }
coordinates = ["x"]
force = { x = "F*cos(omega*t) - 2*zeta*x' - x" }
period = "2*pi/omega"
contact = [{ name = "wall", gap = "gap - x", restitution = "r" }]
[analysis]
name = "sweep"
axis = { parameter = "omega", from = 0.6, to = 1.2, points = 49 }
transient = 60
record = 16
max_period = 8
"""

MAP = SWEEP.replace("points = 24 }", "points = 7 }\naxis2 = { parameter = \"r1\", from = 0.5, to = 0.9, points = 5 }")

CURVES = """graze = 1
title = "Curves of a test"
[model]
name = "impact_oscillator"
b = 0.05
stop = 1.0
r = 0.8
omega = 1.3
F = 0.3
[analysis]
name = "curves"
axis = { parameter = "F", from = 0.01, to = 1.5 }
axis2 = { parameter = "omega", from = 0.6, to = 2.4 }
start = "state"
switch = false
"""


class CasesAndKinds(BrowserTest):
    def explore(self, name, text):
        self.write(name, text)
        explorer = Explorer(name, folder=self.folder)
        self.addCleanup(explorer.end)
        self.load(explorer.address)

    def tearDown(self):
        self.assert_no_faults()

    def computed(self, case):
        """The result of `graze run` of a case."""
        self.run_graze("run", case, "-o", "result.h5", "--quiet", "--force")
        file = h5py.File(self.path("result.h5"))
        self.addCleanup(file.close)
        return file

    def test_own_equations(self):
        self.explore("typed.toml", EQUATIONS)
        file = self.computed("typed.toml")
        np.testing.assert_array_equal(file["period"][:], self.js("[...graze.diagram.data.values('period')]"))
        np.testing.assert_array_equal(file["map_state"][:].ravel(),
                                      np.array(self.js("[...graze.diagram.data.values('map_state')]"), dtype=float))
        self.assertEqual(["0", "1", "0.7"], self.js(
            "((f) => [f[1].min, f[1].max, f[0].value])(document.getElementById('p-r').parentElement.querySelectorAll('input'))"))
        self.press("export-command")
        self.assertEqual("graze run typed.toml -o view.h5", self.text("text-content"))
        self.js("document.getElementById('text').close()")
        self.counted("motions", lambda: self.js("graze.select(30)"))
        self.assert_motion_as_run(self.downloaded("motion.toml", lambda: self.press("export-motion")))

    def test_basins(self):
        self.explore("basins.toml", BASINS)
        np.testing.assert_array_equal(self.computed("basins.toml")["basin"][:].ravel(),
                                      self.js("[...graze.diagram.data.values('basin')]"))
        self.counted("motions", lambda: self.click_at(-1.5, 1.0))
        self.assertEqual([-1.5, 1.0], self.js("graze.place.state"))
        self.assert_motion_as_run(self.downloaded("motion.toml", lambda: self.press("export-motion")))
        self.counted("computed", lambda: self.js("graze.plot.setView({x: [-1.6, -1.4], y: [0.9, 1.1]})"))
        x, y = self.js("[[...graze.diagram.gridX], [...graze.diagram.gridY]]")
        self.assertAlmostEqual(-1.6, x[0])
        self.assertAlmostEqual(1.1, y[-1])
        self.assertGreater(len(x), 50)

    def test_map_over_two_parameters(self):
        self.explore("map.toml", MAP)
        file = self.computed("map.toml")
        np.testing.assert_array_equal(file["period"][:].ravel(), self.js("[...graze.diagram.data.values('period')]"))
        delta, r1 = file["delta"][3], file["r1"][2]
        self.counted("motions", lambda: self.click_at(delta, r1))
        self.assertEqual({"delta": delta, "r1": r1}, self.js("graze.place.parameters"))
        self.assert_motion_as_run(self.downloaded("motion.toml", lambda: self.press("export-motion")))
        self.counted("motions", lambda: self.js("graze.slide(1)"))
        self.assertEqual({"delta": file["delta"][4], "r1": r1}, self.js("graze.place.parameters"))

    def test_branches(self):
        self.explore("branches.toml", BRANCHES)
        file = self.computed("branches.toml")
        np.testing.assert_array_equal(file["force_scale"][:], self.js("[...graze.diagram.x]"))
        whole = self.js("graze.diagram.visible({x: [0.8, 0.9]})")
        self.counted("computed", lambda: self.js("graze.plot.setView({x: [0.8, 0.9], y: graze.plot.view.y})"))
        self.assertGreaterEqual(self.js("graze.added.length"), 1)
        self.assertGreater(self.js("graze.added.reduce((n, b) => n + b.n, 0)"), whole)
        # Every new point lies on the line through the old ones.
        off = self.js("""((d, added) => Math.max(...added.flatMap((b) => [...b.x].map((x, p) => Math.min(...[...d.x].map((at, q) =>
            Math.hypot(at - x, d.value('x1').at(q, 0) - b.value('x1').at(p, 0))))))))(graze.diagram, graze.added)""")
        self.assertLess(off, 0.05)

    def test_curves(self):
        self.explore("curves.toml", CURVES)
        file = self.computed("curves.toml")
        np.testing.assert_array_equal(file["F"][:], self.js("[...graze.diagram.x]"))
        np.testing.assert_array_equal(file["omega"][:], self.js("[...graze.diagram.y]"))
        names = file["kind"].attrs["flag_meanings"].split()
        self.assertEqual({names[k].replace("_", " ") for k in file["kind"][:]},
                         set(self.js("graze.plot.legend.map((entry) => entry.name)")))
        p = int(np.argmax(file["kind"][:][file["curve_index"][:]] == names.index("fold"))) + 20
        self.counted("motions", lambda: self.js(f"graze.select({p})"))
        self.assertEqual({"F": file["F"][p], "omega": file["omega"][p]}, self.js("graze.place.parameters"))
        self.assert_motion_as_run(self.downloaded("motion.toml", lambda: self.press("export-motion")))

    def test_one_motion(self):
        self.explore("motion.toml", SIMULATE)
        self.assert_motion_as_run("motion.toml")
        field = self.element("p-r1")
        field.clear()
        self.counted("motions", lambda: field.send_keys("0.4\t"))
        self.assert_motion_as_run(self.downloaded("motion.toml", lambda: self.press("export-motion")))


if __name__ == "__main__":
    unittest.main()
