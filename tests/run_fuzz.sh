#!/usr/bin/env bash
# Builds the fuzzers and runs each RUNS times (default 1000000) from the corpora in tests/fuzz. What they find is
# written to build/fuzz/found and makes this fail. Leaks are looked for at the end: after every run it takes most of
# the time.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-1000000}

./drivers/packages.sh build test fuzz
cmake --preset release
cmake --build --preset release --target graze --parallel "$(nproc)"
cmake --preset fuzz
cmake --build --preset fuzz --parallel "$(nproc)"
export ASAN_OPTIONS=malloc_context_size=4
for reader in case override result; do
  found=build/fuzz/found/$reader
  mkdir -p "$found"
  case $reader in case) length=3000 ;; override) length=200 ;; result) length=40 ;; esac
  echo "fuzzing: $reader"
  "build/fuzz/tests/fuzz_$reader" -runs="$runs" -max_len="$length" -timeout=60 -rss_limit_mb=3000 \
    -malloc_limit_mb=1000000 -detect_leaks=0 -reduce_inputs=0 -print_final_stats=1 -artifact_prefix="$found/" \
    "$found" "tests/fuzz/corpus/$reader"
done
