"""Curves over two parameters from the command line: groups, table, CSV, pictures, resumption, refusals."""

import csv
import io
import os
import unittest

import h5py
import numpy as np
import xarray

from support.graze_cli import CliTest

CASES = os.path.join(os.environ["GRAZE_SOURCE"], "data", "cases")
OSCILLATOR = os.path.join(CASES, "curves_oscillator.toml")
CHART = os.path.join(CASES, "chart_oscillator.toml")


def amplitude(omega, b):
    """Force at which the oscillator without impacts reaches the stop at 1."""
    return np.hypot(1 - omega**2, b * omega)


class Curves(CliTest):
    def same(self, first, second):
        with h5py.File(self.path(first)) as whole, h5py.File(self.path(second)) as out:
            arrays = []
            whole.visititems(lambda name, item: arrays.append(name) if isinstance(item, h5py.Dataset) else None)
            self.assertGreater(len(arrays), 20)
            for name in arrays:
                self.assertEqual(np.asarray(whole[name]).tobytes(), np.asarray(out[name]).tobytes(), name)

    def test_oscillator(self):
        self.graze("run", OSCILLATOR, "-o", "out.h5", "--quiet")
        with h5py.File(self.path("out.h5")) as file:
            kinds = {file["curve"][k].attrs["kind"] for k in file["curve"]}
            self.assertEqual(kinds, {"fold", "period_doubling", "grazing"})
            for curve in file["curve"].values():
                self.assertTrue({"contact", "origin", "begins", "ends"} <= set(curve.attrs))
                n = curve["F"].shape[0]
                self.assertEqual(curve["orbit_state"].shape[0], n)
                for name in ("omega", "forcing_periods", "multiplier_re", "multiplier_im", "stable", "admissible"):
                    self.assertEqual(curve[name].shape[0], n)
                self.assertLess(curve["residual"][()].max(), 1e-10)
                # An impact that has lost its speed has no curve behind the grazing that the curve emanates from.
                if curve.attrs["kind"] != "grazing":
                    ends = {curve.attrs["begins"], curve.attrs["ends"]}
                    self.assertLessEqual(ends, {"end of the range", "resonant_grazing of contact stop"})
                    self.assertGreater(np.hypot(np.diff(curve["F"]), np.diff(curve["omega"])).min(), 1e-12)
                if curve.attrs["kind"] == "grazing":
                    self.assertEqual(curve.attrs["contact"], "stop")
                    np.testing.assert_allclose(curve["F"], amplitude(curve["omega"][()], 0.05), atol=1e-10)
            codim2 = file["codim2"]
            names = codim2["kind"].attrs["flag_meanings"].split()
            self.assertEqual({names[k] for k in codim2["kind"]}, {"resonant_grazing"})
            # exp(AT)_12 = 0 at omega = 2 omega_d n/m
            resonances = [2 * np.sqrt(1 - 0.05**2 / 4) / m for m in (2, 3)]
            for omega in codim2["omega"][()]:
                self.assertLess(min(abs(omega - r) for r in resonances), 1e-10)
        with xarray.open_dataset(self.path("out.h5")) as data:
            self.assertEqual(data.orbit_state.dims, ("point", "iterate", "state"))
            self.assertEqual(list(data.points.values), list(np.bincount(data.curve_index)))
            self.assertIn("end of the range", data.ends.attrs["texts"])
        with xarray.open_dataset(self.path("out.h5"), group="curve/0") as curve:
            self.assertEqual(curve.F.dims, ("point",))
        text, _ = self.graze("info", "out.h5")
        self.assertIn("points of codimension two", text)
        text, _ = self.graze("info", "out.h5", "--csv")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(list(rows[0])[:4], ["curve", "kind", "F", "omega"])
        self.assertEqual({row["kind"] for row in rows}, kinds)
        text, _ = self.graze("info", "out.h5", "--csv", "--codim2")
        self.assertEqual(next(csv.DictReader(io.StringIO(text)))["kind"], "resonant_grazing")
        self.graze("plot", "out.h5", "-o", "out.png")
        self.assertGreater(os.path.getsize(self.path("out.png")), 5000)

    def test_stopped_and_resumed(self):
        """Stopped by its time the run says so; the same command ends with the same bytes."""
        self.graze("run", OSCILLATOR, "-o", "whole.h5", "--quiet")
        self.graze("run", OSCILLATOR, "-o", "out.h5", "--max-time", "0.001", code=75)
        self.graze("run", OSCILLATOR, "-o", "out.h5", "--quiet", "--threads", "1")
        self.same("whole.h5", "out.h5")

    def test_from_a_continuation(self):
        branches = 'analysis={name="continue", axis={parameter="F", from=0.05, to=1.0}}'
        self.graze("run", OSCILLATOR, "-o", "branches.h5", "--quiet", "--set", branches)
        started = ("--set", 'analysis.start="from_continue"', "--set", 'analysis.branches="branches.h5"',
                   "--set", 'analysis.kinds=["grazing"]')
        self.graze("run", OSCILLATOR, "-o", "out.h5", "--quiet", "--set", "analysis.switch=false", *started)
        with h5py.File(self.path("out.h5")) as file:
            self.assertEqual({file["curve"][k].attrs["kind"] for k in file["curve"]}, {"grazing"})
            self.assertIn("branch 0", file["curve/0"].attrs["origin"])
            self.assertTrue(np.all(file["start/curve"][()] >= 0))
        _, message = self.graze("run", OSCILLATOR, "-o", "no.h5", *started, "--set", "model.r=0.5", code=2)
        self.assertIn("was computed with r = 0.8", message)
        _, message = self.graze("run", OSCILLATOR, "-o", "no.h5", "--set", 'analysis.start="from_continue"', code=2)
        self.assertIn("needs the key branches", message)

    def test_refusals(self):
        for change, told in (('analysis.kind="edge"', "must be one of"),
                             ('analysis.axis2.parameter="F"', "must differ"),
                             ("analysis.axis2.from=3", "must be less than to"),
                             ("analysis.axis.to=0.2", "must lie within")):
            _, message = self.graze("run", OSCILLATOR, "-o", "no.h5", "--set", change, code=2)
            self.assertIn(told, message)
        self.assertFalse(os.path.exists(self.path("no.h5")))

    def test_chart(self):
        """Map, branches and curves in one result, one picture; stopped and resumed."""
        coarse = ("--set", "analysis.axis.points=19", "--set", "analysis.axis2.points=13", "--set", "analysis.lines=1")
        self.graze("run", CHART, "-o", "out.h5", "--quiet", *coarse)
        with h5py.File(self.path("out.h5")) as file:
            self.assertEqual(file["map/attractor"].shape, (19, 13))
            self.assertIn("bifurcation", file["line/0"])
            grazing = [c for c in file["curve"].values() if c.attrs["kind"] == "grazing"]
            self.assertTrue(any(np.allclose(c["F"], amplitude(c["omega"][()], 0.1), atol=1e-9) for c in grazing))
        self.graze("plot", "out.h5", "-o", "out.png")
        self.graze("run", CHART, "-o", "again.h5", *coarse, "--max-time", "0.001", code=75)
        self.graze("run", CHART, "-o", "again.h5", "--quiet", *coarse, "--threads", "1")
        self.same("out.h5", "again.h5")

    def test_over_a_map(self):
        self.graze("run", OSCILLATOR, "-o", "curves.h5", "--quiet", "--set", "analysis.switch=false")
        swept = ('analysis={name="sweep", axis={parameter="omega", from=0.6, to=2.4, points=10}, '
                 'axis2={parameter="F", from=0.01, to=1.5, points=9}}')
        self.graze("run", OSCILLATOR, "-o", "map.h5", "--quiet", "--set", swept)
        self.graze("plot", "curves.h5", "--over", "map.h5", "-o", "over.png")
        self.assertGreater(os.path.getsize(self.path("over.png")), 5000)
        _, message = self.graze("plot", "map.h5", "--over", "map.h5", code=2)
        self.assertIn("--over goes with a result of curves", message)


if __name__ == "__main__":
    unittest.main(verbosity=2)
