"""Parts of a run, each by a process of its own, joined by merge: the same arrays as in one piece."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import h5py

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from graze_cli import SIMULATE, SWEEP, CliTest, long_sweep, main  # noqa: E402


class Shards(CliTest):
    def setUp(self):
        super().setUp()
        self.write("case.toml", SWEEP)

    def shard(self, part, parts, *options, code=0):
        return self.graze("run", "case.toml", "--shard", f"{part}/{parts}", *options, code=code)

    def blocks(self, name="case.h5"):
        return sorted(n for n in os.listdir(self.path(name + ".blocks")) if n.endswith(".h5"))

    def test_any_order_and_merge(self):
        self.graze("run", "case.toml", "-o", "whole.h5", "--threads", "1")
        order = list(range(1, 5))
        random.Random(7).shuffle(order)
        for n, part in enumerate(order):
            _, err = self.shard(part, 4)
            self.assertIn("6 points", err)
            self.assertIn(f"shard {part}/4 is done", err)
            self.assertEqual(len(self.blocks()), 6 * (n + 1))
        self.graze("merge", "case.h5.blocks", "-o", "case.h5")
        self.assert_same_arrays("whole.h5", "case.h5")
        self.assertFalse(os.path.exists(self.path("case.h5.blocks")))
        self.assertIn("complete already", self.shard(1, 4)[1])

    def test_every_part_of_parameter_space_comes_to_every_shard(self):
        self.shard(2, 4)
        numbers = [int(name[:6]) for name in self.blocks()]
        self.assertLess(min(numbers), 8)
        self.assertGreater(max(numbers), 15)

    def test_a_shard_run_again_does_only_what_is_missing(self):
        self.shard(2, 4)
        times = {n: os.stat(self.path("case.h5.blocks/" + n)).st_mtime_ns for n in self.blocks()}
        os.remove(self.path("case.h5.blocks/" + self.blocks()[0]))
        _, err = self.shard(2, 4)
        self.assertIn("resuming after 5 of 6 points", err)
        again = {n: os.stat(self.path("case.h5.blocks/" + n)).st_mtime_ns for n in self.blocks()}
        self.assertEqual(sum(times[n] != again[n] for n in times), 1)

    def test_shards_elsewhere(self):
        self.graze("run", "case.toml", "-o", "whole.h5")
        for part, name in [(1, "a"), (2, "b"), (3, "c")]:
            os.mkdir(self.path(name))
            self.shard(part, 3, "-o", f"{name}/part.h5")
        self.graze("merge", "a/part.h5", "b/part.h5", "-o", "some.h5", code=75)
        self.assertFalse(os.path.exists(self.path("some.h5")))
        self.assertFalse(os.path.exists(self.path("some.h5.blocks")))
        self.graze("merge", "a", "b/part.h5.blocks/", "c/part.h5", "-o", "new/all.h5")
        self.assert_same_arrays("whole.h5", "new/all.h5")
        self.assertEqual(os.listdir(self.path("new")), ["all.h5"])
        self.assertEqual(len(self.blocks("a/part.h5")), 8)  # sources stay

    def test_a_whole_run_takes_what_shards_have_done(self):
        self.graze("run", "case.toml", "-o", "whole.h5")
        self.shard(1, 3)
        self.shard(1, 2)  # another number of shards
        _, err = self.graze("run", "case.toml")
        self.assertIn("resuming after 16 of 24 points", err)
        self.assert_same_arrays("whole.h5", "case.h5")

    def test_merge_refuses(self):
        self.shard(1, 2)
        self.refused("merge", "missing.h5", "-o", "all.h5", says=["missing.h5"])
        os.mkdir(self.path("empty"))
        self.refused("merge", "empty", "-o", "all.h5", says=["no result"])
        self.graze("run", "case.toml", "-o", "other.h5", "--set", "model.r1=0.6", "--shard", "2/2")
        self.refused("merge", "case.h5", "other.h5", "-o", "all.h5", says=["other.h5", "another case"])
        self.graze("run", "case.toml", "-o", "whole.h5")
        self.refused("merge", "case.h5", "whole.h5", "-o", "all.h5", says=["whole.h5", "one file already"])
        self.shard(2, 2)
        self.write("thesis.txt", "mine")
        self.refused("merge", "case.h5", "-o", "thesis.txt", says=["thesis.txt", "--force"])

    def test_wrong_shards(self):
        for wrong in ["0/4", "5/4", "1", "1/", "/4", "a/b", "1/4/2", "-1/4", "1/0", "1/99999999", "1.5/2"]:
            with self.subTest(wrong):
                self.refused("run", "case.toml", f"--shard={wrong}", says=["--shard", wrong])
                self.refused("check", "case.toml", f"--shard={wrong}", says=["--shard", wrong])
        self.write("simulate.toml", SIMULATE)
        self.refused("run", "simulate.toml", "--shard", "1/2", says=["one piece"])

    def test_other_cuts_do_not_mix(self):
        self.shard(1, 2)
        before = self.blocks()
        self.refused("run", "case.toml", "--shard", "2/2", "--set", "run.block=5", says=["run.block"])
        self.assertEqual(self.blocks(), before)

    def test_a_hundred_thousand_shards(self):
        self.graze("run", "case.toml", "-o", "whole.h5")
        for part in [1, 2, 24, 25, 100000]:
            _, err = self.shard(part, 100000)
            self.assertIn("1 point in" if part <= 24 else "0 points in", err)
        self.assertEqual(len(self.blocks()), 3)
        self.assertEqual(len(os.listdir(self.path("case.h5.blocks"))), 4)  # and one lock for all
        for part in range(1, 25):
            self.shard(part, 100000, "--quiet")
        self.graze("merge", "case.h5", "-o", "case.h5")
        self.assert_same_arrays("whole.h5", "case.h5")

    def test_more_than_a_thousand_blocks(self):
        points = ["--set", "analysis.axis.points=2100", "--set", "analysis.transient=1", "--set",
                  "analysis.extension=1", "--quiet"]
        self.graze("run", "case.toml", "-o", "whole.h5", "--set", "run.block=0", *points)
        for part in [1, 2]:
            self.shard(part, 2, *points)
        for folder, _, files in os.walk(self.path("case.h5.blocks")):
            self.assertLessEqual(len(files), 1001, folder)
        with h5py.File(self.path("case.h5"), "r") as file:
            self.assertTrue((file["outcome"][()] >= 0).all())
        self.graze("merge", "case.h5", "-o", "case.h5")
        self.assert_same_arrays("whole.h5", "case.h5")
        self.assertFalse(os.path.exists(self.path("case.h5.blocks")))


class AtOnce(CliTest):
    def setUp(self):
        super().setUp()
        self.write("case.toml", long_sweep(points=600, transient=20000))

    def under_way(self, *options):
        process = self.start("run", "case.toml", "--threads", "1", *options)
        while process.poll() is None and not os.path.exists(self.path("case.h5")):
            time.sleep(0.002)
        self.assertIsNone(process.poll(), "over before it could be met")
        return process

    def end(self, process):
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75)

    def test_two_shards(self):
        one = self.under_way("--shard", "1/2")
        two = self.start("run", "case.toml", "--threads", "1", "--shard", "2/2")
        time.sleep(0.3)
        self.assertIsNone(two.poll())
        for shard in [[], ["--shard", "1/2"]]:
            _, err = self.graze("run", "case.toml", *shard, code=2)
            self.assertIn("another process", err)
        self.end(one)
        self.end(two)

    def test_a_whole_run_locks_shards_out(self):
        whole = self.under_way()
        _, err = self.graze("run", "case.toml", "--shard", "1/2", code=2)
        self.assertIn("another process", err)
        self.end(whole)

    def test_folder_deleted_under_the_run(self):
        process = self.under_way()
        # At once: what the run writes meanwhile would come between files and folder.
        os.rename(self.path("case.h5.blocks"), self.path("removed"))
        shutil.rmtree(self.path("removed"))
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("was removed or replaced", err)
        self.graze("run", "case.toml", "--max-time", "0.1s", code=75)  # and can be begun again

    def test_a_clock_that_runs_backwards(self):
        self.write("clock.c", """#define _GNU_SOURCE
            #include <dlfcn.h>
            #include <time.h>
            static time_t now = 2000000000;
            time_t time(time_t* t) { now -= 1000; if (t) *t = now; return now; }
            int clock_gettime(clockid_t id, struct timespec* t) {
              static int (*real)(clockid_t, struct timespec*);
              if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
              if (id != CLOCK_REALTIME) return real(id, t);
              t->tv_sec = time(0);
              t->tv_nsec = 0;
              return 0;
            }""")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "clock.so", "clock.c", "-ldl"], cwd=self.folder, check=True)
        short = ["run", "case.toml", "--set", "analysis.axis.points=40", "--set", "analysis.transient=5000"]
        self.graze(*short, "-o", "whole.h5")
        backwards = {**os.environ, "LD_PRELOAD": self.path("clock.so")}
        self.graze(*short, "--max-time", "0.05s", "--threads", "1", code=75, env=backwards)
        self.graze(*short, env=backwards)
        self.assert_same_arrays("whole.h5", "case.h5")
        with h5py.File(self.path("case.h5"), "r") as file:
            self.assertTrue(re.match("2033-", file.attrs["created"]))


if __name__ == "__main__":
    main()
