"""Basins: attractors are told apart by their orbits, shares and exponent are those of the array of basins."""

import os
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from graze_cli import CliTest, main  # noqa: E402

CASES = os.path.join(os.environ["GRAZE_SOURCE"], "data", "cases")
GRID = os.path.join(CASES, "basins.toml")
SAMPLE = os.path.join(CASES, "basins_sample.toml")
SMALL = ["--set", "analysis.axis.points=33", "--set", "analysis.axis2.points=35", "--quiet"]


# A hill between two stops, a small force: every motion ends at rest on one of them. The border between the basins is
# a straight line: what stays on the hill for ever.
HILL = """graze = 1
[model]
name = "linear_stops"
omega = 1.0
mass = [[1]]
damping = [[0.5]]
stiffness = [[-1]]
[[model.force]]
order = 1
cosine = [0.05]
[[model.stop]]
name = "right"
normal = [1]
position = 1
restitution = 0.2
[[model.stop]]
name = "left"
normal = [-1]
position = 1
restitution = 0.2
[analysis]
name = "basins"
axis = { state = "x1", from = -0.7, to = 0.71, points = 65 }
axis2 = { state = "v1", from = -0.7, to = 0.71, points = 65 }
"""


def uncertain(basin, distance):
    """Share of the inner points with a neighbour at this distance along an axis in another basin."""
    e = distance
    inner = basin[e:-e, e:-e]
    differs = np.zeros(inner.shape, bool)
    for other in [basin[2 * e:, e:-e], basin[:-2 * e, e:-e], basin[e:-e, 2 * e:], basin[e:-e, :-2 * e]]:
        differs |= other != inner
    return differs.mean()


# One chaotic motion, whichever way the force p, which is none in the end, has died out.
DYING = """graze = 1
[model]
name = "equations"
parameters = { om = 2.8 }
coordinates = ["x"]
states = ["p"]
force = { x = "cos(om*t) - 0.05*x' - x + 0.1*p" }
rate = { p = "-p" }
period = "2*pi/om"
contact = [{ gap = "-x", restitution = 0.8 }]
[analysis]
name = "basins"
axis = { state = "p", values = [-2, -1, 0, 1, 2] }
axis2 = { state = "x", values = [-1, -0.5] }
"""


class Basins(CliTest):
    def test_a_state_that_dies_out_on_either_side(self):
        self.write("dying.toml", DYING)
        self.graze("run", "dying.toml", "-o", "r.h5", "--quiet")
        with h5py.File(self.path("r.h5"), "r") as file:
            self.assertEqual({0}, set(file["basin"][()].ravel()))
            self.assertEqual([10], file["basin_points"][()].tolist())

    def test_a_grid(self):
        self.graze("run", GRID, "-o", "r.h5", *SMALL)
        with h5py.File(self.path("r.h5"), "r") as file:
            basin = file["basin"][()]
            self.assertEqual(basin.shape, (33, 35))
            count = np.bincount(basin.ravel())
            self.assertGreaterEqual(len(count), 3)
            self.assertTrue(np.all(np.diff(count) <= 0), "numbered by size")
            np.testing.assert_array_equal(file["basin_points"][()], count)
            share = count / basin.size
            np.testing.assert_allclose(file["basin_fraction"][()], share, rtol=1e-14)
            np.testing.assert_allclose(file["basin_fraction_error"][()],
                                       np.sqrt(share * (1 - share) / basin.size), rtol=1e-12)
            for number, period in enumerate(file["basin_period"][()]):
                np.testing.assert_array_equal(file["period"][()][basin == number], period)
            shares = [uncertain(basin, e) for e in file["uncertainty_distance"][()]]
            np.testing.assert_allclose(file["uncertain_fraction"][()], shares, rtol=1e-14)

    def test_a_border_in_closed_form(self):
        self.write("hill.toml", HILL)
        self.graze("run", "hill.toml", "-o", "r.h5", "--quiet")
        leaving = (-0.5 - np.sqrt(0.25 + 4)) / 2  # the stable root of s^2 + s/2 - 1
        amplitude = 0.05 / (-2 + 0.5j)            # of the motion that stays on the hill
        with h5py.File(self.path("r.h5"), "r") as file:
            x, v = file["x1"][()][:, None] - amplitude.real, file["v1"][()][None, :] - (1j * amplitude).real
            right = v > leaving * x
            basin, orbit = file["basin"][()], file["basin_orbit"][()]
            np.testing.assert_array_equal(orbit[basin[..., None], 0, 0][..., 0], np.where(right, 1.0, -1.0))
            distance, share = file["uncertainty_distance"][()], file["uncertain_fraction"][()]
            np.testing.assert_allclose(share, [uncertain(right, e) for e in distance], rtol=1e-14)
            line = np.polyfit(np.log(distance), np.log(share), 1, cov=True)
            self.assertAlmostEqual(file["uncertainty_exponent"][()], line[0][0], 12)
            self.assertAlmostEqual(file["uncertainty_exponent_error"][()], np.sqrt(line[1][0, 0]), 12)
            self.assertLess(abs(line[0][0] - 1), 0.2)  # a smooth border

    def test_orbits_tell_attractors_apart(self):
        self.graze("run", GRID, "-o", "r.h5", *SMALL)
        with h5py.File(self.path("r.h5"), "r") as file:
            basin, point, orbit = file["basin"][()], file["orbit_state"][()], file["basin_orbit"][()]
            for number, period in enumerate(file["basin_period"][()]):
                if period == 0:
                    continue
                distance = np.min([np.abs(point - p).max(axis=2) for p in orbit[number, :period]], axis=0)
                self.assertLess(distance[basin == number].max(), 1e-8)
                others = distance[(basin != number) & np.isfinite(distance)]
                self.assertTrue(others.size == 0 or others.min() > 1e-3)

    def test_the_motion_does_end_there(self):
        self.graze("run", GRID, "-o", "r.h5", *SMALL)
        with h5py.File(self.path("r.h5"), "r") as file:
            for i, j in [(3, 4), (20, 10), (30, 33)]:
                x, v = file["x1"][i], file["v1"][j]
                number = file["basin"][i, j]
                with open(GRID, encoding="utf-8") as case:
                    text = case.read()
                text = text[:text.index("[analysis]")] + f"""[initial]
state = [{x!r}, {v!r}]
[analysis]
name = "simulate"
skip_periods = 3000
periods = 1
"""
                self.write("one.toml", text)
                self.graze("run", "one.toml", "-o", "one.h5", "--force", "--quiet")
                with h5py.File(self.path("one.h5"), "r") as one:
                    end = one["state"][0]
                orbit = file["basin_orbit"][number, :file["basin_period"][number]]
                self.assertLess(np.abs(orbit - end).max(axis=1).min(), 1e-6)

    def test_blocks_and_shards_change_nothing(self):
        self.graze("run", GRID, "-o", "one.h5", "--threads", "1", *SMALL)
        self.graze("run", GRID, "-o", "other.h5", "--threads", "2", "--set", "run.block=7", *SMALL)
        self.assert_same_arrays("one.h5", "other.h5")
        for part in [2, 3, 1]:
            self.graze("run", GRID, "-o", "parts.h5", "--shard", f"{part}/3", *SMALL)
        self.graze("merge", "parts.h5", "-o", "parts.h5", "--quiet")
        self.assert_same_arrays("one.h5", "parts.h5")

    def test_a_sample(self):
        few = ["--set", "analysis.samples=300", "--quiet"]
        self.graze("run", SAMPLE, "-o", "s.h5", *few)
        self.graze("run", SAMPLE, "-o", "again.h5", "--set", "run.block=9", "--threads", "1", *few)
        self.assert_same_arrays("s.h5", "again.h5")
        self.graze("run", GRID, "-o", "r.h5", *SMALL)
        with h5py.File(self.path("s.h5"), "r") as s, h5py.File(self.path("r.h5"), "r") as r:
            start = s["start_state"][()]
            self.assertTrue(np.all((start >= [-2, -2]) & (start <= [0, 2])))
            self.assertNotIn("uncertainty_exponent", s)
            for period in [1, 3]:
                p, q = (np.sum(f["basin_fraction"][()][f["basin_period"][()] == period]) for f in (s, r))
                self.assertLess(abs(p - q), 4 * np.sqrt(q * (1 - q) / 300) + 0.02)

    def test_info_and_plot(self):
        self.graze("run", GRID, "-o", "r.h5", *SMALL)
        out, _ = self.graze("info", "r.h5")
        self.assertRegex(out, r"\nbasins\n  0: period \d+: [\d.]+ ± [\d.]+ %\n")
        self.graze("plot", "r.h5", "-o", "r.png")
        self.graze("run", SAMPLE, "-o", "s.h5", "--set", "analysis.samples=50", "--quiet")
        self.graze("plot", "s.h5", "-o", "s.svg")
        self.graze("run", GRID, "-o", "part.h5", "--shard", "1/2", *SMALL)
        self.refused("plot", "part.h5", says=["when all initial states are computed"])
        self.assertIn("not complete", self.graze("info", "part.h5")[0])

    def test_starts_inside_a_stop_are_marked(self):
        _, err = self.graze("run", GRID, "-o", "r.h5", *SMALL[:-1], "--set", "analysis.axis.to=0.5", code=4)
        self.assertIn("bad_start", err)
        with h5py.File(self.path("r.h5"), "r") as file:
            inside = file["x1"][()] > 1e-12
            np.testing.assert_array_equal(file["basin"][()] == -1, np.repeat(inside[:, None], 35, axis=1))
            self.assertAlmostEqual(np.sum(file["basin_fraction"][()]), 1)

    def test_wrong_keys(self):
        for change, word in [("analysis.axis.state=x9", "x9"), ("analysis.axis2.state=x1", "same state"),
                             ("analysis.samples=10", "either axis"), ("analysis.low=[0, 0]", "low"),
                             ("analysis.axis.points=0", "points"), ("analysis.axis={ state = \"x1\" }", "from")]:
            with self.subTest(change):
                self.refused("check", GRID, "--set", change, says=[word])
        for change, word in [("analysis.low=[0]", "one number per state"), ("analysis.samples=0", "samples")]:
            with self.subTest(change):
                self.refused("check", SAMPLE, "--set", change, says=[word])


if __name__ == "__main__":
    main()
