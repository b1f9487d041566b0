#!/usr/bin/env bash
# From a fresh clone to a bifurcation diagram: installs the packages that are missing, builds the program,
# runs data/cases/quickstart.toml and draws the result. Arguments go to `graze run`, for example
#   ./drivers/quickstart.sh --set analysis.axis.points=141
# GRAZE_OUT names another folder than out/ for the result.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${GRAZE_OUT:-out}

./drivers/packages.sh build plot
# A build folder that tests/run.sh has set up serves as well.
[ -f build/release/build.ninja ] || cmake --preset release -D GRAZE_TESTS=OFF -D GRAZE_PYTHON=OFF -D GRAZE_GROUPS=ON
cmake --build build/release --target graze_program --parallel "$(nproc)"

mkdir -p "$out"
# 4: some points failed; they are marked in the file and in the picture.
build/release/graze run data/cases/quickstart.toml -o "$out/quickstart.h5" "$@" || [ $? -eq 4 ]
build/release/graze plot "$out/quickstart.h5" -o "$out/quickstart.png"
echo "result:  $out/quickstart.h5"
echo "picture: $out/quickstart.png"
