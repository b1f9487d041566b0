#!/usr/bin/env bash
# Installs the packages that are missing, builds everything and runs the tests. Arguments go to ctest, for
# example `./tests/run.sh -R format`. The heavy tests are left out; `ctest --preset heavy` runs them.
set -euo pipefail
cd "$(dirname "$0")/.."

./drivers/packages.sh build plot test python
groups=()  # from scratch in groups of sources; a build folder that is there stays as it was set up
[ -f build/release/build.ninja ] || groups=(-D GRAZE_GROUPS=ON)
cmake --preset release "${groups[@]}"
cmake --build --preset release --parallel "$(nproc)"
ctest --preset release --parallel "$(nproc)" "$@"
