"""A run may be ended at any moment and by any means: the same command ends with the same arrays."""

import os
import random
import signal
import sys
import time

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from graze_cli import CliTest, long_sweep, main  # noqa: E402


class Resume(CliTest):
    def setUp(self):
        super().setUp()
        self.write("case.toml", long_sweep(points=120, transient=1200))

    def reference(self):
        """An uninterrupted run."""
        self.graze("run", "case.toml", "-o", "whole.h5", "--threads", "2")

    def start_and_wait(self, blocks):
        """A run on one thread that has stored so many blocks of its own."""
        before = self.count_blocks()
        process = self.start("run", "case.toml", "--threads", "1")
        while process.poll() is None and self.count_blocks() < before + blocks:
            time.sleep(0.002)
        self.assertIsNone(process.poll(), "over before it could be stopped")
        return process

    def count_blocks(self, name="case.h5"):
        try:
            return len([n for n in os.listdir(self.path(name + ".blocks")) if n.endswith(".h5")])
        except FileNotFoundError:
            return 0

    def assert_partial(self):
        """The unfinished result is valid: values where blocks are done, missing ones elsewhere."""
        with h5py.File(self.path("case.h5"), "r") as file:
            done = np.asarray(file["outcome"]) >= 0
            self.assertGreater(np.count_nonzero(done), 0)
            self.assertLess(np.count_nonzero(done), done.size)
            self.assertTrue(np.all(np.isfinite(np.asarray(file["map_state"])[done, 0])))
            self.assertTrue(np.all(np.isnan(np.asarray(file["map_state"])[~done])))
        out, _ = self.graze("info", "case.h5")
        self.assertIn("not complete", out)
        self.assertIn("missing", out)

    def test_killed_at_20_random_moments(self):
        self.reference()
        moments = random.Random(20240229)
        killed = 0
        for n in range(20):
            name = f"killed{n}.h5"
            command = ["run", "case.toml", "-o", name, "--threads", "2"]
            process = self.start(*command)
            blocks = moments.randint(0, 119)
            while process.poll() is None and self.count_blocks(name) < blocks:
                time.sleep(0.001)
            time.sleep(0.01 * moments.random())
            process.kill()
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
            self.graze(*command)
            self.assert_same_arrays("whole.h5", name)
            self.assertFalse(os.path.exists(self.path(name + ".blocks")))
            os.remove(self.path(name))
        self.assertGreaterEqual(killed, 15, "most runs should have been alive when they were killed")

    def test_threads_and_blocks_do_not_change_arrays(self):
        self.reference()
        for threads in ["1", "2", "3"]:
            for block in ["1", "7", "0"]:
                name = f"t{threads}b{block}.h5"
                self.graze("run", "case.toml", "-o", name, "--threads", threads, "--set", f"run.block={block}")
                self.assert_same_arrays("whole.h5", name)

    def test_signals_finish_the_blocks_in_flight(self):
        self.reference()
        for sent in [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1]:
            process = self.start_and_wait(blocks=2)
            process.send_signal(sent)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 75, err)
            self.assertEqual(out, "")
            self.assertIn("the same command resumes", err)
            self.assert_partial()
        _, err = self.graze("run", "case.toml")
        self.assertIn("resuming after", err)
        self.assert_same_arrays("whole.h5", "case.h5")
        self.assertEqual(self.count_blocks(), 0)

    def wait_until_busy(self, process):
        """Until the program has used more processor time than its start takes: a block is under way."""
        while process.poll() is None:
            with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
                user = int(stat.read().rsplit(")", 1)[1].split()[11])
            if user / os.sysconf("SC_CLK_TCK") > 0.5:
                return
            time.sleep(0.01)
        self.fail(process.communicate()[1])

    def test_a_long_block_is_dropped(self):
        """SIGTERM and Ctrl-C end a run whose block would take hours; SIGUSR1 waits for the block."""
        block = ("--set", "run.block=120", "--set", "analysis.transient=100000000")
        for sent in [signal.SIGTERM, signal.SIGINT]:
            process = self.start("run", "case.toml", *block)
            self.wait_until_busy(process)
            process.send_signal(signal.SIGUSR1)
            time.sleep(1.5)
            self.assertIsNone(process.poll())
            process.send_signal(sent)
            out, err = process.communicate(timeout=30)
            self.assertEqual((process.returncode, out), (75, ""), err)
            self.assertIn("dropped; the same command resumes", err)

    def test_analyses_in_one_piece_stop_too(self):
        """A motion without end, and orbits that are looked for long before there is a branch."""
        cases = [("simulate", ("analysis.periods=1e9", "analysis.samples=1", "tolerance.events=1000000000")),
                 ("continue", ("analysis.axis={parameter=\"delta\", from=1.45, to=1.5}", "analysis.at=1.5",
                               "analysis.transient=1000000000"))]
        for name, keys in cases:
            process = self.start("run", "case.toml", "-o", "piece.h5", "--set", f"analysis={{name='{name}'}}",
                                 *[word for key in keys for word in ("--set", key)])
            self.wait_until_busy(process)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 75, err)
            self.assertFalse(os.path.exists(self.path("piece.h5")))

    def wait_until_not_caught(self, process, number):
        """Until the program no longer has a handler for the signal."""
        while process.poll() is None:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                mask = next(line for line in status if line.startswith("SigCgt:")).split()[1]
            if not int(mask, 16) >> (number - 1) & 1:
                return
            time.sleep(0.002)
        self.fail(process.communicate()[1])

    def test_second_interrupt_kills(self):
        # One block of all points: the first signal cannot end it soon.
        process = self.start("run", "case.toml", "--set", "run.block=120", "--set", "analysis.transient=100000000")
        self.wait_until_busy(process)
        process.send_signal(signal.SIGINT)
        self.wait_until_not_caught(process, signal.SIGINT)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_max_time(self):
        self.reference()
        stops = 0
        while True:
            process = self.start("run", "case.toml", "--threads", "1", "--max-time", "0.1s")
            _, err = process.communicate()
            if process.returncode == 0:
                break
            self.assertEqual(process.returncode, 75, err)
            self.assertIn("--max-time", err)
            stops += 1
            self.assertLess(stops, 1000)
        self.assertGreater(stops, 0)
        self.assert_same_arrays("whole.h5", "case.h5")

    def test_an_unfinished_result_of_another_case_is_refused(self):
        process = self.start_and_wait(blocks=2)
        process.terminate()
        process.communicate()
        self.refused("run", "case.toml", "--set", "model.r1=0.6", says=["--force"])
        self.graze("run", "case.toml", "--set", "model.r1=0.6", "--force")
        self.graze("run", "case.toml", "--set", "model.r1=0.6", "-o", "other.h5")
        self.assert_same_arrays("case.h5", "other.h5")

    def test_two_at_once(self):
        process = self.start_and_wait(blocks=2)
        _, err = self.graze("run", "case.toml", code=2)
        self.assertTrue(err.startswith("graze: "), err)
        process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    main()
