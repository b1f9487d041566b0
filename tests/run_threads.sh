#!/usr/bin/env bash
# The tests of threads under the thread sanitizer, with an OpenMP that tells it what it does (libomp and Archer:
# that of GCC is not understood by it). Arguments go to the tests of the executor.
set -euo pipefail
cd "$(dirname "$0")/.."

./drivers/packages.sh build test threads
cmake --preset threads
cmake --build --preset threads --parallel "$(nproc)"
library=$(dirname "$(ldd build/threads/graze | awk '/libomp/ {print $3}' | xargs readlink -f)")
export OMP_TOOL_LIBRARIES=$library/libarcher.so ARCHER_OPTIONS="verbose=1"
export TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1 exitcode=66"
build/threads/tests/test_cli "$@"
build/threads/tests/test_format "blocks in any order*"
for start in fixed follow_both; do
  build/threads/graze run data/cases/quickstart.toml -o "build/threads/$start.h5" --threads 4 --force \
    --set analysis.axis.points=24 --set run.block=1 --set "analysis.start=$start"
done
