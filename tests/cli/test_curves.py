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


TWO_MASSES = """graze = 1
[model]
name = "equations"
parameters = { k2 = 1.7, m2 = 0.6, kc = 0.15, F = 0.5, omega = 1.0, gap = 0.5, r = 0.6 }
coordinates = ["x", "y"]
mass.y = "m2"
force.x = "F*cos(omega*t) - 0.16*x' - x - 0.5*x^3 - kc*(x - y)"
force.y = "0.3*F*sin(omega*t) - 0.12*y' - k2*y - 0.8*y^3 + kc*(x - y)"
period = "2*pi/omega"
contact = [{ name = "hit", gap = "gap + y - x", restitution = "r" }]
[initial]
state = [0.1, 0.0, 0.0, 0.0]
"""
SOFT_AND_HARD = """graze = 1
[model]
name = "equations"
parameters = { z = 0.0663, al = 0.7155, F = 0.3, omega = 0.7727, gap = 0.5085, K = 23.333, c = 0.7661, b = 0.1512 }
coordinates = ["x"]
force = { x = "F*cos(omega*t) - 2*z*x' - x - al*x^3 + b*x^2" }
period = "2*pi/omega"
contact = [{ name = "soft", gap = "gap - x", stiffness = "K", damping = "c" },
           { name = "rig", gap = "x + 1.3*gap", restitution = "0.7" }]
"""
BELT = """graze = 1
[model]
name = "equations"
parameters = { z = 0.04, v = 0.4, f0 = 0.4, f1 = 0.3, al = 0.2, k2 = 1.3, kc = 0.4, gap = 0.9, K = 8, c = 0.2 }
coordinates = ["x", "y"]
force = { x = "-2*z*x' - x - al*x^3 - kc*(x-y)", y = "-2*z*y' - k2*y - kc*(y-x)" }
contact = [{ name = "soft", gap = "gap - y", stiffness = "K", damping = "c" }]
friction = [{ name = "belt", slip = "x' - v", amplitude = "f0 + f1*exp(-3*(x'-v)^2)", static = "f0+f1" }]
[initial]
state = [1.0, 0.0, 0.0, 0.0]
"""
VAN_DER_POL = """graze = 1
[model]
name = "equations"
parameters = { mu = 0.5, gap = 2.2, r = 0.5, b = 0.1 }
coordinates = ["x"]
force = { x = "mu*(1 - x^2)*x' - x - b*x^2" }
contact = [{ name = "wall", gap = "gap - x", restitution = "r" }]
[initial]
state = [1.0, 0.0]
"""

VALVE = """graze = 1
[model]
name = "relief_valve"
[initial]
state = [0.2, 0.0, 0.0]
[analysis]
name = "curves"
axis = { parameter = "q", from = 7.0, to = 12.0 }
axis2 = { parameter = "k", from = 0.9, to = 2.0 }
start = "state"
switch = true
transient = 1024
map = "section"
"""
BOB = """graze = 1
[model]
name = "oblique_pendulum"
f1 = 0.5
f2 = 0.3
zeta1 = 0.15
zeta2 = 0.1
kappa = 1.5
mu = 0.0
eta = 0.7
clearance = 1.5
[analysis]
name = "curves"
axis = { parameter = "clearance", from = 0.1, to = 1.6 }
axis2 = { parameter = "eta", from = 0.3, to = 0.8 }
start = "state"
kinds = ["grazing"]
"""
RUBBING = """graze = 1
[model]
name = "equations"
parameters = { omega = 1.3, vb = 0.2 }
coordinates = ["x", "y"]
mass = { y = 0.7 }
force = { x = "cos(omega*t) - 0.06*x' - x - 0.2*(x - y)", y = "0.3*sin(omega*t) - 0.2*(y - x) - 0.8*y - 0.06*y'" }
period = "2*pi/omega"
contact = [{ gap = "0.2 - x", stiffness = 40, damping = 0.5, mu = 0.1, slip = "y' - vb", release = "force" }]
[analysis]
name = "curves"
kinds = ["period_doubling"]
step = 0.04
axis = { parameter = "omega", from = 1.2, to = 2.8 }
axis2 = { parameter = "vb", from = 0, to = 0.6 }
"""
SECTIONS = [{"coordinate": "y2", "level": 0.0, "direction": "down"},
            {"coordinate": "y1", "level": 2.0, "direction": "up"}]


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

    def test_limits(self):
        """What the limits of a search leave undone is told; none: nothing is left."""
        with open(OSCILLATOR) as file:
            case = file.read()
        for limit, curves, left in (("", 3, None),
                                    ("curves = 1", 1, "as many curves as allowed"),
                                    ("seconds = 1e-9", 0, "the time allowed is used up")):
            self.write("case.toml", case + limit + "\n")
            self.graze("run", "case.toml", "-o", "out.h5", "--force", "--quiet", code=3 if curves == 0 else 0)
            text, _ = self.graze("info", "out.h5")
            with h5py.File(self.path("out.h5")) as file:
                self.assertEqual("left" in file.attrs, left is not None, limit)
                if left is None:
                    self.assertGreaterEqual(len(file["kind"]), curves)
                    continue
                self.assertEqual(len(file["kind"]), curves)
                self.assertRegex(file.attrs["left"],
                                 r"^\d+ starts and \d+ points of codimension two not followed: " + left + "$")
                self.assertIn(file.attrs["left"], text)

    def curves_of(self, model, branches, curves, section=""):
        """From the points of a continuation: both tables without name and section."""
        self.write("branches.toml", model + '[analysis]\nname = "continue"\n' + branches + section)
        self.graze("run", "branches.toml", "-o", "branches.h5", "--quiet", "--force")
        self.write("curves.toml", model + '[analysis]\nname = "curves"\nstart = "from_continue"\n'
                   'branches = "branches.h5"\n' + curves + section)
        self.graze("run", "curves.toml", "-o", "out.h5", "--quiet", "--force")
        return h5py.File(self.path("out.h5"))

    def test_no_third_derivative_is_taken_across_a_reversal(self):
        """Between two reversals of the slip at a soft wall the map is smooth: the coefficient keeps its sign there."""
        self.write("rubbing.toml", RUBBING)
        self.graze("run", "rubbing.toml", "-o", "out.h5", "--quiet")
        with h5py.File(self.path("out.h5")) as file:
            self.assertEqual(["period_doubling"] * 2, [c.attrs["kind"] for c in file["curve"].values()])
            self.assertEqual(0, len(file["codim2/kind"]))

    def test_neimark_sacker_curves_end_where_the_pair_leaves_the_circle(self):
        """At 1:1 and 1:2: behind lie real multipliers of product one, which are no Neimark-Sacker points."""
        with self.curves_of(TWO_MASSES, 'axis = { parameter = "F", from = 0.02, to = 2.0 }\nat = 0.1\ngenerations = 2\n',
                            'axis = { parameter = "F", from = 0.1, to = 0.2 }\n'
                            'axis2 = { parameter = "omega", from = 0.98, to = 1.1 }\n'
                            'kinds = ["fold"]\nswitch = true\n') as file:
            found = [c for c in file["curve"].values() if c.attrs["kind"] == "neimark_sacker"]
            self.assertGreater(len(found), 0)
            for curve in found:
                multipliers = curve["multiplier_re"][()] + 1j * curve["multiplier_im"][()]
                product = np.abs(multipliers[:, :, None] * multipliers[:, None, :] - 1) < 1e-6
                conjugate = np.abs(multipliers[:, :, None] - np.conj(multipliers[:, None, :])) < 1e-6
                on_circle = np.abs(np.abs(multipliers) - 1) < 1e-6
                self.assertTrue(np.all(np.any(product & conjugate & on_circle[:, :, None], axis=(1, 2))))
                self.assertTrue(any("resonance_1_1" in curve.attrs[end] for end in ("begins", "ends")))

    def test_closed_curves_are_told_once(self):
        """Any line through the inside is crossed twice by a convex one."""
        with self.curves_of(SOFT_AND_HARD, 'axis = { parameter = "F", from = 0.03, to = 1.5 }\nat = 0.1\n',
                            'axis = { parameter = "F", from = 0.03, to = 1.5 }\n'
                            'axis2 = { parameter = "omega", from = 0.72, to = 1.0 }\n'
                            'kinds = ["period_doubling"]\n') as file:
            closed = [c for c in file["curve"].values() if c.attrs["begins"] == "the curve is closed"]
            self.assertEqual(len(closed), 1)
            self.assertEqual(closed[0].attrs["ends"], "the curve is closed")
            beyond = closed[0]["omega"][()] > 0.8
            self.assertEqual(np.count_nonzero(beyond[1:] != beyond[:-1]), 2)

    def test_no_resonance_in_the_plane_without_forcing(self):
        """The return map of a planar flow is monotone: its only multiplier is positive; a touch shifts time only."""
        with self.curves_of(VAN_DER_POL, 'axis = { parameter = "gap", from = 0.3, to = 3.0 }\nat = 2.5\n',
                            'axis = { parameter = "gap", from = 0.3, to = 3.0 }\n'
                            'axis2 = { parameter = "mu", from = 0.1, to = 2.0 }\nswitch = true\n',
                            'map = "section"\ncoordinate = "x"\nlevel = 0.0\ndirection = "up"\n') as file:
            self.assertEqual([c.attrs["kind"] for c in file["curve"].values()], ["grazing"])
            self.assertEqual(len(file["codim2/kind"]), 0)

    def test_without_forcing_from_any_section(self):
        """The orbit of a relief valve at its seat, begun elsewhere: the same curves. Folds of the orbits that miss the
        seat end where both its amplitude and the damping of the state at rest vanish."""
        self.write("valve.toml", VALVE)
        found = []
        for section in SECTIONS:
            self.graze("run", "valve.toml", "-o", "out.h5", "--force", "--quiet",
                       *[word for key in section.items() for word in ("--set", "analysis.%s=%s" % key)])
            with h5py.File(self.path("out.h5")) as file:
                kinds = file["start/kind"].attrs["flag_meanings"].split()
                without = {kinds[k] for k, curve in zip(file["start/kind"][()], file["start/curve"][()]) if curve < 0}
                self.assertLessEqual(without, {"hopf"})
                found.append({c.attrs["kind"]: c["k"][()][np.argsort(c["q"][()])] for c in file["curve"].values()})
                folds = [c for c in file["curve"].values() if c.attrs["kind"] == "fold"]
                self.assertEqual(len(folds), 1)
                ends = [folds[0].attrs["begins"], folds[0].attrs["ends"]]
                self.assertIn("the orbit shrinks to rest", ends)
                q, k = (folds[0][name][()][-ends.index("the orbit shrinks to rest")] for name in "qk")
                kinds = file["codim2/kind"].attrs["flag_meanings"].split()
                self.assertEqual(sorted(kinds[i] for i in file["codim2/kind"][()]),
                                 ["cusp", "grazing_fold", "grazing_fold"])
            lift = np.roots([1, 10, 0, -q * q]).real.max()  # lift*sqrt(lift + 10) = q
            pressure = lift + 10
            at_rest = [[0, 1, 0], [-1, -k, 1], [-20 * np.sqrt(pressure), 0, -10 * lift / np.sqrt(pressure)]]
            self.assertLess(abs(np.linalg.eigvals(at_rest).real.max()), 1e-6)
        self.assertEqual(set(found[0]), set(found[1]))

    def test_grazings_of_a_bob_on_an_arm(self):
        """Without impacts both bodies move as cosines: the bob grazes where the clearance is the greatest of
        sin(theta) - x."""
        self.write("bob.toml", BOB)
        self.graze("run", "bob.toml", "-o", "out.h5", "--quiet")
        with h5py.File(self.path("out.h5")) as file:
            first = file["start/curve"][()][np.argmax(file["start/clearance"][()])]
            curve = file[f"curve/{first}"]
            self.assertGreater(len(curve["eta"]), 20)
            eta = curve["eta"][()][:, None]
            turn = np.exp(1j * np.linspace(0, 2 * np.pi, 4001))
            theta = (0.5 / (1 - eta**2 + 0.3j * eta) * turn).real
            block = (0.3 / (2.25 - eta**2 + 0.3j * eta) * turn).real
            np.testing.assert_allclose(curve["clearance"], (np.sin(theta) - block).max(axis=1), atol=2e-6)

    def test_spectral_curves_have_their_multiplier(self):
        """On folds one is 1, on period doublings -1: also beside a slip border, where equations lose an event."""
        with self.curves_of(BELT, 'axis = { parameter = "v", from = 0.05, to = 1.2 }\n',
                            'axis = { parameter = "v", from = 0.05, to = 1.2 }\n'
                            'axis2 = { parameter = "z", from = 0.0, to = 0.15 }\nswitch = true\n',
                            'map = "section"\ncoordinate = "x_dot"\nlevel = 0.0\ndirection = "down"\n') as file:
            kinds = [c.attrs["kind"] for c in file["curve"].values()]
            self.assertTrue({"slip_border", "grazing", "fold"} <= set(kinds), kinds)
            for curve in file["curve"].values():
                value = {"fold": 1, "period_doubling": -1}.get(curve.attrs["kind"])
                if value is None:
                    continue
                multipliers = curve["multiplier_re"][()] + 1j * curve["multiplier_im"][()]
                self.assertLess(np.nanmin(np.abs(multipliers - value), axis=1).max(), 1e-4)

    def test_folds_end_where_a_stick_begins(self):
        """A flow in the plane has no other bifurcations of orbits; with a stick its multiplier is 0. The end, where
        the greatest velocity is the belt's, by shooting with DOP853 in closed orbits of multiplier 1."""
        self.write("case.toml", """graze = 1
[model]
name = "equations"
parameters = { zeta = 0.1, vb = 0.5 }
coordinates = ["x"]
force = { x = "-2*zeta*x' - x" }
friction = [{ name = "belt", slip = "x' - vb", amplitude = "0.5 + 0.5/(1 + 3*(x' - vb)^2)" }]
[initial]
state = [1.2, 0.0]
[analysis]
name = "curves"
map = "section"
coordinate = "x_dot"
level = 0
direction = "down"
axis = { parameter = "vb", from = 0.05, to = 3 }
axis2 = { parameter = "zeta", from = 0.03, to = 0.4 }
start = "state"
switch = true
""")
        self.graze("run", "case.toml", "-o", "out.h5", "--quiet")
        with h5py.File(self.path("out.h5")) as file:
            folds = [c for c in file["curve"].values() if c.attrs["kind"] != "slip_border"]
            self.assertEqual([c.attrs["kind"] for c in folds], ["fold"])
            self.assertLess(np.abs(folds[0]["multiplier_re"][:, 0] - 1).max(), 1e-4)
            self.assertEqual(folds[0].attrs["begins"], "stick_corner of friction belt")
            np.testing.assert_allclose([folds[0]["vb"][0], folds[0]["zeta"][0]], [1.513710, 0.0752420], atol=1e-6)

    def test_where_two_stops_are_touched(self):
        """A diagram over force and offset is its own mirror image: x is -x, half a period later, at the other stop."""
        self.write("case.toml", """graze = 1
[model]
name = "impact_oscillator"
b = 0.1
stop = 1.0
stop_low = -1.0
r = 0.6
r_low = 0.6
omega = 1.7
F = 0.5
offset = 0.3
[analysis]
name = "curves"
axis = { parameter = "F", from = 0.1, to = 4 }
axis2 = { parameter = "offset", from = -0.5, to = 0.5 }
start = "state"
kinds = ["grazing"]
switch = true
""")
        self.graze("run", "case.toml", "-o", "out.h5", "--quiet")
        other = {"stop": "stop_low", "stop_low": "stop", "": ""}
        with h5py.File(self.path("out.h5")) as file:
            curves = [(c.attrs["kind"], c.attrs["contact"], tuple(c["impacts"][0]), c["F"][()], c["offset"][()])
                      for c in file["curve"].values()]
            for kind, contact, hits, force, offset in curves:
                ends = np.array([force[[0, -1]], -offset[[0, -1]]])
                self.assertTrue(any(kind == k and contact == other[c] and hits == h[::-1] and
                                    any(np.allclose([f[order], o[order]], ends, atol=1e-8) for order in ([0, -1], [-1, 0]))
                                    for k, c, h, f, o in curves), (kind, contact, hits))
            free = [c for c in curves if c[2] == (0, 0)]
            self.assertEqual(sorted(c[1] for c in free), ["stop", "stop_low"])
            for _, contact, _, force, offset in free:
                room = 1 - offset if contact == "stop" else 1 + offset
                np.testing.assert_allclose(force, room * amplitude(1.7, 0.1), atol=1e-10)

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
        self.graze("run", CHART, "-o", "none.h5", "--quiet", *coarse, "--set", "analysis.axis2.from=0.01",
                   "--set", "analysis.axis2.to=0.02")  # touches nothing
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
