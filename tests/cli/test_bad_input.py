"""Bad input of every kind: a clear message, the right exit code, nothing half written."""

import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from graze_cli import GRAZE, SIMULATE, SWEEP, CliTest, long_sweep, main  # noqa: E402


class CaseFiles(CliTest):
    def refused_case(self, text, *says):
        """run and check refuse the case with the same message."""
        self.write("bad.toml", text)
        message = self.refused("run", "bad.toml", says=says)
        self.assertEqual(self.refused("check", "bad.toml", says=says), message)
        return message

    def refused_change(self, old, new, *says, text=SWEEP):
        self.assertIn(old, text)
        return self.refused_case(text.replace(old, new), *says)

    def refused_setting(self, setting, *says, text=SWEEP):
        self.write("case.toml", text)
        return self.refused("run", "case.toml", "--set", setting, says=("--set", *says))

    def test_files_that_are_none(self):
        self.refused("run", "missing.toml", says=["missing.toml"])
        self.refused("run", ".", says=["folder"])
        self.refused_case("", "bad.toml", "graze")
        self.refused_case("graze = 1\n", "model")
        self.refused_case("graze = \n", "bad.toml:1:")
        self.refused_case("\x00\x01\x02", "bad.toml")
        self.refused_change("graze = 1", "graze = 99", "99")

    def test_not_utf8(self):
        with open(self.path("bad.toml"), "wb") as file:
            file.write(SWEEP.encode().replace(b"small", b"sm\xe4ll"))
        self.refused("run", "bad.toml", says=["bad.toml:2:"])

    def test_unknown_key_has_place_and_nearest_name(self):
        self.refused_change("transient = 40", "transien = 40", "bad.toml:8:1", "transien", "transient")
        self.refused_change('[model]', '[modell]', "modell", "model")
        self.refused_change('title', 'titel', "bad.toml:2:10", "title")
        self.refused_setting("model.detla=0.2", "detla", "delta")

    def test_misspelt_value(self):
        self.refused_change("two_dof_stops", "two_dof_stop", "bad.toml:4:", "two_dof_stops")
        self.refused_change('"sweep"', '"swep"', "sweep")
        self.refused_change('"delta"', '"detla"', "delta")

    def test_wrong_type(self):
        self.refused_change("transient = 40", 'transient = "long"', "bad.toml:8:", "transient", "long")
        self.refused_change("record = 16", "record = 16.5", "record", "16.5")
        self.refused_change("axis = {", "axis = 3 # {", "axis", "table")
        self.refused_setting('model.m1="heavy"', "model.m1", "number")
        self.refused_change("[run]\nblock = 1", "[initial]\nstate = 3", "initial.state")

    def test_numbers_out_of_range(self):
        for setting in ["model.m1=0", "model.m1=-1", "model.m1=nan", "model.m1=inf", "model.k1=-1",
                        "model.k2=-0.5", "model.c1=-0.1", "model.r1=1.5", "model.r2=-0.1", "model.delta=0",
                        "model.A1=nan", "initial.time=nan", "initial.x1=nan", "initial.v1=inf",
                        "initial.state=[nan, 0, 0, 0]", "initial.state=[0, 0, 0]",
                        "analysis.record=0", "analysis.axis.points=0", "analysis.axis.points=-3",
                        "analysis.axis.from=nan", "run.threads=-1", "run.seed=-1", "run.seed=0.5",
                        "tolerance.chatter=nan", "tolerance.events=0"]:
            with self.subTest(setting):
                self.refused_setting(setting, setting.split("=")[0])

    def test_unknown_parameters_list_those_that_there_are(self):
        message = self.refused_change('"delta"', '"frequency"', "sweepable: ", "delta", "d1")
        self.assertEqual(message.count("delta"), 1)

    def test_keys_of_tables_below_are_found(self):
        self.write("case.toml", SWEEP)
        for setting, place in (("delta=3", "model.delta"), ("transient=3", "analysis.transient"),
                               ("points=3", "analysis.axis.points"), ("analysis.points=3", "analysis.axis.points")):
            with self.subTest(setting):
                self.refused_setting(setting, f"did you mean {place}?")

    def test_elements_may_be_written_in_brackets(self):
        case = """graze = 1
[model]
name = "linear_stops"
mass = [[1]]
stiffness = [[1]]
[[model.stop]]
normal = [1]
position = 0.4
[analysis]
name = "simulate"
end_time = 1.0
"""
        self.write("case.toml", case)
        self.graze("check", "case.toml", "--set", "model.stop[0].position=0.6")
        self.refused("run", "case.toml", "--set", "model.stop[0].position=wall", says=["model.stop.0.position"])
        self.refused("run", "case.toml", "--set", "model.stop[1].position=0.6", says=["array of 1"])

    def test_a_name_of_two_contacts(self):
        case = """graze = 1
[model]
name = "equations"
coordinates = ["x"]
force = { x = "-x" }
contact = [{ name = "wall", gap = "1 - x", restitution = 1 }, { name = "wall", gap = "1 + x", restitution = 1 }]
[analysis]
name = "simulate"
end_time = 1.0
"""
        self.write("case.toml", case)
        self.refused("run", "case.toml", says=["case.toml:2", "wall", "two contacts"])

    def test_friction_of_a_contact_that_drives(self):
        case = """graze = 1
[model]
name = "equations"
coordinates = ["x", "y"]
force = { x = "-x", y = "-y" }
contact = [{ gap = "1 - x", restitution = 1, mu = MU, slip = "y'" }]
[analysis]
name = "simulate"
end_time = 1.0
"""
        self.write("case.toml", case.replace("MU", "0.2"))
        self.graze("check", "case.toml")
        self.write("case.toml", case.replace("MU", '"0.1 - 0.3"'))
        self.refused("run", "case.toml", says=["case.toml:6", "model.contact.0.mu", "is -0.1", "0 <= x"])

    def test_bounds_of_random_starts(self):
        low = 'name = "sweep"\nstart = "random"\nlow = [0, 0, 0, 2]'
        self.refused_change('name = "sweep"', low, "analysis.low", "entry 4 is from 2")
        self.refused_change('name = "sweep"', low + "\nhigh = [1, 1, 1, 1]", "analysis.high", "entry 4 is from 2")

    def test_length_of_a_motion(self):
        self.refused_change("periods = 3", "periods = 3\nend_time = 9", "bad.toml:9:1", "analysis.end_time",
                            "periods is given as well", text=SIMULATE)
        self.refused_change("periods = 3\n", "", "analysis.periods", "is missing", "end_time", text=SIMULATE)

    def test_text_without_quotes(self):
        self.refused_change('"two_dof_stops"', "two_dof_stops", "bad.toml:4:", "two_dof_stops", "text needs quotes")
        self.refused_change('"delta"', "delta", "bad.toml:7:", "delta", "text needs quotes")
        message = self.refused_change("points = 24", "points = 2x4", "bad.toml:7:")
        self.assertNotIn("quotes", message)

    def test_choices_are_listed_once(self):
        message = self.refused_change('name = "sweep"', 'name = "sweep"\nstart = "somewhere"', "follow_both")
        self.assertEqual(message.count("follow_both"), 1)

    def test_limits_that_are_none_are_not_printed(self):
        for setting in ("analysis.axis.points=0", "analysis.record=0"):
            self.write("case.toml", SWEEP)
            self.assertNotIn("e+308", self.refused_setting(setting, " <= x"))
        self.assertNotIn("e+308", self.graze("analyses", "sweep")[0])
        self.assertNotIn("e+308", self.graze("schema")[0])

    def test_an_axis_of_one_value(self):
        self.refused_change("to = 1.5", "to = 0.7", "analysis.axis.to", "equals from", "points = 1")

    def test_tolerances_below_rounding(self):
        for setting in ("tolerance.integration=1e-30", "tolerance.chatter=1e-30", "tolerance.turn=1e-30"):
            self.refused_setting(setting, setting.split("=")[0], "must satisfy")

    def test_matrices_that_are_not_symmetric_are_pointed_out(self):
        case = """graze = 1
[model]
name = "linear_stops"
mass = [[1, 0], [0, 1]]
stiffness = [[2, -1], [-1.5, 2]]
[analysis]
name = "simulate"
end_time = 1.0
"""
        self.write("case.toml", case)
        note = "model.stiffness is not symmetric: K_1_2 = -1.0, K_2_1 = -1.5"
        self.assertIn(note, self.graze("check", "case.toml")[0])
        self.assertIn(note, self.graze("run", "case.toml")[1])
        self.write("case.toml", case.replace("-1.5", "-1"))
        self.assertNotIn("symmetric", self.graze("check", "case.toml", "--force")[0])

    def test_absurd_sizes_are_refused_before_memory_is_taken(self):
        for setting in ["analysis.axis.points=1e18", "analysis.axis.points=1000000000000000000",
                        "analysis.record=1e18"]:
            with self.subTest(setting):
                self.refused_setting(setting, setting.split("=")[0], "e+18 bytes")
        self.write("case.toml", SWEEP)
        self.refused("run", "case.toml", "--set", "analysis.axis.points=1000000", "--set", "run.block=1000000",
                     "--set", "analysis.record=1000000", says=["bytes", "memory"])
        self.refused("run", "case.toml", "--set", "analysis.axis.points=1000000", says=["files", "run.block"])

    def test_initial_state(self):
        self.refused_setting("initial.x3=0.1", "initial.x3", text=SIMULATE.replace("state =", "# state ="))
        self.refused_setting("initial.x1=0.1", "not both", text=SIMULATE)

    def test_start_inside_a_stop(self):
        change = "state = [0.3, 0.2, 0.1, 0.0]"
        self.refused_change(change, "state = [0.5, 0.0, 0.0, 0.0]", "bad.toml:4:2", "contact 1", "0.2",
                            text=SIMULATE)
        self.refused_change(change, "x2 = 0.31", "contact 2", "0.01", text=SIMULATE)
        self.write("case.toml", SWEEP)
        self.refused("run", "case.toml", "--set", "initial.x1=0.5", says=["contact 1", "0.2"])
        # On the stop is not inside it; nor is a start that the swept stop lets in somewhere.
        self.write("case.toml", SIMULATE)
        self.graze("check", "case.toml", "--set", "initial.state=[0.3, 0, 0.3, 0]")
        self.write("case.toml", SWEEP)
        self.graze("check", "case.toml", "--set", "initial.x1=0.5", "--set",
                   'analysis.axis={parameter = "d1", from = 0.4, to = 0.6, points = 3}')

    def test_times(self):
        self.write("case.toml", SWEEP)
        for wrong in ["soon", "3x", "-3s", "0", "nan", "inf", "1e400h"]:
            with self.subTest(wrong):
                self.refused("run", "case.toml", f"--max-time={wrong}", says=["--max-time", wrong])


class ResultFiles(CliTest):
    def setUp(self):
        super().setUp()
        self.write("case.toml", SWEEP)

    def test_something_is_missing(self):
        """A result without an array that a picture or table needs: which file, and what."""
        self.graze("run", "case.toml", "--quiet")
        self.write("motion.toml", SIMULATE)
        self.graze("run", "motion.toml", "-o", "motion.h5", "--quiet")
        oscillator = os.path.join(os.environ["GRAZE_SOURCE"], "data", "cases", "continue_oscillator.toml")
        self.graze("run", oscillator, "-o", "branches.h5", "--quiet")
        needed = ("time", "event_kind", "points", "orbit_state", "bifurcation/kind", "bifurcation")
        for name, array in (("case.h5", "attractor"), ("case.h5", "delta"), ("case.h5", "map_state"),
                            ("case.h5", "state"), ("motion.h5", "time"), ("motion.h5", "state"),
                            ("motion.h5", "event_kind"), ("motion.h5", "component"), ("branches.h5", "points"),
                            ("branches.h5", "orbit_state"), ("branches.h5", "forcing_periods"),
                            ("branches.h5", "bifurcation/kind"), ("branches.h5", "bifurcation")):
            with self.subTest(f"{name} {array}"):
                shutil.copy(self.path(name), self.path("less.h5"))
                with h5py.File(self.path("less.h5"), "r+") as file:
                    del file[array]
                for verb in ("plot", "info"):
                    process = self.start(verb, "less.h5", "-o", "p.png") if verb == "plot" else self.start(verb, "less.h5")
                    _, err = process.communicate(timeout=60)
                    self.assertIn(process.returncode, (0, 2), err)  # not everything needs every array
                    if process.returncode == 2:
                        self.assertTrue(err.startswith("graze: less.h5: "), err)
                    if verb == "plot" and array in needed:
                        self.assertEqual(process.returncode, 2)
                        self.assertIn(array.rpartition("/")[2], err)

    def test_verify(self):
        """One changed value is found; the whole file is as it was written before."""
        self.graze("run", "case.toml", "--quiet")
        out, _ = self.graze("info", "case.h5", "--verify")
        self.assertIn("case.h5: values, shapes and texts are those that were written", out)
        with h5py.File(self.path("case.h5"), "r+") as file:
            value = file["map_state"][3, 0, 1]
            file["map_state"][3, 0, 1] = np.nextafter(value, 2)
        self.refused("info", "case.h5", "--verify", says=["case.h5", "digest"])
        self.refused("run", "case.toml", says=["case.h5", "digest"])
        with h5py.File(self.path("case.h5"), "r+") as file:
            file["map_state"][3, 0, 1] = value
        self.graze("info", "case.h5", "--verify")
        with h5py.File(self.path("case.h5"), "r+") as file:
            file.attrs["case_toml"] = "graze = 1"
        self.refused("info", "case.h5", "--verify", says=["case.h5", "digest"])

    def test_files_that_are_none(self):
        self.write("text.h5", "no result\n" * 100)
        self.write("empty.h5", "")
        for name in ["missing.h5", "text.h5", "empty.h5", "."]:
            for verb in ["info", "plot"]:
                with self.subTest(f"{verb} {name}"):
                    self.refused(verb, name, says=[name])

    def test_truncated(self):
        self.graze("run", "case.toml", "--quiet")
        with open(self.path("case.h5"), "rb") as file:
            whole = file.read()
        for share in [0.02, 0.3, 0.7, 0.99]:
            with self.subTest(share):
                with open(self.path("case.h5"), "wb") as file:
                    file.write(whole[:int(share * len(whole))])
                self.refused("info", "case.h5", says=["case.h5"])
                self.refused("plot", "case.h5", says=["case.h5"])
                self.refused("run", "case.toml", says=["case.h5", "--force"])
        self.graze("run", "case.toml", "--force", "--quiet")

    def test_damaged_block_is_computed_again(self):
        self.write("case.toml", long_sweep(points=60, transient=5000))
        self.graze("run", "case.toml", "--quiet", "-o", "whole.h5")
        self.graze("run", "case.toml", "--quiet", "--max-time", "0.000001s", code=75)
        process = self.start("run", "case.toml", "--threads", "1")
        while len(os.listdir(self.path("case.h5.blocks"))) < 8 and process.poll() is None:
            pass
        process.kill()
        process.communicate()
        blocks = sorted(name for name in os.listdir(self.path("case.h5.blocks")) if name.endswith(".h5"))
        self.assertGreater(len(blocks), 3)
        os.truncate(self.path("case.h5.blocks/" + blocks[0]), 100)
        os.truncate(self.path("case.h5.blocks/" + blocks[1]), 0)
        self.graze("run", "case.toml", "--quiet")
        self.assert_same_arrays("case.h5", "whole.h5")


class Places(CliTest):
    """Folders that take nothing, disks that take little."""

    def mounted(self, options):
        folder = self.path("mounted")
        os.mkdir(folder)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest("mounting a tmpfs is not permitted here: " + done.stderr.strip())
        self.addCleanup(subprocess.run, ["umount", folder], check=True)
        return folder

    def test_path_below_a_file(self):
        self.write("case.toml", SWEEP)
        self.refused("run", "case.toml", "-o", "case.toml/result.h5", says=["case.toml", "not a folder"])

    def test_read_only_file_system(self):
        self.write("case.toml", SWEEP)
        self.mounted("ro,size=1m")
        self.refused("run", "case.toml", "-o", "mounted/result.h5", says=["mounted", "ead-only"])

    def test_folder_without_permission(self):
        self.write("case.toml", SWEEP)
        os.mkdir(self.path("closed"), 0o500)
        if os.access(self.path("closed"), os.W_OK):
            self.skipTest("permissions do not bind this user")
        self.refused("run", "case.toml", "-o", "closed/result.h5", says=["closed", "ermission"])

    def test_full_disk_in_a_sweep(self):
        self.write("case.toml", SWEEP)
        folder = self.mounted("size=192k")
        command = ["run", "case.toml", "-o", "mounted/result.h5"]
        _, err = self.graze(*command, code=1)
        self.assertIn("mounted/result.h5", err)
        self.assertIn("disk is full", err)
        for _, _, files in os.walk(folder):
            self.assertEqual([name for name in files if name.endswith(".tmp")], [])
        # The blocks that fitted are kept: with more space the same command goes on from there.
        subprocess.run(["mount", "-o", "remount,size=16m", folder], check=True)
        _, err = self.graze(*command)
        self.assertIn("resuming after", err)
        self.graze("run", "case.toml", "-o", "whole.h5")
        self.assert_same_arrays("mounted/result.h5", "whole.h5")
        self.assertEqual(os.listdir(folder), ["result.h5"])

    def test_full_disk_in_a_simulation(self):
        self.write("case.toml", SIMULATE)
        folder = self.mounted("size=192k")
        _, err = self.graze("run", "case.toml", "--set", "analysis.samples_per_period=20000", "-o",
                            "mounted/result.h5", code=1)
        self.assertIn("disk is full", err)
        self.assertEqual(os.listdir(folder), [])

    def test_missing_gnuplot(self):
        self.write("case.toml", SWEEP)
        self.graze("run", "case.toml", "--quiet")
        empty = tempfile.mkdtemp(prefix="graze_no_gnuplot_")
        self.addCleanup(shutil.rmtree, empty)
        before = self.listing()
        done = subprocess.run([GRAZE, "plot", "case.h5"], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "PATH": empty}, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("gnuplot", done.stderr)
        self.assertEqual(self.listing(), before)


if __name__ == "__main__":
    main()
