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
import zlib
from pathlib import Path

import h5py

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
}
MAGIC = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}
PERIODIC = (0x00, 0x72, 0xB2)  # the colour of the class "periodic"


def pixels(png):
    """Width, height and a dictionary of colours to their number of pixels (8 bit RGB or RGBA)."""
    data = Path(png).read_bytes()
    width, height, depth, colour_type = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and colour_type in (2, 6), "unexpected kind of PNG"
    packed, at = b"", 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    raw, bytes_each = zlib.decompress(packed), 3 if colour_type == 2 else 4
    stride = width * bytes_each
    above, colours = bytearray(stride), {}
    for y in range(height):
        kind = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left = row[x - bytes_each] if x >= bytes_each else 0
            up = above[x]
            if kind == 1:
                row[x] = (row[x] + left) & 255
            elif kind == 2:
                row[x] = (row[x] + up) & 255
            elif kind == 3:
                row[x] = (row[x] + (left + up) // 2) & 255
            elif kind == 4:
                corner = above[x - bytes_each] if x >= bytes_each else 0
                guess = left + up - corner
                nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))
                row[x] = (row[x] + nearest[2]) & 255
        for x in range(0, stride, bytes_each):
            colour = tuple(row[x:x + 3])
            colours[colour] = colours.get(colour, 0) + 1
        above = row
    return width, height, colours


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
        return run.stderr

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
                self.plot(self.result(name), "-o", "p.png", "--size", "800x600")
                width, height, colours = pixels(self.folder / "p.png")
                self.assertEqual((width, height), (800, 600))
                self.assertGreater(len(colours), 20)
                self.assertGreater(width * height - colours[(255, 255, 255)], 5000)
                self.assertGreater(colours[(255, 255, 255)], width * height // 4)

    def test_classes_have_their_colour(self):
        self.plot(self.result("sweep"), "-o", "p.png", "--size", "800x600")
        periodic = pixels(self.folder / "p.png")[2].get(PERIODIC, 0)
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            file["attractor"][...] = 3
        self.plot(copy, "-o", "p.png", "--size", "800x600")
        self.assertGreater(periodic, pixels(self.folder / "p.png")[2].get(PERIODIC, 0) + 1000)

    def test_default_picture_lies_beside_the_result(self):
        copy = self.own_copy("motion")
        self.plot(copy.name)
        self.assert_nothing_left("motion.h5", "motion.png")

    def test_texts_say_what_is_drawn(self):
        expected = {"sweep": ["Stops on opposite sides", "delta", "x1", "x2", "class", "period", "periodic", "time stuck",
                              "contact 1", "contact 2"],
                    "followed": ["up", "down"],
                    "map": ["class and period", "delta", "A1", "period 1", "stick_fraction, contact 2"],
                    "motion": ["time", "x1", "v1", "x2", "v2", "contact 1", "contact 2", "impact"],
                    "slips": ["f1", "f2", "f12", "sticks"],
                    "oblique": ["block", "stuck", "no slip", "impact"],
                    "slip_shares": ["impacts", "slip turns"],
                    "impacts": ["mu", "restitution", "contact_time [s]", "peak_force [N]", "friction_work [J]",
                                "damping_work [J]", "F-", "FS-B", "impact 0", "impact 1"]}
        for name, texts in expected.items():
            with self.subTest(kind=name):
                self.plot(self.result(name), "-o", "p.svg")
                self.assertLessEqual(set(texts), set(svg_texts(self.folder / "p.svg")))

    def test_units_come_from_the_file(self):
        copy = self.own_copy("sweep")
        with h5py.File(copy, "r+") as file:
            file["delta"].attrs["units"] = "rad/s"
            file["map_state"].attrs["units"] = "mm"
        self.plot(copy, "-o", "p.svg")
        self.assertLessEqual({"delta [rad/s]", "x1 [mm]"}, set(svg_texts(self.folder / "p.svg")))

    def test_states_and_arrays_can_be_chosen(self):
        self.plot("-o", "p.svg", "--state", "v2", self.result("sweep"))
        texts = svg_texts(self.folder / "p.svg")
        self.assertIn("v2", texts)
        self.assertNotIn("x1", texts)
        self.plot(self.result("map"), "-o", "p.svg", "--show", "impacts:2", "--show", "outcome")
        texts = svg_texts(self.folder / "p.svg")
        self.assertLessEqual({"impacts, contact 2", "outcome", "ok"}, set(texts))
        self.assertNotIn("stick_fraction, contact 1", texts)

    def test_part_of_the_axis(self):
        self.plot(self.result("sweep"), "-o", "p.svg", "--from", "0.3", "--to", "0.5")
        numbers = [float(text) for text in svg_texts(self.folder / "p.svg") if re.fullmatch(r"0\.\d+", text)]
        self.assertNotIn(0.8, numbers)
        self.assertIn("no points with delta", self.plot(self.result("sweep"), "-o", "q.svg", "--from", "7", code=2))

    def test_many_values_become_a_density(self):
        for name, words in (("sweep", "share of iterates"), ("followed", "several")):
            with self.subTest(kind=name):
                copy = self.own_copy(name)
                self.plot(copy, "-o", "p.svg")
                self.assertNotIn(words, svg_texts(self.folder / "p.svg"))
                with h5py.File(copy, "r+") as file:
                    file["attractor"][...] = 3
                    file["period"][...] = 0
                self.plot(copy, "-o", "p.svg")
                self.assertIn(words, svg_texts(self.folder / "p.svg"))
                self.assertIn("<image", (self.folder / "p.svg").read_text())

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
        self.plot(copy, "-o", "p.svg")
        texts = svg_texts(self.folder / "p.svg")
        self.assertIn("class", texts)
        self.assertNotIn("periodic", texts)

    # ---- scripts

    def test_kept_script_draws_the_same_picture(self):
        for name in CASES:
            for ending in (".png", ".svg"):
                with self.subTest(kind=name, format=ending):
                    picture = self.folder / ("its `touch x` $HOME 'picture" + ending)
                    self.plot(self.result(name), "-o", picture, "--keep-script")
                    self.assert_nothing_left(picture.name, picture.name + ".gp")
                    first = picture.read_bytes()
                    picture.unlink()
                    subprocess.run(["gnuplot", str(picture) + ".gp"], cwd="/", check=True, capture_output=True)
                    self.assertEqual(picture.read_bytes(), first)
                    picture.unlink()
                    subprocess.run(["gnuplot", picture.name + ".gp"], cwd=self.folder, check=True, capture_output=True)
                    self.assertEqual(picture.read_bytes(), first)
                    picture.unlink()
                    Path(str(picture) + ".gp").unlink()

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
        for body, words in (("head -c 9; echo strange words >&2; exit 3", "strange words"),
                            ("cat > /dev/null; printf '\\211PNG half'", "could not write all"),
                            ("kill -9 $$", "gnuplot failed")):
            with self.subTest(body=body):
                fake.write_text(f"#!/bin/sh\n{body}\n")
                fake.chmod(0o755)
                env = {"PATH": f"{tools}:/usr/bin:/bin"}
                self.assertIn(words, self.plot(self.result("sweep"), "-o", "p.png", "--keep-script", code=1, env=env))
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
        sweep, size = self.result("sweep"), ["-o", "p.png", "--size"]
        for arguments, words in (([sweep, "-o", "p.gif"], ".png, .svg or .pdf"),
                                 ([sweep, "-o", "p"], ".png, .svg or .pdf"),
                                 ([sweep, "-o", "nowhere/p.png"], "nowhere/p.png"),
                                 ([sweep, "-o", "p.png", "--state", "x9"], "x1, v1, x2, v2"),
                                 ([sweep, "-o", "p.png", "--start", "1"], "start 1"),
                                 ([sweep, "-o", "p.png", "--from", "2", "--to", "1"], "--from"),
                                 ([sweep, *size, "10x10"], "800x600"),
                                 ([sweep, *size, "1600"], "WIDTHxHEIGHT"),
                                 ([sweep, *size, "1600x1200;ls"], "WIDTHxHEIGHT"),
                                 ([self.result("map"), "-o", "p.png", "--show", "nothing"], "nothing"),
                                 ([self.result("map"), "-o", "p.png", "--show", "impacts:9"], "1, 2"),
                                 ([self.result("map"), "-o", "p.png", "--show", "map_state"], "map_state"),
                                 ([self.result("motion"), "-o", "p.png", "--from", "1e9"], "no motion"),
                                 ([garbage, "-o", "p.png"], "garbage.h5"),
                                 (["missing.h5", "-o", "p.png"], "missing.h5")):
            with self.subTest(arguments=arguments[1:]):
                self.assertIn(words, self.plot(*arguments, code=2))
                self.assert_nothing_left("garbage.h5")


if __name__ == "__main__":
    unittest.main()
