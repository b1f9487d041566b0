"""Installs into an empty folder and uses nothing but what was installed: a client of the library, built
with find_package(graze), and the program."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["GRAZE_SOURCE"])
BUILD = os.environ["GRAZE_BUILD"]


def run(*command):
    """Standard output of a command that must succeed."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        raise AssertionError(f"{command} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    def test_client_of_the_library(self):
        build = self.folder / "client"
        run("cmake", "-S", SOURCE / "tests/install/client", "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        state = [float(word) for word in run(build / "client").split()]
        # Mass 1 rests on its stop at phase zero, mass 2 moves on.
        expected = [0.3, 0.0, 0.27280670881226, 0.0029426150777787]
        self.assertEqual(len(expected), len(state))
        for value, reference in zip(state, expected):
            self.assertAlmostEqual(reference, value, delta=1e-11)

    def test_program(self):
        program = self.prefix / "bin/graze"
        self.assertIn("two_dof_stops", run(program, "models"))
        run(program, "check", self.prefix / "share/graze/cases/quickstart.toml")

    def test_headers_stay_in_their_folder(self):
        self.assertEqual(["graze"], os.listdir(self.prefix / "include"))


if __name__ == "__main__":
    unittest.main()
