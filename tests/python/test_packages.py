"""What people install: with pip into a virtual environment, without a network; as Debian packages into an empty folder,
by dpkg, which checks what they depend on. Nothing but what was installed is used then."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["GRAZE_SOURCE"])
BUILD = pathlib.Path(os.environ["GRAZE_BUILD"])
PYTHON = "/usr/bin/python3"

# What somebody does first: a sweep, a map with its Jacobian, an error, where the package comes from.
FIRST_STEPS = """
import graze
result = graze.sweep("two_dof_stops", delta=[0.7, 0.71], transient=30, record=20)
x, jacobian, events = graze.System("impact_oscillator").map([-0.5, 0.0])
try:
    graze.sweep("two_dof_stops", delt=[0.7])
except graze.InputError as error:
    assert "did you mean delta" in str(error)
print(result.sizes["delta"], jacobian.shape, graze.__version__)
print(graze.__file__)
"""


def run(*command, **options):
    """Standard output of a command that must succeed, without the package of the build folder in reach."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment.update(options.pop("environment", {}))
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def version():
    return run(os.environ["GRAZE"], "--version").split()[-1]


class Pip(unittest.TestCase):
    """pip is given no index: the build needs no package, and what the package needs is there from Debian."""

    def test_install_and_uninstall(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = pathlib.Path(folder) / "environment"
            run(PYTHON, "-m", "venv", "--system-site-packages", environment)
            python = environment / "bin/python"
            offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
            # Built already; to build it once more would take minutes.
            run(python, "-m", "pip", "install", f"--config-settings=build-dir={BUILD}", SOURCE, environment=offline)
            first, where = run(python, "-c", FIRST_STEPS, cwd=folder).splitlines()
            self.assertEqual(f"2 (2, 2) {version()}", first)
            self.assertTrue(where.startswith(str(environment)), where)
            missing = subprocess.run([python, "-m", "pip", "check"], capture_output=True, text=True).stdout
            self.assertNotIn("graze", missing)  # of others something may be missing here
            shown = run(python, "-m", "pip", "show", "-f", "graze", environment=offline)
            for said in ("Requires: numpy, tqdm, xarray", "graze/py.typed", "graze/_graze.pyi", "LICENSE"):
                self.assertIn(said, shown)
            run(python, "-m", "pip", "uninstall", "--yes", "graze", environment=offline)
            self.assertEqual([], list(environment.rglob("*graze*")))

    def test_wheel_says_what_it_holds(self):
        """Digests and names of all files, and the version of the project."""
        with tempfile.TemporaryDirectory() as folder:
            run(PYTHON, "-m", "pip", "wheel", "--no-deps", f"--config-settings=build-dir={BUILD}", SOURCE, cwd=folder,
                environment={"PIP_NO_INDEX": "1"})
            [wheel] = pathlib.Path(folder).glob("*.whl")
            run(PYTHON, "-m", "zipfile", "-e", wheel, pathlib.Path(folder) / "unpacked")
            unpacked = pathlib.Path(folder) / "unpacked"
            info = unpacked / f"graze-{version()}.dist-info"
            lines = (info / "RECORD").read_text(encoding="utf-8").splitlines()
            listed = {line.split(",")[0] for line in lines}
            self.assertEqual({str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}, listed)
            self.assertIn(f"Version: {version()}", (info / "METADATA").read_text(encoding="utf-8"))

    def test_module_of_another_python_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "python/graze"
            package.mkdir(parents=True)
            (package / "_graze.cpython-20-other.so").touch()
            (pathlib.Path(folder) / "cmake_install.cmake").write_text(
                'file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/graze" TYPE FILE FILES '
                f'"{package}/_graze.cpython-20-other.so")', encoding="utf-8")
            result = subprocess.run(
                [PYTHON, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import wheel; "
                 "wheel.build_wheel('.', {'build-dir': sys.argv[2]})", SOURCE / "drivers/python", folder],
                capture_output=True, text=True, cwd=folder)
            self.assertIn("another Python", result.stderr)
            self.assertEqual([], list(pathlib.Path(folder).glob("*.whl")))


@unittest.skipUnless(os.geteuid() == 0, "dpkg installs as root only")
class DebianPackages(unittest.TestCase):
    """graze, libgraze-dev and python3-graze, installed together."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", cls.folder / "made")
        cls.packages = {path.name.split("_")[0]: path for path in (cls.folder / "made").glob("*.deb")}
        # An empty folder with the list of what this machine has installed, so that dependencies are checked.
        cls.root = cls.folder / "root"
        records = cls.root / "var/lib/dpkg"
        for part in ("info", "updates", "triggers"):
            (records / part).mkdir(parents=True)
        shutil.copy("/var/lib/dpkg/status", records / "status")
        run("dpkg", f"--admindir={records}", f"--instdir={cls.root}", "--force-script-chrootless", "--no-triggers",
            "--install", *cls.packages.values(), environment={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
        cls.records = records

    def test_are_installed(self):
        self.assertEqual({"graze", "libgraze-dev", "python3-graze"}, set(self.packages))
        for name in self.packages:
            said = run("dpkg-query", f"--admindir={self.records}", "-W", "-f", "${Status} ${Version}", name)
            self.assertEqual(f"install ok installed {version()}", said)

    def test_depend_on_the_libraries_they_use(self):
        depends = {name: run("dpkg-deb", "-f", path, "Depends") for name, path in self.packages.items()}
        for name in ("graze", "python3-graze"):
            for library in ("libc6", "libhdf5", "libstdc++6", "libgomp1"):
                self.assertIn(library, depends[name])
        for package in ("python3-numpy", "python3-xarray", "python3 (>= 3."):
            self.assertIn(package, depends["python3-graze"])
        self.assertIn("libeigen3-dev", depends["libgraze-dev"])

    def test_program(self):
        program = self.root / "usr/bin/graze"
        result = self.folder / "result.h5"
        case = self.root / "usr/share/graze/cases/quickstart.toml"
        run(program, "run", case, "--quiet", "-o", result, "--set", "analysis.axis.points=5")
        self.assertIn("two_dof_stops", run(program, "info", result))
        self.assertTrue((self.root / "usr/share/man/man1/graze.1").exists())

    def test_python(self):
        folder = self.root / "usr/lib/python3/dist-packages"
        first, where = run(PYTHON, "-c", FIRST_STEPS, cwd=self.folder,
                           environment={"PYTHONPATH": str(folder)}).splitlines()
        self.assertEqual(f"2 (2, 2) {version()}", first)
        self.assertTrue(where.startswith(str(folder)), where)

    def test_library(self):
        """CMake finds it, with all files that it names."""
        run("cmake", "-S", self.root / "usr/share/graze/examples", "-B", self.folder / "examples",
            f"-DCMAKE_PREFIX_PATH={self.root}/usr", f"-DCMAKE_CXX_COMPILER={os.environ['GRAZE_COMPILER']}")

    def test_no_file_is_in_two(self):
        files = [line.split()[-1] for path in self.packages.values()
                 for line in run("dpkg-deb", "-c", path).splitlines() if not line.startswith("d")]
        self.assertEqual(len(set(files)), len(files))


if __name__ == "__main__":
    unittest.main()
