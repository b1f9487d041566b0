"""The notebooks run from top to bottom, and find what they tell about."""

import json
import os
import pathlib
import unittest
import warnings

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot
import numpy as np

NOTEBOOKS = pathlib.Path(os.environ["GRAZE_SOURCE"]) / "drivers/python/notebooks"


def executed(name):
    """The names that are there when all cells have run, one after the other, as a kernel runs them."""
    book = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    names = {"__name__": "__main__"}
    for number, cell in enumerate(book["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{name}.ipynb, cell {number}", "exec"), names)
    return names


class Notebooks(unittest.TestCase):
    def setUp(self):
        self.addCleanup(matplotlib.pyplot.close, "all")
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("error", UserWarning)

    def assert_drawn(self, count):
        figures = [matplotlib.pyplot.figure(number) for number in matplotlib.pyplot.get_fignums()]
        self.assertEqual(count, len(figures))
        for figure in figures:
            figure.canvas.draw()
            self.assertGreater(sum(len(axes.lines) + len(axes.images) for axes in figure.axes), 0)

    def test_all_are_tested(self):
        self.assertEqual({"diagram", "orbits", "own_system"}, {path.stem for path in NOTEBOOKS.glob("*.ipynb")})

    def test_are_kept_without_output(self):
        for path in NOTEBOOKS.glob("*.ipynb"):
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            self.assertEqual([], [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")])

    def test_diagram(self):
        names = executed("diagram")
        self.assert_drawn(4)
        self.assertGreater(names["chaotic"].size, 5)
        self.assertGreater(float(names["result"].lyapunov.max()), 0)
        self.assertIn("chatter_complete", names["kinds"])
        complete = names["motion"].event_kind == names["kinds"].index("chatter_complete")
        self.assertTrue(bool(complete.any()))

    def test_orbits(self):
        names = executed("orbits")
        self.assert_drawn(2)
        shrinking = 0.8**2 * np.exp(-0.1 * 2 * np.pi / 2.2)
        self.assertAlmostEqual(shrinking, np.linalg.det(names["jacobian"]), delta=1e-12)
        found = names["found"].omega.values[names["found"].kind.values == names["kinds"].index("period_doubling")]
        self.assertLess(np.abs(found - names["doubling"].parameter).min(), 1e-9)

    def test_own_system(self):
        names = executed("own_system")
        self.assert_drawn(2)
        self.assertEqual((13, 9), names["chart"].period.shape)
        self.assertEqual([1, 4], list(names["basins"].basin_period.values))
        self.assertAlmostEqual(1.0, float(names["basins"].basin_fraction.sum()))


if __name__ == "__main__":
    unittest.main()
