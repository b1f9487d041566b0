"""The rules that hold the source together: which folder may include what, where printing and threads may
stand, what lies at the top level, how the source is laid out. The checker itself is tested against small
trees that break one rule each."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOMS = ("core", "analysis", "data", "drivers")

# What each folder may include of the project.
MAY_INCLUDE = {
    "core": ("core/", "generated/models.inc"),
    "analysis": ("core/", "analysis/", "generated/analyses.inc"),
    "data": ("core/", "data/", "generated/version.hpp"),
    "drivers": ROOMS + ("generated/commands.inc", "generated/version.hpp"),
}

# What each folder may include from elsewhere besides the C++ standard library.
LIBRARIES = {
    "core": r"(Eigen|boost|Random123)/",
    "analysis": r"(Eigen|boost|Random123)/",
    "data": r"(Eigen|fmt|sys)/|(fcntl|unistd)\.h$",
    "drivers": r"(Eigen|fmt|sys|CLI)/|(fcntl|unistd|spawn)\.h$",
}

# Headers with only one home.
HOMES = [
    (r"hdf5.*\.h$|H5.*\.h$", r"data/h5\.[ch]pp$"),
    (r"toml\+\+/", r"data/case_file\.cpp$"),
    (r"mpi\.h$", r"drivers/ranks_mpi\.cpp$"),
    (r"(omp|xmmintrin)\.h$", r"analysis/execute\.cpp$"),
    (r"immintrin\.h$", r"core/lane_avx(2|512)\.cpp$"),
]

SILENT_ROOMS = ("core", "analysis", "data")
PRINTING = re.compile(
    r"\bstd::(cout|cerr|clog)\b|\bfmt::print\b"
    r"|\b(printf|fprintf|vprintf|puts|fputs|putchar|perror)\s*\("
    r"|\b(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\("
)

TOP_LEVEL = {
    *ROOMS, "tests", "CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", "CHANGELOG.md",
    "CITATION.cff", ".clang-format", ".clang-tidy", ".ci", ".gitignore", ".git",
}
LEFT_BY_USE = {"build", "out", "CMakeUserPresets.json"}  # ignored by git

COMMENT_OR_TEXT = re.compile(
    r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL
)


def sources(root, folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp"):
                yield path


def include_fault(name, file, room):
    """Why the file must not include the name (with its brackets or quotes); None when it may."""
    target = name[1:-1]
    if name.startswith('"'):
        if not target.startswith(MAY_INCLUDE[room]):
            return f"{room} must not include it"
        return None
    for header, home in HOMES:
        if re.match(header, target):
            return None if re.match(home, file) else f"has its home in {home}"
    standard = re.fullmatch(r"[a-z_]+", target)
    if not standard and not re.match(LIBRARIES[room], target):
        return f"{room} must not include it"
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
            fault = include and include_fault(include[1], file, room)
            if fault:
                found.append(f"{file}:{number}: #include {include[1]}: {fault}")
            if re.match(r"\s*#\s*pragma\s+omp\b", line) and file != "analysis/execute.cpp":
                found.append(f"{file}:{number}: OpenMP: only in analysis/execute.cpp")

        if room in SILENT_ROOMS:
            blank = lambda match: "\n" * match[0].count("\n")  # keeps the line numbers
            code = COMMENT_OR_TEXT.sub(blank, text)
            for number, line in enumerate(code.splitlines(), 1):
                call = PRINTING.search(line)
                if call:
                    found.append(f"{file}:{number}: {call[0]}: {room} neither prints nor ends the program")

    for entry in sorted(os.listdir(root)):
        if entry not in TOP_LEVEL | LEFT_BY_USE:
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


class TheChecker(unittest.TestCase):
    """Every rule can be broken, and is then reported at the right line and nowhere else."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("core/motion.cpp", '/// Never exit(1), not std::cout.\n#include "core/motion.hpp"\n#include <cmath>\n')
        self.write("core/motion.hpp", "#pragma once\n#include <Eigen/Core>\n#include <boost/math/tools/roots.hpp>\n")
        self.write("analysis/execute.cpp", '#include <omp.h>\n#pragma omp parallel\n#include "core/motion.hpp"\n')
        self.write("data/h5.cpp", '#include <hdf5.h>\nconst char* text = "printf(";\n')
        self.write("data/case_file.cpp", "#include <toml++/toml.h>\n#include <fmt/format.h>\n")
        self.write("drivers/main.cpp", '#include <CLI/CLI.hpp>\n#include "data/h5.hpp"\nint main() { puts(""); }\n')

    def write(self, file, text):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_accepts_a_good_tree(self):
        self.assertEqual([], violations(self.root))

    def test_reports_every_broken_rule(self):
        broken = [
            ("core/bad.cpp", '#include "data/h5.hpp"'),
            ("core/bad.cpp", '#include "analysis/execute.hpp"'),
            ("core/bad.hpp", '#include "motion.hpp"'),
            ("core/models/bad.cpp", '#include "drivers/text.hpp"'),
            ("core/bad.cpp", "#include <hdf5.h>"),
            ("core/bad.cpp", "#include <omp.h>"),
            ("core/bad.cpp", "#include <unistd.h>"),
            ("core/bad.cpp", "#pragma omp simd"),
            ("core/bad.cpp", "void f() { std::cout << 1; }"),
            ("core/bad.cpp", "void f() { exit(1); }"),
            ("core/bad.cpp", 'void f() { std::printf("x"); }'),
            ("analysis/bad.cpp", '#include "data/archive.hpp"'),
            ("analysis/bad.cpp", "#  pragma omp parallel"),
            ("analysis/bad.cpp", "void f() { std::abort(); }"),
            ("data/bad.cpp", '#include "analysis/sweep.hpp"'),
            ("data/bad.cpp", "#include <hdf5_hl.h>"),
            ("data/bad.cpp", "#include <toml++/toml.h>"),
            ("data/bad.cpp", "#include <CLI/CLI.hpp>"),
            ("data/bad.cpp", "void f() { fmt::print(1); }"),
            ("drivers/bad.cpp", "#include <toml++/toml.h>"),
            ("drivers/bad.cpp", "#include <hdf5.h>"),
            ("drivers/bad.cpp", "#include <mpi.h>"),
            ("drivers/bad.cpp", '#include "tests/helper.hpp"'),
        ]
        for file, line in broken:
            with self.subTest(file=file, line=line):
                self.write(file, f"// a comment\n{line}\n")
                found = violations(self.root)
                self.assertEqual(1, len(found), found)
                self.assertTrue(found[0].startswith(f"{file}:2: "), found)
                (self.root / file).unlink()

    def test_reports_strangers_at_the_top_level(self):
        self.write("notes.txt", "")
        self.write("src/main.cpp", "")
        found = violations(self.root)
        self.assertEqual(["notes.txt", "src"], [line.split(":")[0] for line in found])

    def test_layout_check_can_fail(self):
        shutil.copy(TheTree.root / ".clang-format", self.root)
        self.write("core/bad.cpp", "int   f( ){return 1 ;}\n")
        result = subprocess.run(
            ["clang-format", "--dry-run", "-Werror", "core/bad.cpp"], cwd=self.root, capture_output=True
        )
        self.assertNotEqual(0, result.returncode)


if __name__ == "__main__":
    unittest.main()
