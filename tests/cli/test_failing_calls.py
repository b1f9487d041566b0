"""Calls of the system that fail: memory that is not there, files that cannot be removed."""

import os
import random
import re
import unittest

from support.graze_cli import SWEEP, CliTest, main

FAILING = os.path.join(os.environ["GRAZE_BUILD"], "tests", "libfailing_calls.so")


@unittest.skipUnless(os.path.exists(FAILING), "built with sanitizers, which take these calls for themselves")
class FailingCalls(CliTest):
    def setUp(self):
        super().setUp()
        self.write("case.toml", SWEEP.replace("points = 24", "points = 4").replace("block = 1", "block = 2"))
        self.graze("run", "case.toml", "-o", "whole.h5", "--quiet")

    def failing(self, *arguments, **variables):
        process = self.start(*arguments, env={**os.environ, "LD_PRELOAD": FAILING, **variables})
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def test_no_memory(self):
        """One allocation out of all that a run does fails: a message and exit code 1 (2 while it reads its result),
        or the run got along without; nothing half written, and the same command ends as if nothing had been."""
        run = ("run", "case.toml", "-o", "case.h5", "--quiet", "--threads", "2")
        code, _, err = self.failing(*run, FAIL_ALLOCATION="0", FAIL_COUNT=self.path("count"))
        self.assertEqual(code, 0, err)
        with open(self.path("count"), encoding="utf-8") as file:
            count = int(file.read())
        os.remove(self.path("case.h5"))
        moments = random.Random(24)
        failed = 0
        for _ in range(12):
            number = moments.randrange(1, count)
            with self.subTest(number):
                code, out, err = self.failing(*run, FAIL_ALLOCATION=str(number))
                self.assertEqual(out, "")
                self.assertIn(code, (0, 1, 2), err)
                if code == 2:
                    self.assertTrue("memory" in err or "does not come from this case" in err, err)
                if code != 0:
                    self.assertRegex(err, "(?m)^(graze|libgomp): ")
                    failed += 1
                self.assertNotIn("HDF5:", err)
                blocks = self.path("case.h5.blocks")
                left = [name for name in os.listdir(blocks) if name != "lock"] if os.path.exists(blocks) else []
                # What other threads were writing has a temporary name, which the next run removes.
                self.assertEqual([name for name in left if not re.fullmatch(r"\d{6}\.h5(\.tmp)?", name)], [])
            self.graze(*run)
            self.assert_same_arrays("whole.h5", "case.h5")
            self.graze("info", "case.h5", "--verify")
            os.remove(self.path("case.h5"))
        self.assertGreater(failed, 0)

    def test_no_memory_for_settings(self):
        """The same while models and a case are read: copies of settings break off without harm."""
        check = ("check", "case.toml")
        self.assertEqual(self.failing(*check, FAIL_ALLOCATION="0", FAIL_COUNT=self.path("count"))[0], 0)
        with open(self.path("count"), encoding="utf-8") as file:
            count = int(file.read())
        libraries = 5000  # the first ones: HDF5 does not survive one while it starts
        for number in range(libraries, min(count, 40000), 500):
            with self.subTest(number):
                code, _, err = self.failing(*check, FAIL_ALLOCATION=str(number))
                self.assertIn(code, (0, 1, 2), err)

    def test_what_cannot_be_removed(self):
        """The result is whole; what stays of the blocks is named."""
        for name in ("000000.h5", "/lock", "case.h5.blocks"):
            with self.subTest(name):
                code, out, err = self.failing("run", "case.toml", "--quiet", FAIL_REMOVAL=name)
                self.assertEqual((code, out), (0, ""), err)
                self.assertRegex(err, f"^graze: warning: .*{name}: cannot be removed: Input/output error\n$")
                self.assert_same_arrays("whole.h5", "case.h5")
                self.graze("run", "case.toml", "--quiet")
                self.assertFalse(os.path.exists(self.path("case.h5.blocks")))
                os.remove(self.path("case.h5"))

    def test_parts_that_cannot_be_removed(self):
        oscillator = os.path.join(os.environ["GRAZE_SOURCE"], "data", "cases", "continue_oscillator.toml")
        code, _, err = self.failing("run", oscillator, "-o", "branches.h5", "--quiet", FAIL_REMOVAL="branches.h5.parts")
        self.assertEqual(code, 0, err)
        self.assertIn("graze: warning: branches.h5.parts: cannot be removed: Input/output error", err)


if __name__ == "__main__":
    main()
