"""Every case in data/cases runs, cut short; those that show a phenomenon show it."""

import glob
import math
import os
import unittest

import h5py
import numpy as np

from support.graze_cli import CliTest

CASES = os.path.join(os.environ["GRAZE_SOURCE"], "data", "cases")


def count(file, kind, contact):
    """Events of a kind (by name) at a contact in the second of two recorded periods."""
    kinds = file["event_kind"].attrs["flag_meanings"]
    kinds = (kinds.decode() if isinstance(kinds, bytes) else kinds).split()
    time = file["event_time"][()]
    middle = (file["time"][0] + file["time"][-1]) / 2
    chosen = (file["event_kind"][()] == kinds.index(kind)) & (file["event_contact"][()] == contact)
    return int(np.sum(chosen & (time > middle)))


class Cases(CliTest):
    def run_case(self, name, *options):
        self.graze("run", os.path.join(CASES, name + ".toml"), "-o", "out.h5", "--force", "--quiet", *options)
        return h5py.File(self.path("out.h5"), "r")

    def test_every_case_runs_and_draws(self):
        names = sorted(os.path.splitext(os.path.basename(path))[0] for path in glob.glob(f"{CASES}/*.toml"))
        self.assertGreater(len(names), 5)
        for name in names:
            with self.subTest(case=name):
                path = os.path.join(CASES, name + ".toml")
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                cut = []
                if 'name = "sweep"' in text:
                    cut += ["--set", "analysis.axis.points=5"]
                if 'name = "basins"' in text:
                    cut += ["--set", "analysis.samples=20" if "samples" in text else "analysis.axis.points=5"]
                if "axis2" in text:
                    cut += ["--set", "analysis.axis2.points=4"]
                self.graze("check", path, *cut)
                with self.run_case(name, *cut) as file:
                    self.assertTrue(np.all(file["outcome"][()] == 0))
                self.graze("plot", "out.h5", "-o", "out.png")
                self.assertGreater(os.path.getsize(self.path("out.png")), 5000)

    def test_sticking_chatter(self):
        """Case (a), delta 0.16: mass 1 chatters completely and sticks, mass 2 impacts four times only."""
        with self.run_case("sticking_chatter") as file:
            self.assertEqual(count(file, "stick", 0), 1)
            self.assertEqual(count(file, "chatter_complete", 0), 1)
            self.assertEqual(count(file, "impact", 1), 4)
            self.assertEqual(count(file, "stick", 1), 0)
            np.testing.assert_allclose(file["state"][0], [0.3, 0, 0.27280670881226, 0.0029426150777787], atol=1e-11)

    def test_motionless(self):
        """Case (a), A = (0.4, 0.1): both masses are stuck at phase zero and leave one after the other."""
        with self.run_case("motionless") as file:
            self.assertEqual(file["mode"][0], 3)
            np.testing.assert_allclose(file["state"][0], [0.3, 0, 0.3, 0], atol=1e-11)
            self.assertEqual([count(file, "release", i) for i in (0, 1)], [1, 1])

    def test_periodic_sticking(self):
        """Case (b), delta 0.25: both masses stick once a period, never at once."""
        with self.run_case("periodic_sticking") as file:
            self.assertEqual([count(file, "stick", i) for i in (0, 1)], [1, 1])
            self.assertFalse(np.any(file["mode"][()] == 3))
            np.testing.assert_allclose(file["state"][0],
                                       [0.33979996922474, 0.10654734166035, 0.09770447427250, 0.09747087673247],
                                       atol=1e-11)

    def test_rising(self):
        """Case (b), delta 0.257: one rise of mass 1, that sticks again at phase 0.661732354262187."""
        with self.run_case("rising") as file:
            self.assertEqual(count(file, "rise", 0), 1)
            self.assertEqual(count(file, "stick", 0), 2)
            period = 2 * math.pi / 0.257
            kinds = file["event_kind"].attrs["flag_meanings"]
            kinds = (kinds.decode() if isinstance(kinds, bytes) else kinds).split()
            rises = file["event_time"][()][file["event_kind"][()] == kinds.index("rise")] / period % 1
            np.testing.assert_allclose(rises, 0.661732354262187, atol=1e-11)

    def test_rising_window(self):
        """Rising exists between delta 0.2560063 and 0.2574557 only."""
        with self.run_case("rising_window") as file:
            delta = file["delta"][()]
            inside = (delta > 0.2560063) & (delta < 0.2574557)
            np.testing.assert_array_equal(file["rises"][:, 0] > 0, inside)


if __name__ == "__main__":
    unittest.main()
