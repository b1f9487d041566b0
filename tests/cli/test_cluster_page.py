"""Every command of the page about clusters runs as it stands there."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["GRAZE_SOURCE"], "tests", "cli", "support"))
from graze_cli import GRAZE, SWEEP, CliTest, main  # noqa: E402

PAGE = os.path.join(os.environ["GRAZE_SOURCE"], "drivers", "CLUSTER.md")
WITH_MPI = "GRAZE_MPI:BOOL=ON"


class ClusterPage(CliTest):
    def commands(self, kind):
        with open(PAGE, encoding="utf-8") as file:
            blocks = re.findall(r"^```sh( \w+)?\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)
        return [line for mark, text in blocks if mark.strip() == kind for line in text.splitlines()]

    def run_all(self, commands):
        self.write("case.toml", SWEEP)
        os.symlink(GRAZE, self.path("graze"))
        environment = {**os.environ, "PATH": self.folder + ":" + os.environ["PATH"],
                       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        for command in commands:
            done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=environment, capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 0, command + "\n" + done.stderr)

    def test_its_commands(self):
        commands = self.commands("")
        self.assertGreater(len(commands), 9)
        self.run_all(commands)
        for name in ["stopped.h5", "shards.h5", "together.h5"]:
            self.assert_same_arrays("threads.h5", name)
        subprocess.run(["bash", "-n", self.path("job.sh")], check=True)

    def test_its_commands_for_mpi(self):
        with open(os.path.join(os.environ["GRAZE_BUILD"], "CMakeCache.txt"), encoding="utf-8") as cache:
            if WITH_MPI not in cache.read():
                self.skipTest("this program is built without MPI")
        self.run_all(self.commands("mpi") + ["graze run case.toml -o threads.h5"])
        self.assert_same_arrays("threads.h5", "ranks.h5")


if __name__ == "__main__":
    main()
