#!/usr/bin/env bash
# clang-tidy on the files given; without arguments, on the sources that differ from the last commit and on those of the
# last commit, at most TIDY_FILES of them (default 8): each takes up to a minute and more.
set -euo pipefail
cd "$(dirname "$0")/.."

./drivers/packages.sh build clang python
cmake --preset release >/dev/null
cmake --build --preset release --target graze_version >/dev/null
if [ $# -eq 0 ]; then
  before=$(git rev-parse --quiet --verify HEAD~1 || git hash-object -t tree /dev/null)  # no history: all files
  mapfile -t changed < <(git diff --name-only --diff-filter=d "$before" -- \
    'core/*.cpp' 'analysis/*.cpp' 'data/*.cpp' 'drivers/*.cpp' ':!drivers/examples' | head -n "${TIDY_FILES:-8}")
  set -- "${changed[@]}"
fi
[ $# -gt 0 ] || exit 0
echo "clang-tidy: $*"
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} clang-tidy --quiet --warnings-as-errors='*' {} -- \
  -std=c++20 -DEIGEN_DONT_PARALLELIZE -I. -Ibuild/release $(pkg-config --cflags eigen3 hdf5 python3 | sed 's/-I/-isystem /g')
