#!/usr/bin/env bash
# Runs the tests in a build that counts lines, and prints the line coverage of core and analysis, file by file.
set -euo pipefail
cd "$(dirname "$0")/.."

./drivers/packages.sh build plot test python coverage
cmake --preset coverage
cmake --build --preset coverage --parallel "$(nproc)"
find build/coverage -name '*.gcda' -delete
ctest --preset coverage --parallel "$(nproc)"
gcovr --root . --filter core/ --filter analysis/ --exclude-unreachable-branches build/coverage
