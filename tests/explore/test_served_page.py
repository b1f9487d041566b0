"""The page of `graze explore` in a browser: what it shows is what `graze run` computes."""

import csv
import os
import sys
import time
import unittest
import xml.etree.ElementTree

import h5py
import numpy as np
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from browser import SWEEP, BrowserTest, Explorer  # noqa: E402


class ServedPage(BrowserTest):
    def setUp(self):
        self.write("sweep.toml", SWEEP)
        self.run_graze("run", "sweep.toml", "-o", "sweep.h5", "--quiet")
        self.explorer = Explorer("sweep.h5", folder=self.folder)
        self.addCleanup(self.explorer.end)
        self.load(self.explorer.address)

    def tearDown(self):
        self.assert_no_faults()

    def test_click_shows_the_motion_that_run_computes(self):
        delta = self.js("graze.diagram.x[20]")
        self.counted("motions", lambda: self.click_at(delta, self.js("graze.diagram.values('x1').at(20, 0)")))
        self.assertIn(f"{delta:.6g}", self.text("place"))
        path = self.downloaded("motion.toml", lambda: self.press("export-motion"))
        self.assert_motion_as_run(path)
        with h5py.File(self.path("sweep.h5")) as file:
            kind = file["attractor"].attrs["flag_meanings"].split()[file["attractor"][20]]
            period = file["period"][20]
            greatest = np.abs(file["multiplier_re"][20] + 1j * file["multiplier_im"][20]).max()
        self.assertIn(f"{kind}, period {period}" if kind == "periodic" else kind, self.text("facts"))
        shown = self.js("Math.max(...graze.place.multipliers.map((m) => Math.hypot(m.re, m.im)))")
        self.assertAlmostEqual(greatest, shown, places=12)

    def test_zoom_is_computed_anew_and_can_be_taken_away(self):
        view = {"x": [0.78, 0.82], "y": self.js("graze.plot.view.y")}
        self.counted("computed", lambda: self.js(f"graze.plot.setView({view})"))
        x = self.js("[...graze.diagram.x]")
        self.assertAlmostEqual(0.78, x[0])
        self.assertAlmostEqual(0.82, x[-1])
        self.assertGreater(len(x), 199)
        self.assertIn("first picture after", self.text("status"))
        # The exported case gives the same numbers.
        case = self.downloaded("view.toml", lambda: self.press("export-case"))
        self.run_graze("run", case, "-o", "view.h5", "--quiet", "--force")
        with h5py.File(self.path("view.h5")) as file:
            np.testing.assert_array_equal(file["delta"][:], x)
            np.testing.assert_array_equal(file["period"][:], self.js("[...graze.diagram.data.values('period')]"))
            first = file["map_state"][:, 0, 0]
            states = file["map_state"][:]
        np.testing.assert_array_equal(first, self.js("graze.diagram.x.length ? [...graze.diagram.x].map((_, p) => graze.diagram.values('x1').at(p, 0)) : []"))
        # So does the CSV.
        with open(self.downloaded("visible.csv", lambda: self.press("export-csv")), newline="") as file:
            rows = list(csv.DictReader(file))
        row = next(row for row in rows if float(row["delta"]) == x[7])
        self.assertEqual([row[name] for name in ("x1", "v1", "x2", "v2")], [repr(float(v)) if v != int(v) else str(int(v)) for v in states[7, 0]])
        # Back, forward, reset.
        self.press("back")
        self.assertEqual(61, self.js("graze.diagram.x.length"))
        self.press("forward")
        self.assertEqual(len(x), self.js("graze.diagram.x.length"))
        self.press("reset")
        self.assertEqual(61, self.js("graze.diagram.x.length"))
        # Pictures.
        svg = xml.etree.ElementTree.parse(self.downloaded("diagram.svg", lambda: self.press("export-svg")))
        self.assertGreater(len(list(svg.iter("{http://www.w3.org/2000/svg}path"))), 5)
        with open(self.downloaded("diagram.png", lambda: self.press("export-png")), "rb") as file:
            self.assertEqual(b"\x89PNG", file.read(4))

    def test_wheel_slider_and_keys(self):
        canvas = self.js("graze.plot.canvas")
        before = self.js("graze.plot.view.x")
        self.counted("computed", lambda: self.browser.execute_script(
            "const r = arguments[0].getBoundingClientRect(); arguments[0].dispatchEvent(new WheelEvent('wheel', "
            "{deltaY: -300, clientX: r.x + r.width / 2, clientY: r.y + r.height / 2, bubbles: true, cancelable: true}))", canvas))
        after = self.js("graze.plot.view.x")
        self.assertLess(after[1] - after[0], 0.5 * (before[1] - before[0]))
        self.press("back")
        self.counted("motions", lambda: self.js("graze.select(30)"))
        self.counted("motions", lambda: ActionChains(self.browser).send_keys(".").perform())
        self.assertEqual(31, self.js("graze.place.point"))
        self.assertEqual("31", self.js("document.getElementById('slider').value"))
        self.counted("motions", lambda: self.element("slider").send_keys(Keys.ARROW_LEFT))
        self.assertEqual(30, self.js("graze.place.point"))

    def test_parameters_and_their_mistakes(self):
        before = self.js("[...graze.diagram.data.values('period')]")
        field = self.element("p-r1")
        field.clear()
        field.send_keys("2", Keys.TAB)
        self.wait("!document.getElementById('error').hidden")
        self.assertEqual("--set: model.r1 = 2.0: must satisfy 0 <= x <= 1", self.text("error"))
        self.assertIn("wrong", self.js("document.getElementById('p-r1').parentElement.className"))
        self.assertEqual(before, self.js("[...graze.diagram.data.values('period')]"))

        def type_in():
            field.clear()
            field.send_keys("0.85", Keys.TAB)
        self.counted("computed", type_in)
        self.assertTrue(self.js("document.getElementById('error').hidden"))
        case = self.downloaded("view.toml", lambda: self.press("export-case"))
        with open(case, encoding="utf-8") as file:
            self.assertIn("r1 = 0.85", file.read())
        # The link holds all of it.
        self.counted("motions", lambda: self.js("graze.select(40)"))
        self.press("export-link")
        link = self.text("text-content")
        self.assertTrue(link.startswith(self.explorer.address + "#"))
        place = self.js("graze.place.parameters.delta")
        self.load(link)
        self.wait("graze.place !== null")
        self.assertEqual(0.85, self.js("graze.set['model.r1']"))
        self.assertAlmostEqual(place, self.js("graze.place.parameters.delta"), places=3)

    def test_branch_through_an_orbit(self):
        self.counted("motions", lambda: self.js("graze.select(graze.diagram.x.findIndex((x, p) => graze.diagram.data.at('period', p) === 1))"))
        self.counted("branches", lambda: self.press("continue"))
        self.run_graze("info", "sweep.h5")
        place = self.js("[graze.place.parameters.delta, graze.place.state[0]]")
        on_branch = self.js("Math.min(...[...graze.added[0].x].map((x, p) => Math.hypot(x - graze.place.parameters.delta, "
                            "graze.added[0].value('x1').at(p, 0) - graze.place.state[0])))")
        self.assertLess(on_branch, 1e-6, place)

    def settled(self, expression):
        """Waits until an expression has kept its value for half a second."""
        values = []
        for _ in range(100):
            values.append(self.js(f"JSON.stringify({expression})"))
            if len(values) > 5 and len(set(values[-6:])) == 1:
                return
            time.sleep(0.1)
        self.fail(f"{expression} goes on changing")

    def test_motion_from_a_state_of_the_phase_plane(self):
        self.counted("motions", lambda: self.js("graze.select(10)"))
        x, v = 0.2, 0.1
        self.settled(f"[graze.panels.phase.px({x}), graze.panels.phase.py({v}), "
                     "graze.panels.phase.canvas.getBoundingClientRect()]")
        canvas, left, top = self.js(f"[graze.panels.phase.canvas, graze.panels.phase.px({x}), graze.panels.phase.py({v})]")
        chain = ActionChains(self.browser).move_to_element_with_offset(
            canvas, round(left - canvas.size["width"] / 2), round(top - canvas.size["height"] / 2))
        chain.key_down(Keys.ALT).click().key_up(Keys.ALT).perform()
        self.wait("graze.place.free && graze.panels.place === graze.place")  # earlier motions may still arrive
        state = self.js("graze.place.state")
        self.assertAlmostEqual(x, state[0], delta=0.01)
        self.assertAlmostEqual(v, state[1], delta=0.01)
        self.assert_motion_as_run(self.downloaded("motion.toml", lambda: self.press("export-motion")))


if __name__ == "__main__":
    unittest.main()
