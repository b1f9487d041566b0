#!/usr/bin/env bash
# Builds everything with the second compiler and runs the tests. Arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."

./drivers/packages.sh build plot test python clang
cmake --preset clang
cmake --build --preset clang --parallel "$(nproc)"
ctest --preset clang --parallel "$(nproc)" "$@"
