"""`graze explore` and `graze view` as commands: what they refuse, how they end."""

import os
import signal
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli/support"))
from graze_cli import GRAZE, SIMULATE, SWEEP, CliTest  # noqa: E402

IMPACTS = """graze = 1
[model]
name = "rod_on_ground"
[analysis]
name = "impacts"
axis = { parameter = "mu", from = 0.1, to = 0.5, points = 3 }
end_time = 3e-4
"""


class Commands(CliTest):
    def graze(self, *arguments):
        return subprocess.run([GRAZE, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=300)

    def refused(self, words, *arguments):
        result = self.graze(*arguments)
        self.assertEqual((2, ""), (result.returncode, result.stdout), result.stderr)
        self.assertIn(words, result.stderr)

    def test_what_cannot_be_shown(self):
        self.write("impacts.toml", IMPACTS)
        self.write("wrong.toml", SWEEP.replace("delta", "dleta"))
        self.write("text.h5", "no result")
        self.refused("graze plot draws it", "explore", "impacts.toml", "--no-browser")
        self.refused("wrong.toml:7:", "explore", "wrong.toml", "--no-browser")
        self.refused("text.h5", "explore", "text.h5", "--no-browser")
        self.refused("there is no such file", "explore", "nothing.h5", "--no-browser")
        self.refused("is no result", "view", "impacts.toml")
        self.refused("text.h5", "view", "text.h5")

    def test_a_page_appears_whole_or_not_at_all(self):
        self.write("motion.toml", SIMULATE)
        self.assertEqual(0, self.graze("run", "motion.toml", "-o", "motion.h5", "--quiet").returncode)
        os.mkdir(self.path("folder"))
        self.refused("folder", "view", "motion.h5", "-o", "folder")
        self.assertEqual(["folder", "motion.h5", "motion.toml"], sorted(os.listdir(self.folder)))
        result = self.graze("view", "motion.h5")
        self.assertEqual((0, ""), (result.returncode, result.stdout))
        self.assertEqual(["folder", "motion.h5", "motion.html", "motion.toml"], sorted(os.listdir(self.folder)))

    def test_port_that_is_taken(self):
        self.write("motion.toml", SIMULATE)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            self.refused(f"--port {port}", "explore", "motion.toml", "--no-browser", "--port", port)

    def test_ends_by_signal(self):
        self.write("motion.toml", SIMULATE)
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with subprocess.Popen([GRAZE, "explore", "motion.toml", "--no-browser"], cwd=self.folder, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                self.assertRegex(process.stdout.readline(), r"^http://127\.0\.0\.1:\d+/[\w-]{32}/$")
                process.send_signal(sent)
                self.assertEqual(0, process.wait(60))

    def test_addresses_differ(self):
        self.write("motion.toml", SIMULATE)
        paths = set()
        for _ in range(5):
            with subprocess.Popen([GRAZE, "explore", "motion.toml", "--no-browser"], cwd=self.folder, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                paths.add(process.stdout.readline().split("/")[3])
                process.terminate()
        self.assertEqual(5, len(paths))


if __name__ == "__main__":
    unittest.main()
