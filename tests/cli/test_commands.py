"""Every verb does what it says: output where it belongs, exit codes, files."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys

import h5py
import numpy as np
import xarray

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from graze_cli import GRAZE, SIMULATE, SWEEP, CliTest, main, one_mass  # noqa: E402

VERBS = ["analyses", "cases", "check", "cite", "completion", "info", "manual", "merge", "models", "motion", "new", "plot",
         "run", "schema", "submit"]


class Usage(CliTest):
    def test_version(self):
        out, err = self.graze("--version")
        self.assertRegex(out, r"^graze \d+\.\d+\.\d+\n$")
        self.assertEqual(err, "")

    def test_help_names_every_verb_and_shows_examples(self):
        out, _ = self.graze("--help")
        for verb in VERBS:
            self.assertIn(verb, out)
        self.assertIn("Examples:", out)
        self.assertIn("75", out)

    def test_help_of_every_verb(self):
        for verb in VERBS:
            out, err = self.graze(verb, "--help")
            self.assertIn(verb, out)
            self.assertEqual(err, "")

    def test_wrong_usage(self):
        self.write("case.toml", SWEEP)
        for arguments in [(), ("fly",), ("run",), ("run", "case.toml", "--fly"), ("run", "case.toml", "more"),
                          ("run", "case.toml", "--threads", "-1"), ("run", "case.toml", "--threads", "two"),
                          ("run", "case.toml", "--set"), ("check",), ("info",), ("plot",)]:
            before = self.listing()
            out, err = self.graze(*arguments, code=2)
            self.assertEqual(out, "", arguments)
            self.assertNotEqual(err, "", arguments)
            self.assertEqual(self.listing(), before)

    def test_a_misspelt_command_gets_the_nearest(self):
        self.assertIn("did you mean run?", self.graze("runn", code=2)[1])
        self.assertIn("Examples:", self.graze(code=2)[1])

    def test_standard_output_that_takes_nothing(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([GRAZE, "schema"], stdout=full, stderr=subprocess.PIPE, text=True,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr)


class Looking(CliTest):
    def test_models(self):
        out, _ = self.graze("models")
        self.assertIn("two_dof_stops", out)

    def test_one_model(self):
        out, _ = self.graze("models", "two_dof_stops")
        for word in ["m1", "delta", "0.16", "0.7", "0 < x", "x1", "v2", "contacts", "modes", "Xiao"]:
            self.assertIn(word, out)

    def test_analyses(self):
        out, _ = self.graze("analyses")
        for name in ("sweep", "simulate", "basins", "continue"):
            self.assertIn(name, out)
        out, _ = self.graze("analyses", "simulate")
        self.assertIn("samples_per_period", out)
        self.assertIn("did you mean sweep?", self.graze("analyses", "sweap", code=2)[1])

    def test_a_new_case_is_valid(self):
        for line in self.graze("models")[0].splitlines():
            model = line.split()[0]
            with self.subTest(model=model):
                text = self.graze("new", model)[0]
                self.write("new.toml", text)
                self.assertIn("valid", self.graze("check", "new.toml")[0])
                self.assertGreater(text.count("# "), 4)

    def test_a_new_case_of_tables_shows_them(self):
        for model, words in (("linear_stops", "[[model.stop]]"), ("equations", "[[model.contact]]"),
                             ("hinged_rods", "[[model.joint]]")):
            self.assertIn(words, self.graze("new", model)[0])

    def test_cases(self):
        folder = os.path.join(os.environ["GRAZE_SOURCE"], "data", "cases")
        out, _ = self.graze("cases")
        self.assertEqual([line.split()[0] + ".toml" for line in out.splitlines()], sorted(os.listdir(folder)))
        self.assertIn("Two masses, stops on opposite sides", out)
        with open(os.path.join(folder, "basins.toml"), encoding="utf-8") as file:
            self.assertEqual(self.graze("cases", "basins")[0], file.read())
        self.refused("cases", "basin", says=["did you mean basins?"])

    def verbs(self):
        """Name and long options of each verb, as the help prints them."""
        listed = self.graze("--help")[0].split("Subcommands:")[1].split("Examples:")[0]
        names = re.findall(r"^  (\w+) ", listed, re.MULTILINE)
        self.assertGreater(len(names), 12)
        return {name: re.findall(r"^  (?:-\w,)?(--[\w-]+)", self.graze(name, "--help")[0], re.MULTILINE) for name in names}

    def test_manual_page(self):
        page = self.graze("manual")[0]
        self.write("graze.1", page)
        for name, options in self.verbs().items():
            section = page.split(f'.SS "{name}')[1].split("\n.S")[0]
            for option in options:
                self.assertIn(option.replace("-", "\\-"), section)
        if shutil.which("groff"):
            shown = subprocess.run(["groff", "-Kutf8", "-man", "-ww", "-Tutf8", self.path("graze.1")], capture_output=True, check=True)
            self.assertEqual(shown.stderr, b"")

    def completed(self, *words):
        """What bash offers for the last of these words."""
        self.write("graze.bash", self.graze("completion")[0])
        script = ('source graze.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _graze; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        run = subprocess.run(["bash", "-c", script, "bash", GRAZE, *words], capture_output=True, text=True, check=True,
                             cwd=self.folder)
        self.assertEqual(run.stderr, "")
        return run.stdout.split()

    def test_completion(self):
        verbs = self.verbs()
        self.assertEqual(self.completed(""), sorted(verbs))
        self.assertEqual(self.completed("mo"), ["models", "motion"])
        for name, options in verbs.items():
            self.assertEqual(sorted(set(self.completed(name, "--"))), sorted(set(options)))
        self.assertEqual(self.completed("new", "two_d"), ["two_dof_stops"])
        self.assertEqual(self.completed("analyses", "sw"), ["sweep"])
        self.assertEqual(self.completed("cases", "quick"), ["quickstart"])
        self.write("my case.toml", SWEEP)
        self.assertEqual(self.completed("run", "my"), ["my", "case.toml"])  # one name, split here

    def test_the_beginning_of_a_name_is_nearest(self):
        self.assertIn("did you mean impact_oscillator?", self.graze("models", "impact_osc", code=2)[1])

    def test_unknown_model(self):
        self.refused("models", "two_dof_stop", says=["two_dof_stops"])

    def test_schema(self):
        schema = json.loads(self.graze("schema")[0])
        self.assertEqual(set(schema["required"]), {"graze", "model", "analysis"})
        self.assertIn("tolerance", schema["properties"])
        self.assertFalse(schema["additionalProperties"])
        names = json.dumps(schema["properties"]["model"])
        self.assertIn("two_dof_stops", names)

    def test_cite(self):
        self.write("case.toml", SWEEP)
        out, _ = self.graze("cite", "case.toml")
        self.assertIn("Xiao Huayi", out)

    def test_check_a_sweep(self):
        self.write("case.toml", SWEEP)
        before = self.listing()
        out, err = self.graze("check", "case.toml", "--set", "analysis.axis.points=30", "--threads", "1")
        self.assertEqual(err, "")
        self.assertRegex(out, r"points: +30\n")
        self.assertRegex(out, r"blocks: +30\n")
        self.assertRegex(out, r"bytes: +\d+ ")
        self.assertRegex(out, r"estimated time: [\d.]+ ")
        self.assertEqual(self.listing(), before)

    def test_bytes_of_check_are_those_of_the_arrays(self):
        self.write("case.toml", SWEEP)
        out, _ = self.graze("check", "case.toml")
        self.graze("run", "case.toml", "--quiet")
        with h5py.File(self.path("case.h5"), "r") as file:
            held = sum(d.size * d.dtype.itemsize for d in file.values()
                       if not d.attrs.get("NAME", b"").startswith(b"This is a netCDF dimension"))
        self.assertRegex(out, rf"bytes: +{held} ")

    def test_check_takes_what_run_takes(self):
        self.write("case.toml", SWEEP)
        options = ("-o", "other.h5", "--set", "analysis.axis.points=8", "--shard", "1/1", "--max-time", "1h",
                   "--threads", "1")
        out, _ = self.graze("check", "case.toml", *options)
        self.assertRegex(out, r"result: +other\.h5, new\n")
        self.graze("run", "case.toml", *options)
        out, _ = self.graze("check", "case.toml", *options)
        self.assertIn("complete already", out)
        out, err = self.graze("check", "case.toml", "-o", "other.h5", code=2)
        self.assertEqual(out, "")
        self.assertIn("does not come from this case", err)
        out, _ = self.graze("check", "case.toml", "-o", "other.h5", "--force")
        self.assertIn("to be replaced", out)
        out, err = self.graze("check", "case.toml", "-o", "other.h5", "--force", "--quiet")
        self.assertEqual(out + err, "")

    def test_check_a_simulation(self):
        self.write("case.toml", SIMULATE)
        out, _ = self.graze("check", "case.toml")
        self.assertIn("valid", out)


class Running(CliTest):
    def test_sweep(self):
        self.write("case.toml", SWEEP)
        out, err = self.graze("run", "case.toml")
        self.assertEqual(out, "")
        self.assertIn("24 points", err)
        self.assertIn("attractor:", err)
        self.assertEqual(sorted(os.listdir(self.folder)), ["case.h5", "case.toml"])
        with h5py.File(self.path("case.h5"), "r") as file:
            self.assertEqual(file["outcome"].shape, (24,))
            np.testing.assert_array_equal(file["outcome"], 0)
            np.testing.assert_allclose(file["delta"], np.linspace(0.7, 1.5, 24))
            self.assertEqual(file.attrs["case_toml"], SWEEP)
            self.assertEqual(file.attrs["title"], "small sweep")
            self.assertTrue(file.attrs["command_line"].endswith("run case.toml"))
            for name in ["filetype", "format_version", "graze_version", "git_sha1", "created", "overrides",
                         "seed", "hostname", "compiler", "threads"]:
                self.assertIn(name, file.attrs)

    def test_a_complete_result_is_reported_and_left_alone(self):
        self.write("case.toml", SWEEP)
        self.graze("run", "case.toml", "--quiet")
        before = os.stat(self.path("case.h5"))
        _, err = self.graze("run", "case.toml")
        self.assertIn("complete already", err)
        self.assertIn("attractor:", err)
        self.graze("run", "case.toml", "--force", "--threads", "1", "--set", "run.block=5")
        after = os.stat(self.path("case.h5"))
        self.assertEqual((before.st_mtime_ns, before.st_ino), (after.st_mtime_ns, after.st_ino))

    def test_a_foreign_result_stays_without_force(self):
        self.write("case.toml", SWEEP)
        self.graze("run", "case.toml", "--quiet")
        with open(self.path("case.h5"), "rb") as file:
            before = file.read()
        other = ["run", "case.toml", "--set", "model.r1=0.6"]
        self.refused(*other, says=["case.h5", "--force"])
        with open(self.path("case.h5"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.graze(*other, "--force")
        self.refused("run", "case.toml", says=["--force"])

    def test_any_other_file_stays_without_force(self):
        self.write("case.toml", SWEEP)
        for text in ["", "my thesis"]:
            self.write("thesis.txt", text)
            self.refused("run", "case.toml", "-o", "thesis.txt", says=["thesis.txt"])
        self.refused("run", "case.toml", "-o", "case.toml", "--force", says=["case file"])
        self.refused("run", "case.toml", "-o", ".", says=["folder"])

    def test_the_name_of_the_result(self):
        self.write("case.toml", SWEEP + '[output]\nfile = "deep/er/named.h5"\n')
        self.graze("run", "case.toml", "--quiet")
        self.assertTrue(os.path.exists(self.path("deep/er/named.h5")))
        self.graze("run", "case.toml", "--quiet", "-o", "other.h5")
        self.assert_same_arrays("deep/er/named.h5", "other.h5")

    def test_quiet_says_nothing(self):
        self.write("case.toml", SWEEP)
        self.assertEqual(self.graze("run", "case.toml", "--quiet"), ("", ""))

    def run_on_a_terminal(self, *arguments):
        """stdout and what a terminal on stderr gets."""
        terminal, end = os.openpty()
        process = subprocess.Popen([GRAZE, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=end)
        os.close(end)
        shown = b""
        try:
            while chunk := os.read(terminal, 4096):
                shown += chunk
        except OSError:  # the other end is closed
            pass
        os.close(terminal)
        out, _ = process.communicate()
        self.assertEqual(process.returncode, 0, shown)
        return out, shown.decode()

    def test_bar_on_a_terminal_only(self):
        self.write("case.toml", SWEEP)
        long = ["run", "case.toml", "--threads", "1", "--set", "analysis.axis.points=120"]
        out, shown = self.run_on_a_terminal(*long, "-o", "bar.h5")
        self.assertEqual(out, b"")
        self.assertRegex(shown, r"\r\[#*\.*\] +[\d.]+ %  \d+ of 120 points  .* left")
        self.assertIn("100.0 %  120 of 120 points", shown)
        self.assertEqual(self.run_on_a_terminal(*long, "-o", "quiet.h5", "--quiet"), (b"", ""))
        _, err = self.graze(*long, "-o", "pipe.h5")
        self.assertNotIn("\r", err)

    def test_overrides(self):
        self.write("case.toml", SWEEP)
        self.graze("run", "case.toml", "--set", "analysis.axis.points=3", "--set", "model.d1=0.4",
                   "--set", "analysis.axis.parameter=A1", "--quiet")
        with h5py.File(self.path("case.h5"), "r") as file:
            self.assertEqual(file["A1"].shape, (3,))
            self.assertEqual(file.attrs["overrides"].split(),
                             ["analysis.axis.points=3", "model.d1=0.4", "analysis.axis.parameter=A1"])

    def test_another_analysis_drops_the_keys_of_the_old_one(self):
        self.write("case.toml", SWEEP)
        self.graze("run", "case.toml", "-o", "m.h5", "--quiet", "--set", "analysis.name=simulate", "--set",
                   "analysis.periods=2")
        with h5py.File(self.path("m.h5")) as file:
            self.assertIn("event_kind", file)
        self.refused("run", "case.toml", "-o", "n.h5", "--set", "analysis.name=simulate", "--set", "analysis.record=2",
                     says=["analysis.record"])

    def test_every_sweepable_parameter_can_be_set(self):
        """A stop's position set by name moves the stop as its key does."""
        for name, position in ("a", 0.4), ("b", 0.6):
            self.write(f"{name}.toml", one_mass('name = "simulate"\nperiods = 3', omega=0.8, damping=0.1,
                                                stop=f"position = {position}"))
        self.graze("run", "a.toml", "-o", "a.h5", "--quiet", "--set", "model.position_wall=0.6", "--set", "model.K_1_1=1")
        self.graze("run", "b.toml", "-o", "b.h5", "--quiet")
        with h5py.File(self.path("a.h5")) as a, h5py.File(self.path("b.h5")) as b:
            np.testing.assert_array_equal(a["state"][...], b["state"][...])
        self.refused("run", "a.toml", "-o", "c.h5", "--set", "model.position_wal=0.6", says=["position_wall"])

    def test_two_parameters(self):
        self.write("case.toml", SWEEP)
        self.graze("run", "case.toml", "--quiet", "--set", "analysis.axis.points=5", "--set",
                   'analysis.axis2={parameter = "d1", from = 0.1, to = 0.3, points = 4}', "--set",
                   "run.block=3")
        with h5py.File(self.path("case.h5"), "r") as file:
            self.assertEqual(file["outcome"].shape, (5, 4))
            self.assertEqual([d.label or d[0].name for d in file["outcome"].dims], ["/delta", "/d1"])

    def test_failed_points_are_counted_and_marked(self):
        # The start is inside stop 1 for the smaller half of d1 only.
        self.write("case.toml", SWEEP)
        change = ["--set", 'analysis.axis={parameter = "d1", from = 0.1, to = 0.4, points = 4}',
                  "--set", "initial.x1=0.25"]
        _, err = self.graze("run", "case.toml", *change, code=4)
        self.assertIn("2 bad_start", err)
        with h5py.File(self.path("case.h5"), "r") as file:
            self.assertEqual([int(x == 0) for x in file["outcome"]], [0, 0, 1, 1])
        out, _ = self.graze("info", "case.h5")
        self.assertIn("d1 = 0.1: bad_start", out)
        # What was computed is reported with the same code again.
        self.graze("run", "case.toml", *change, code=4)

    def test_no_point_succeeds(self):
        # An event limit of one impact per period lets no point of this sweep through.
        self.write("case.toml", SWEEP)
        _, err = self.graze("run", "case.toml", "--set", "tolerance.events=1", "--set",
                            "analysis.axis={parameter = \"delta\", values = [0.16, 0.2]}", code=3)
        self.assertIn("2 event_limit", err)

    def test_info(self):
        self.write("case.toml", SWEEP)
        self.graze("run", "case.toml", "--quiet")
        out, err = self.graze("info", "case.h5")
        self.assertEqual(err, "")
        for words in ["complete", "small sweep", "two_dof_stops", "delta = 24", "map_state(delta, iterate, state)",
                      "outcome: 24 ok", "attractor:", "graze_version", "case_toml"]:
            self.assertIn(words, out)


    def test_info_as_json(self):
        self.write("case.toml", SWEEP)
        self.graze("run", "case.toml", "--quiet")
        told = json.loads(self.graze("info", "case.h5", "--json")[0])
        self.assertTrue(told["complete"])
        self.assertEqual(told["groups"], {})
        with xarray.open_dataset(self.path("case.h5")) as result:
            self.assertEqual(told["attributes"]["case_toml"], SWEEP)
            self.assertEqual(set(told["attributes"]), set(result.attrs))
            self.assertEqual(told["dimensions"], dict(result.sizes))
            self.assertEqual(set(told["arrays"]), set(result.variables))
            for name, array in told["arrays"].items():
                self.assertEqual(tuple(array["dimensions"]), result[name].dims)
                self.assertEqual(array["units"], result[name].attrs["units"])
                self.assertEqual(array["long_name"], result[name].attrs["long_name"])
                self.assertEqual(array.get("flag_meanings", []), result[name].attrs.get("flag_meanings", "").split())
        self.assertEqual(told["counts"]["outcome"], {"ok": 24})

    def test_info_of_branches_as_json(self):
        oscillator = os.path.join(os.environ["GRAZE_SOURCE"], "data", "cases", "continue_oscillator.toml")
        self.graze("run", oscillator, "-o", "b.h5", "--quiet")
        told = json.loads(self.graze("info", "b.h5", "--json")[0])
        self.assertIn("grazing", told["groups"]["bifurcation"]["arrays"]["kind"]["flag_meanings"])

    def test_parameter_values(self):
        self.write("case.toml", SWEEP)
        self.graze("run", "case.toml", "--quiet", "--set", "model.d1=0.25")
        with xarray.open_dataset(self.path("case.h5")) as result:
            values = dict(zip(result.parameter_names.split(), map(float, result.parameter_values.split())))
        self.assertEqual(values["d1"], 0.25)
        self.assertEqual(list(values), [line.split()[0] for line in
                                        self.graze("models", "two_dof_stops")[0].split("\nparameters\n")[1]
                                        .split("\n\n")[0].splitlines()[1:]])

    def test_reading_by_name(self):
        """The lines of data/FORMAT.md; time is a coordinate of a motion."""
        self.write("case.toml", SIMULATE)
        self.graze("run", "case.toml", "--quiet")
        with xarray.open_dataset(self.path("case.h5")) as result:
            self.assertIn("time", result.coords)
            self.assertIn("event_time", result.coords)
            names = {d: result[d].attrs["flag_meanings"].split() for d in result.sizes if "flag_meanings" in result[d].attrs}
            named = result.assign_coords(names)
            np.testing.assert_array_equal(named.state.sel(component="x2"), result.state[:, 2])
            kind = result.event_kind.attrs["flag_meanings"].split()
            impacts = named.event_time[np.array(kind)[result.event_kind] == "impact"]
            self.assertGreater(impacts.size, 0)

    def test_the_lines_of_the_readme(self):
        """The lines of Python work as they stand on the result that the page makes."""
        source = os.environ["GRAZE_SOURCE"]
        with open(os.path.join(source, "README.md"), encoding="utf-8") as page:
            lines = re.search(r"```python\n(.*?)```", page.read(), re.DOTALL).group(1)
        self.graze("run", os.path.join(source, "data/cases/quickstart.toml"), "-o", "out/quickstart.h5", "--quiet",
                   "--set", "analysis.axis.points=11")
        shown = "print(result.sizes['delta'], sticking.dims, set(result.contact.values), set(result.state.values))"
        run = subprocess.run([sys.executable, "-c", lines + shown], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("11 ('delta',)", run.stdout)
        self.assertIn("'x1'", run.stdout)

    def test_greatest_gap_is_the_amplitude(self):
        """A free mass far from its stop: the gap is at most the stop's distance plus the amplitude of the closed form."""
        self.write("case.toml", one_mass('name = "sweep"\n'
                                         'axis = { parameter = "omega", from = 0.4, to = 0.9, points = 6 }',
                                         omega=0.5, damping=0.2, stop="position = 5"))
        self.graze("run", "case.toml", "--quiet")
        with h5py.File(self.path("case.h5")) as file:
            omega = file["omega"][...]
            amplitude = 1 / np.hypot(1 - omega**2, 0.2 * omega)
            np.testing.assert_allclose(file["greatest_gap"][:, 0], 5 + amplitude, rtol=1e-9)
        # The same where each iterate begins and ends at the greatest gap.
        self.graze("run", "case.toml", "--quiet", "--force", "--set", "analysis.map=section", "--set",
                   "analysis.coordinate=v1", "--set", "analysis.level=0", "--set", "analysis.direction=up")
        with h5py.File(self.path("case.h5")) as file:
            np.testing.assert_allclose(file["greatest_gap"][:, 0], 5 + amplitude, rtol=1e-9)


class Events(CliTest):
    def test_the_table_is_what_the_file_holds(self):
        self.write("case.toml", SIMULATE)
        out, err = self.graze("run", "case.toml", "--events", "-")
        rows = list(csv.DictReader(io.StringIO(out)))
        states = ["x1", "v1", "x2", "v2"]
        self.assertEqual(list(rows[0]), ["time", "kind", "contact", "approach_speed"] +
                         [s + "_before" for s in states] + [s + "_after" for s in states])
        self.assertIn("case.h5", err)
        with h5py.File(self.path("case.h5"), "r") as file:
            kinds = file["event_kind"].attrs["flag_meanings"].split()
            self.assertEqual(len(rows), len(file["event_time"]))
            self.assertGreater(len(rows), 5)
            for i, row in enumerate(rows):
                self.assertEqual(float(row["time"]), file["event_time"][i])
                self.assertEqual(row["kind"], kinds[file["event_kind"][i]])
                self.assertEqual(row["contact"], ["1", "2", ""][file["event_contact"][i]])
                for k, state in enumerate(states):
                    self.assertEqual(float(row[state + "_before"]), file["event_before"][i, k])
                    self.assertEqual(float(row[state + "_after"]), file["event_after"][i, k])
        # The start approaches the closed stop 1: that is the first impact.
        self.assertEqual((rows[0]["time"], rows[0]["kind"], rows[0]["contact"]), ("0", "impact", "1"))
        self.assertEqual(float(rows[0]["approach_speed"]), 0.2)
        self.assertAlmostEqual(float(rows[0]["v1_after"]), -0.7 * 0.2, delta=1e-15)

    def test_into_a_file_also_from_a_complete_result(self):
        self.write("case.toml", SIMULATE)
        out, _ = self.graze("run", "case.toml", "--events", "-")
        self.graze("run", "case.toml", "--events", "events.csv")
        with open(self.path("events.csv"), encoding="utf-8") as file:
            self.assertEqual(file.read(), out)
        self.assertEqual(sorted(os.listdir(self.folder)), ["case.h5", "case.toml", "events.csv"])

    def test_only_where_there_are_events(self):
        self.write("case.toml", SWEEP)
        self.refused("run", "case.toml", "--events", "-", says=["--events", "sweep"])

    def test_unwritable(self):
        self.write("case.toml", SIMULATE)
        self.refused("run", "case.toml", "--events", "case.toml/events.csv", says=["events.csv"])
        _, err = self.graze("run", "case.toml", "--events", "/dev/full", code=1)
        self.assertIn("/dev/full", err)


if __name__ == "__main__":
    main()
