"""Observables in sweeps, motions and branches, in pictures and checks; the two engines of typed systems."""

import os
import unittest

import h5py
import numpy as np

from support.graze_cli import CliTest

CASE = """graze = 1
[model]
name = "impact_oscillator"
b = 0.1
stop = 0.1
omega = 2.2
[analysis]
{analysis}
[[observable]]
name = "power"
meaning = "work of the force per time"
value = "F*cos(omega*t)*v"
[[observable]]
name = "loss"
value = "b*x'^2"
"""
SWEEP = 'name = "sweep"\naxis = { parameter = "omega", from = 2.1, to = 2.4, points = 4 }'
BRANCH = 'name = "continue"\naxis = { parameter = "omega", from = 2.1, to = 2.4 }'
MOTION = 'name = "simulate"\nperiods = 3\nskip_periods = 100'


class Observables(CliTest):
    def result(self, analysis):
        self.write("case.toml", CASE.format(analysis=analysis))
        self.graze("run", "case.toml", "-o", "out.h5", "--force", "--quiet")
        return h5py.File(self.path("out.h5"), "r")

    def draw(self, *panels):
        self.graze("plot", "out.h5", "-o", "out.png", "--panels", ",".join(panels))
        self.assertGreater(os.path.getsize(self.path("out.png")), 5000)

    def test_sweep_and_branch_tell_the_same(self):
        """What impacts take, (1 - r^2) u^2/2 each, is the work of the force beyond that of the damper."""
        with self.result(SWEEP) as file:
            omega, period = file["omega"][()], file["period"][()]
            mean, loss = file["power_mean"][()], file["loss_mean"][()]
            self.assertTrue(np.all(period > 0))
            self.assertTrue(np.all(mean > loss))
            self.assertTrue(np.all(file["power_min"][()] < mean) and np.all(mean < file["power_max"][()]))
            self.assertIn("work of the force", file["power_mean"].attrs["long_name"])
        self.draw("x", "power_mean", "power_max")
        with self.result(BRANCH) as file:
            self.assertTrue(np.all(np.isfinite(file["power_mean"][file["admissible"][()] == 1])))
            single = file["forcing_periods"][()] == period[0]
            along = np.interp(omega[0], file["omega"][single][::1], file["power_mean"][single])
            self.assertAlmostEqual(along, mean[0], delta=1e-2 * abs(mean[0]))
        self.draw("x", "loss_mean")

    def test_basins_and_motions_point_by_point(self):
        """Every start is told what a sweep finds on its attractor, a whole motion the mean of its samples."""
        with self.result(SWEEP.replace("from = 2.1, to = 2.4, points = 4", "values = [2.2]")) as file:
            mean, greatest = file["power_mean"][0], file["power_max"][0]
        basins = 'name = "basins"\naxis = { state = "x", from = -1, to = 0, points = 3 }'
        with self.result(basins) as file:
            same = file["basin"][()] == file["basin"][-1]
            np.testing.assert_allclose(file["power_mean"][same], mean, rtol=1e-9)
            np.testing.assert_allclose(file["power_max"][same], greatest, rtol=1e-9)
        with self.result('name = "simulate"\nend_time = 20\nsamples = 20001') as file:
            power = np.cos(2.2 * file["time"][()]) * file["state"][:, 1]
            whole = np.trapz(power, file["time"][()]) / 20
        with self.result('name = "impacts"\naxis = { parameter = "omega", values = [2.2] }\nend_time = 20') as file:
            self.assertAlmostEqual(file["power_mean"][0], whole, delta=1e-3)
            self.assertAlmostEqual(file["power_max"][0], power.max(), delta=1e-4)

    def test_curves(self):
        """Where the orbit without impacts touches the stop its loss is b omega^2 A^2/2, A the place of the stop."""
        curve = ('name = "curves"\nkinds = ["grazing"]\naxis = { parameter = "F", from = 0.1, to = 2 }\n'
                 'axis2 = { parameter = "omega", from = 1.8, to = 2.6 }')
        self.write("case.toml", CASE.format(analysis=curve))
        self.graze("run", "case.toml", "-o", "out.h5", "--force", "--quiet", "--set", "model.stop=0.3",
                   "--set", "model.F=0.5")
        with h5py.File(self.path("out.h5"), "r") as file:
            omega = file["omega"][()]
            self.assertGreater(len(omega), 10)
            # What touches may hit, with the root of rounding as its speed.
            np.testing.assert_allclose(file["loss_mean"][()], 0.1 * omega**2 * 0.3**2 / 2, rtol=1e-6)
            np.testing.assert_array_equal(file["curve/0/loss_mean"][()], file["loss_mean"][:file["points"][0]])

    def test_motion(self):
        with self.result(MOTION) as file:
            v = file["state"][:, 1]
            np.testing.assert_allclose(file["power"][()], np.cos(2.2 * file["time"][()]) * v, atol=1e-12)
            np.testing.assert_allclose(file["loss"][()], 0.1 * v**2, atol=1e-15)
        self.draw("x", "power")

    def test_check_tells_them_and_mistakes(self):
        self.write("case.toml", CASE.format(analysis=SWEEP))
        self.assertIn("observable:     power, work of the force per time", self.graze("check", "case.toml")[0])
        self.write("bad.toml", CASE.format(analysis=SWEEP).replace("b*x'^2", "b*y'^2"))
        self.assertIn("bad.toml:16:12: observable.1.value", self.graze("check", "bad.toml", code=2)[1])
        self.write("bad.toml", CASE.format(analysis=SWEEP).replace('"loss"', '"state"'))
        self.assertIn("results have an array of this name", self.graze("check", "bad.toml", code=2)[1])

    def test_engines(self):
        self.write("case.toml", CASE.format(analysis=MOTION))
        told = self.graze("check", "case.toml", "--compare")[0]
        line = next(text for text in told.splitlines() if text.startswith("engines:"))
        for word, value in zip(line.split(), line.split()[1:]):
            if word in ("x", "v"):
                self.assertLess(float(value.strip(';')), 1e-9)
        self.graze("run", "case.toml", "-o", "series.h5", "--quiet")
        self.graze("run", "case.toml", "-o", "odeint.h5", "--quiet", "--set", 'tolerance.engine="odeint"')
        with h5py.File(self.path("series.h5")) as a, h5py.File(self.path("odeint.h5")) as b:
            np.testing.assert_allclose(a["state"][()], b["state"][()], atol=1e-9)
            np.testing.assert_array_equal(a["event_kind"][()], b["event_kind"][()])
        self.write("masses.toml", 'graze = 1\nmodel = { name = "two_dof_stops" }\ntolerance = { engine = "odeint" }\n'
                   'analysis = { name = "simulate", periods = 1 }\n')
        self.assertIn("masses.toml:3", self.graze("check", "masses.toml", code=2)[1])


if __name__ == "__main__":
    unittest.main()
