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
                if 'name = "sweep"' in text or 'name = "impacts"' in text:
                    cut += ["--set", "analysis.axis.points=5"]
                if 'name = "basins"' in text:
                    cut += ["--set", "analysis.samples=20" if "samples" in text else "analysis.axis.points=5"]
                if 'name = "continue"' in text:
                    cut += ["--set", "analysis.points=8"]
                if 'start = "from_sweep"' in text:
                    quick = os.path.join(CASES, "quickstart.toml")
                    self.graze("run", quick, "-o", "few.h5", "--force", "--quiet", "--set",
                               "analysis.axis.points=3")
                    cut += ["--set", "analysis.sweep=few.h5", "--set", "analysis.branches=2"]
                if 'start = "from_continue"' in text:
                    self.graze("run", path, "-o", "branches.h5", "--force", "--quiet", "--set",
                               'analysis={name="continue", axis={parameter="delta", from=0.9, to=1.1}, at=1.0}')
                    cut += ["--set", "analysis.branches=branches.h5"]
                if 'name = "convergence"' in text or 'name = "chart"' in text:
                    cut += ["--set", "analysis.axis.points=5"]
                if 'name = "curves"' in text:
                    cut += ["--set", "analysis.points=20"]
                elif "axis2" in text and 'name = "convergence"' not in text:
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

    def test_bouncing_ball(self):
        """Thrown once a period and at rest again below 1.95; above, nearly every class is known."""
        with self.run_case("bouncing_ball") as file:
            gamma, period = file["Gamma"][()], file["period"][()]
            np.testing.assert_array_equal(period[gamma < 1.955], 1)
            self.assertLess(np.mean(file["attractor"][()] == 0), 0.02)

    def test_undetermined_points_say_what_helps(self):
        path = os.path.join(CASES, "bouncing_ball.toml")
        said = self.graze("run", path, "-o", "out.h5", "--set", "model.e=0.5", "--set",
                          "analysis.axis={ parameter = \"Gamma\", values = [1.2, 4.1] }")[1]
        self.assertIn("raise analysis.extension", said)
        self.assertIn("1 of them come to rest", said)
        self.assertIn("1 of them come to rest", self.graze("info", "out.h5")[0])

    def test_oblique_locking(self):
        """Impacts lock from mu = 0.84 on, in periods 6 and 3 above 2.14; slip turns only before and between."""
        axis = 'analysis.axis={ parameter = "mu", values = [0.0, 0.3, 0.7, 1.0, 2.2, 2.5] }'
        with self.run_case("oblique_locking", "--set", axis) as file:
            reversing = file["reversing_fraction"][:, 0]
            locking = file["locking_fraction"][:, 0]
            np.testing.assert_array_equal(locking > 0, [False, False, False, True, True, True])
            np.testing.assert_array_equal(reversing > 0, [False, False, True, True, False, False])
            np.testing.assert_array_equal(file["period"][[0, 1, 4, 5]], [1, 2, 6, 3])
            np.testing.assert_allclose(locking[4:], [0.625, 0.5])

    def test_oblique_clearance(self):
        """One impact for ever above 0.046, two below -0.117, and slip turns in all of them."""
        axis = 'analysis.axis={ parameter = "clearance", values = [-0.15, 0.06, 0.15] }'
        with self.run_case("oblique_clearance", "--set", axis) as file:
            np.testing.assert_array_equal(file["period"][()], [2, 1, 1])
            np.testing.assert_array_equal(file["impacts"][:, 0], [2, 1, 1])
            np.testing.assert_array_equal(file["reversing_fraction"][:, 0], 1)
            np.testing.assert_array_equal(file["keeping_fraction"][:, 0], 0)

    def test_oblique_restitution(self):
        """More and more impacts die out in contact, until it ends at r = 0.14; slip turns in none of them."""
        axis = 'analysis.axis={ parameter = "r", values = [0.0, 0.01, 0.05, 0.1, 0.16, 0.2] }'
        with self.run_case("oblique_restitution", "--set", axis) as file:
            np.testing.assert_array_equal(file["impacts"][:, 0], [1, 3, 5, 6, 2, 3])
            stuck = file["stick_fraction"][:, 0]
            self.assertTrue(np.all(np.diff(stuck[:4]) < 0) and stuck[3] > 0)
            np.testing.assert_array_equal(stuck[4:], 0)
            np.testing.assert_array_equal(file["reversing_fraction"][:, 0], 0)

    def test_oblique_sliding(self):
        """Chatter into contact, slip stops, begins again, the contact opens: once a period."""
        with self.run_case("oblique_sliding") as file:
            for kind in ("chatter_complete", "stick", "slip_to_stick", "stick_to_slip", "release"):
                self.assertEqual(count(file, kind, 0), 1)
            self.assertTrue({0, 1, 3, 5} <= set(file["mode"][()]))

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

    def test_planar_friction(self):
        """One contact per half period, two sticks away from the wall, the second half the mirror of the first."""
        with self.run_case("planar_friction") as file:
            kinds = file["event_kind"].attrs["flag_meanings"]
            kinds = (kinds.decode() if isinstance(kinds, bytes) else kinds).split()
            kind = file["event_kind"][()]
            self.assertEqual(np.sum(kind == kinds.index("chatter_complete")), 2)
            self.assertEqual(np.sum(kind == kinds.index("slip_to_stick")), 4)
            times = file["event_time"][()]
            begin, end = (times[kind == kinds.index(name)] for name in ("slip_to_stick", "stick_to_slip"))
            sample = file["time"][()]
            held = np.any((begin[:, None] < sample) & (sample < end[:, None]), axis=0)
            np.testing.assert_array_equal(file["sticks"][:, 0], held)
            state = file["state"][()]
            np.testing.assert_allclose(state[0], [0.0196760970908, -0.0894299138802, 0.0244648723707, 0.0428694225749],
                                       atol=1e-11)
            np.testing.assert_allclose(state[:501], -state[500:], atol=1e-10)

    def test_planar_friction_sweep(self):
        """Friction sticks at times where the greatest force is not far above it, for ever above that force."""
        axis = 'analysis.axis={ parameter = "friction", values = [0.5, 1.3, 1.6, 1.8, 1.95] }'
        with self.run_case("planar_friction_sweep", "--set", axis) as file:
            share = file["friction_stick_fraction"][:, 0]
            np.testing.assert_array_equal(share[:2], 0)
            self.assertTrue(0 < share[2] < share[3] < 1)
            self.assertEqual(share[4], 1)

    def test_planar_convergence(self):
        """First order with the resultant of the beginning of a step, second order with that of its middle."""
        with self.run_case("planar_convergence", "--set", "analysis.axis.points=7") as file:
            error = file["error"][()].max(axis=2)
            orders = np.polyfit(np.log(file["step"][()]), np.log(error).T, 1)[0]
            np.testing.assert_allclose(orders, [1, 2], atol=0.15)

    def test_rising_window(self):
        """Rising exists between delta 0.2560063 and 0.2574557 only."""
        with self.run_case("rising_window") as file:
            delta = file["delta"][()]
            inside = (delta > 0.2560063) & (delta < 0.2574557)
            np.testing.assert_array_equal(file["rises"][:, 0] > 0, inside)

    def test_rod_slip_chart(self):
        """Sliding stops where a rigid elastic rod says so, but for points next to the border."""
        with self.run_case("rod_slip_chart", "--set", "analysis.axis.points=12", "--set",
                           "analysis.axis2.points=10") as file:
            names = file["slip_sequence"].attrs["flag_meanings"]
            names = (names.decode() if isinstance(names, bytes) else names).split()
            words = np.array(names)[file["slip_sequence"][:, :, 0]]
            in_compression = np.array([[not word.startswith("F-") for word in row] for row in words])
            stops = words != "F-"
            border = file["border"][()]
            for k, seen in ((0, in_compression), (1, stops)):
                clear = np.abs(border[..., k]) > 0.05 * np.max(np.abs(border[..., k]))
                self.assertGreater(np.sum(clear), 60)
                np.testing.assert_array_equal(seen[clear], border[..., k][clear] > 0)
            np.testing.assert_array_equal(file["painleve"][:, :, 0], border[..., 3] > 0)
            energy = file["friction_work"][:, :, 0]
            self.assertTrue(np.all(energy >= 0) and np.all(energy < 0.41))

    def test_knocking_order(self):
        """As many letters as impacts; the words of a period-1 orbit are their own first rotation."""
        with self.run_case("knocking_order", "--set", "analysis.axis.points=5", "--set",
                           "analysis.axis2.points=3") as file:
            letters = file["itinerary"][()]
            impacts = np.sum(file["impacts"][()], axis=-1)
            np.testing.assert_array_equal(np.sum(letters >= 0, axis=-1), np.minimum(impacts, letters.shape[-1]))
            self.assertTrue(np.any(impacts > 0))
            for i, j in np.argwhere((file["period"][()] == 1) & (impacts > 0) & (impacts <= letters.shape[-1])):
                word = list(letters[i, j, :impacts[i, j]])
                self.assertEqual(word, min(word[k:] + word[:k] for k in range(len(word))))

    def test_friction_sweep(self):
        """Mass 1 slides for ever without friction and never moves where friction exceeds the force."""
        with self.run_case("friction_sweep", "--set", "analysis.axis.points=14") as file:
            f1 = file["f1"][()]
            share = file["friction_stick_fraction"][()]
            self.assertEqual(list(share[0]), [0, 0, 0])
            held = f1 >= 0.5
            self.assertTrue(np.any(held))
            np.testing.assert_array_equal(share[held, 0], 1)
            np.testing.assert_array_equal(file["impacts"][()][held], 0)
            self.assertTrue(np.all(share[~held, 0] < 1))
            self.assertTrue(np.any((share[:, 0] > 0) & (share[:, 0] < 1)))

    def test_friction_events(self):
        """The table of events names the friction."""
        case = self.write("slips.toml", """graze = 1
[model]
name = "two_dof_stops"
delta = 1.48
f1 = 0.3
[analysis]
name = "simulate"
periods = 3
skip_periods = 5
""")
        self.graze("run", case, "-o", "out.h5", "--quiet", "--events", "events.csv")
        with open(self.path("events.csv"), encoding="utf-8") as file:
            rows = [line.split(",") for line in file.read().splitlines()]
        slips = [row for row in rows if row[1] in ("slip_to_stick", "stick_to_slip", "slip_reversal")]
        self.assertGreater(len(slips), 3)
        self.assertTrue(all(row[2] == "f1" for row in slips))
        with h5py.File(self.path("out.h5"), "r") as file:
            self.assertEqual(int(np.sum(file["event_friction"][()] == 0)), len(slips))

    def test_soft_oscillator(self):
        """The stop is reached from omega = 0.80193 on, where a w^2 = e |1 - w^2 + 2 i zeta w|."""
        axis = 'analysis.axis={ parameter = "omega", values = [0.6, 0.75, 0.85, 0.92, 0.98] }'
        with self.run_case("soft_oscillator", "--set", axis) as file:
            np.testing.assert_array_equal(file["impacts"][:2, 0], 0)
            np.testing.assert_array_equal(file["stick_fraction"][:2, 0], 0)
            self.assertTrue(np.all(file["impacts"][2:, 0] > 0))
            self.assertTrue(np.all((file["stick_fraction"][2:, 0] > 0.02) & (file["stick_fraction"][2:, 0] < 0.1)))
            np.testing.assert_array_equal(file["period"][()], [1, 1, 2, 1, 3])

    def test_hard_and_soft_twins(self):
        """A stiff stop with the damping of the restitution: the orbit is that of the rigid one but for 1/sqrt(k)."""
        axis = 'analysis.axis={ parameter = "omega", values = [2.05, 2.15] }'
        with self.run_case("hard_stop", "--set", axis) as file:
            hard, period = file["map_state"][:, -1], file["period"][()]
        np.testing.assert_array_equal(period, [1, 1])
        distance = []
        for k in ("1e4", "1e6", "1e8"):
            with self.run_case("soft_stop", "--set", axis, "--set", f"model.k={k}") as file:
                np.testing.assert_array_equal(file["period"][()], period)
                distance.append(np.abs(file["map_state"][:, -1] - hard).max(axis=1))
        for stiff, stiffer in zip(distance, distance[1:]):
            np.testing.assert_allclose(stiff / stiffer, 10, rtol=0.1)

    def test_forces_of_compliant_stops(self):
        """Forces where a damped stop begins, c v, and ends: 0 by force, -c v by gap."""
        for release, end in (("force", 0), ("gap", -1)):
            case = self.write("stop.toml", f"""graze = 1
[model]
name = "linear_stops"
mass = [[1]]
stiffness = [[1]]
stop = [{{ normal = [1], position = 0.2, stiffness = 30, damping = 2, release = "{release}" }}]
[initial]
state = [-1, 0]
[analysis]
name = "simulate"
end_time = 10
samples = 20
""")
            with self.subTest(release=release):
                self.graze("run", case, "-o", "stop.h5", "--force", "--quiet")
                with h5py.File(self.path("stop.h5"), "r") as file:
                    kinds = dict(zip(file["event_kind"].attrs["flag_meanings"].split(),
                                     file["event_kind"].attrs["flag_values"]))
                    speed, force = file["event_approach_speed"][()], file["event_force"][()]
                    begins = file["event_kind"][()] == kinds["contact_begin"]
                    ends = file["event_kind"][()] == kinds["contact_end"]
                    self.assertEqual((np.sum(begins), np.sum(ends)), (2, 2))
                    np.testing.assert_allclose(force[begins], 2 * speed[begins], rtol=1e-12)
                    np.testing.assert_allclose(force[ends], end * 2 * speed[ends], atol=1e-12)


if __name__ == "__main__":
    unittest.main()
