"""The package graze computes what the program writes: the same arrays, dimensions, units and texts, from a file, a text,
a dictionary or keywords. Settings that break a rule raise the program's own message."""

import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings

import h5py
import numpy as np
import xarray

import graze
from graze import _graze

GRAZE = os.environ["GRAZE"]
CASES = pathlib.Path(os.environ["GRAZE_SOURCE"]) / "data/cases"

# A case of every shape that a result has, and what makes it small.
SMALL = {
    "quickstart": {"analysis.axis.points": 15},
    "coexistence": {"analysis.axis.points": 7},  # with two starts
    "mass_ratio_map": {"analysis.axis.points": 5, "analysis.axis2.points": 4},
    "basins": {"analysis.axis.points": 9, "analysis.axis2.points": 8},
    "own_system": {"analysis.axis.points": 5},
    "duffing_impact": {"analysis.axis.points": 4},  # a model that is a file
    "rod_impact": {},
    "planar_convergence": {"analysis.axis.points": 3},
    "soft_oscillator": {"analysis.axis.points": 20},
    "continue_oscillator": {},
    "periodic_sticking": {},
}
OF_THE_FILE = {"created", "hostname", "git_sha1", "command_line", "digest", "filetype", "format_version", "threads"}


def written(folder, case, settings):
    """The result file of the program."""
    path = pathlib.Path(folder) / "result.h5"
    options = [word for text in graze._cases._overrides(settings) for word in ("--set", text)]
    subprocess.run([GRAZE, "run", case, "--quiet", "--force", "-o", path, *options], check=True)
    return path


def groups_of(path):
    names = ["/"]
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, item: names.append("/" + name) if isinstance(item, h5py.Group) else None)
    return names


def as_dictionary(result):
    return {"/": result} if isinstance(result, xarray.Dataset) else result


class SameAsTheProgram(unittest.TestCase):
    def assert_same(self, ours, theirs, where):
        self.assertEqual(dict(theirs.sizes), dict(ours.sizes), where)
        self.assertEqual(set(theirs.variables), set(ours.variables), where)
        self.assertEqual(set(theirs.coords), set(ours.coords), where)
        for name in theirs.variables:
            place = f"{where}: {name}"
            self.assertEqual(theirs[name].dims, ours[name].dims, place)
            self.assertEqual(theirs[name].dtype, ours[name].dtype, place)
            np.testing.assert_array_equal(ours[name].values, theirs[name].values, place)
            self.assertEqual(set(theirs[name].attrs), set(ours[name].attrs), place)
            for key, value in theirs[name].attrs.items():
                np.testing.assert_array_equal(ours[name].attrs[key], value, f"{place}: {key}")
                self.assertEqual(np.asarray(value).dtype, np.asarray(ours[name].attrs[key]).dtype, f"{place}: {key}")

    def test_every_array_of_every_shape(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, settings in SMALL.items():
                with self.subTest(case=name):
                    case = CASES / f"{name}.toml"
                    file = written(folder, case, settings)
                    result = as_dictionary(graze.run(case, settings=settings))
                    self.assertEqual(sorted(groups_of(file)), sorted(result))
                    for group, ours in result.items():
                        with xarray.open_dataset(file, group=None if group == "/" else group) as theirs:
                            self.assert_same(ours, theirs.load(), f"{name}{group}")
                    with xarray.open_dataset(file) as theirs:
                        attributes = {key: value for key, value in theirs.attrs.items() if key not in OF_THE_FILE}
                        told = {key: value for key, value in result["/"].attrs.items() if key not in OF_THE_FILE}
                        self.assertEqual(attributes, told)

    def test_no_array_is_copied(self):
        result = graze.run(CASES / "quickstart.toml", settings=SMALL["quickstart"])
        for name in result.data_vars:
            values = result[name].variable._data
            self.assertIsInstance(values, np.ndarray)
            self.assertEqual("PyCapsule", type(values.base).__name__, name)  # the library's own memory
        kept = result.map_state.values
        first = kept.copy()
        del result
        np.testing.assert_array_equal(first, kept)  # which lives as long as the array does

    def test_any_number_of_threads(self):
        one, three = (graze.run(CASES / "coexistence.toml", settings=SMALL["coexistence"], threads=n) for n in (1, 3))
        self.assertEqual(("1", "3"), (one.attrs["threads"], three.attrs["threads"]))
        xarray.testing.assert_identical(one.assign_attrs(threads=""), three.assign_attrs(threads=""))


class WaysToSayIt(unittest.TestCase):
    """A file, a text, a dictionary and keywords say the same."""

    settings = {"analysis.axis.points": 5, "analysis.transient": 20}

    def setUp(self):
        self.text = (CASES / "quickstart.toml").read_text(encoding="utf-8")
        self.values = np.array([0.1 + 1.4 * k / 4 for k in range(4)] + [1.5])  # as the program spaces them

    def test_text_file_and_dictionary(self):
        case = {"title": "Two masses, stops on opposite sides",
                "model": {"name": "two_dof_stops", "d1": np.float64(-0.3), "d2": 0.1},
                "analysis": {"name": "sweep", "map": "stroboscopic", "transient": np.int64(20), "record": 64,
                             "axis": {"parameter": "delta", "from": 0.1, "to": 1.5, "points": 5}}}
        by_file = graze.run(str(CASES / "quickstart.toml"), settings=self.settings)
        for other in (graze.run(self.text, settings=self.settings), graze.run(case)):
            xarray.testing.assert_equal(by_file, other)
            self.assertEqual(by_file.attrs["identity"], other.attrs["identity"])

    def test_keywords(self):
        by_file = graze.run(self.text, settings=self.settings)
        other = graze.sweep("two_dof_stops", delta=self.values, d1=-0.3, d2=0.1, transient=20)
        xarray.testing.assert_equal(by_file, other)
        again = graze.run(other.attrs["case_toml"])  # what a result says of its case is its case
        self.assertEqual(other.attrs["identity"], again.attrs["identity"])

    def test_two_axes_are_a_map_in_their_order(self):
        result = graze.sweep("two_dof_stops", r1=[0.7, 0.8], delta=np.linspace(0.6, 0.7, 3), transient=5, record=20)
        self.assertEqual(("r1", "delta"), result.attractor.dims)

    def test_axis_as_a_table(self):
        axis = {"parameter": "delta", "from": 0.1, "to": 1.5, "points": 5}
        xarray.testing.assert_equal(graze.run(self.text, settings=self.settings),
                                    graze.sweep("two_dof_stops", axis=axis, d1=-0.3, d2=0.1, transient=20))

    def test_basins(self):
        grid = np.linspace(-2, 0, 6), np.linspace(-2, 2, 5)
        result = graze.basins("impact_oscillator", x=grid[0], v=grid[1], omega=2.55, transient=50)
        self.assertEqual({"x": 6, "v": 5}, {name: result.sizes[name] for name in result.basin.dims})
        np.testing.assert_array_equal(grid[0], result.x)
        self.assertEqual(30, int(result.basin_points.sum()))

    def test_simulate(self):
        # A ball that falls from a height of 2 meets the floor after the time sqrt(2 h / g), at sqrt(2 g h).
        motion = graze.simulate("bouncing_ball", end_time=4.0, samples=10, initial=[2.0, 0.0], Gamma=0.0, gravity=1.0)
        first = int(np.flatnonzero(motion.event_kind == graze.flags(motion.event_kind).index("impact"))[0])
        self.assertAlmostEqual(2.0, float(motion.event_time[first]), delta=1e-12)
        self.assertAlmostEqual(2.0, float(motion.event_approach_speed[first]), delta=1e-12)
        self.assertIn("event_time", motion.coords)

    def test_initial_by_name(self):
        by_name = graze.simulate("two_dof_stops", periods=1, initial={"x2": 0.1, "time": 1.0}, samples=5)
        np.testing.assert_array_equal([0, 0, 0.1, 0] if graze.System("two_dof_stops").states[2] == "x2" else
                                      [0, 0.1, 0, 0], by_name.state[0])
        self.assertEqual(1.0, float(by_name.time[0]))

    def test_continue(self):
        result = graze.continue_("impact_oscillator", omega=(2.0, 3.0), at=2.2, b=0.1, stop=0.1, points=40)
        self.assertIn("/bifurcation", result)
        names = graze.flags(result["/bifurcation"].kind)
        self.assertIn("period_doubling", [names[k] for k in result["/bifurcation"].kind.values])

    def test_curves(self):
        """The grazing curve of the oscillator without impacts: F = stop sqrt((1 - omega^2)^2 + (b omega)^2)."""
        result = graze.curves("impact_oscillator", F=(0.01, 1.5), omega=(0.6, 2.4), at={"F": 0.3, "omega": 1.3},
                              kind="grazing", b=0.05, stop=1.0, r=0.8)
        curve = result["/curve/0"]
        self.assertGreater(curve.sizes["point"], 10)
        w = curve.omega.values
        np.testing.assert_allclose(curve.F.values, np.hypot(1 - w**2, 0.05 * w), rtol=1e-10)

    def test_functions_have_the_keys_of_their_analyses(self):
        import inspect

        for function, analysis in ((graze.sweep, "sweep"), (graze.basins, "basins"), (graze.simulate, "simulate"),
                                   (graze.continue_, "continue"), (graze.curves, "curves")):
            given = {name for name, p in inspect.signature(function).parameters.items()
                     if p.kind is p.KEYWORD_ONLY} - {"initial", "tolerance", "seed", "title", "observables", "threads",
                                                     "progress"}
            if analysis == "curves":
                given.remove("at")
            self.assertEqual(set(_graze.analysis_keys(analysis)), given, analysis)


class Errors(unittest.TestCase):
    """Nothing is computed of a case that breaks a rule; the message names the place, the value and the rule."""

    def program_says(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "case"
            path.write_text(text, encoding="utf-8")
            result = subprocess.run([GRAZE, "check", "case"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(2, result.returncode)
            return result.stderr.removeprefix("graze: ").strip()

    def test_messages_are_the_programs(self):
        for text in ("graze = 1\n[model]\nname = \"two_dof_stop\"\n[analysis]\nname = \"simulate\"\nperiods = 1\n",
                     "graze = 1\n[model]\nname = \"two_dof_stops\"\nr3 = 1\n[analysis]\nname = \"simulate\"\n",
                     "graze = 1\n[model]\nname = two_dof_stops\n", "graze = 2\n[model]\n",
                     "graze = 1\n[model]\nname = \"two_dof_stops\"\n[initial]\nx1 = 5\n"
                     "[analysis]\nname = \"simulate\"\nperiods = 1\n"):
            with self.subTest(text=text), self.assertRaises(graze.InputError) as raised:
                graze.run(text)
            self.assertEqual(self.program_says(text), str(raised.exception))

    def test_is_a_value_error(self):
        with self.assertRaisesRegex(ValueError, "did you mean delta"):
            graze.sweep("two_dof_stops", delt=[0.1, 0.2])

    def test_values_that_no_case_has(self):
        for case, said in (({"model": {"name": object()}}, "model.name"), ({"model": {1: 2}}, "keys must be texts"),
                           ({"run": {"seed": 2**70}}, "64 bits"), ({"model": {"name": "a\0b"}}, "a.*b")):
            with self.subTest(case=case), self.assertRaisesRegex(graze.InputError, said):
                graze.run(case)
        with self.assertRaisesRegex(graze.InputError, "no/such/file"):
            graze.run("no/such/file.toml")
        with self.assertRaisesRegex(graze.InputError, "too many axes"):
            graze.sweep("two_dof_stops", delta=[1, 2], r1=[0.1, 0.2], r2=[0.1, 0.2])
        with self.assertRaisesRegex(graze.InputError, "two ends"):
            graze.continue_("impact_oscillator", omega=(1, 2, 3))
        with self.assertRaises(graze.InputError):
            graze.sweep("impact_oscillator", omega=[1.0, np.nan])
        with self.assertRaises(TypeError):
            graze.run(None)

    def test_too_large_for_memory(self):
        with self.assertRaisesRegex(graze.InputError, "memory|files"):
            graze.run(CASES / "quickstart.toml", settings={"analysis.axis.points": 1000000, "analysis.record": 100000,
                                                           "run.block": 1000000})

    def test_failed_points_are_marked(self):
        result = graze.sweep("bouncing_ball", Gamma=[0.0, 1.2], tolerance={"events": 3}, transient=5, record=20)
        self.assertIn("event_limit", [graze.flags(result.outcome)[k] for k in result.outcome.values])

    def test_warnings(self):
        case = {"model": {"name": "equations", "parameters": {"w": 1.0, "unused": 2.0}, "coordinates": ["x"],
                          "force": {"x": "-x + cos(w*t)"}, "period": "2*pi/w"},
                "analysis": {"name": "simulate", "periods": 1}}
        with self.assertWarnsRegex(UserWarning, "unused"):
            graze.run(case)


class Files(unittest.TestCase):
    """A result that Python writes is one of the program's."""

    def test_written_and_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("coexistence", "continue_oscillator", "periodic_sticking"):
                result = as_dictionary(graze.run(CASES / f"{name}.toml", settings=SMALL[name]))
                path = pathlib.Path(folder) / f"{name}.h5"
                graze.save(result if len(result) > 1 else result["/"], path)
                said = subprocess.run([GRAZE, "info", path, "--verify"], capture_output=True, text=True)
                self.assertEqual(0, said.returncode, said.stderr)
                for group, data in result.items():
                    with xarray.open_dataset(path, group=None if group == "/" else group) as again:
                        xarray.testing.assert_equal(data, again)
                        for array in data.variables:
                            self.assertEqual(data[array].attrs.get("units"), again[array].attrs.get("units"))
                            self.assertEqual(graze.flags(data[array]), graze.flags(again[array]))

    def test_nothing_is_overwritten(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mine.h5"
            path.write_text("mine", encoding="utf-8")
            motion = graze.simulate("bouncing_ball", end_time=1.0, Gamma=0.0)
            with self.assertRaisesRegex(graze.InputError, "another case"):
                graze.save(motion, path)
            self.assertEqual("mine", path.read_text(encoding="utf-8"))
            graze.save(motion, path, overwrite=True)
            with self.assertRaises(graze.InputError):
                graze.run(path)

    def test_program_does_not_take_it_for_its_own(self):
        """What is in it need not be what the case gives."""
        with tempfile.TemporaryDirectory() as folder:
            case, path = CASES / "periodic_sticking.toml", pathlib.Path(folder) / "r.h5"
            graze.save(graze.run(case), path)
            result = subprocess.run([GRAZE, "run", case, "-o", path], capture_output=True, text=True)
            self.assertEqual(2, result.returncode)
            self.assertIn("does not come from this case", result.stderr)


class Models(unittest.TestCase):
    def test_list_and_description(self):
        listed = subprocess.run([GRAZE, "models"], capture_output=True, text=True, check=True).stdout
        for name in graze.models():
            self.assertIn(f" {name} ", listed)
        model = graze.models("impact_oscillator")
        self.assertEqual(["x", "v"], [state["name"] for state in model["states"]])
        omega = next(p for p in model["parameters"] if p["name"] == "omega")
        self.assertEqual("0 < x < inf", omega["range"])
        with self.assertRaisesRegex(graze.InputError, "impact_oscillator"):
            graze.models("impact_oscilator")


if __name__ == "__main__":
    warnings.simplefilter("error", DeprecationWarning)
    unittest.main()
