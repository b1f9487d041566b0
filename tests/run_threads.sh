#!/usr/bin/env bash
# Builds and runs the tests of threads under the thread sanitizer. Arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."

./drivers/packages.sh build test threads
cmake --preset release
cmake --build --preset release --target graze --parallel "$(nproc)"
cmake --preset threads
cmake --build --preset threads --parallel "$(nproc)"
ctest --preset threads "$@"
