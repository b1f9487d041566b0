"""The rules that hold the source together: which folder may include what, where printing and threads may
stand, what lies at the top level, how the source is laid out. The checker itself is tested against small
trees that break one rule each."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOMS = ("core", "analysis", "data", "drivers")

# What each floor (a folder of a room) may include of the project, besides itself. A room without floors stands
# for itself; "data/" is all of that room.
CORE = ("core/settings/", "core/results/", "core/math/", "core/system/", "core/contact/", "core/linear/",
        "core/smooth/", "core/equations/", "core/models/")
ANALYSIS = ("analysis/run/", "analysis/maps/", "analysis/continuation/", "analysis/questions/")
MAY_INCLUDE = {
    "core/settings": (),
    "core/results": (),
    "core/math": (),
    "core/system": ("core/settings/", "core/math/", "generated/models.inc"),
    "core/contact": ("core/system/", "core/math/"),
    "core/linear": ("core/contact/", "core/system/", "core/math/"),
    "core/smooth": ("core/contact/", "core/system/", "core/math/"),
    "core/equations": ("core/settings/", "core/math/"),
    "core/lanes": ("core/system/", "core/math/", "core/settings/", "core/equations/"),
    "core/models": CORE,
    "analysis/run": CORE + ("core/lanes/", "generated/analyses.inc"),
    "analysis/maps": CORE + ("core/lanes/", "analysis/run/"),
    "analysis/continuation": CORE + ("analysis/run/", "analysis/maps/"),
    "analysis/questions": CORE + ANALYSIS,
    "data": CORE + ("generated/version.hpp",),
    "drivers/library": ("core/", "analysis/", "data/", "generated/version.hpp"),
    "drivers/command": ROOMS + ("generated/commands.inc", "generated/version.hpp"),
    "drivers/examples": (),
    "drivers/run": ROOMS,
    "drivers/plot": ROOMS,
    "drivers/explore": ROOMS + ("generated/page.inc",),
    "drivers/python": ROOMS + ("generated/version.hpp",),
}

# What each floor or room may include from elsewhere besides the C++ standard library.
LIBRARIES = {
    "core": r"(Eigen|Random123|boost)/",
    "analysis": r"(Eigen|Random123)/",
    "data": r"(Eigen|fmt|sys)/|(fcntl|isa-l/igzip_lib|malloc|unistd)\.h$",
    "drivers": r"(Eigen|fmt|sys|CLI)/|(fcntl|unistd|spawn)\.h$",
    "drivers/explore": r"(fmt|sys|boost|nlohmann)/|(fcntl|unistd|spawn|zlib)\.h$",
    "drivers/examples": r"graze/graze\.hpp$",
    "drivers/python": r"(Eigen|fmt|pybind11)/",
}

# Headers with only one home.
HOMES = [
    (r"hdf5.*\.h$|H5.*\.h$", r"data/h5\.[ch]pp$"),
    (r"toml\+\+/", r"data/case_file\.cpp$"),
    (r"mpi\.h$", r"drivers/run/ranks_mpi\.cpp$"),
    (r"boost/", r"(drivers/explore/server\.cpp|core/smooth/odeint_steps\.cpp)$"),
    (r"nlohmann/", r"drivers/explore/job\.cpp$"),
    (r"(omp|xmmintrin)\.h$", r"analysis/run/execute\.cpp$"),
    (r"isa-l/.*\.h$", r"data/chunk_filters\.cpp$"),
    (r"malloc\.h$", r"data/memory\.cpp$"),
    (r"immintrin\.h$", r"core/lanes/simd_avx(2|512)\.hpp$"),
]

SILENT_ROOMS = ("core", "analysis", "data")
PRINTING = re.compile(
    r"\bstd::(cout|cerr|clog)\b|\bfmt::print\b"
    r"|\b(printf|fprintf|vprintf|puts|fputs|putchar|perror)\s*\("
    r"|\b(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\("
)

TOP_LEVEL = {
    *ROOMS, "tests", "CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", "CHANGELOG.md",
    "CITATION.cff", "CONTRIBUTING.md", "pyproject.toml", ".clang-format", ".clang-tidy", ".ci", ".gitignore", ".git",
}

COMMENT_OR_TEXT = re.compile(
    r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL
)


def tracked(root):
    """The files that git tracks: what else lies about belongs to the user."""
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    return [file for file in listed.stdout.splitlines() if (root / file).exists()]


def sources(root, folders):
    for file in tracked(root):
        if file.startswith(tuple(f"{folder}/" for folder in folders)) and file.endswith((".cpp", ".hpp")):
            yield root / file


def floor_of(file):
    """Room and floor of a source, "core/math"; the room alone where it has no floors."""
    room, *rest = file.split("/")
    return room if room in MAY_INCLUDE else f"{room}/{rest[0]}"


def include_fault(name, file):
    """Why the file must not include the name (with its brackets or quotes); None when it may."""
    target = name[1:-1]
    room, floor = file.split("/")[0], floor_of(file)
    if floor not in MAY_INCLUDE:
        return f"{floor} is no floor"
    if name.startswith('"'):
        if not target.startswith(MAY_INCLUDE[floor] + (f"{floor}/",)):
            return f"{floor} must not include it"
        return None
    for header, home in HOMES:
        if re.match(header, target):
            return None if re.match(home, file) else f"has its home in {home}"
    standard = re.fullmatch(r"[a-z_]+", target)
    if not standard and not re.match(LIBRARIES.get(floor, LIBRARIES[room]), target):
        return f"{floor} must not include it"
    return None


def violations(root):
    """All broken rules of a tree, as 'file:line: text: rule'."""
    found = []
    for path in sources(root, ROOMS):
        file = path.relative_to(root).as_posix()
        room = file.split("/")[0]
        text = path.read_text(encoding="utf-8")

        for number, line in enumerate(text.splitlines(), 1):
            include = re.match(r'\s*#\s*include\s*(<[^>]*>|"[^"]*")', line)
            fault = include and include_fault(include[1], file)
            if fault:
                found.append(f"{file}:{number}: #include {include[1]}: {fault}")
            if re.match(r"\s*#\s*pragma\s+omp\b", line) and file != "analysis/run/execute.cpp":
                found.append(f"{file}:{number}: OpenMP: only in analysis/run/execute.cpp")

        if room in SILENT_ROOMS:
            blank = lambda match: "\n" * match[0].count("\n")  # keeps the line numbers
            code = COMMENT_OR_TEXT.sub(blank, text)
            for number, line in enumerate(code.splitlines(), 1):
                call = PRINTING.search(line)
                if call:
                    found.append(f"{file}:{number}: {call[0]}: {room} neither prints nor ends the program")

    for entry in sorted({file.split("/")[0] for file in tracked(root)}):
        if entry not in TOP_LEVEL:
            found.append(f"{entry}: does not belong at the top level")
    return found


class TheTree(unittest.TestCase):
    root = pathlib.Path(os.environ["GRAZE_SOURCE"])

    def test_keeps_the_rules(self):
        self.assertEqual([], violations(self.root))

    def test_has_something_to_check(self):
        for room in ROOMS:
            self.assertTrue(list(sources(self.root, [room])), f"no sources in {room}")

    def test_is_formatted(self):
        files = [str(path) for path in sources(self.root, ROOMS + ("tests",))]
        result = subprocess.run(
            ["clang-format", "--dry-run", "-Werror", *files], cwd=self.root, capture_output=True, text=True
        )
        self.assertEqual(0, result.returncode, result.stderr)


class TheFirstPage(unittest.TestCase):
    root = TheTree.root

    def test_shows_cases_as_they_are(self):
        cases = {path.read_text(encoding="utf-8").strip() for path in (self.root / "data/cases").glob("*.toml")}
        readme = (self.root / "README.md").read_text(encoding="utf-8")
        shown = re.findall(r"^```toml\n(.*?)\n```$", readme, re.DOTALL | re.MULTILINE)
        self.assertTrue(shown)
        for text in shown:
            self.assertIn(text, cases)

    def test_links_to_what_there_is(self):
        readme = (self.root / "README.md").read_text(encoding="utf-8")
        links = re.findall(r"\]\(([^):]+)\)", readme)
        self.assertTrue(links)
        for link in links:
            self.assertTrue((self.root / link).exists(), link)


class TheContributorsPage(unittest.TestCase):
    root = TheTree.root
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")

    def test_names_files_that_there_are(self):
        named = re.findall(r"`((?:core|analysis|data|drivers|tests|\.ci)/?[\w./]*)`", self.text)
        self.assertTrue(named)
        for name in named:
            self.assertTrue((self.root / name).exists(), name)

    def test_names_every_preset_with_its_packages(self):
        presets = json.loads((self.root / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
        rows = dict(re.findall(r"^\| `(\w+)` \| `([\w ]+)` \|", self.text, re.MULTILINE))
        self.assertEqual(sorted(preset["name"] for preset in presets), sorted(rows))
        lists = (self.root / "drivers/packages.sh").read_text(encoding="utf-8")
        known = set(re.search(r'^lists="(.*)"$', lists, re.MULTILINE)[1].split(", "))
        for packages in rows.values():
            self.assertLessEqual(set(packages.split()), known)


class TheChecker(unittest.TestCase):
    """Every rule can be broken, and is then reported at the right line and nowhere else."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(["git", "init", "--quiet"], cwd=self.root, check=True)
        self.write("core/system/motion.cpp",
                   '/// Never exit(1), not std::cout.\n#include "core/system/motion.hpp"\n#include <cmath>\n')
        self.write("core/system/motion.hpp",
                   "#pragma once\n#include <Eigen/Core>\n")
        self.write("analysis/run/execute.cpp",
                   '#include <omp.h>\n#pragma omp parallel\n#include "core/system/motion.hpp"\n')
        self.write("data/h5.cpp", '#include <hdf5.h>\nconst char* text = "printf(";\n')
        self.write("data/case_file.cpp", "#include <toml++/toml.h>\n#include <fmt/format.h>\n")
        self.write("drivers/command/main.cpp",
                   '#include <CLI/CLI.hpp>\n#include "data/h5.hpp"\nint main() { puts(""); }\n')

    def write(self, file, text, track=True):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if track:
            subprocess.run(["git", "add", "--force", file], cwd=self.root, check=True)

    def test_accepts_a_good_tree(self):
        self.assertEqual([], violations(self.root))

    def test_reports_every_broken_rule(self):
        broken = [
            ("core/math/bad.cpp", '#include "data/h5.hpp"'),
            ("core/math/bad.cpp", '#include "analysis/run/execute.hpp"'),
            ("core/math/bad.cpp", '#include "core/system/model.hpp"'),
            ("core/math/bad.hpp", '#include "motion.hpp"'),
            ("core/settings/bad.cpp", '#include "core/math/dual.hpp"'),
            ("core/results/bad.cpp", '#include "core/settings/value.hpp"'),
            ("core/system/bad.cpp", '#include "core/contact/chatter.hpp"'),
            ("core/contact/bad.cpp", '#include "core/linear/flow.hpp"'),
            ("core/contact/bad.cpp", '#include "core/smooth/flow.hpp"'),
            ("core/linear/bad.cpp", '#include "core/smooth/flow.hpp"'),
            ("core/linear/bad.cpp", '#include "core/lanes/lanes.hpp"'),
            ("core/smooth/bad.cpp", '#include "core/linear/flow.hpp"'),
            ("core/smooth/bad.cpp", '#include "core/models/rods.hpp"'),
            ("core/lanes/bad.cpp", '#include "core/linear/flow.hpp"'),
            ("core/models/bad.cpp", '#include "core/lanes/lanes.hpp"'),
            ("core/models/rods/bad.cpp", '#include "drivers/command/text.hpp"'),
            ("core/bad.cpp", "#include <cmath>"),
            ("core/wherever/bad.cpp", "#include <cmath>"),
            ("core/math/bad.cpp", "#include <boost/math/tools/roots.hpp>"),
            ("core/math/bad.cpp", "#include <hdf5.h>"),
            ("core/math/bad.cpp", "#include <omp.h>"),
            ("core/math/bad.cpp", "#include <unistd.h>"),
            ("core/math/bad.cpp", "#pragma omp simd"),
            ("core/math/bad.cpp", "void f() { std::cout << 1; }"),
            ("core/math/bad.cpp", "void f() { exit(1); }"),
            ("core/math/bad.cpp", 'void f() { std::printf("x"); }'),
            ("analysis/run/bad.cpp", '#include "data/archive.hpp"'),
            ("analysis/run/bad.cpp", '#include "analysis/maps/orbit.hpp"'),
            ("analysis/maps/bad.cpp", '#include "analysis/continuation/branch.hpp"'),
            ("analysis/continuation/bad.cpp", '#include "analysis/questions/sweep.hpp"'),
            ("analysis/run/bad.cpp", "#  pragma omp parallel"),
            ("analysis/run/bad.cpp", "void f() { std::abort(); }"),
            ("data/bad.cpp", '#include "analysis/maps/orbit.hpp"'),
            ("data/bad.cpp", "#include <hdf5_hl.h>"),
            ("data/bad.cpp", "#include <toml++/toml.h>"),
            ("data/bad.cpp", "#include <CLI/CLI.hpp>"),
            ("data/bad.cpp", "void f() { fmt::print(1); }"),
            ("drivers/examples/bad.cpp", '#include "core/system/model.hpp"'),
            ("drivers/examples/bad.cpp", "#include <fmt/format.h>"),
            ("drivers/library/bad.cpp", '#include "drivers/run/stop.hpp"'),
            ("drivers/run/bad.cpp", "#include <toml++/toml.h>"),
            ("drivers/run/bad.cpp", "#include <hdf5.h>"),
            ("drivers/run/bad.cpp", "#include <mpi.h>"),
            ("drivers/explore/bad.cpp", "#include <boost/asio.hpp>"),
            ("drivers/run/bad.cpp", "#include <nlohmann/json.hpp>"),
            ("drivers/run/bad.cpp", '#include "tests/helper.hpp"'),
        ]
        for file, line in broken:
            with self.subTest(file=file, line=line):
                self.write(file, f"// a comment\n{line}\n")
                found = violations(self.root)
                self.assertEqual(1, len(found), found)
                self.assertTrue(found[0].startswith(f"{file}:2: "), found)
                (self.root / file).unlink()

    def test_leaves_alone_what_git_does_not_track(self):
        self.write(".editor/settings.json", "{}", track=False)
        self.write("core/scratch.cpp", '#include "data/h5.hpp"\n', track=False)
        self.assertEqual([], violations(self.root))

    def test_reports_strangers_at_the_top_level(self):
        self.write("notes.txt", "")
        self.write("src/main.cpp", "")
        found = violations(self.root)
        self.assertEqual(["notes.txt", "src"], [line.split(":")[0] for line in found])

    def test_layout_check_can_fail(self):
        shutil.copy(TheTree.root / ".clang-format", self.root)
        self.write("core/math/bad.cpp", "int   f( ){return 1 ;}\n")
        result = subprocess.run(
            ["clang-format", "--dry-run", "-Werror", "core/math/bad.cpp"], cwd=self.root, capture_output=True
        )
        self.assertNotEqual(0, result.returncode)


if __name__ == "__main__":
    unittest.main()
