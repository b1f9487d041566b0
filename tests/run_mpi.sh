#!/usr/bin/env bash
# Installs what MPI needs, builds with the preset mpi and runs the tests with ranks. Arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."

./drivers/packages.sh build test mpi
cmake --preset mpi
cmake --build --preset mpi --parallel "$(nproc)"
ctest --preset mpi "$@"
