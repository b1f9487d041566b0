"""graze motion: the motion at a place of a result is the one that the result tells of."""
import tomllib

import h5py
import numpy as np

from support import graze_cli

SWEEP = graze_cli.SWEEP.replace("points = 24", "points = 9")
VALVE = """graze = 1
[model]
name = "relief_valve"
[initial]
state = [0.2, 0.0, 0.0]
[analysis]
name = "sweep"
axis = { parameter = "q", from = 5.0, to = 6.0, points = 2 }
map = "section"
coordinate = "y2"
level = 0.0
direction = "down"
transient = 512
"""


class Motion(graze_cli.CliTest):
    def made(self, name, text):
        self.write(name + ".toml", text)
        self.graze("run", name + ".toml", "-o", name + ".h5", "--quiet")
        return h5py.File(self.path(name + ".h5"))

    def test_a_periodic_attractor_closes(self):
        """The motion begins on the orbit of the sweep: after its period it is where it began."""
        with self.made("sweep", SWEEP) as sweep:
            period = sweep["period"][...]
            at = int(np.argmax(period > 0))
            delta, n = sweep["delta"][at], int(period[at])
            state = sweep["map_state"][at, 0]
        printed = self.graze("motion", "sweep.h5", "--at", f"delta={delta + 1e-3}", "-o", "m.h5")[0]
        with h5py.File(self.path("m.h5")) as motion:
            np.testing.assert_array_equal(motion["state"][0], state)
            np.testing.assert_allclose(motion["state"][200 * n], state, atol=1e-9)
        case = tomllib.loads(printed)
        self.assertEqual(case["model"]["delta"], delta)
        self.assertEqual(case["analysis"]["name"], "simulate")
        self.write("again.toml", printed)
        self.graze("run", "again.toml", "-o", "again.h5", "--quiet")
        with h5py.File(self.path("m.h5")) as first, h5py.File(self.path("again.h5")) as second:
            np.testing.assert_array_equal(first["state"][...], second["state"][...])

    def test_a_located_point_is_on_its_orbit(self):
        """At a grazing the impact has no speed: the motion touches the stop at x = 1."""
        with self.made("branches", graze_cli.BRANCHES) as file:
            kinds = file["bifurcation/kind"].attrs["flag_meanings"].split()
            found = [kinds[k] for k in file["bifurcation/kind"][...]]
            first = found.index("grazing")
            scale = file["bifurcation/force_scale"][first]
        printed = self.graze("motion", "branches.h5", "--point", "grazing:1", "-o", "m.h5")[0]
        self.assertEqual(tomllib.loads(printed)["model"]["force_scale"], scale)
        with h5py.File(self.path("m.h5")) as motion:
            self.assertAlmostEqual(np.max(motion["state"][:, 0]), 1, 4)
        error = self.graze("motion", "branches.h5", "--point", "fald", code=2)[1]
        self.assertIn("did you mean fold?", error)

    def test_a_branch_is_followed_at_a_parameter_value(self):
        self.made("branches", graze_cli.BRANCHES).close()
        printed = self.graze("motion", "branches.h5", "--branch", "0", "--at", "force_scale=0.5", "-o", "m.h5")[0]
        self.assertAlmostEqual(tomllib.loads(printed)["model"]["force_scale"], 0.5, 2)
        with h5py.File(self.path("m.h5")) as motion:
            np.testing.assert_allclose(motion["state"][200], motion["state"][0], atol=1e-8)
        self.assertIn("counted from 0", self.graze("motion", "branches.h5", "--branch", "99", "--at",
                                                   "force_scale=0.5", code=2)[1])

    def test_without_forcing_the_motion_comes_back_to_the_section(self):
        with self.made("valve", VALVE) as sweep:
            state = sweep["map_state"][0, 0]
        self.graze("motion", "valve.h5", "--at", "q=5", "-o", "m.h5")
        with h5py.File(self.path("m.h5")) as motion:
            path = motion["state"][...]
            late = motion["time"][...] > motion["time"][-1] / 2
        np.testing.assert_array_equal(path[0], state)
        away = np.max(np.abs(path[late] - state) / np.ptp(path, axis=0), axis=1)
        self.assertLess(np.min(away), 0.02)  # samples lie a little beside it

    def test_a_cell_of_basins(self):
        self.made("basins", """graze = 1
[model]
name = "impact_oscillator"
b = 0.05
[analysis]
name = "basins"
axis = { state = "x", from = -2.0, to = 0.0, points = 3 }
axis2 = { state = "v", from = -2.0, to = 2.0, points = 3 }
""").close()
        self.graze("motion", "basins.h5", "--cell", "x=-0.5,v=0.2", "-o", "m.h5")
        with h5py.File(self.path("m.h5")) as motion:
            np.testing.assert_array_equal(motion["state"][0], [-0.5, 0.2])

    def test_wrong_places(self):
        self.made("sweep", SWEEP).close()
        for options, words in (([], "--at delta=VALUE is missing"), (["--at", "delat=1"], "did you mean delta?"),
                               (["--at", "delta"], "NAME=VALUE"), (["--at", "delta=x"], "NAME=VALUE"),
                               (["--at", "delta=1", "--start", "up"], "no start up")):
            with self.subTest(options=options):
                self.assertIn(words, self.graze("motion", "sweep.h5", *options, code=2)[1])


if __name__ == "__main__":
    graze_cli.main()
