#!/usr/bin/env bash
# The Debian packages that graze needs, and what for. Called with names of lists
# it installs what is missing of them; with nothing missing it does nothing.
set -euo pipefail

lists="build, plot, test, python, docs, clang, coverage, bench, mpi, slurm, fuzz, threads"
build="
  g++                  compiler
  cmake                configures the build
  ninja-build          runs the build
  pkgconf              finds HDF5
  git                  puts the revision into results
  libeigen3-dev        linear algebra
  libhdf5-dev          result files
  libisal-dev          compresses their chunks
  libfmt-dev           messages
  libtomlplusplus-dev  case files
  libcli11-dev         command line
  librandom123-dev     random starts, reproducible by point
  libboost-dev         server of graze explore, second engine (Odeint)
  nlohmann-json3-dev   what its page asks
  zlib1g-dev           pages in one file
"
plot="
  gnuplot-nox          draws the pictures
"
test="
  catch2               unit tests
  chromium             shows the page of graze explore
  chromium-driver      lets tests use it
  clang-format         checks the layout of the source
  dpkg-dev             finds what the Debian packages depend on
  file                 tells CPack what is a program
  netcdf-bin           ncdump, reads results
  octave               reads results
  python3              runs the tests of the program
  python3-h5py         reads results
  python3-netcdf4      reads results for xarray
  python3-numpy        compares results
  python3-selenium     tests that use a browser
"
python="
  pybind11-dev         the module in C++
  python3-dev          the module in C++
  python3-matplotlib   figures
  python3-tqdm         progress bar
  python3-venv         pip install
  python3-xarray       results
"
docs="
  doxygen              API reference
"
clang="
  clang                the second compiler
  clang-tidy           looks for faults in the source
  libomp-dev           OpenMP of clang
"
coverage="
  gcovr                sums up which lines the tests run
"
bench="
  libbenchmark-dev     times
  libboost-dev         integrators to compare with
  libsundials-dev      a peer to compare with
"
mpi="
  libopenmpi-dev       several ranks
  openmpi-bin          mpirun
"
slurm="
  munge                proves to Slurm who one is
  slurm-client         sbatch and its like
  slurmctld            gives out the work
  slurmd               does it
"
fuzz="
  clang                compiles with libFuzzer
  libclang-rt-dev      libFuzzer and the sanitizers
  libomp-dev           OpenMP of clang
"
threads="
  clang                compiles with the thread sanitizer
  libclang-rt-dev      the thread sanitizer
  libomp-dev           OpenMP that tells the sanitizer what it does
"

if [ $# -eq 0 ]; then
  echo "usage: $0 LIST...   with LIST one of $lists" >&2
  exit 2
fi

missing=()
for list in "$@"; do
  case $list in
    build | plot | test | python | docs | clang | coverage | bench | mpi | slurm | fuzz | threads) ;;
    *)
      echo "$0: no list named '$list' ($lists)" >&2
      exit 2
      ;;
  esac
  while read -r package purpose; do
    [ -n "$package" ] || continue
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    if [ "$status" != installed ]; then
      echo "missing: $package ($purpose)" >&2
      missing+=("$package")
    fi
  done <<<"${!list}"
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "This is no Debian: please install the above by hand, then start again." >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Neither root nor sudo: please let somebody install: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update || echo "package lists not renewed; going on with those at hand" >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install --yes --no-install-recommends "${missing[@]}"
