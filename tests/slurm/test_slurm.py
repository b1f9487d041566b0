"""A Slurm of its own on this machine: the script of graze submit, one task killed and queued again, the merge."""

import os
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["GRAZE_SOURCE"], "tests", "cli", "support"))
from graze_cli import GRAZE, SWEEP, CliTest, main  # noqa: E402

PROGRAMS = ["munged", "mungekey", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol"]

CONFIGURATION = """
ClusterName=graze
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port1}
SlurmdPort={port2}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=10
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
KillWait=10
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

CASE = SWEEP.replace("points = 24", "points = 120").replace("transient = 40", "transient = 20000")


def free_port():
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return chosen.getsockname()[1]


class Slurm(CliTest):
    def setUp(self):
        super().setUp()
        missing = [program for program in PROGRAMS if not shutil.which(program, path="/usr/sbin:/usr/bin")]
        if missing:
            self.skipTest("no Slurm here: " + " ".join(missing) + " not installed")
        if os.geteuid() != 0:
            self.skipTest("a Slurm of one's own needs root")
        self.daemons = []
        self.addCleanup(self.stop)
        os.mkdir(self.path("state"))
        os.mkdir(self.path("spool"))
        os.chmod(self.folder, 0o755)
        host = socket.gethostname()
        with open(self.path("slurm.conf"), "w", encoding="ascii") as file:
            file.write(CONFIGURATION.format(host=host, folder=self.folder, port1=free_port(), port2=free_port()))
        self.environment = {**os.environ, "SLURM_CONF": self.path("slurm.conf")}
        subprocess.run(["mungekey", "--create", "--keyfile", self.path("munge.key")], check=True)
        self.daemon("/usr/sbin/munged", "--foreground", "--force", "--key-file", self.path("munge.key"), "--socket",
                    self.path("munge.socket"), "--pid-file", self.path("munged.pid"), "--log-file",
                    self.path("munged.log"), "--seed-file", self.path("munged.seed"))
        self.wait(lambda: os.path.exists(self.path("munge.socket")), "munged", 10)
        self.daemon("/usr/sbin/slurmctld", "-D")
        self.daemon("/usr/sbin/slurmd", "-D", "-N", host)
        self.wait(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T"), "slurmctld and slurmd", 40)

    def daemon(self, *command):
        with open(self.path("daemons.log"), "ab") as log:
            self.daemons.append(subprocess.Popen(command, env=self.environment, stdout=log, stderr=log))

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def ask(self, *command):
        done = subprocess.run(command, env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def wait(self, ready, what, seconds):
        end = time.monotonic() + seconds
        while not ready():
            if any(daemon.poll() is not None for daemon in self.daemons) or time.monotonic() > end:
                log = ""
                for name in ["daemons.log", "slurmctld.log", "slurmd.log", "munged.log"]:
                    if os.path.exists(self.path(name)):
                        with open(self.path(name), encoding="utf-8", errors="replace") as file:
                            log += f"--- {name}\n" + file.read()[-1500:]
                self.skipTest(f"{what} cannot start here:\n{log}")
            time.sleep(0.2)

    def state(self, job):
        for word in self.ask("scontrol", "show", "job", job).split():
            if word.startswith("JobState="):
                return word[len("JobState="):]
        return ""

    def test_an_array_with_a_task_killed_and_a_merge(self):
        self.write("case.toml", CASE)
        self.graze("run", "case.toml", "-o", "plain.h5", "--quiet")
        out, _ = self.graze("submit", "case.toml", "--tasks", "4", "--time", "5m")
        self.assertEqual(os.path.exists(self.path("case.h5")), False)
        self.write("job.sh", out)
        done = subprocess.run(["bash", "job.sh"], env=self.environment, cwd=self.folder, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        merge = done.stdout.strip()
        array = self.array_of(merge)
        self.wait_until(lambda: self.state(f"{array}_1") == "RUNNING", 60)
        self.wait_until(lambda: self.blocks() > 3, 60)
        subprocess.run(["scontrol", "requeue", f"{array}_1"], env=self.environment, check=True)  # kills it first
        self.wait_until(lambda: self.state(merge) == "COMPLETED", 300)
        self.assertIn("Restarts=1", self.ask("scontrol", "show", "job", f"{array}_1"))
        self.assertFalse(os.path.exists(self.path("case.h5.blocks")))
        self.assert_same_arrays("plain.h5", "case.h5")

    def array_of(self, merge):
        for word in self.ask("scontrol", "show", "job", merge).split():
            if word.startswith("Dependency=afterok:"):
                return word[len("Dependency=afterok:"):].split("_")[0].split("(")[0]
        self.fail("the merge depends on nothing")

    def test_a_task_out_of_time_is_queued_again(self):
        self.write("case.toml", CASE)
        self.graze("run", "case.toml", "-o", "plain.h5", "--quiet")
        out, _ = self.graze("submit", "case.toml", "--tasks", "1", "--threads", "1", "--time", "5m")
        self.write("job.sh", out.replace("--max-time 270s", "--max-time 2s"))
        done = subprocess.run(["bash", "job.sh"], env=self.environment, cwd=self.folder, capture_output=True, text=True,
                              check=True)
        merge = done.stdout.strip()
        array = self.array_of(merge)
        self.wait_until(lambda: self.state(merge) == "COMPLETED", 400)
        self.assertNotIn("Restarts=0", self.ask("scontrol", "show", "job", f"{array}_1"))
        self.assert_same_arrays("plain.h5", "case.h5")

    def blocks(self):
        folder = self.path("case.h5.blocks")
        return len(os.listdir(folder)) if os.path.isdir(folder) else 0

    def wait_until(self, ready, seconds):
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end:
                self.fail(self.ask("scontrol", "show", "job") + self.ask("bash", "-c", "cat slurm-*.out; tail -30 slurm*.log"))
            time.sleep(0.5)


if __name__ == "__main__":
    main()
