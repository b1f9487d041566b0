"""Installs into an empty folder and uses nothing but what was installed: the program, the headers, and the
examples, which are programs of their own built with find_package(graze)."""

import concurrent.futures
import csv
import functools
import io
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import h5py
import numpy as np

SOURCE = pathlib.Path(os.environ["GRAZE_SOURCE"])
BUILD = os.environ["GRAZE_BUILD"]
COMPILER = os.environ["GRAZE_COMPILER"]

OWN_MODEL = """graze = 1
title = "A pendulum at a wall"
[model]
name = "wall_pendulum"
wall = 0.2
restitution = 0.7
[analysis]
name = "simulate"
end_time = 12.0
samples_per_period = 50
"""

OWN_ANALYSIS = """graze = 1
[model]
name = "bouncing_ball"
Gamma = 0.0
[initial]
state = [2.0, 0.0]
[analysis]
name = "first_impact"
end_time = 100.0
axis = { parameter = "gravity", from = 0.5, to = 2.0, points = 31 }
"""


def run(*command, folder=None):
    """Standard output of a command that must succeed."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder)
    if result.returncode != 0:
        raise AssertionError(f"{command} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


class Install(unittest.TestCase):
    """A fresh installation in a folder of its own."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.include = cls.prefix / "include"
        cls.share = cls.prefix / "share/graze"


class Installed(Install):
    def headers(self):
        return sorted(path.relative_to(self.include).as_posix() for path in self.include.rglob("*.hpp"))

    def test_program(self):
        program = self.prefix / "bin/graze"
        self.assertIn("two_dof_stops", run(program, "models"))
        run(program, "check", self.share / "cases/quickstart.toml")

    def test_cases_are_those_installed(self):
        program = self.prefix / "bin/graze"
        listed = {line.split()[0] for line in run(program, "cases").splitlines()}
        self.assertEqual({path.stem for path in (self.share / "cases").glob("*.toml")}, listed)
        self.assertEqual((self.share / "cases/quickstart.toml").read_text(encoding="utf-8"),
                         run(program, "cases", "quickstart"))

    def test_manual_page_and_completion(self):
        program = self.prefix / "bin/graze"
        page = self.prefix / "share/man/man1/graze.1"
        self.assertEqual(run(program, "manual"), page.read_text(encoding="utf-8"))
        script = self.prefix / "share/bash-completion/completions/graze"
        self.assertEqual(run(program, "completion"), script.read_text(encoding="utf-8"))

    def test_model_files(self):
        """They are in the program; the installed files are there to be read and changed."""
        program = self.prefix / "bin/graze"
        by_name = run(program, "models", "duffing_impact")
        self.assertIn("x'' = ", by_name)
        self.assertEqual(by_name, run(program, "models", self.share / "models/duffing_impact.toml"))

    def test_headers_stay_in_their_folder(self):
        self.assertEqual(["graze"], os.listdir(self.include))

    def test_private_headers_are_not_installed(self):
        headers = self.headers()
        self.assertIn("graze/graze.hpp", headers)
        for private in ("core/lanes/march.hpp", "data/h5.hpp", "drivers/command/command.hpp", "drivers/run/stop.hpp"):
            self.assertTrue((SOURCE / private).exists(), private)
            self.assertNotIn(f"graze/{private}", headers)

    @functools.cache
    def brings_eigen(self, header):
        """Whether a header includes Eigen by itself or through another one. Then Eigen may come precompiled before
        it: what it uses before it has included Eigen stands in headers that do not, which are tested without."""
        text = (self.include / header).read_text(encoding="utf-8")
        return "#include <Eigen/Core>" in text or any(
            self.brings_eigen(other) for other in re.findall(r'#include "(graze/.*)"', text))

    def test_each_header_stands_alone(self):
        """Also where the program has files that are named as those of graze are in its sources."""
        hostile = self.folder / "hostile"
        for header in self.headers():
            path = hostile / header.removeprefix("graze/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#error not of graze\n", encoding="utf-8")

        flags = ["-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{hostile}", f"-I{self.include}",
                 "-isystem", "/usr/include/eigen3", "-x"]
        first = self.folder / "eigen.hpp"
        first.write_text("#include <Eigen/Core>\n", encoding="utf-8")
        run(COMPILER, *flags, "c++-header", first, "-o", f"{first}.gch")

        def fault(header):
            source = f"#include <{header}>\n#include <{header}>\nint main() {{}}\n"
            ahead = ["-include", first] if self.brings_eigen(header) else []
            result = subprocess.run([COMPILER, "-fsyntax-only", *ahead, *flags, "c++", "-"],
                                    input=source, capture_output=True, text=True)
            return f"{header}: {result.stderr[:500]}" if result.returncode != 0 else None

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            self.assertEqual([], [text for text in pool.map(fault, self.headers()) if text])


class Examples(Install):
    """The programs in share/graze/examples."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sources = cls.folder / "examples"
        shutil.copytree(cls.share / "examples", sources)
        cls.build = cls.folder / "build"
        run("cmake", "-S", sources, "-B", cls.build, f"-DCMAKE_PREFIX_PATH={cls.prefix}",
            f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
        run("cmake", "--build", cls.build, "--parallel", str(os.cpu_count()))

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_shortest_has_fewer_than_20_lines(self):
        lengths = [len(path.read_text(encoding="utf-8").splitlines())
                   for path in (self.share / "examples").glob("*.cpp")]
        self.assertLess(min(lengths), 20)

    def test_result_in_memory_is_that_in_the_file(self):
        case = self.share / "cases/quickstart.toml"
        points = "analysis.axis.points=9"
        printed = np.loadtxt(io.StringIO(run(self.build / "run_case", case, points)))
        file = self.folder / "sweep.h5"
        run(self.prefix / "bin/graze", "run", case, "--quiet", "--set", points, "-o", file)
        with h5py.File(file, "r") as result:
            np.testing.assert_allclose(printed[:, 0], result["delta"], rtol=1e-5)  # six digits are printed
            np.testing.assert_array_equal(printed[:, 1], result["period"])
            self.assertGreater(max(result["period"]), 0)

    def test_orbit_and_branch(self):
        lines = [line.split() for line in run(self.build / "follow_orbit").splitlines()]
        self.assertLess(float(next(words[1] for words in lines if words[0] == "residual")), 1e-10)
        # One impact in a period: the map shrinks areas by r^2 exp(-b T).
        multipliers = [complex(float(words[1]), float(words[2])) for words in lines if words[0] == "multiplier"]
        shrinking = 0.8**2 * math.exp(-0.1 * 2 * math.pi / 2.2)
        self.assertAlmostEqual(np.prod(multipliers), shrinking, delta=1e-12)
        # The branch loses its stability where a multiplier passes -1, and nowhere else.
        doubled = [float(words[1]) for words in lines if words[0] == "period_doubling"]
        self.assertEqual(1, len(doubled))
        points = [(float(words[1]), words[2] == "1") for words in lines if words[0] == "point"]
        self.assertGreater(len(points), 10)
        self.assertEqual([omega < doubled[0] for omega, _ in points], [stable for _, stable in points])
        self.assertEqual(["end:", "end", "of", "the", "range"], lines[-1])

    def test_own_model_has_every_command(self):
        program = self.build / "own_program"
        models = run(program, "models")
        self.assertIn("wall_pendulum", models)
        self.assertIn("two_dof_stops", models)
        self.assertIn("inclination of the wall", run(program, "models", "wall_pendulum"))
        case = self.write("wall_pendulum.toml", OWN_MODEL)
        self.assertIn("valid", run(program, "check", case, folder=self.folder))
        events = csv.DictReader(io.StringIO(run(program, "run", case, "--events", "-", "--quiet", folder=self.folder)))
        speeds = [float(row["approach_speed"]) for row in events if row["kind"] == "impact"]
        # Between impacts the energy is kept: each impact is slower than the last by the restitution.
        first = math.sqrt(2 * (math.cos(0.2) - math.cos(1.0)))
        self.assertGreater(len(speeds), 4)
        np.testing.assert_allclose(speeds, first * 0.7 ** np.arange(len(speeds)), rtol=1e-11)
        picture = self.folder / "wall_pendulum.svg"
        run(program, "plot", "wall_pendulum.h5", "-o", picture, folder=self.folder)
        self.assertIn("<svg", picture.read_text(encoding="utf-8"))
        self.assertIn("wall_pendulum", run(program, "schema"))

    def test_own_model_has_errors_like_any_other(self):
        case = self.write("misspelt.toml", OWN_MODEL.replace("restitution =", "restitutoin ="))
        result = subprocess.run([self.build / "own_program", "check", case], capture_output=True, text=True)
        self.assertEqual(2, result.returncode)
        self.assertRegex(result.stderr, re.escape(f"{case}:6:1: ") + ".*restitution")

    def test_own_analysis(self):
        program = self.build / "own_program"
        case = self.write("fall.toml", OWN_ANALYSIS)
        run(program, "run", case, "--quiet", folder=self.folder)
        with h5py.File(self.folder / "fall.h5", "r") as result:
            # A fall from the height 2.
            np.testing.assert_allclose(result["first_impact"], np.sqrt(4 / result["gravity"][:]), rtol=1e-12)


if __name__ == "__main__":
    unittest.main()
