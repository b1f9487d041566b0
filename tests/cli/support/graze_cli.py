"""Runs the program on case files in a folder of its own; compares result files."""

import os
import shutil
import subprocess
import tempfile
import unittest

import h5py
import numpy as np

GRAZE = os.environ["GRAZE"]

SIMULATE = """graze = 1
[model]
name = "two_dof_stops"
[initial]
state = [0.3, 0.2, 0.1, 0.0]
[analysis]
name = "simulate"
periods = 3
samples_per_period = 20
"""

SWEEP = """graze = 1
title = "small sweep"
[model]
name = "two_dof_stops"
[analysis]
name = "sweep"
axis = { parameter = "delta", from = 0.7, to = 1.5, points = 24 }
transient = 40
record = 16
max_period = 8
[run]
block = 1
"""


def one_mass(analysis, omega, damping, stop, title="One mass at a stop"):
    """A case of `linear_stops`: x'' + damping x' + x = cos(omega t), one stop along x; `stop`: its other keys."""
    return f"""graze = 1
title = "{title}"
[model]
name = "linear_stops"
omega = {omega}
mass = [[1]]
damping = [[{damping}]]
stiffness = [[1]]
[[model.force]]
cosine = [1]
[[model.stop]]
name = "wall"
normal = [1]
{stop}
[analysis]
{analysis}
"""


BRANCHES = one_mass("""name = "continue"
axis = { parameter = "force_scale", from = 0.3, to = 1.2 }
at = 0.5
points = 60""", omega=0.5, damping=0.1, stop="position = 1\nrestitution = 0.8", title="Grazing")


def long_sweep(points, transient):
    """A sweep through chaos, where no point is over before its transient: a run that can be met under way."""
    return (SWEEP.replace("from = 0.7, to = 1.5, points = 24", f"from = 1.45, to = 1.5, points = {points}")
            .replace("transient = 40", f"transient = {transient}"))


class CliTest(unittest.TestCase):
    """A test with a scratch folder as the current one."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="graze_cli_")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def start(self, *arguments, **options):
        return subprocess.Popen([GRAZE, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)

    def graze(self, *arguments, code=0, **options):
        """Runs to the end, checks the exit code, returns (stdout, stderr)."""
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, code, f"graze {' '.join(arguments)}\n{out}\n{err}")
        return out, err

    def refused(self, *arguments, code=2, says=()):
        """The program refuses with one clear message on stderr, nothing on stdout, no new file."""
        before = self.listing()
        out, err = self.graze(*arguments, code=code)
        self.assertEqual(out, "")
        self.assertTrue(err.startswith("graze: "), err)
        for words in says:
            self.assertIn(words, err)
        self.assertEqual(self.listing(), before)
        return err

    def listing(self):
        found = []
        for folder, _, files in os.walk(self.folder):
            found += [os.path.join(folder, name) for name in files] + [folder]
        return sorted(found)

    def assert_same_arrays(self, first, second):
        """Every array of both files has the same type, shape and bytes."""
        with h5py.File(self.path(first), "r") as a, h5py.File(self.path(second), "r") as b:
            self.assertEqual(sorted(a), sorted(b))
            self.assertGreater(len(a), 10)
            for name in a:
                self.assertEqual(a[name].dtype, b[name].dtype, name)
                x, y = np.asarray(a[name]), np.asarray(b[name])
                self.assertEqual(x.shape, y.shape, name)
                self.assertEqual(x.tobytes(), y.tobytes(), name)


def main():
    unittest.main(verbosity=2)
