/// What the fuzzers have found worth keeping, and simple mutations of it, once more through the readers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/readers.hpp"

using namespace graze;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> corpus(const std::string& name) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(GRAZE_CORPUS) / name))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> all;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return all;
}

/// The same changes on every machine: the generator's numbers, not those of a distribution.
std::string mutated(std::string bytes, std::mt19937& random) {
  for (unsigned k = random() % 4 + 1; k > 0 && !bytes.empty(); --k) {
    const std::size_t place = random() % bytes.size();
    switch (random() % 4) {
      case 0:
        bytes[place] = static_cast<char>(random() % 256);
        break;
      case 1:
        bytes.erase(place, random() % 8);
        break;
      case 2:
        bytes.insert(place, bytes.substr(random() % bytes.size(), random() % 16));
        break;
      default:
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << random() % 8));
    }
  }
  return bytes;
}

void replay(const fuzz::Reader& reader, int mutations) {
  std::mt19937 random(20240302);
  const std::vector<std::string> seeds = corpus(reader.name);
  CHECK(seeds.size() > 2);
  for (const std::string& seed : seeds) {
    CHECK_NOTHROW(reader.read(seed));
    for (int k = 0; k < mutations; ++k) CHECK_NOTHROW(reader.read(mutated(seed, random)));
  }
}

}  // namespace

/// By hand: GRAZE_FUZZ names the reader, GRAZE_FUZZ_RUNS the mutations of each seed.
TEST_CASE("many mutations", "[.many]") {
  const char* name = std::getenv("GRAZE_FUZZ");
  const char* runs = std::getenv("GRAZE_FUZZ_RUNS");
  REQUIRE((name != nullptr && runs != nullptr));
  for (const fuzz::Reader& reader : fuzz::readers())
    if (std::string(reader.name) == name) replay(reader, std::atoi(runs));
}

TEST_CASE("case files of strangers") { replay(fuzz::readers()[0], 20); }
TEST_CASE("overrides of strangers") { replay(fuzz::readers()[1], 50); }
TEST_CASE("result files of strangers") { replay(fuzz::readers()[2], 20); }

/// Whatever a stranger does to a result file by way of HDF5; most of it leaves a file that can be opened.
TEST_CASE("result files made by a stranger") {
  std::mt19937 random(20240303);
  for (int k = 0; k < 1000; ++k) {
    std::string recipe(1 + random() % 100, '\0');
    for (char& byte : recipe) byte = static_cast<char>(random() % 256);
    CHECK_NOTHROW(fuzz::readers()[2].read(recipe));
  }
}
