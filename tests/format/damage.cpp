/// Damaged files: whatever byte is changed, no other values than those written are taken for good.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/settings/value.hpp"
#include "data/archive.hpp"
#include "data/blocks.hpp"
#include "data/content_digest.hpp"
#include "tests/format/sample.hpp"

using namespace graze;

namespace {

/// What became of the damaged files, kept in memory that a child process shares.
struct Tally {
  std::size_t next = 0;  ///< byte that is being changed
  std::size_t refused = 0;
  std::size_t equal = 0;
  std::size_t wrong = 0;
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

enum class Answer { refused, equal, wrong };

constexpr int unforeseen = 77;  ///< exit status

/// Asks about the file with each `stride`-th byte changed. The library may crash on such a file, or never
/// come back: the program then ends with an error, so this is "refused", too.
Tally with_each_byte_changed(const std::string& path, std::size_t stride,
                             const std::function<Answer()>& ask) {
  const std::string bytes = bytes_of(path);
  void* memory = ::mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto& tally = *new (memory) Tally;
  while (tally.next < bytes.size()) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (const int crash : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(crash, SIG_DFL);
      std::fclose(stderr);
      for (; tally.next < bytes.size(); tally.next += stride) {
        const itimerval limit{{0, 0}, {3, 0}};
        ::setitimer(ITIMER_PROF, &limit, nullptr);
        std::string damaged = bytes;
        damaged[tally.next] = static_cast<char>(~damaged[tally.next]);
        write_bytes(path, damaged);
        Answer answer = Answer::wrong;
        try {
          answer = ask();
        } catch (...) {  // what is wrong in a file is told by ask
          ::_exit(unforeseen);
        }
        ++(answer == Answer::refused ? tally.refused : answer == Answer::equal ? tally.equal : tally.wrong);
      }
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    REQUIRE(!(WIFEXITED(status) && WEXITSTATUS(status) == unforeseen));
    ++tally.refused;  // by a signal, or by the word of a sanitizer
    tally.next += stride;
  }
  write_bytes(path, bytes);
  const Tally result = tally;
  ::munmap(memory, sizeof(Tally));
  return result;
}

bool same_arrays(const Dataset& a, const Dataset& b) {
  if (a.arrays.size() != b.arrays.size()) return false;
  for (const Array& array : a.arrays) {
    const Array* other = b.find(array.name);
    if (other == nullptr || other->dimensions != array.dimensions ||
        !test::same_values(array.values, other->values))
      return false;
  }
  return true;
}

Dataset small_layout() {
  Dataset data;
  data.dimensions = {{"delta", 2}};
  data.arrays = {{"delta", {"delta"}, std::vector<double>{0.1, 0.2}, "1", "", {}, {}},
                 {"outcome", {"delta"}, std::vector<std::int8_t>(), "1", "", {}, {}},
                 {"impacts", {"delta"}, std::vector<std::int64_t>(), "1", "", {}, {}},
                 {"speed", {"delta"}, std::vector<double>(), "1", "", {}, {}}};
  return data;
}

Dataset small_block() {
  Dataset data = small_layout();
  data.arrays.erase(data.arrays.begin());
  data.at("outcome").values = std::vector<std::int8_t>{0, 3};
  data.at("impacts").values = std::vector<std::int64_t>{7, -1};
  data.at("speed").values = std::vector<double>{0.25, 1.0 / 3};
  return data;
}

}  // namespace

TEST_CASE("a block with any byte changed is refused, or its arrays are the same", "[damage]") {
  const test::Folder folder;
  const std::string result = folder.file("r.h5");
  Archive archive(result, small_layout(), {"delta"}, {Box{{0}, {2}}}, {}, "case A");
  archive.prepare(false);
  archive.put(0, small_block());
  Dataset layout = small_layout();
  layout.arrays.erase(layout.arrays.begin());
  const auto ask = [&] {
    Blocks blocks(folder.file("other.h5"), {"case A", layout, {Box{{0}, {2}}}});
    try {
      if (blocks.adopt(result) == 0) return Answer::refused;
      return same_arrays(blocks.read(0), small_block()) ? Answer::equal : Answer::wrong;
    } catch (const std::exception&) {
      return Answer::refused;
    }
  };
  REQUIRE(ask() == Answer::equal);
  const Tally tally = with_each_byte_changed(result + ".blocks/000000.h5", 1, ask);
  CAPTURE(tally.refused, tally.equal);
  CHECK(tally.wrong == 0);
  CHECK(tally.refused > 500);
  CHECK(tally.refused + tally.equal == bytes_of(result + ".blocks/000000.h5").size());
}

TEST_CASE("a finished result with a byte changed does not pass for what was written", "[damage]") {
  const test::Folder folder;
  const std::string result = folder.file("r.h5");
  Dataset data = small_layout();
  for (const Array& array : small_block().arrays) data.at(array.name).values = array.values;
  write_result(result, data, {}, "case A", false);
  const auto ask = [&] {
    try {
      verify_result(result);
      return same_arrays(read_result(result).data, data) ? Answer::equal : Answer::wrong;
    } catch (const std::exception&) {
      return Answer::refused;
    }
  };
  REQUIRE(ask() == Answer::equal);
  const Tally tally = with_each_byte_changed(result, 5, ask);
  CAPTURE(tally.refused, tally.equal);
  CHECK(tally.wrong == 0);
  CHECK(tally.refused > 500);
}

TEST_CASE("a result is verified piece by piece, to its last value", "[damage]") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  Dataset data;
  data.dimensions = {{"x", 4001}, {"y", 601}};
  std::vector<double> values(std::size_t{4001} * 601);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::sqrt(static_cast<double>(k));
  data.arrays.push_back({"a", {"x", "y"}, values, "1", "roots", {}, {}});
  write_result(path, data, {}, "case A", false);
  CHECK(result_state(path, "case A") == ResultState::complete);
  // Several pieces, and the last one shorter.
  const h5::File file = h5::File::open(path);
  const std::size_t rows = file.rows_within("a", 1 << 22);
  CHECK(rows < 4001);
  CHECK(4001 % rows != 0);
  Box last{{4001 - 4001 % rows, 0}, {4001 % rows, 601}};
  const auto end = std::get<std::vector<double>>(file.read("a", last));
  CHECK(std::equal(end.begin(), end.end(), values.end() - static_cast<std::ptrdiff_t>(end.size())));
  // What is written with another last value has another digest.
  values.back() += 1;
  data.arrays.front().values = values;
  const std::string other = folder.file("other.h5");
  write_result(other, data, {}, "case A", false);
  CHECK(h5::File::open(other).text("", digest_attribute) != file.text("", digest_attribute));
  verify_result(other);
}

TEST_CASE("the digest does not depend on boxes and their order, and on every single value", "[damage]") {
  const Array array{"a", {"x", "y", "z"}, std::vector<double>(), "1", "", {}, {}};
  const h5::Extents extents{2, 3, 4};
  Array whole = array;
  std::vector<double> values(24);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = 0.1 * static_cast<double>(k);
  whole.values = values;
  ContentDigest at_once;
  at_once.whole("", whole, extents);

  ContentDigest by_boxes;
  const std::vector<Box> boxes = {
      {{1, 0, 0}, {1, 3, 4}}, {{0, 2, 0}, {1, 1, 4}}, {{0, 0, 0}, {1, 2, 3}}, {{0, 0, 3}, {1, 2, 1}}};
  for (const Box& box : boxes) {
    Array part = array;
    std::vector<double> inside;
    for (std::size_t x = box.offset[0]; x < box.offset[0] + box.count[0]; ++x)
      for (std::size_t y = box.offset[1]; y < box.offset[1] + box.count[1]; ++y)
        for (std::size_t z = box.offset[2]; z < box.offset[2] + box.count[2]; ++z)
          inside.push_back(values[(x * 3 + y) * 4 + z]);
    part.values = inside;
    by_boxes.values("", part, extents, box);
  }
  by_boxes.header("", whole, extents);
  CHECK(by_boxes.hex() == at_once.hex());

  for (std::size_t k = 0; k < values.size(); ++k) {
    Array changed = whole;
    std::get<std::vector<double>>(changed.values)[k] += 1e-17 + 1e-16 * static_cast<double>(k);
    ContentDigest other;
    other.whole("", changed, extents);
    if (!test::same_values(changed.values, whole.values)) CHECK(other.hex() != at_once.hex());
    changed = whole;
    std::swap(std::get<std::vector<double>>(changed.values)[k],
              std::get<std::vector<double>>(changed.values)[(k + 1) % values.size()]);
    ContentDigest swapped;
    swapped.whole("", changed, extents);
    CHECK(swapped.hex() != at_once.hex());
  }
  ContentDigest elsewhere;
  elsewhere.whole("group/", whole, extents);
  CHECK(elsewhere.hex() != at_once.hex());
}
