#!/usr/bin/env bash
# Installs Slurm, builds and runs the test that starts one of its own on this machine. Arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."

./drivers/packages.sh build test slurm
cmake --preset release
cmake --build --preset release --target graze_program --parallel "$(nproc)"
ctest --preset slurm "$@"
