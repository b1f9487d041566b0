"""What ranks of MPI gain, and what more of them than cores cost: a case with 1, 2 and 4 ranks in turn, so that a
busy moment of the machine falls on all alike.

    tests/bench/bench_ranks.py [--graze build/mpi/graze] [--repetitions 5] [CASE] [--set KEY=VALUE]...
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RANKS = (1, 2, 4)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="?", default=os.path.join(ROOT, "data", "cases", "quickstart.toml"))
    parser.add_argument("--graze", default=os.path.join(ROOT, "build", "mpi", "graze"))
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    return parser.parse_args()


def seconds(options, ranks, folder):
    """Wall time of one run from nothing."""
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    overrides = [word for change in options.set for word in ("--set", change)]
    command = ["mpirun", *as_root, "--oversubscribe", "-n", str(ranks), os.path.abspath(options.graze), "run",
               os.path.abspath(options.case), "-o", "ranks.h5", "--force", "--quiet", "--threads", "1", *overrides]
    begin = time.monotonic()
    subprocess.run(command, cwd=folder, check=True)
    elapsed = time.monotonic() - begin
    os.remove(os.path.join(folder, "ranks.h5"))
    return elapsed


def main():
    options = arguments()
    times = {ranks: [] for ranks in RANKS}
    with tempfile.TemporaryDirectory(prefix="graze_ranks_") as folder:
        for _ in range(options.repetitions):
            for ranks in RANKS:
                times[ranks].append(seconds(options, ranks, folder))
    median = {ranks: statistics.median(values) for ranks, values in times.items()}
    print(f"{options.case}, {options.repetitions} times each on {os.cpu_count()} cores\n ranks  seconds  least  "
          "gain")
    for ranks in RANKS:
        print(f"{ranks:6} {median[ranks]:8.2f} {min(times[ranks]):6.2f} {median[1] / median[ranks]:5.2f}")
    print(f"gain of 4 ranks over that of 2: {median[2] / median[4]:.3f}")


if __name__ == "__main__":
    main()
