"""Figures have the panels, marks, colours and names of the program's pictures."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import warnings

import matplotlib

matplotlib.use("Agg")

import matplotlib.colors
import matplotlib.pyplot
import numpy as np
import xarray

import graze

GRAZE = os.environ["GRAZE"]
CASES = pathlib.Path(os.environ["GRAZE_SOURCE"]) / "data/cases"

# A result of every kind that can be drawn.
KINDS = {
    "quickstart": {"analysis.axis.points": 60},
    "coexistence": {"analysis.axis.points": 11},
    "mass_ratio_map": {"analysis.axis.points": 8, "analysis.axis2.points": 6},
    "basins": {"analysis.axis.points": 12, "analysis.axis2.points": 10},
    "basins_sample": {"analysis.samples": 60},
    "rod_impact": {},
    "planar_convergence": {"analysis.axis.points": 3},
    "continue_oscillator": {},
    "periodic_sticking": {},
}


def colours_of(figure):
    """The colours of all that is drawn in the panels, as #rrggbb."""
    found = set()
    for axes in figure.axes:
        for line in axes.lines:
            found.add(matplotlib.colors.to_hex(line.get_color()))
        for collection in axes.collections:
            found |= {matplotlib.colors.to_hex(colour) for colour in collection.get_facecolors()}
    return found


def legends(figure):
    return [text.get_text() for axes in figure.axes if axes.get_legend() for text in axes.get_legend().get_texts()]


def panels(figure):
    return [axes.get_label() for axes in figure.axes if axes.get_label() != "<colorbar>"]


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = {name: graze.run(CASES / f"{name}.toml", settings=settings) for name, settings in KINDS.items()}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.addCleanup(matplotlib.pyplot.close, "all")

    def saved(self, name):
        path = self.folder / f"{name}.h5"
        graze.save(self.results[name], path)
        return path

    def script(self, name, *options):
        """The program's own picture, as the script that draws it."""
        picture = self.folder / "picture.svg"
        subprocess.run([GRAZE, "plot", self.saved(name), "-o", picture, "--keep-script", *options], check=True,
                       capture_output=True)
        return (self.folder / "picture.svg.gp").read_text(encoding="utf-8")

    def test_every_kind_at_both_widths(self):
        """No warning, nothing outside of the figure, a legible file."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for name, result in self.results.items():
                for width in (84, 174):
                    with self.subTest(kind=name, width=width):
                        figure = graze.plot(result, width=width)
                        figure.canvas.draw()
                        self.assertAlmostEqual(width / 25.4, figure.get_size_inches()[0])
                        self.assertTrue(panels(figure))
                        for axes in figure.axes:
                            box = axes.get_window_extent()
                            if axes.get_label() != "<colorbar>":
                                self.assertGreater(box.width, 100, axes.get_label())
                            self.assertGreaterEqual(box.x0, 0)
                            self.assertLessEqual(box.x1, figure.bbox.x1 + 1)
                        figure.savefig(self.folder / "figure.pdf")
                        matplotlib.pyplot.close(figure)

    def test_same_colours_and_legends_as_the_program(self):
        for name in ("quickstart", "coexistence", "continue_oscillator", "periodic_sticking"):
            with self.subTest(kind=name):
                figure = graze.plot(self.results[name])
                script = self.script(name)
                ours = colours_of(figure)
                self.assertTrue(ours)
                self.assertLessEqual(ours, set(re.findall(r"#[0-9a-f]{6}", script)))
                self.assertTrue(legends(figure))
                for text in legends(figure):
                    self.assertIn(text, script)
                for axes in figure.axes:
                    self.assertIn(axes.get_ylabel(), script)

    def test_from_a_file_as_from_a_result(self):
        """The same data in every panel, whether the program reads it or Python hands it over."""
        for name in ("quickstart", "continue_oscillator", "basins", "mass_ratio_map"):
            with self.subTest(kind=name):
                ours = graze.plot(self.results[name])
                by_file = graze.plot(self.saved(name))
                self.assertEqual(panels(ours), panels(by_file))
                for a, b in zip(ours.axes, by_file.axes):
                    self.assertEqual(a.get_xlim(), b.get_xlim())
                    self.assertEqual(a.get_ylim(), b.get_ylim())
                    self.assertEqual(len(a.lines), len(b.lines))
                    for p, q in zip(a.lines, b.lines):
                        np.testing.assert_array_equal(p.get_xydata(), q.get_xydata())
                    for p, q in zip(a.images, b.images):
                        np.testing.assert_array_equal(p.get_array(), q.get_array())

    def test_opened_by_xarray(self):
        with xarray.open_dataset(self.saved("quickstart")) as result:
            figure = graze.plot(result, panels="x1,class")
            self.assertEqual(["x1", "class"], panels(figure))
            names = {d: result[d].attrs["flag_meanings"].split() for d in result.sizes
                     if "flag_meanings" in result[d].attrs}
            named = graze.plot(result.assign_coords(names), panels="x1,class")  # states and contacts by name
            np.testing.assert_array_equal(figure.axes[0].lines[0].get_xydata(), named.axes[0].lines[0].get_xydata())

    def test_dots_are_the_results(self):
        """Every dot of the diagram is an iterate; every period-one point has one."""
        result = self.results["quickstart"]
        figure = graze.plot(result, panels="x1")
        dots = np.concatenate([line.get_xydata() for line in figure.axes[0].lines])
        iterates = {(x, y) for x, row in zip(result.delta.values, result.map_state.values[:, :, 0]) for y in row}
        self.assertTrue({tuple(dot) for dot in dots} <= iterates)
        for k in np.flatnonzero(result.period.values == 1):
            self.assertIn(result.delta.values[k], dots[:, 0])

    def test_cells_are_the_results(self):
        """A cell of the picture has the basin of its initial state: 0 is none, attractor n has n + 1."""
        result = self.results["basins"]
        image = graze.plot(result).axes[0].images[0]
        np.testing.assert_array_equal(result.basin.values.T + 1, image.get_array())

    def test_located_points_are_marked_where_they_are(self):
        result = self.results["continue_oscillator"]
        figure = graze.plot(result, panels="x1")
        kinds = graze.flags(result["/bifurcation"].kind)
        for kind, text in (("fold", "F fold"), ("grazing", "G grazing")):
            places = result["/bifurcation"].force_scale.values[result["/bifurcation"].kind.values == kinds.index(kind)]
            handle = next(h for h, t in zip(figure.axes[0].get_legend().legend_handles
                                            if hasattr(figure.axes[0].get_legend(), "legend_handles")
                                            else figure.axes[0].get_legend().legendHandles,
                                            figure.axes[0].get_legend().get_texts()) if t.get_text() == text)
            drawn = [line for line in figure.axes[0].lines
                     if line.get_marker() == handle.get_marker() and line.get_color() == handle.get_color()]
            np.testing.assert_array_equal(sorted(places), sorted(np.concatenate([line.get_xdata() for line in drawn])))

    def test_several_in_one_diagram(self):
        soft = graze.sweep("two_dof_stops", delta=np.linspace(0.9, 1.1, 9), r1=0.6, title="soft")
        hard = graze.sweep("two_dof_stops", delta=np.linspace(0.9, 1.1, 9), r1=0.95, title="hard")
        figure = graze.plot(soft, hard, panels=["x1"])
        self.assertEqual(["soft", "hard"], legends(figure)[:2])

    def test_options(self):
        result = self.results["quickstart"]
        figure = graze.plot(result, panels=["x2", "lyapunov"], from_=0.5, to=1.0, y_from=-1, y_to=1, title="Mine",
                            caption=False, font_size=10, height=120)
        self.assertEqual(["x2", "lyapunov"], panels(figure))
        self.assertEqual((0.5, 1.0), figure.axes[0].get_xlim())
        self.assertEqual((-1.0, 1.0), figure.axes[0].get_ylim())
        self.assertEqual("Mine", figure._suptitle.get_text())
        self.assertAlmostEqual(120 / 25.4, figure.get_size_inches()[1])

    def test_errors(self):
        with self.assertRaisesRegex(graze.InputError, "x1, "):
            graze.plot(self.results["quickstart"], panels="nothing")
        with self.assertRaisesRegex(graze.InputError, "no points"):
            graze.plot(self.results["quickstart"], from_=5.0, to=6.0)
        with self.assertRaisesRegex(graze.InputError, "no such file"):
            graze.plot(self.folder / "nowhere.h5")
        with self.assertRaisesRegex(graze.InputError, "not both"):
            graze.plot(self.results["quickstart"], self.folder / "nowhere.h5")
        with self.assertRaisesRegex(graze.InputError, "no result"):
            graze.plot(xarray.Dataset({"a": ("x", [1.0, 2.0])}))
        with self.assertRaisesRegex(graze.InputError, "no start 7"):
            graze.plot(self.results["coexistence"], start=7)


if __name__ == "__main__":
    unittest.main()
