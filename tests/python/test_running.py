"""A run in Python can be stopped, watched and left alone: Ctrl-C, progress, other threads."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import unittest

import numpy as np
import xarray

import graze

MANY = {"parameter": "delta", "from": 0.6, "to": 0.75, "points": 3000000}

# Each would take hours: points of a sweep, one motion in one piece, a continuation in one piece.
ENDLESS = {
    "sweep": f'graze.sweep("two_dof_stops", axis={MANY}, record=20, progress=told)',
    "long points": 'graze.sweep("planar_friction", frequency_scale=[1.0, 1.1], transient=10**9, progress=told)',
    "marched points": 'graze.sweep("two_dof_stops", delta=[0.7155], d1=-0.3, d2=0.1, transient=10**9, progress=told)',
    "simulate": 'graze.simulate("two_dof_stops", periods=1e7, samples=10**7, delta=0.7155, d1=-0.3, d2=0.1, progress=told)',
    "continue": 'graze.continue_("two_dof_stops", delta=(0.1, 3.0), start="random", starts=10**6, step=1e-5,'
                ' points=10**8, progress=told)',
}
PROGRAM = """
import graze, numpy, sys, threading

def told(share):
    if not told.before:
        told.before = True
        print("begun", flush=True)
told.before = False
before = threading.active_count()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", threading.active_count() - before, flush=True)
again = graze.simulate("impact_oscillator", periods=2, samples=4)
print(again.sizes["sample"], flush=True)
"""


class CtrlC(unittest.TestCase):
    def test_stops_cleanly(self):
        """Whatever is computed, the exception comes, nothing goes on behind it, and Python goes on as before."""
        for name, call in ENDLESS.items():
            with self.subTest(name):
                program = subprocess.Popen([sys.executable, "-c", PROGRAM.format(call=call)], stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True)
                self.addCleanup(program.kill)
                self.assertEqual("begun", program.stdout.readline().strip())
                program.send_signal(signal.SIGINT)
                out, err = program.communicate(timeout=120)
                self.assertEqual(["interrupted 0", "5"], out.splitlines(), err)
                self.assertEqual(0, program.returncode, err)

    def test_without_anybody_who_catches_it(self):
        call = ENDLESS["sweep"].replace("progress=told", "progress=lambda share: print('begun', flush=True)")
        program = subprocess.Popen([sys.executable, "-c", f"import graze, numpy\n{call}"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(program.kill)
        program.stdout.readline()
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=120)
        self.assertIn("KeyboardInterrupt", err)
        self.assertEqual(-signal.SIGINT, program.returncode)


class Watching(unittest.TestCase):
    def test_progress(self):
        shares = []
        graze.sweep("duffing_impact", omega=np.linspace(0.9, 1.2, 40), transient=100, progress=shares.append)
        self.assertEqual(1.0, shares[-1])
        self.assertEqual(sorted(shares), shares)
        self.assertGreaterEqual(min(shares), 0.0)

    def test_an_exception_of_the_watcher_ends_the_run(self):
        class Enough(Exception):
            pass

        def watcher(share):
            raise Enough

        with self.assertRaises(Enough):
            graze.sweep("two_dof_stops", axis=MANY, record=20, progress=watcher)

    def test_bar_on_a_terminal_only(self):
        quiet = subprocess.run([sys.executable, "-c", "import graze\ngraze.simulate('impact_oscillator', periods=1)"],
                               capture_output=True, text=True)
        self.assertEqual(("", "", 0), (quiet.stdout, quiet.stderr, quiet.returncode))
        asked = subprocess.run([sys.executable, "-c", textwrap.dedent("""
            import graze, numpy
            class Enough(Exception): pass
            from graze import _cases
            bar = _cases._Bar
            class Drawn(bar):
                def __call__(self, share):
                    self.bar.delay = 0
                    super().__call__(share)
                    if self.bar.n > 0: raise Enough
            _cases._Bar = Drawn
            try:
                graze.sweep("two_dof_stops", axis=%r, record=20, progress=True)
            except Enough:
                print("drawn")
            """ % MANY)], capture_output=True, text=True)
        self.assertEqual("drawn\n", asked.stdout, asked.stderr)
        self.assertIn("left", asked.stderr)


class Threads(unittest.TestCase):
    def test_python_runs_meanwhile(self):
        """A whole run begins and ends while another one is under way in another thread."""
        class Enough(Exception):
            pass

        begun, over = threading.Event(), threading.Event()
        ended = []

        def told(share):
            begun.set()
            if over.is_set():
                raise Enough

        def long():
            try:
                graze.sweep("two_dof_stops", axis=MANY, record=20, threads=1, progress=told)
            except Enough:
                ended.append("in the middle")

        thread = threading.Thread(target=long)
        thread.start()
        self.assertTrue(begun.wait(120))
        expected = graze.sweep("two_dof_stops", delta=[0.7, 0.71], threads=1)
        over.set()
        thread.join(120)
        self.assertEqual(["in the middle"], ended)
        xarray.testing.assert_identical(expected, graze.sweep("two_dof_stops", delta=[0.7, 0.71], threads=1))

    def test_one_system_in_many_threads(self):
        system = graze.System("two_dof_stops", delta=0.71, d1=-0.3, d2=0.1)
        starts = [np.array([0.1 * k / 40, 0.0, 0.0, 0.0]) for k in range(40)]
        expected = [system.map(x)[0] for x in starts]
        found = [None] * len(starts)

        def work(first):
            for k in range(first, len(starts), 4):
                found[k] = system.map(starts[k])[0]

        threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(expected, found)


if __name__ == "__main__":
    os.environ.pop("PYTHONWARNINGS", None)
    unittest.main()
