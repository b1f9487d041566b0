"""One case in every way there is to run it: the same arrays bit for bit. And what happens when a rank dies."""

import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["GRAZE_SOURCE"], "tests", "cli", "support"))
from graze_cli import GRAZE, SIMULATE, CliTest, long_sweep, main  # noqa: E402

CASE = long_sweep(points=400, transient=1500)


class Ranks(CliTest):
    def setUp(self):
        super().setUp()
        self.write("case.toml", CASE)

    def mpirun(self, ranks, *arguments, mca=()):
        as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        command = ["mpirun", *as_root, "--oversubscribe", *mca, "-n", str(ranks), GRAZE, *arguments]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def with_ranks(self, ranks, *arguments, code=0, mca=()):
        process = self.mpirun(ranks, *arguments, mca=mca)
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, out + err)
        return err

    def blocks(self, name="case.h5"):
        found = []
        for _, _, files in os.walk(self.path(name + ".blocks")):
            found += [file for file in files if file.endswith(".h5")]
        return found

    def wait_for_blocks(self, process, count):
        while process.poll() is None and len(self.blocks()) < count:
            time.sleep(0.002)
        self.assertIsNone(process.poll(), "over before it could be stopped")

    def children(self, process):
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]

    def test_every_way_gives_the_same_bits(self):
        begin = time.monotonic()
        self.graze("run", "case.toml", "-o", "one.h5", "--threads", "1", "--quiet")
        duration = time.monotonic() - begin

        self.graze("run", "case.toml", "-o", "two.h5", "--threads", "2", "--quiet")
        self.assert_same_arrays("one.h5", "two.h5")

        order = random.Random(20240301)
        parts = [1, 2, 3, 4]
        order.shuffle(parts)
        for part in parts:
            self.graze("run", "case.toml", "-o", "shards.h5", "--shard", f"{part}/4", "--quiet")
        self.graze("merge", "shards.h5.blocks", "-o", "shards.h5", "--quiet")
        self.assert_same_arrays("one.h5", "shards.h5")

        for ranks in [1, 2, 4]:
            self.with_ranks(ranks, "run", "case.toml", "-o", f"ranks{ranks}.h5", "--quiet")
            self.assert_same_arrays("one.h5", f"ranks{ranks}.h5")
        self.with_ranks(2, "run", "case.toml", "-o", "hybrid.h5", "--threads", "2", "--quiet")
        self.assert_same_arrays("one.h5", "hybrid.h5")

        killed = 0
        for _ in range(20):  # again and again in the same result
            process = self.start("run", "case.toml", "-o", "killed.h5", "--threads", "2", "--quiet")
            time.sleep(duration / 10 * order.random())
            process.kill()
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
        self.assertGreaterEqual(killed, 15)
        self.graze("run", "case.toml", "-o", "killed.h5", "--quiet")
        self.assert_same_arrays("one.h5", "killed.h5")

        process = self.start("run", "case.toml", "--threads", "1", "--quiet")
        self.wait_for_blocks(process, 20)
        process.terminate()
        process.communicate()
        self.assertEqual(process.returncode, 75)
        self.graze("run", "case.toml", "--quiet")
        self.assert_same_arrays("one.h5", "case.h5")

    def test_over_a_network(self):
        self.graze("run", "case.toml", "-o", "one.h5", "--quiet")
        tcp = ["--mca", "btl", "tcp,self", "--mca", "osc", "pt2pt"]
        self.with_ranks(3, "run", "case.toml", "--quiet", mca=tcp)
        self.assert_same_arrays("one.h5", "case.h5")

    def test_a_run_goes_on_with_what_is_missing(self):
        self.with_ranks(3, "run", "case.toml", "--max-time", "0.4s", code=75)
        done = len(self.blocks())
        self.assertGreater(done, 0)
        err = self.with_ranks(3, "run", "case.toml")
        self.assertIn(f"resuming after {done} of 400 points", err)
        self.assertIn(f"{400 - done} points in", err)

    def test_a_killed_rank_ends_the_run_and_leaves_it_resumable(self):
        longer = ("--set", "analysis.transient=15000")  # a rank is killed before all is done
        self.graze("run", "case.toml", "-o", "one.h5", "--quiet", *longer)
        for victim in [0, 2]:
            process = self.mpirun(3, "run", "case.toml", *longer)
            self.wait_for_blocks(process, len(self.blocks()) + 10)
            os.kill(self.children(process)[victim], signal.SIGKILL)
            _, err = process.communicate(timeout=60)
            self.assertNotIn(process.returncode, [0, 75], err)
            self.assertGreater(len(self.blocks()), 10)
            self.assertIn("not complete", self.graze("info", "case.h5")[0])
        err = self.with_ranks(2, "run", "case.toml", *longer)
        self.assertIn("resuming after", err)
        self.assert_same_arrays("one.h5", "case.h5")

    def test_a_signal_stops_all_ranks(self):
        process = self.mpirun(2, "run", "case.toml")
        self.wait_for_blocks(process, 10)
        process.send_signal(signal.SIGUSR1)  # mpirun hands it on
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75, err)
        self.assertIn("the same command resumes", err)

    def test_mistakes_are_told_once_and_end_all(self):
        err = self.with_ranks(3, "run", "missing.toml", code=2)
        self.assertEqual(err.count("graze: missing.toml"), 1, err)
        process = self.mpirun(2, "run", "case.toml")
        self.wait_for_blocks(process, 1)
        err = self.with_ranks(2, "run", "case.toml", code=2)
        self.assertEqual(err.count("another process is working"), 1, err)
        process.send_signal(signal.SIGUSR1)
        process.communicate(timeout=60)

    def test_one_motion_is_one_rank_s_business(self):
        self.write("simulate.toml", SIMULATE)
        self.with_ranks(2, "run", "simulate.toml", "-o", "two.h5", "--quiet")
        self.graze("run", "simulate.toml", "-o", "one.h5", "--quiet")
        self.assert_same_arrays("one.h5", "two.h5")

    def test_without_mpirun_and_as_shard(self):
        self.graze("run", "case.toml", "-o", "one.h5", "--quiet")
        for part in [2, 1]:
            self.with_ranks(2, "run", "case.toml", "--shard", f"{part}/2", "--quiet")
        self.graze("merge", "case.h5", "-o", "case.h5", "--quiet")
        self.assert_same_arrays("one.h5", "case.h5")


if __name__ == "__main__":
    main()
