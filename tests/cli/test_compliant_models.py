"""Systems with compliant stops of the literature: every analysis runs on each of them, in short cases."""

import os

import h5py
import numpy as np

from support.graze_cli import CliTest, main

CASES = os.path.join(os.environ["GRAZE_SOURCE"], "data", "cases")
# case: two parameters with their ranges; two states to vary
MODELS = {
    "soft_oscillator": (("omega", 0.75, 0.87), ("beta", 20, 40), ("x1", -1, 1), ("v1", -1, 1)),
    "bilinear_oscillator": (("omega", 0.8, 1.4), ("zeta", 0.02, 0.1), ("x", -1, 0), ("x_dot", -1, 1)),
    "backlash": (("omega", 0.9, 1.3), ("F0", 0.1, 0.4), ("x1", -1, 1), ("v1", -1, 1)),
    "soft_chain": (("omega", 0.8, 1.6), ("gap", 0.05, 0.3), ("x1", -0.5, 0.5), ("x2", -0.5, 0.5)),
    "drifting_oscillator": (("b", 0.12, 0.17), ("a", 0.28, 0.32), ("x1", -1, 0), ("v1", -0.5, 0.5)),
    "vibro_impact_capsule": (("omega", 0.9, 1.1), ("alpha", 1.4, 1.8), ("x1", -0.5, 0), ("x1_dot", -1, 1)),
}


def axis(entry, points, key="parameter"):
    name, low, high = entry
    count = "" if points is None else f", points = {points}"
    return f'{{ {key} = "{name}", from = {low}, to = {high}{count} }}'


def table(keys):
    return "analysis={ " + ", ".join(f"{key} = {value}" for key, value in keys.items()) + " }"


class CompliantModels(CliTest):
    def analysed(self, case, file, **keys):
        self.graze("run", os.path.join(CASES, case + ".toml"), "-o", file, "--quiet", "--set", table(keys))
        return h5py.File(self.path(file), "r")

    def test_every_analysis_runs(self):
        for case, (first, second, x, y) in MODELS.items():
            with self.subTest(case=case):
                name = case
                with self.analysed(case, f"{name}_sweep.h5", name='"sweep"', axis=axis(first, 4), transient=200,
                                   record=32) as file:
                    np.testing.assert_array_equal(file["outcome"][()], 0)
                    periodic = file["period"][()] > 0
                    self.assertTrue(np.any(periodic))
                    self.assertTrue(np.any(file["peak_force"][()] > 0))
                with self.analysed(case, f"{name}_map.h5", name='"sweep"', axis=axis(first, 3), axis2=axis(second, 3),
                                   transient=100, record=32) as file:
                    self.assertEqual(file["period"].shape, (3, 3))
                    np.testing.assert_array_equal(file["outcome"][()], 0)
                with self.analysed(case, f"{name}_basins.h5", name='"basins"', axis=axis(x, 3, "state"),
                                   axis2=axis(y, 3, "state"), transient=100) as file:
                    self.assertGreaterEqual(file["basin"][()].max(), 0)
                follow = {"name": '"continue"', "axis": axis(first, None), "branches": 2, "at": first[1]}
                for start in ({}, {"start": '"from_sweep"', "sweep": f'"{name}_sweep.h5"'}):
                    with self.analysed(case, f"{name}_{len(start)}.h5", **follow, **start) as file:
                        self.assertGreaterEqual(len(file["outcome"]), 1)
                        self.assertGreater(len(file["orbit_time"]), 3)
                        self.assertLess(np.max(file["residual"][()]), 1e-9)

    def test_a_rod_that_sticks_forgets_how_fast_it_slid(self):
        """A velocity along the ground is gone within an iterate: no multiplier is 1, whatever the derivatives say."""
        self.write("case.toml", """graze = 1
[model]
name = "rod_on_ground"
stiffness = 1e6
damping = 10.0
mu = 0.3
ground_frequency = 150.0
[initial]
y_c = 0.001
[analysis]
name = "sweep"
axis = { parameter = "Gamma", values = [0.2, 0.5, 0.8] }
""")
        self.graze("run", "case.toml", "-o", "rod.h5", "--quiet")
        with h5py.File(self.path("rod.h5"), "r") as file:
            np.testing.assert_array_equal(file["stick_fraction_all"][()], 1)
            sizes = np.abs(file["multiplier_re"][()] + 1j * file["multiplier_im"][()])
            self.assertLess(np.nanmax(sizes), 0.5)
            self.assertLess(file["lyapunov"][()].max(), -1)

    def test_loads_of_contacts_that_are_not_linear(self):
        """gear_pair: of a mesh without damper the force is at most (1 + kappa) times the greatest depth."""
        with self.analysed("gear_pair", "loads.h5", name='"impacts"', axis=axis(("omega", 0.8, 1.0), 2),
                           end_time=40) as file:
            force, depth = file["peak_force"][()], file["greatest_penetration"][()]
            self.assertTrue(np.all(file["contact_time"][()] > 0))
            self.assertTrue(np.all(file["impulse"][()] > 0))
            self.assertTrue(np.all((force > 0.8 * depth) & (force < 1.2 * depth)))
            np.testing.assert_array_equal(file["damping_work"][()], 0)
        with self.analysed("gear_pair", "forces.h5", name='"sweep"', axis=axis(("omega", 0.8, 1.0), 2),
                           transient=100) as file:
            drive = file["peak_force"][:, 0]
            self.assertTrue(np.all(drive > 0))


if __name__ == "__main__":
    main()
