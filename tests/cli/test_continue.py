"""Continuation from the command line: groups that xarray and h5py read, table, CSV, picture, refusals."""

import csv
import io
import math
import os
import unittest

import h5py
import numpy as np
import xarray

from support.graze_cli import CliTest

CASES = os.path.join(os.environ["GRAZE_SOURCE"], "data", "cases")
OSCILLATOR = os.path.join(CASES, "continue_oscillator.toml")


def chain(mass, stiffness, damping, force, stop, friction, low, high, at, generations, length, time):
    """A case of `linear_stops`; all but the ratios of lengths and times is of the size of 1."""
    def rows(values, unit):
        return [[v * unit for v in row] for row in values]
    normal, position, law = stop
    unit = {"restitution": 1, "stiffness": 1 / time**2, "damping": 1 / time}
    text = ", ".join(f"{name} = {value * unit[name]!r}" for name, value in law.items())
    rubs = [f"{{ direction = {direction}, amplitude = {amplitude * length / time**2!r} }}"
            for direction, amplitude in friction]
    return f"""graze = 1
[model]
name = "linear_stops"
omega = {at / time!r}
mass = {mass}
stiffness = {rows(stiffness, 1 / time**2)}
damping = {rows(damping, 1 / time)}
force = [{{ cosine = {[f * length / time**2 for f in force]} }}]
stop = [{{ normal = {normal}, position = {position * length!r}, {text} }}]
friction = [{", ".join(rubs)}]
[analysis]
name = "continue"
axis = {{ parameter = "omega", from = {low / time!r}, to = {high / time!r} }}
transient = 400
generations = {generations}
"""


CHAINS = {
    "a damped stop": ([[1.316, 0.0], [0.0, 0.692]], [[2.895, -1.035], [-1.035, 2.524]],
                      [[0.27792, -0.09936], [-0.09936, 0.242304]], [0.573, 0.944],
                      ([1.0, 0.0], 0.545, {"stiffness": 29.629, "damping": 0.205}), [], 0.6, 2.3, 0.862, 0),
    "a doubled branch": ([[1.28]], [[3.105]], [[0.041]], [-0.243], ([1.0], 0.12, {"restitution": 0.306}),
                         [([1.0], 0.145)], 0.9, 1.2, 1.093, 1),
}

VALVE = """graze = 1
[model]
name = "equations"
parameters = {{ q = {q!r}, length = {length!r}, time = {time!r}, pressure = {pressure!r}, flow = {flow!r} }}
coordinates = ["y"]
velocities = ["v"]
states = ["p"]
force = {{ y = "length/time^2*(-1.25*v*time/length - (y/length + 10) + p/pressure)" }}
rate = {{ p = "pressure/time*20*(q/flow - y/length*sqrt(p/pressure))" }}
contact = [{{ gap = "y", restitution = 0.8 }}]
[initial]
state = [{start!r}, 0.0, 0.0]
[analysis]
name = "continue"
axis = {{ parameter = "q", from = {low!r}, to = {high!r} }}
map = "section"
coordinate = "v"
level = 0.0
direction = "down"
transient = 512
generations = 0
"""

BELT = """graze = 1
[model]
name = "equations"
parameters = {{ zeta = 0.03, v = {v}, f0 = {force}, fs = {limit}, d = {fall}, al = 0.1, w = {w} }}
coordinates = ["x"]
force = {{ x = "-2*zeta*w*x' - w^2*(x + al*x^3)" }}
friction = [{{ name = "belt", slip = "x' - v", amplitude = "f0/(1 + d*(x' - v)^2)", static = "fs" }}]
[initial]
state = [1.0, 0.0]
[analysis]
name = "continue"
axis = {{ parameter = "v", from = {low}, to = {high} }}
map = "section"
coordinate = "x_dot"
level = 0.0
direction = "down"
"""
RESONANCE = """graze = 1
[model]
name = "linear_stops"
omega = 3
mass = [[1]]
stiffness = [[1]]
damping = [[0.01]]
force = [{ cosine = [1] }]
stop = [{ normal = [1], position = 1000, restitution = 0.5 }]
[analysis]
name = "continue"
axis = { parameter = "omega", from = 0.3, to = 3 }
at = 3
transient = 2000
"""
SELF_EXCITED = """graze = 1
[model]
name = "equations"
parameters = { mu = 0.4, gap = 2.5, r = 0.7, k = 0.3, w2 = 1.6, z = 0.1, c = 0.05 }
coordinates = ["x", "y"]
force = { x = "mu*(1 - x^2)*x' - x - k*(x - y)", y = "-2*z*y' - w2*y + k*(x - y) - c*y^3" }
contact = [{ name = "wall", gap = "gap - x", restitution = "r" },
           { name = "ywall", gap = "0.6 + y", restitution = "r" }]
[initial]
state = [1.0, 0.0, 0.0, 0.0]
[analysis]
name = "continue"
axis = { parameter = "gap", from = 0.3, to = 3.0 }
map = "section"
coordinate = "x"
level = 0.0
direction = "up"
"""
BOB = """graze = 1
[model]
%s
eta = 0.5487
f1 = 0.5608
f2 = 0.1477
psi = 2.6741
zeta1 = 0.2942
zeta2 = 0.2415
kappa = 0.738
mass_ratio = 1.7584
clearance = 0.6061
mu = 1.0452
r = 0.3417
[analysis]
name = "continue"
axis = { parameter = "mu", from = 0.01, to = 2.0 }
at = 1.0452
generations = 0
"""
BOB_AS_TEXT = """name = "equations"
coordinates = ["theta", "x"]
parameters = { eta = 1, f1 = 1, f2 = 1, psi = 1, zeta1 = 1, zeta2 = 1, kappa = 1, mass_ratio = 1, clearance = 1, mu = 1, r = 1 }
mass = { theta = "mass_ratio" }
period = "2*pi/eta"
force.theta = "mass_ratio*(f1*cos(eta*t) - 2*zeta1*theta' - theta)"
force.x = "f2*cos(eta*t + psi) - 2*zeta2*kappa*x' - kappa^2*x"
contact = [{ gap = "clearance + x - sin(theta)", restitution = "r", mu = "mu", slip = "-sin(theta)*theta'" }]
"""


class Continue(CliTest):
    def branches(self, case, *options):
        """Of a run: ends of the first branch, its values of the parameter, and what is located."""
        self.graze("run", case, "-o", "out.h5", "--quiet", "--force", *options)
        with h5py.File(self.path("out.h5"), "r") as file:
            ends = [file[name].attrs["texts"].split("\n")[file[name][0]] for name in ("begins", "ends")]
            points = file[file.attrs["parameter"]][:file["points"][0]]
            kinds = file["bifurcation/kind"].attrs["flag_meanings"].split()
            located = [(kinds[k], v) for k, v in zip(file["bifurcation/kind"][()],
                                                     file["bifurcation/" + file.attrs["parameter"]][()])]
        return ends, points, located

    def test_oscillator(self):
        self.graze("run", OSCILLATOR, "-o", "out.h5", "--quiet")
        with h5py.File(self.path("out.h5"), "r") as file:
            names = file["bifurcation/kind"].attrs["flag_meanings"].split()
            kinds = [names[k] for k in file["bifurcation/kind"][()]]
            values = file["bifurcation/force_scale"][()]
        touch = min(abs(v - math.hypot(0.75, 0.05)) for k, v in zip(kinds, values) if k == "grazing")
        self.assertLess(touch, 1e-10)
        self.assertIn("fold", kinds)
        with xarray.open_dataset(self.path("out.h5")) as data:
            self.assertEqual(data.orbit_state.dims, ("point", "iterate", "state"))
            self.assertEqual(set(data.coords), {"branch", "force_scale", "state", "contact"})
            self.assertEqual(data.points.attrs["sample_dimension"], "point")
            self.assertEqual(list(data.points.values), list(np.bincount(data.branch)))
            branch = data.isel(point=data.branch.values == 0)
            self.assertEqual(float(branch.force_scale.min()), 0.3)
            self.assertEqual(float(branch.force_scale.max()), 1.2)
            self.assertTrue(np.all(data.residual < 1e-11))
            events = data.signature.attrs["texts"].split("\n")
            self.assertIn("impact(wall)", events[int(branch.signature.max())])
            self.assertIn("initial state", data.origin.attrs["texts"].split("\n")[int(data.origin[0])])
        text, _ = self.graze("info", "out.h5")
        self.assertIn("bifurcation points", text)
        text, _ = self.graze("info", "out.h5", "--csv")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([row["kind"] for row in rows], kinds)
        self.assertEqual([float(row["force_scale"]) for row in rows], list(values))
        self.graze("plot", "out.h5", "-o", "out.png")
        self.assertGreater(os.path.getsize(self.path("out.png")), 5000)

    def test_brute_force_agrees(self):
        """Below the fold the simulation does not hit, above the grazing amplitude it does."""
        for scale, hits in ((0.7515, False), (0.7525, True)):
            self.graze("run", OSCILLATOR, "-o", "sweep.h5", "--force", "--quiet", "--set",
                       'analysis={name="sweep", axis={parameter="force_scale", values=[%s]}}' % scale)
            with h5py.File(self.path("sweep.h5"), "r") as file:
                self.assertEqual(bool(file["impacts"][0, 0] > 0), hits)

    def test_stopped_and_gone_on_with(self):
        """Stopped by its time the run says so; the same command ends with the same bytes."""
        several = ("--set", "analysis.start='random'", "--set", "analysis.starts=3")
        self.graze("run", OSCILLATOR, "-o", "whole.h5", "--quiet", *several)
        _, told = self.graze("run", OSCILLATOR, "-o", "out.h5", "--max-time", "0.001", *several, code=75)
        self.assertIn("the same command resumes", told)
        self.graze("run", OSCILLATOR, "-o", "out.h5", "--quiet", *several)
        self.assertFalse(os.path.exists(self.path("out.h5.parts")))
        with h5py.File(self.path("whole.h5")) as whole, h5py.File(self.path("out.h5")) as out:
            arrays = []
            whole.visititems(lambda name, item: arrays.append(name) if isinstance(item, h5py.Dataset) else None)
            self.assertGreater(len(arrays), 20)
            for name in arrays:
                self.assertEqual(np.asarray(whole[name]).tobytes(), np.asarray(out[name]).tobytes(), name)

    def test_an_event_passes_the_beginning_of_an_orbit_without_forcing(self):
        """Where an orbit meets the section hangs on the section: its branch does not, and nothing ends there."""
        valve = os.path.join(CASES, "continue_relief_valve.toml")
        found = []
        for section in ('analysis.direction="down"', 'analysis.direction="up"', "analysis.level=-0.5"):
            ends, points, located = self.branches(valve, "--set", section, "--set", "analysis.generations=0")
            self.assertIn("end of the range", ends, section)
            self.assertEqual(points.min(), 4, section)
            self.assertNotIn("edge", dict(located), section)
            found.append([v for kind, v in located if kind in ("period_doubling", "grazing", "hopf")])
        for other in found[1:]:
            np.testing.assert_allclose(other, found[0], rtol=1e-8)
        self.write("case.toml", SELF_EXCITED)
        found = []
        for start in (("direction=\"up\"",), ("direction=\"down\"",), ("direction=\"up\"", "at=1.2")):
            ends, points, located = self.branches("case.toml", *(a for s in start for a in ("--set", "analysis." + s)))
            self.assertEqual(ends, ["end of the range"] * 2, start)
            found.append(sorted(located))
        for other in found[1:]:
            self.assertEqual([kind for kind, _ in other], [kind for kind, _ in found[0]])
            np.testing.assert_allclose([v for _, v in other], [v for _, v in found[0]], rtol=1e-7)

    def test_a_grazing_at_which_an_orbit_loses_periods_is_told(self):
        """Doubled orbits of the valve lose their impact where the single one touches the seat, whatever the section."""
        valve = os.path.join(CASES, "continue_relief_valve.toml")
        for section in (("y2", "0.0", "down"), ("y1", "3.0", "up")):
            keys = zip(("coordinate", "level", "direction"), section)
            _, _, located = self.branches(valve, "--set", "model.q=6", "--set", "analysis.at=6",
                                          "--set", 'analysis.axis={parameter="q", from=1, to=12}', "--set", "analysis.generations=0",
                                          *[word for key in keys for word in ("--set", "analysis.%s=%s" % key)])
            self.assertTrue(any(kind == "grazing" and abs(v - 7.557210972) < 1e-8 for kind, v in located), located)

    def test_a_bob_on_an_arm_and_its_equations(self):
        """The model and the same equations as text: the same located points, in the same order."""
        self.write("bob.toml", BOB % 'name = "oblique_pendulum"')
        self.write("text.toml", BOB % BOB_AS_TEXT)
        found = [self.branches(case)[2] for case in ("bob.toml", "text.toml")]
        self.assertEqual([kind for kind, _ in found[0]], ["reversal_border", "grazing", "fold", "slip_border"])
        self.assertEqual([kind for kind, _ in found[1]], [kind for kind, _ in found[0]])
        np.testing.assert_allclose([v for _, v in found[0]], [v for _, v in found[1]], rtol=1e-8)

    def test_broken_symmetry_comes_back(self):
        """Along the branch that has lost its symmetry the parameter turns where it meets the symmetric one: no fold."""
        found = []
        for at in ("0.2", "2.0"):
            _, _, located = self.branches(OSCILLATOR, "--set", (
                'model={name="impact_oscillator", b=0.1, stop=1.0, stop_low=-1.0, r=0.8, r_low=0.8, omega=0.8}'),
                "--set", 'analysis={name="continue", axis={parameter="F", from=0.1, to=3.0}, at=%s}' % at)
            found.append(located)
        crossings = [[v for kind, v in located if kind == "branch_point"] for located in found]
        self.assertTrue(all(crossings))
        for v in crossings[1]:
            self.assertTrue(np.min(np.abs(np.subtract(crossings[0], v))) < 1e-8, (v, crossings[0]))
            folds = [f for located in found for kind, f in located if kind == "fold"]
            self.assertTrue(np.all(np.abs(np.subtract(folds, v)) > 1e-4), (v, folds))

    def test_doubled_orbits_between_two_period_doublings_are_followed_once(self):
        """Where they are small beside the steps of the branch, too."""
        self.write("case.toml", """graze = 1
[model]
name = "equations"
parameters = { zeta = 0.05, eps = 0.4, alpha = 0.3, omega = 2.0, gap = 0.6, r = 0.7, f = 0.1 }
coordinates = ["x"]
force = { x = "f*cos(omega*t) - 2*zeta*x' - (1 + eps*cos(omega*t))*x - alpha*x^3" }
period = "2*pi/omega"
contact = [{ name = "wall", gap = "gap - x", restitution = "r" }]
[initial]
state = [0.1, 0.0]
[analysis]
name = "continue"
axis = { parameter = "omega", from = 1.2, to = 2.6 }
at = 1.5
""")
        _, _, located = self.branches("case.toml")
        self.assertEqual([kind for kind, _ in located].count("period_doubling"), 3)
        with h5py.File(self.path("out.h5"), "r") as file:
            self.assertEqual(len(file["points"]), 2)
            self.assertLess(file["points"][1], 2000)

    def test_a_branch_on_a_belt_in_other_units(self):
        """x(t) of natural frequency 1 is x(w t) of frequency w, speeds times w, accelerations times w^2."""
        found = []
        for w in (1, 3, 10, 30):
            self.write("belt.toml", BELT.format(w=w, v=0.3 * w, force=0.5 * w**2, limit=0.6 * w**2, fall=1.2 / w**2,
                                                low=0.05 * w, high=2 * w))
            ends, points, located = self.branches("belt.toml")
            self.assertEqual(ends, ["end of the range"] * 2, w)
            self.assertTrue(points.min() == 0.05 * w and points.max() == 2 * w, w)
            found.append([(kind, v / w) for kind, v in located])
        for other in found[1:]:
            self.assertEqual([kind for kind, _ in other], [kind for kind, _ in found[0]])
            np.testing.assert_allclose([v for _, v in other], [v for _, v in found[0]], rtol=1e-8)

    def test_a_valve_in_other_units(self):
        """Lifts of 1e-4 m, times of 1e-3 s and pressures of 1e6 Pa: the same points, from a pressure of zero, too."""
        found = []
        for length, time, pressure, flow in [(1, 1, 1, 1), (1e-4, 1e-3, 1e6, 1e-7), (1e-3, 1e-6, 1e5, 1e9)]:
            self.write("valve.toml", VALVE.format(length=length, time=time, pressure=pressure, flow=flow, q=8 * flow,
                                                  low=7 * flow, high=8.6 * flow, start=0.2 * length))
            ends, points, located = self.branches("valve.toml")
            self.assertEqual(ends, ["end of the range", "the orbit shrinks to rest"])
            self.assertLess(len(points), 200)
            with h5py.File(self.path("out.h5"), "r") as file:
                states = file["bifurcation/orbit_state"][()] / [length, length / time, pressure]
                found.append((located, states, file["bifurcation/orbit_time"][()] / time, flow))
        self.assertEqual([kind for kind, _ in found[0][0]], ["grazing", "hopf"])
        for located, states, times, flow in found[1:]:
            self.assertEqual([kind for kind, _ in located], ["grazing", "hopf"])
            np.testing.assert_allclose([q / flow for _, q in located], [q for _, q in found[0][0]], rtol=1e-10)
            np.testing.assert_allclose(states[:, [0, 2]], found[0][1][:, [0, 2]], rtol=1e-7)
            np.testing.assert_allclose(times, found[0][2], rtol=1e-7)

    def test_linear_systems_in_other_units(self):
        """Lengths of 1e-5 and times of 1e-3: the same points, whatever rounding makes of the way between them."""
        for name, system in CHAINS.items():
            found = []
            for length, time in [(1, 1), (1e-5, 1e-3)]:
                self.write("chain.toml", chain(*system, length, time))
                ends, _, located = self.branches("chain.toml")
                self.assertEqual(ends, ["end of the range"] * 2, name)
                found.append(sorted(v * time for _, v in located))
            np.testing.assert_allclose(found[1], found[0], rtol=1e-8, err_msg=name)
            self.assertGreater(len(found[0]), 2, name)
        self.assertTrue(any(kind == "fold" and abs(v * 1e-3 - 1.04381409) < 1e-7 for kind, v in located))

    def test_a_sharp_resonance(self):
        """A linear oscillator with a damping ratio of 0.005, from far off: to the end of the range in steps of the size
        of the orbit that is there; x = Re(1/(1 - w^2 + 0.01 i w)) at phase 0."""
        self.write("resonance.toml", RESONANCE)
        ends, w, _ = self.branches("resonance.toml")
        self.assertEqual(ends, ["end of the range"] * 2)
        self.assertLess(len(w), 1000)
        with h5py.File(self.path("out.h5"), "r") as file:
            np.testing.assert_allclose(file["orbit_state"][:, 0, 0], (1/(1 - w**2 + 0.01j*w)).real, atol=1e-9)

    def test_without_forcing(self):
        """The relief valve on a section: the Hopf point, grazing, a doubled branch; not on a stroboscopic map."""
        valve = os.path.join(CASES, "continue_relief_valve.toml")
        self.graze("run", valve, "-o", "out.h5", "--quiet", "--set", "analysis.generations=1")
        with h5py.File(self.path("out.h5"), "r") as file:
            names = file["bifurcation/kind"].attrs["flag_meanings"].split()
            kinds = [names[k] for k in file["bifurcation/kind"][()]]
            self.assertTrue({"hopf", "grazing", "period_doubling"} <= set(kinds), kinds)
            self.assertIn(2, file["forcing_periods"][()])
        self.refused("run", valve, "--set", "analysis.map='stroboscopic'", says=["analysis.map", "forced"])
        self.refused("run", OSCILLATOR, "--set", "analysis.map='impact'", "--set", "analysis.contact='wall'",
                     says=["analysis.map", "stroboscopic"])

    def test_format_version_1(self):
        """Branches in one group each, as version 1 has them: the same table, points and picture."""
        old = os.path.join(os.environ["GRAZE_SOURCE"], "tests", "format", "version_1.h5")
        text, _ = self.graze("info", old)
        with h5py.File(old, "r") as file:
            self.assertEqual(int(file.attrs["format_version"][0]), 1)
            self.assertGreater(len(file["branch"]), 1)
            for k, branch in file["branch"].items():
                q = branch["q"][()]
                self.assertIn(f"  {k}: q from {q.min():.8g} to {q.max():.8g}, {len(q)} points, ", text)
                for end in ("origin", "begins", "ends"):
                    self.assertIn(branch.attrs[end], text)
            located = file["bifurcation/q"][()]
        text, _ = self.graze("info", old, "--csv")
        self.assertEqual([float(row["q"]) for row in csv.DictReader(io.StringIO(text))], list(located))
        self.graze("plot", old, "-o", "old.png")
        self.assertGreater(os.path.getsize(self.path("old.png")), 5000)
        self.assertIn("version 1", self.graze("info", old, "--verify", code=2)[1])

    def test_refusals(self):
        self.refused("run", OSCILLATOR, "--set", "analysis.axis.from=2", says=["analysis.axis.from", "less than"])
        self.refused("run", OSCILLATOR, "--set", "analysis.axis.parameter='force_scal'", says=["force_scale"])
        self.refused("run", OSCILLATOR, "--set", "analysis.start='from_sweep'", says=["analysis.start", "sweep"])
        self.refused("run", OSCILLATOR, "--set", "analysis.sweep='none.h5'", says=["none.h5", "no such file"])

    def test_a_sweep_lies_beside_the_case(self):
        """The name in the case is relative to the folder of the case; else to the current folder, as is one of --set."""
        os.makedirs(self.path("cases"))
        self.graze("run", os.path.join(CASES, "quickstart.toml"), "-o", "cases/sweep.h5", "--quiet", "--set", "analysis.axis.points=3")
        with open(os.path.join(CASES, "continue_two_dof.toml"), encoding="utf-8") as file:
            self.write("cases/branches.toml", file.read().replace("out/quickstart.h5", "sweep.h5"))
        self.graze("check", "cases/branches.toml")
        self.refused("check", "cases/branches.toml", "--set", "analysis.sweep=sweep.h5", says=["sweep.h5"])
        os.rename(self.path("cases/sweep.h5"), self.path("sweep.h5"))
        self.graze("check", "cases/branches.toml")
        self.refused("run", OSCILLATOR, "--set", "analysis.at=7", says=["analysis.at"])

    def test_branch_through_jump_maps(self):
        """Rocking loses no volume but at its impacts, r^2 at each of two in a period: the product of the multipliers."""
        case = os.path.join(CASES, "rocking_block.toml")
        self.graze("run", case, "-o", "sweep.h5", "--quiet", "--set", "analysis.axis.to=1.0",
                   "--set", "analysis.axis.points=3")
        self.graze("run", case, "-o", "out.h5", "--quiet", "--set",
                   'analysis={name="continue", axis={parameter="beta", from=0.4, to=1.2}, at=0.5}')
        with h5py.File(self.path("out.h5"), "r") as file:
            self.assertEqual(file["signature"].attrs["texts"].split("\n")[0], "1: jump(left) jump(right)")
            multipliers = file["multiplier_re"][()] + 1j * file["multiplier_im"][()]
            np.testing.assert_allclose(multipliers[:, 0] * multipliers[:, 1], 0.925**4, rtol=1e-9)
            np.testing.assert_allclose(multipliers[:, 2], 0, atol=1e-12)
            along = file["beta"][()]
            order = np.argsort(along)
            mean = np.interp(0.75, along[order], file["work_mean"][()][order])
        with h5py.File(self.path("sweep.h5"), "r") as file:
            np.testing.assert_array_equal(file["jumps"][()], 1)
            self.assertAlmostEqual(file["work_mean"][1], mean, delta=1e-3 * abs(mean))


if __name__ == "__main__":
    unittest.main()
