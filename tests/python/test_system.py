"""System: motions, maps with their derivatives, orbits and branches, against closed forms, differences, symmetries and
what the analyses of the program find."""

import math
import unittest

import numpy as np

import graze

OSCILLATOR = dict(b=0.1, stop=0.1, omega=2.2)


def oscillator(**changes):
    return graze.System("impact_oscillator", **{**OSCILLATOR, **changes})


def settled(system, x, count=300):
    for _ in range(count):
        x, _, _ = system.map(x)
    return x


class Motion(unittest.TestCase):
    def test_free_fall(self):
        ball = graze.System("bouncing_ball", Gamma=0.0, gravity=2.0)
        (x, v), events = ball.advance([9.0, 1.0], 2.0)
        self.assertAlmostEqual(9 + 2 - 4, x, delta=1e-14)
        self.assertAlmostEqual(1 - 4, v, delta=1e-14)
        self.assertEqual([], events)

    def test_impact(self):
        """A ball falls from h = 4 with g = 2 in a time of 2, hits with 4 and goes back with 4 r."""
        ball = graze.System("bouncing_ball", Gamma=0.0, gravity=2.0)
        restitution = ball.parameters["e"]
        _, events = ball.advance([4.0, 0.0], 2.5)
        self.assertEqual("impact", events[0].kind)
        self.assertEqual("table", ball.contacts[events[0].contact])
        self.assertAlmostEqual(2.0, events[0].time, delta=1e-14)
        self.assertAlmostEqual(4.0, events[0].approach_speed, delta=1e-13)
        self.assertAlmostEqual(-4.0, events[0].before[1], delta=1e-13)
        self.assertAlmostEqual(4.0 * restitution, events[0].after[1], delta=1e-13)

    def test_states_go_on_where_they_are(self):
        """In one go or in two: the same motion, with time and closed contacts."""
        system = graze.System("two_dof_stops", delta=0.25, d1=-0.3, d2=0.1)
        whole, events = system.advance(system.start(), 60.0)
        half, first = system.advance(system.start(), 33.3)
        rest, second = system.advance(half, 60.0 - 33.3)
        np.testing.assert_allclose(rest.x, whole.x, atol=1e-10)
        self.assertAlmostEqual(60.0, rest.time, delta=1e-12)
        self.assertEqual(whole.mode, rest.mode)
        self.assertEqual([e.kind for e in events], [e.kind for e in first + second])
        self.assertIn("stick", [e.kind for e in events])

    def test_same_as_simulate(self):
        system = oscillator()
        motion = graze.simulate("impact_oscillator", periods=5, samples=1, initial=[-0.5, 0.1], **OSCILLATOR)
        state = system.state([-0.5, 0.1])
        events = []
        for _ in range(5):
            state, more = system.advance(state)
            events += more
        np.testing.assert_allclose(state.x, motion.state.values[-1], atol=1e-12)
        names = graze.flags(motion.event_kind)
        self.assertEqual([names[k] for k in motion.event_kind.values], [e.kind for e in events])
        np.testing.assert_allclose([e.time for e in events], motion.event_time.values, atol=1e-12)

    def test_gaps(self):
        system = oscillator()
        gap, rate = system.gaps([-0.5, 0.25])
        self.assertAlmostEqual(0.6, gap[0])
        self.assertEqual(-0.25, rate[0])

    def test_forms_of_a_state(self):
        system = graze.System("two_dof_stops")
        by_name = system.state({"v1": 0.2})
        self.assertEqual(0.2, by_name.x[system.states.index("v1")])
        self.assertIs(by_name, system.state(by_name))
        self.assertIsInstance(system.advance(by_name, 0.1)[0], graze.State)
        self.assertIsInstance(system.advance(by_name.x, 0.1)[0], np.ndarray)
        self.assertAlmostEqual(7.5, system.state(by_name.x, time=7.5).time)

    def test_errors(self):
        with self.assertRaisesRegex(graze.InputError, "2 entries, not 3"):
            oscillator().map([1, 2, 3])
        with self.assertRaisesRegex(graze.InputError, "no state y"):
            oscillator().state({"y": 1})
        with self.assertRaisesRegex(graze.InputError, "did you mean omega"):
            oscillator(omga=1)
        with self.assertRaises(graze.MotionError) as raised:
            oscillator().map([0.5, 0.0])  # behind the stop
        self.assertEqual("bad_start", raised.exception.outcome)
        with self.assertRaises(graze.MotionError) as raised:
            oscillator(tolerance={"events": 10}, r=0.99).advance([0.05, 1.0], 1000.0)
        self.assertEqual("event_limit", raised.exception.outcome)
        with self.assertRaises(graze.MotionError) as raised:
            oscillator(b=0.0, omega=1.0, stop=1e6).orbit([0.0, 0.0])  # in resonance
        self.assertEqual("not_closed", raised.exception.outcome)
        with self.assertRaisesRegex(graze.InputError, "nowhere"):
            graze.System("bouncing_ball", Gamma=0.0, map="impact", contact="nowhere")
        with self.assertRaisesRegex(graze.InputError, "outside the range"):
            oscillator().branch("omega", settled(oscillator(), [-0.5, 0.0]), (2.5, 3.0))


class Map(unittest.TestCase):
    def test_jacobian_by_differences(self):
        for system, start in ((oscillator(), [-0.5, 0.0]),
                              (graze.System("two_dof_stops", delta=0.9, d1=-0.3, d2=0.1), [0.0] * 4),
                              (graze.System("duffing_impact"), [0.0, 0.0])):
            x = settled(system, start, 50)
            _, jacobian, events = system.map(x)
            self.assertTrue(events)
            h = 1e-6
            differences = np.column_stack([(system.map(x + h * e)[0] - system.map(x - h * e)[0]) / (2 * h)
                                           for e in np.eye(len(x))])
            np.testing.assert_allclose(jacobian, differences, atol=1e-7 * max(1, np.abs(jacobian).max()))

    def test_areas_shrink_by_damping_and_impacts(self):
        """det J = exp(-b T) r^(2 n) with n impacts in the period T (Liouville; impacts scale areas by r^2)."""
        system = oscillator()
        _, jacobian, events = system.map(settled(system, [-0.5, 0.0]))
        impacts = sum(e.kind == "impact" for e in events)
        expected = math.exp(-0.1 * system.period) * system.parameters["r"] ** (2 * impacts)
        self.assertAlmostEqual(expected, np.linalg.det(jacobian), delta=1e-13)

    def test_impact_map(self):
        """A ball over a table at rest: from impact to impact its speed shrinks by the restitution, dv'/dv = e."""
        ball = graze.System("bouncing_ball", Gamma=0.0, map="impact", contact="table")
        (y, v), jacobian, events = ball.map([0.0, 3.0])
        self.assertEqual(0.0, y)
        self.assertAlmostEqual(3.0 * ball.parameters["e"], v, delta=1e-13)
        self.assertAlmostEqual(ball.parameters["e"], jacobian[0, 0], delta=1e-13)
        self.assertEqual(["impact"], [e.kind for e in events])

    def test_map_without_forcing_needs_a_section(self):
        valve = graze.System("relief_valve")
        self.assertEqual(0.0, valve.period)
        with self.assertRaisesRegex(graze.InputError, "section"):
            valve.map(valve.start())
        with self.assertRaisesRegex(graze.InputError, "how long"):
            valve.advance(valve.start())


class Orbits(unittest.TestCase):
    def test_refined(self):
        system = oscillator()
        orbit = system.orbit(settled(system, [-0.5, 0.0]))
        self.assertLess(orbit.residual, 1e-10)
        np.testing.assert_allclose(system.map(orbit.x)[0], orbit.x, atol=1e-12)
        np.testing.assert_allclose(sorted(np.abs(orbit.multipliers)),
                                   sorted(np.abs(np.linalg.eigvals(orbit.jacobian))), atol=1e-12)
        self.assertTrue(orbit.stable)

    def test_same_as_the_sweep(self):
        sweep = graze.sweep("impact_oscillator", omega=[2.2], b=0.1, stop=0.1)
        orbit = oscillator().orbit(sweep.map_state.values[0, -1])
        self.assertEqual(1, int(sweep.period[0]))
        expected = sweep.multiplier_re.values[0] + 1j * sweep.multiplier_im.values[0]
        np.testing.assert_allclose(np.sort_complex(orbit.multipliers), np.sort_complex(expected), atol=1e-10)


class Branches(unittest.TestCase):
    def test_same_as_the_analysis(self):
        """The walk meets the period doubling that `continue` locates, and its points lie on that branch."""
        system = oscillator()
        branch = system.branch("omega", system.orbit(settled(system, [-0.5, 0.0])), (2.0, 3.0))
        self.assertEqual("", branch.end)
        points = list(branch)
        self.assertEqual("end of the range", branch.end.removeprefix("the ").split(";")[0])
        located = [at for point in points for at in point.passed if at.kind == "period_doubling"]
        self.assertEqual(1, len(located))
        result = graze.continue_("impact_oscillator", omega=(2.0, 3.0), at=2.2, b=0.1, stop=0.1)
        kinds = graze.flags(result["/bifurcation"].kind)
        found = result["/bifurcation"].omega[result["/bifurcation"].kind == kinds.index("period_doubling")]
        self.assertLess(np.abs(found.values - located[0].parameter).min(), 1e-9)
        # Stable on this side of it, unstable behind.
        self.assertEqual([p.parameter < located[0].parameter for p in points], [p.stable for p in points])

    def test_points_are_orbits(self):
        branch = oscillator().branch("omega", settled(oscillator(), [-0.5, 0.0]), (2.0, 2.4), direction=-1)
        for point in branch:
            if not point.admissible:
                continue
            system = oscillator(omega=point.parameter)
            np.testing.assert_allclose(system.map(point.x)[0], point.x, atol=1e-8)
            self.assertAlmostEqual(system.period, point.turn, delta=1e-9)

    def test_can_be_left_off(self):
        branch = oscillator().branch("omega", settled(oscillator(), [-0.5, 0.0]), (2.0, 3.0))
        first = next(branch)
        second = next(branch)
        self.assertLess(first.parameter, second.parameter)

    def test_wrong_parameter(self):
        with self.assertRaisesRegex(graze.InputError, "did you mean omega"):
            oscillator().branch("omgea", settled(oscillator(), [-0.5, 0.0]), (2.0, 3.0))


if __name__ == "__main__":
    unittest.main()
