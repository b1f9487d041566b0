#!/usr/bin/env bash
# Builds the fuzzers and runs each RUNS times (default 1000000) from the corpora in tests/fuzz. What they find is
# written to build/fuzz/found and makes this fail.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-1000000}

./drivers/packages.sh build fuzz
cmake --preset fuzz
cmake --build --preset fuzz --parallel "$(nproc)"
for reader in case override result; do
  found=build/fuzz/found/$reader
  mkdir -p "$found"
  length=3000
  [ "$reader" != result ] || length=100000
  echo "fuzzing: $reader"
  GRAZE_FUZZ=$reader build/fuzz/tests/fuzz -runs="$runs" -max_len="$length" -timeout=20 -rss_limit_mb=3000 \
    -reduce_inputs=0 -print_final_stats=1 -artifact_prefix="$found/" "$found" "tests/fuzz/corpus/$reader"
done
