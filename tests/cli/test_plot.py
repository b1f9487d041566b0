"""graze plot: pictures of every kind in every format, and all that may go wrong on the way."""
import os
import re
import resource
import shutil
import struct
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

import h5py

from support.graze_cli import BRANCHES
from support.png import pixels

GRAZE = os.environ["GRAZE"]

MODEL = """
graze = 1
title = "Stops on opposite sides"
[model]
name = "two_dof_stops"
d1 = -0.3
d2 = 0.1
delta = 0.25
"""
SWEEP = MODEL + """
[analysis]
name = "sweep"
axis = { parameter = "delta", from = 0.2, to = 1.1, points = 46 }
transient = 60
record = 100
max_period = 10
"""
CASES = {
    "sweep": SWEEP,
    "followed": SWEEP + 'start = "follow_both"\n',
    "map": SWEEP.replace("points = 46", "points = 9") +
           'axis2 = { parameter = "A1", from = 0.2, to = 0.8, points = 7, spacing = "log" }\n',
    "impacts": """
graze = 1
[model]
name = "rod_on_ground"
theta = 0.9
damping = 0.05
[analysis]
name = "impacts"
axis = { parameter = "mu", from = 0.05, to = 1.6, points = 25 }
impacts = 2
end_time = 0.02
[tolerance]
integration = 1e-12
""",
    "motion": MODEL + '[analysis]\nname = "simulate"\nperiods = 2\nskip_periods = 30\n',
    "slips": MODEL + 'f1 = 0.2\n[analysis]\nname = "simulate"\nperiods = 2\nskip_periods = 3\n',
    "oblique": """graze = 1
[model]
name = "oblique_pendulum"
eta = 0.2
f1 = 0.6
mu = 0.3
clearance = 0.2
[analysis]
name = "simulate"
periods = 2
skip_periods = 3
""",
    "slip_shares": """graze = 1
[model]
name = "oblique_pendulum"
eta = 2.5
f1 = 0.67
zeta1 = 0.1
kappa = 0.5
clearance = 0.1
mu = 0.2
[analysis]
name = "sweep"
axis = { parameter = "mass_ratio", from = 0.5, to = 0.6, points = 2 }
""",
    "drift": """graze = 1
[model]
name = "linear_stops"
parameters = { push = 0.3 }
omega = 1
mass = [[1, 0], [0, 1]]
stiffness = [["1 + push", 0], [0, 0]]
damping = [[0.1, 0], [0, 0.1]]
constant = [0, "push"]
force = [{ cosine = [0.1, 1] }]
[[observable]]
name = "progress"
value = "x2'"
[analysis]
name = "sweep"
axis = { parameter = "push", from = 0.3, to = 0.4, points = 3 }
""",
    "random": SWEEP.replace("points = 46", "points = 12") + 'start = "random"\nstarts = 6\n',
    "words": SWEEP.replace("points = 46", "points = 3") +
             'axis2 = { parameter = "A1", from = 0.2, to = 0.8, points = 3 }\nitinerary = 40\n',
    "oscillator": """graze = 1
[model]
name = "impact_oscillator"
stop = 0.05
omega = 0.3
b = 0.1
[analysis]
name = "simulate"
periods = 2
skip_periods = 20
""",
    "branches": BRANCHES,
    "basins": """graze = 1
[model]
name = "impact_oscillator"
b = 0.05
[analysis]
name = "basins"
axis = { state = "x", from = -2.0, to = 0.0, points = 6 }
axis2 = { state = "v", from = -2.0, to = 2.0, points = 5 }
""",
}
MAGIC = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF-", ".eps": b"%!PS-Adobe"}
PERIODIC = (0x08, 0x45, 0x7E)  # the colour of the class "periodic"
SMALL = ["--width", "174mm", "--resolution", "100"]


def svg_texts(svg):
    root = ET.parse(svg).getroot()
    return ["".join(node.itertext()).strip() for node in root.iter() if node.tag.endswith("}text")]


class Plot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = Path(tempfile.mkdtemp(prefix="graze plot "))
        cls.addClassCleanup(shutil.rmtree, cls.results)
        for name, case in CASES.items():
            (cls.results / f"{name}.toml").write_text(case)
            run = subprocess.run([GRAZE, "run", f"{name}.toml", "-o", f"{name}.h5", "--quiet"], cwd=cls.results,
                                 capture_output=True, text=True)
            assert run.returncode == 0, f"{name}: {run.stderr}"

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="graze plot "))
        self.addCleanup(shutil.rmtree, self.folder)

    def plot(self, *arguments, code=0, **more):
        run = subprocess.run([GRAZE, "plot", *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                             **more)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertNotRegex(run.stderr, r"gnuplot>|line \d+:|warning:")
        return run.stderr

    def drawn(self, name, *options):
        """The script of the picture of a result, and the rows of numbers of its marks by name."""
        self.plot(name if isinstance(name, Path) else self.result(name), "-o", "d.svg", "--keep-script", *options)
        rows = {}
        for file in (self.folder / "d.svg.data").iterdir():
            lines = [line.split() for line in file.read_text().splitlines()]
            rows[file.stem] = [[float(number) for number in line] for line in lines if line]
        script = (self.folder / "d.svg.gp").read_text()
        shutil.rmtree(self.folder / "d.svg.data")
        return script, rows

    def texts(self, name, *options):
        self.plot(name if isinstance(name, Path) else self.result(name), "-o", "t.svg", *options)
        return svg_texts(self.folder / "t.svg")

    def result(self, name):
        return self.results / f"{name}.h5"

    def own_copy(self, name):
        return Path(shutil.copy(self.result(name), self.folder))

    def assert_nothing_left(self, *allowed):
        self.assertEqual(sorted(entry.name for entry in self.folder.iterdir()), sorted(allowed))

    # ---- pictures

    def test_every_kind_in_every_format(self):
        for name in CASES:
            for ending, magic in MAGIC.items():
                with self.subTest(kind=name, format=ending):
                    picture = self.folder / (name + ending)
                    self.plot(self.result(name), "-o", picture)
                    self.assertEqual(picture.read_bytes()[:len(magic)], magic)
        self.assert_nothing_left(*(name + ending for name in CASES for ending in MAGIC))

    def test_pictures_are_not_blank(self):
        for name in CASES:
            with self.subTest(kind=name):
                self.plot(self.result(name), "-o", "p.png", *SMALL)
                width, height, colours = pixels(self.folder / "p.png")
                self.assertEqual(width, 685)
                self.assertGreater(len(colours), 20)
                self.assertGreater(width * height - colours[(255, 255, 255)], 5000)
                self.assertGreater(colours[(255, 255, 255)], width * height // 8)

    def test_classes_have_their_colour(self):
        self.plot(self.result("sweep"), "-o", "p.png", *SMALL, "--panels", "class")
        periodic = pixels(self.folder / "p.png")[2].get(PERIODIC, 0)
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            file["attractor"][...] = 3
        self.plot(copy, "-o", "p.png", *SMALL, "--panels", "class")
        self.assertGreater(periodic, pixels(self.folder / "p.png")[2].get(PERIODIC, 0) + 1000)

    def test_default_picture_lies_beside_the_result(self):
        copy = self.own_copy("motion")
        self.plot(copy.name)
        self.assert_nothing_left("motion.h5", "motion.png")

    def test_texts_say_what_is_drawn(self):
        expected = {"sweep": ["Stops on opposite sides", "δ", "x₁", "x₂", "class", "period", "periodic", "stick fraction",
                              "contact 1", "contact 2", "d₁ = −0.3, d₂ = 0.1"],
                    "followed": ["up", "down"],
                    "map": ["class and period", "δ", "A₁", "period 1", "stick fraction, contact 2"],
                    "motion": ["time", "x₁", "v₁", "x₂", "v₂", "contact 1", "contact 2", "impact", "stop: contact 1",
                               "phase zero"],
                    "slips": ["f1", "sticks"],
                    "oblique": ["block", "stuck", "no slip", "impact", "θ [rad]", "θ̇ [rad]"],
                    "slip_shares": ["mass ratio", "stick fraction = 0"],
                    "branches": ["force scale", "x₁", "stable", "unstable", "G grazing", "F fold"],
                    "basins": ["x", "v"],
                    "impacts": ["μ", "restitution", "F-", "FS-B", "impact 0", "impact 1"]}
        for name, texts in expected.items():
            with self.subTest(kind=name):
                self.plot(self.result(name), "-o", "p.svg")
                self.assertLessEqual(set(texts), set(svg_texts(self.folder / "p.svg")))

    def test_states_that_drift_are_left_out_and_observables_shown(self):
        texts = set(self.texts("drift"))
        self.assertLessEqual({"x₁", "progress mean"}, texts)
        self.assertNotIn("x₂", texts)

    def test_units_come_from_the_file(self):
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            file["delta"].attrs["units"] = "rad/s"
            file["map_state"].attrs["units"] = "mm"
        self.plot(copy, "-o", "p.svg")
        self.assertLessEqual({"δ [rad/s]", "x₁ [mm]"}, set(svg_texts(self.folder / "p.svg")))

    def test_panels_can_be_chosen(self):
        texts = self.texts("sweep", "--panels", "v2,lyapunov")
        self.assertLessEqual({"v₂", "lyapunov"}, set(texts))
        self.assertFalse({"x₁", "class", "period"} & set(texts))
        texts = self.texts("map", "--panels", "impacts:2,outcome")
        self.assertLessEqual({"impacts, contact 2", "outcome", "ok"}, set(texts))
        self.assertNotIn("stick fraction, contact 1", texts)
        for name in ("sweep", "map", "motion", "branches", "impacts", "basins"):
            with self.subTest(kind=name):
                self.assertRegex(self.plot(self.result(name), "-o", "q.svg", "--panels", "foo", code=2),
                                 "no panel foo in this file; .*there is: ")
        self.assertIn("did you mean lyapunov?", self.plot(self.result("sweep"), "-o", "q.svg", "--panels", "liapunov", code=2))

    def test_part_of_the_axis(self):
        script, rows = self.drawn("sweep", "--from", "0.3", "--to", "0.5")
        self.assertEqual(set(re.findall(r"set xrange (.*)", script)), {"[0.3:0.5]"})
        for dots in (rows["x1_1"], rows["x2_1"]):
            self.assertTrue(all(0.3 <= x <= 0.5 for x, _ in dots))
        self.assertIn("no points with delta", self.plot(self.result("sweep"), "-o", "q.svg", "--from", "7", code=2))

    def test_part_of_the_axis_of_branches(self):
        """The axis is the one asked for, also where the points reach less far or beyond."""
        for low, high in ((0.3, 0.8), (0.1, 2.0), (0.5, 0.55)):
            script, _ = self.drawn("branches", "--from", low, "--to", high)
            self.assertEqual(set(re.findall(r"set xrange (.*)", script)), {f"[{low:g}:{high:g}]"})

    def test_part_of_the_first_y_axis(self):
        script, _ = self.drawn("sweep", "--y-from", "0.1", "--y-to", "0.2")
        self.assertEqual(re.findall(r"set yrange (.*)", script)[0], "[0.1:0.2]")

    def test_panels_with_nothing_to_show_are_named(self):
        """Whether a panel has anything to show is asked of the part of the axis that is drawn."""
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            delta = file["delta"][...]
            file["stick_fraction"][...] = 0.1 * (delta <= 0.5)[:, None]
            file["attractor"][delta > 0.5] = 1
            file["period"][delta > 0.5] = 1
        self.assertIn("stick fraction", self.texts(copy))
        texts = self.texts(copy, "--from", "0.6", "--to", "0.9")
        note = " ".join(texts)
        for words in ("periodic everywhere", "period 1 everywhere", "stick fraction = 0"):
            self.assertIn(words, note)
        self.assertNotIn("stick fraction", texts)
        self.assertNotIn("class", texts)

    def test_legends_show_what_is_visible(self):
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            delta = file["delta"][...]
            file["attractor"][...] = 1
            file["attractor"][delta > 0.5] = 3
            file["attractor"][delta > 0.9] = 2
        self.assertLessEqual({"periodic", "chaotic", "quasiperiodic"}, set(self.texts(copy)))
        texts = self.texts(copy, "--from", "0.6", "--to", "1.1")
        self.assertNotIn("periodic", texts)
        self.assertLessEqual({"chaotic", "quasiperiodic"}, set(texts))
        self.assertLessEqual({"unstable", "stable"}, set(self.texts("branches")))
        self.assertNotIn("unstable", self.texts("branches", "--from", "0.3", "--to", "0.6"))

    def test_iterates_are_dots_at_every_zoom(self):
        """Rare iterates are lighter dots, whatever their number; no part of a diagram becomes a raster."""
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            file["attractor"][...] = 3
            file["period"][...] = 0
        for options in ([], ["--from", "0.3", "--to", "0.35"]):
            script, rows = self.drawn(copy, "--panels", "x1", *options)
            self.assertIn("with points pointtype 7", script)
            self.assertNotIn("with image", script)
            self.assertGreater(len(rows["x1_1"]), 0)

    def test_random_starts_are_coloured_by_attractor(self):
        copy = self.own_copy("random")
        with h5py.File(copy, "r+") as file:
            self.assertEqual(file["map_state"].shape[:2], (6, 12))
            file["attractor"][...] = 1
            file["period"][...] = 1
            for start in range(6):  # the attractor of a start changes along the parameter
                for point in range(12):
                    file["map_state"][start, point] = 0.1 if (start + point) % 2 else 0.4
        script, rows = self.drawn(copy, "--panels", "x1")
        sets = [{y for _, y in dots} for dots in rows.values()]
        self.assertEqual(sorted(sets, key=min), [{0.1}, {0.4}])
        self.assertEqual(len(set(re.findall(r"with points .* linecolor rgb '(#[0-9a-f]+)'", script))), 2)

    def test_tic_labels_are_alike(self):
        script, _ = self.drawn("sweep")
        for tics in re.findall(r"set [xy]tics \((.*)\)", script):
            named = [text for text in re.findall(r'"([^"]*)"', tics) if re.fullmatch(r"−?[0-9.]+", text)]
            self.assertLessEqual(len({len(text.partition(".")[2]) for text in named}), 1, tics)

    def test_powers_of_ten_are_alike(self):
        case = Path(os.environ["GRAZE_SOURCE"]) / "data" / "cases" / "planar_convergence.toml"
        subprocess.run([GRAZE, "run", case, "-o", self.folder / "c.h5", "--quiet", "--set", "analysis.axis.points=5"],
                       check=True)
        script, _ = self.drawn(self.folder / "c.h5")
        for tics in re.findall(r"set [xy]tics \((.*)\)", script):
            for text in re.findall(r'"([^"]+)"', tics):
                self.assertRegex(text, "^10[⁻¹²³⁴⁵⁶⁷⁸⁹⁰]+$")

    def test_labels_keep_their_power_of_ten(self):
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            file["stick_fraction"][...] = 0
            file["stick_fraction"][:5] = 3e-5
        self.assertIn("stick fraction [10⁻⁵]", self.texts(copy, "--width", "84mm", "--panels", "stick_fraction"))

    def test_long_itineraries_are_told_apart(self):
        copy = self.own_copy("words")
        with h5py.File(copy, "r+") as file:
            words = file["itinerary"]
            words[...] = -1
            words[..., :20] = 0
            words[0, ..., 19] = 1
            words[1, ..., 18] = 1
        texts = self.texts(copy)
        words = [text for text in texts if re.match("1111", text)]
        self.assertEqual(len(words), 3)
        self.assertEqual(len(set(words)), 3)

    # ---- what papers print

    def test_exponent_has_a_zero_line(self):
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            file["lyapunov"][...] = file["delta"][...] - 0.6
        _, rows = self.drawn(copy, "--panels", "lyapunov")
        self.assertEqual(rows["lyapunov_1"], [[0.2, 0], [1.1, 0]])
        for x, y in rows["lyapunov_2"]:
            self.assertAlmostEqual(y, x - 0.6, 8)

    def test_exponent_of_maps_is_white_at_zero(self):
        copy = self.own_copy("map")
        with h5py.File(copy, "r+") as file:
            file["lyapunov"][...] = -1
            file["lyapunov"][0, 0] = 0.25
        script, _ = self.drawn(copy, "--panels", "lyapunov")
        self.assertIn("set cbrange [-1:1]", script)
        self.assertRegex(script, r"set palette defined \(-1 .*, 0 '#f7f7f7', .* 1 ")

    def test_impacts_in_periods(self):
        copy = self.own_copy("map")
        with h5py.File(copy, "r+") as file:
            file["attractor"][...] = 1
            file["impacts"][...] = 1
            file["forcing_periods"][...] = 1
            file["forcing_periods"][0] = 3
            file["impacts"][0, ..., 0] = 4
        self.assertLessEqual({"2/1", "5/3"}, set(self.texts(copy, "--panels", "p/n")))

    def test_section_of_one_parameter_value(self):
        _, rows = self.drawn("sweep", "--panels", "section:x1", "--from", "0.699", "--to", "0.701")
        with h5py.File(self.result("sweep")) as file:
            at = abs(file["delta"][...] - 0.7).argmin()
            state = file["map_state"][at, 0]
        x, v = rows["section_x1_1"][0]
        self.assertAlmostEqual(x, state[0], 8)
        self.assertAlmostEqual(v, state[1], 8)
        self.assertIn("choose one", self.plot(self.result("sweep"), "-o", "q.svg", "--panels", "section:x1", code=2))

    def test_portraits_come_from_the_model(self):
        """Which state is the velocity of which is the model's to say: x and v, theta and theta_dot, x1 and v1."""
        for name, portraits in (("oscillator", ["x"]), ("motion", ["x1", "x2"]), ("oblique", ["theta", "x"])):
            with self.subTest(kind=name):
                script, _ = self.drawn(name)
                self.assertEqual(re.findall(r"# portrait:(.*)", script), portraits)
        script, rows = self.drawn("oscillator")
        self.assertIn("stop: stop", script)  # its line
        level = {y for _, y in rows["x_2" if len(rows["x_1"][0]) == 4 else "x_1"]}
        self.assertEqual(level, {0.05})
        self.assertTrue(any(len(row[0]) == 4 for name, row in rows.items() if name.startswith("x_")))  # stick bands

    def test_labels_lie_on_the_page(self):
        """High panels have finer numbers than low ones; the label beside them is not cut off."""
        script, _ = self.drawn("basins")
        width = float(re.search(r"terminal svg .* size (\d+),", script).group(1))
        font = float(re.search(r"font 'DejaVu Sans,([\d.]+)'", script).group(1))
        labels = re.findall(r'set label ".*" at screen ([\d.]+),[\d.]+ center rotate', script)
        self.assertEqual(len(labels), 1)
        self.assertGreater(float(labels[0]) * width, font / 2)

    def test_every_axis_has_two_numbers(self):
        for name in ("motion", "oscillator", "oblique"):
            script, _ = self.drawn(name, "--width", "84mm")
            for tics in re.findall(r"set [xy]tics \((.*)\)", script):
                self.assertTrue(tics.count('"') > 2 or '""' in tics, tics)  # or the numbers stand below another panel
        texts = self.texts("motion", "--width", "84mm", "--panels", "portrait:x1,portrait:x2")
        self.assertIn("stop: contact 2", texts)

    def test_a_meaning_is_told_once(self):
        texts = self.texts("motion", "--panels", "contacts")
        self.assertEqual(texts.count("stuck"), 1)

    def test_a_state_at_one_place_is_not_drawn(self):
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            file["map_state"][:, :, 0] = 0.3
        script, _ = self.drawn(copy)
        self.assertNotIn("# x1\n", script)
        self.assertIn("# x2\n", script)
        self.assertIn("Not drawn: x₁ = 0.3", script)
        self.assertIn("# x1\n", self.drawn(copy, "--panels", "x1")[0])

    def test_points_without_a_result_have_no_itinerary(self):
        copy = self.own_copy("words")
        with h5py.File(copy, "r+") as file:
            file["attractor"][1:] = -1
            file["itinerary"][1:] = -1
            file["itinerary"][:1] = 0
        self.assertNotIn("no impact", self.texts(copy, "--panels", "itinerary"))

    def test_extrema_of_each_period(self):
        """Least and greatest sample or event state of each forcing period; half their difference is the amplitude."""
        _, rows = self.drawn("motion", "--panels", "extrema:x1,amplitude:x1")
        with h5py.File(self.result("motion")) as file:
            time, x = file["time"][...], file["state"][:, 0]
            events, before = file["event_time"][...], file["event_before"][:, 0]
        period = (time[-1] - time[0]) / 2
        for k in range(2):
            begin, end = time[0] + (k - 1e-9) * period, time[0] + (k + 1 + 1e-9) * period
            within = [*x[(begin <= time) & (time <= end)], *before[(begin <= events) & (events <= end)]]
            self.assertAlmostEqual(rows["extrema_x1_1"][k][1], max(within), 8)
            self.assertAlmostEqual(rows["extrema_x1_2"][k][1], min(within), 8)
            self.assertAlmostEqual(rows["amplitude_x1_1"][k][1], (max(within) - min(within)) / 2, 8)
        self.assertIn("shorter than one forcing period",
                      self.plot(self.result("motion"), "-o", "q.svg", "--panels", "extrema:x1", "--from", time[0], "--to",
                                time[0] + period / 2, code=2))

    def test_normal_forces_over_time(self):
        """Of each contact that presses a line in its colour; not offered of itself where none does."""
        script, rows = self.drawn("motion", "--panels", "normal_force")
        with h5py.File(self.result("motion")) as file:
            force, contacts = file["normal_force"][...], file["normal_force"].shape[1]
        pressing = [i for i in range(contacts) if force[:, i].max() > 0]
        self.assertTrue(pressing)
        for line, i in enumerate(pressing):
            self.assertAlmostEqual(max(y for _, y in rows[f"normal_force_{line + 1}"]), force[:, i].max(), 6)
        self.assertIn("normal force", script)
        self.assertIn("# normal_force\n", self.drawn("motion")[0])
        with h5py.File(self.result("oscillator")) as file:
            time, pressing = file["time"][...], file["normal_force"][...].max(axis=1) > 0
        begin = next(k for k in range(len(time)) if not pressing[k:k + 30].any())
        free = self.drawn("oscillator", "--from", time[begin + 1], "--to", time[begin + 28])[0]
        self.assertNotIn("# normal_force\n", free)

    def test_greatest_gap_over_the_parameter(self):
        _, rows = self.drawn("sweep", "--panels", "greatest_gap:1")
        with h5py.File(self.result("sweep")) as file:
            gap = file["greatest_gap"][:, 0]
        self.assertAlmostEqual(rows["greatest_gap_1_1"][0][1], gap[0], 6)

    def test_multipliers_along_a_branch(self):
        _, rows = self.drawn("branches", "--panels", "multipliers")
        self.assertEqual({y for _, y in rows["multipliers_1"]}, {1})
        with h5py.File(self.result("branches")) as file:
            x = file["force_scale"][0]
            sizes = (file["multiplier_re"][0] ** 2 + file["multiplier_im"][0] ** 2) ** 0.5
        drawn = [y for name, marks in rows.items() for at, y in marks if abs(at - x) < 1e-7 and name != "multipliers_1"]
        for size in sizes:
            self.assertLess(min(abs(y - size) for y in drawn), 1e-6)

    def test_names_of_points_cover_nothing(self):
        script, _ = self.drawn("branches", "--width", "84mm")
        page = [float(number) for number in re.search(r"size (\d+),(\d+)", script).groups()]
        frame = [float(re.search(f"set {side}margin at screen (.*)", script).group(1)) for side in "lrtb"]
        boxes = []
        for text, x, y, size in re.findall(
                r'set label "(F|G|PD|NS|BP)" at screen ([\d.]+),([\d.]+) center front font \',([\d.]+)\'', script):
            width, height = float(size) * 0.6 * len(text), float(size)
            x, y = float(x) * page[0], float(y) * page[1]
            boxes.append((x - width / 2, y - height / 2, x + width / 2, y + height / 2))
        self.assertGreater(len(boxes), 1)
        for i, a in enumerate(boxes):
            self.assertGreater(a[0], frame[0] * page[0])
            self.assertLess(a[2], frame[1] * page[0])
            self.assertLess(a[3], frame[2] * page[1])
            self.assertGreater(a[1], frame[3] * page[1])
            for b in boxes[:i]:
                self.assertFalse(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3])

    def test_several_results_in_one_diagram(self):
        self.plot(self.result("sweep"), self.result("followed"), "-o", "o.svg")
        self.assertLessEqual({"sweep", "followed"}, set(svg_texts(self.folder / "o.svg")))
        self.assertIn("different parameters",
                      self.plot(self.result("sweep"), self.result("branches"), "-o", "q.svg", code=2))

    # ---- the size of a journal

    def test_sizes_are_those_asked_for(self):
        for width, points in (("84mm", 238.1), ("17.4cm", 493.2), ("3in", 216)):
            self.plot(self.result("sweep"), "-o", "p.pdf", "--width", width, "--height", "150mm")
            box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+)", (self.folder / "p.pdf").read_bytes())
            self.assertAlmostEqual(float(box.group(1)), points, delta=0.5)  # whole points
            self.assertAlmostEqual(float(box.group(2)), 425.2, delta=0.5)
        self.plot(self.result("sweep"), "-o", "p.png", "--width", "84mm", "--panels", "x1")
        self.assertEqual(struct.unpack(">I", (self.folder / "p.png").read_bytes()[16:20])[0], 992)  # 300 an inch

    def test_font_size(self):
        sizes = []
        for size in ("6", "9"):
            script, _ = self.drawn("sweep", "--font-size", size)
            sizes.append(float(re.search(r"font 'DejaVu Sans,([\d.]+)'", script).group(1)))
        self.assertAlmostEqual(sizes[1] / sizes[0], 1.5, 3)

    def test_caption_and_title(self):
        self.assertIn("d₁ = −0.3, d₂ = 0.1", self.texts("sweep"))
        texts = self.texts("sweep", "--no-caption", "--title", "none")
        self.assertNotIn("d₁ = −0.3, d₂ = 0.1", texts)
        self.assertNotIn("Stops on opposite sides", texts)
        self.assertIn("Figure 3", self.texts("sweep", "--title", "Figure 3"))

    def test_the_picture_is_named(self):
        run = subprocess.run([GRAZE, "plot", str(self.result("sweep")), "-o", "named.svg"], cwd=self.folder,
                             capture_output=True, text=True)
        self.assertEqual(run.stdout, "named.svg\n")

    def test_failed_points_are_marked(self):
        copy = self.own_copy("sweep")
        self.plot(copy, "-o", "p.svg")
        self.assertNotIn("failed", svg_texts(self.folder / "p.svg"))
        with h5py.File(copy, "r+") as file:
            file["attractor"][7] = 5
            file["map_state"][7] = float("nan")
        self.plot(copy, "-o", "p.svg")
        self.assertEqual(svg_texts(self.folder / "p.svg").count("failed"), 2)  # its class, and its row of marks

    def test_a_failed_point_of_a_map_is_shown(self):
        copy = self.own_copy("map")
        self.plot(copy, "-o", "p.svg")
        self.assertNotIn("failed", svg_texts(self.folder / "p.svg"))
        with h5py.File(copy, "r+") as file:
            file["attractor"][4, 3] = 5
        self.plot(copy, "-o", "p.svg")
        self.assertIn("failed", svg_texts(self.folder / "p.svg"))

    def test_rises_are_marked(self):
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            file["rises"][...] = 0
            file["rises"][3, 1] = 1
        self.plot(copy, "-o", "p.svg")
        texts = svg_texts(self.folder / "p.svg")
        self.assertIn("rise 2", texts)
        self.assertNotIn("rise 1", texts)

    def test_nothing_computed_yet_is_an_empty_picture(self):
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            file["attractor"][...] = -1
            file["period"][...] = -1
            file["rises"][...] = -1
            for name in ("map_state", "stick_fraction", "stick_fraction_all"):
                file[name][...] = float("nan")
        texts = self.texts(copy)
        self.assertIn("class not computed yet", " ".join(texts))
        self.assertNotIn("periodic", texts)

    # ---- scripts

    def test_kept_script_draws_the_same_picture(self):
        for name in ("sweep", "map", "motion", "branches"):
            for ending in (".png", ".svg"):
                with self.subTest(kind=name, format=ending):
                    picture = self.folder / ("its `touch x` $HOME 'picture" + ending)
                    self.plot(self.result(name), "-o", picture, "--keep-script")
                    self.assert_nothing_left(picture.name, picture.name + ".gp", picture.name + ".data")
                    self.assertLess(len(Path(str(picture) + ".gp").read_text()), 40000)
                    first = picture.read_bytes()
                    picture.unlink()
                    subprocess.run(["gnuplot", str(picture) + ".gp"], cwd="/", check=True, capture_output=True)
                    self.assertEqual(picture.read_bytes(), first)
                    picture.unlink()
                    subprocess.run(["gnuplot", picture.name + ".gp"], cwd=self.folder, check=True, capture_output=True)
                    self.assertEqual(picture.read_bytes(), first)
                    picture.unlink()
                    Path(str(picture) + ".gp").unlink()
                    shutil.rmtree(str(picture) + ".data")

    def test_texts_of_strangers_are_only_texts(self):
        flag = self.folder / "executed"
        evil = [f"`touch {flag}`", f"'.system('touch {flag}').'", f"'\nsystem('touch {flag}')\n#", f"'\n!touch {flag}\n",
                f"\"`touch {flag}`\"", f"@x %s \\', system('touch {flag}')", "<script>&amp;</script>"]
        for text in evil:
            with self.subTest(text=text):
                copy = self.own_copy("sweep")
                with h5py.File(copy, "r+") as file:
                    file.attrs["title"] = text
                    file["delta"].attrs["units"] = text
                    file["map_state"].attrs["units"] = text
                    file["contact"].attrs["flag_meanings"] = text.replace(" ", "${IFS}").replace("\n", ";") + " 2"
                self.plot(copy, "-o", "p.svg", "--keep-script")
                subprocess.run(["gnuplot", "p.svg.gp"], cwd=self.folder, check=True, capture_output=True)
                self.assertFalse(flag.exists())
                shown = " ".join(text.split())
                self.assertIn(shown, [" ".join(found.split()) for found in svg_texts(self.folder / "p.svg")])

    def test_bytes_that_are_no_text(self):
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            file.attrs["title"] = b"a\xff\xc3b \xe2\x82\xac \xf0\x9f"
        self.plot(copy, "-o", "p.svg")
        self.assertIn("a??b € ??", svg_texts(self.folder / "p.svg"))

    # ---- what may go wrong

    def test_without_gnuplot(self):
        words = self.plot(self.result("sweep"), "-o", "p.png", code=2, env={"PATH": "/nonexistent"})
        self.assertIn("gnuplot-nox", words)
        self.assert_nothing_left()

    def test_gnuplot_that_fails(self):
        tools = self.folder / "tools"
        tools.mkdir()
        fake = tools / "gnuplot"
        for body, words in (("head -c 9; echo strange words >&2; exit 3", "gnuplot ended with an error"),
                            ("cat > /dev/null; printf '\\211PNG half'", "could not write all"),
                            ("kill -9 $$", "gnuplot ended with an error")):
            with self.subTest(body=body):
                fake.write_text(f"#!/bin/sh\n{body}\n")
                fake.chmod(0o755)
                env = {"PATH": f"{tools}:/usr/bin:/bin"}
                message = self.plot(self.result("sweep"), "-o", "p.png", "--keep-script", code=1, env=env)
                self.assertIn(words, message)
                self.assertNotIn("strange words", message)
                self.assert_nothing_left("tools")

    def test_a_failure_leaves_the_old_picture(self):
        self.plot(self.result("sweep"), "-o", "p.png")
        before = (self.folder / "p.png").read_bytes()
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        run = subprocess.run([GRAZE, "plot", str(self.result("sweep")), "-o", "p.png"], cwd=self.folder,
                             capture_output=True, text=True, preexec_fn=limit)
        self.assertNotEqual(run.returncode, 0)
        self.assertNotEqual(run.stderr, "")
        self.assertEqual((self.folder / "p.png").read_bytes(), before)
        self.assert_nothing_left("p.png")

    def test_wrong_usage(self):
        garbage = self.folder / "garbage.h5"
        garbage.write_bytes(b"no result at all" * 100)
        sweep, out = self.result("sweep"), ["-o", "p.png"]
        for arguments, words in (([sweep, "-o", "p.gif"], ".png, .svg, .pdf or .eps"),
                                 ([sweep, "-o", "p"], ".png, .svg, .pdf or .eps"),
                                 ([sweep, "-o", "nowhere/p.png"], "nowhere/p.png"),
                                 ([sweep, *out, "--panels", "x9"], "x1, v1, x2, v2"),
                                 ([sweep, *out, "--start", "1"], "start 1"),
                                 ([sweep, *out, "--from", "2", "--to", "1"], "--from"),
                                 ([sweep, *out, "--y-from", "2", "--y-to", "1"], "--y-from"),
                                 ([sweep, *out, "--width", "1mm"], "84mm"),
                                 ([sweep, *out, "--width", "84km"], "84mm"),
                                 ([sweep, *out, "--width", "84mm;ls"], "84mm"),
                                 ([sweep, *out, "--width", "15mm"], "at least"),
                                 ([sweep, *out, "--height", "20mm"], "at least"),
                                 ([sweep, *out, "--font-size", "1"], "--font-size"),
                                 ([self.result("map"), *out, "--panels", "nothing"], "nothing"),
                                 ([self.result("map"), *out, "--panels", "impacts:9"], "impacts:1, impacts:2"),
                                 ([self.result("map"), *out, "--panels", "map_state"], "map_state"),
                                 ([self.result("motion"), "-o", "p.png", "--from", "1e9"], "no motion"),
                                 ([garbage, "-o", "p.png"], "garbage.h5"),
                                 (["missing.h5", "-o", "p.png"], "missing.h5")):
            with self.subTest(arguments=arguments[1:]):
                self.assertIn(words, self.plot(*arguments, code=2))
                self.assert_nothing_left("garbage.h5")


if __name__ == "__main__":
    unittest.main()
