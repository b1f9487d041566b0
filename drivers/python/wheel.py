"""Builds a wheel with CMake: what pip asks for (PEP 517), without any package beside Python's own.

Config settings: `build-dir`: takes the package as it has been built in this build folder, builds nothing.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _version():
    """That of the project in CMake."""
    return re.search(r"project\(\w+ VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def _metadata():
    project = _project()
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {_version()}",
             f"Summary: {project['description']}", "License: MIT", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {name}" for name in project["dependencies"]]
    for extra, names in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {name} ; extra == '{extra}'" for name in names]
    return "\n".join(lines) + "\n"


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def _built():
    """A build folder of its own, set up and built for the Python that runs this."""
    folder = ROOT / "build" / f"wheel-{_tag()}"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DGRAZE_TESTS=OFF",
                    "-DGRAZE_PYTHON=ON", "-DGRAZE_WERROR=OFF", f"-DPython_EXECUTABLE={sys.executable}"], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "graze_python", "--parallel", str(os.cpu_count())],
                   check=True)
    return folder


def _installed(folder, stage):
    """The package as CMake installs it out of a build folder."""
    subprocess.run(["cmake", "--install", folder, "--component", "python", "--strip", "--prefix", stage], check=True)
    package = next(pathlib.Path(stage).rglob("_graze.*.so")).parent
    wanted = "_graze" + sysconfig.get_config_var("EXT_SUFFIX")
    if not (package / wanted).exists():
        raise SystemExit(f"{folder}: the module there is of another Python; {wanted} is needed")
    return package


def _record(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory) / f"{_project()['name']}-{_version()}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(_metadata(), encoding="utf-8")
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{_project()['name']}-{_version()}"
    wheel = f"{name}-{_tag()}.whl"
    given = (config_settings or {}).get("build-dir")
    with tempfile.TemporaryDirectory() as stage:
        package = _installed(given or _built(), stage)
        files = {f"graze/{path.name}": path.read_bytes() for path in sorted(package.iterdir()) if path.is_file()}
    files[f"{name}.dist-info/METADATA"] = _metadata().encode()
    files[f"{name}.dist-info/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: graze\nRoot-Is-Purelib: false\n"
                                        f"Tag: {_tag()}\n").encode()
    files[f"{name}.dist-info/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = f"{name}.dist-info/RECORD"
    files[record] = ("".join(_record(*file) for file in files.items()) + f"{record},,\n").encode()
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("graze is built from its repository; there is no other form of its source")
