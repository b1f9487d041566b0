#include "data/archive.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/settings/value.hpp"
#include "data/conventions.hpp"
#include "data/h5.hpp"
#include "tests/format/sample.hpp"

using namespace graze;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

void put_all(Archive& archive, std::size_t width = 4) {
  const std::vector<Box> boxes = test::sample_boxes(width);
  for (std::size_t k = 0; k < boxes.size(); ++k)
    if (!archive.has(k)) archive.put(k, test::sample_block(boxes[k]));
}

void write_sample(const std::string& path, const std::string& identity = "case A") {
  Archive archive = test::sample_archive(path, identity);
  archive.prepare(false);
  put_all(archive);
  archive.consolidate();
}

void check_whole(const Result& result) {
  const Dataset whole = test::sample_whole();
  REQUIRE(result.data.arrays.size() == whole.arrays.size());
  for (const Array& array : whole.arrays) {
    const Array& read = result.data.at(array.name);
    CHECK(test::same_values(read.values, array.values));
    CHECK(read.dimensions == array.dimensions);
    CHECK(read.unit == array.unit);
    CHECK(read.long_name == array.long_name);
    CHECK(read.flags == array.flags);
    CHECK(read.attributes == array.attributes);
  }
}

std::string attribute(const Result& result, const std::string& name) {
  const auto found = std::find_if(result.attributes.begin(), result.attributes.end(),
                                  [&](const auto& a) { return a.first == name; });
  return found == result.attributes.end() ? "(none)" : found->second;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::size_t files_in(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("what is put in comes out, with names, units and flags") {
  const test::Folder folder;
  const std::string path = folder.file("new/deep/r.h5");
  write_sample(path);
  const Result result = read_result(path);
  CHECK(result.complete);
  check_whole(result);
  REQUIRE(result.data.dimensions.size() == 4);
  CHECK(result.data.dimensions[1].name == "delta");
  CHECK(result.data.size("iterate") == test::iterates);
  CHECK(attribute(result, "filetype") == "graze result");
  CHECK(attribute(result, "format_version") == "2");
  CHECK(attribute(result, "identity") == "case A");
  CHECK(attribute(result, "overrides").empty());
  CHECK(attribute(result, "case_toml") == test::sample_attributes[0].second);
  for (const char* name : {"graze_version", "git_sha1", "created", "hostname", "compiler"})
    CHECK(attribute(result, name) != "(none)");
  CHECK(files_in(folder.file("new/deep")) == 1);  // neither blocks nor temporary files
}

TEST_CASE("only the arrays asked for are read, and the coordinates") {
  const test::Folder folder;
  write_sample(folder.file("r.h5"));
  const Result result = read_result(folder.file("r.h5"), {"period", "no_such_array"});
  CHECK(result.data.arrays.size() == 2);
  CHECK(result.data.find("delta") != nullptr);
  CHECK(result.data.find("period") != nullptr);
}

TEST_CASE("blocks in any order, of any width, from several threads, give the same arrays") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  const auto width = GENERATE(std::size_t{1}, std::size_t{4}, std::size_t{11});
  Archive archive = test::sample_archive(path, "case A", width);
  archive.prepare(false);
  const std::vector<Box> boxes = test::sample_boxes(width);
  const auto work = [&](std::size_t first) {
    for (std::size_t k = first; k < boxes.size(); k += 2) {
      const std::size_t backwards = boxes.size() - 1 - k;
      archive.put(backwards, test::sample_block(boxes[backwards]));
    }
  };
  std::thread one(work, 0);
  std::thread two(work, 1);
  one.join();
  two.join();
  archive.consolidate();
  check_whole(read_result(path));
}

TEST_CASE("an interrupted result is readable at any moment and is resumed") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  {
    Archive archive = test::sample_archive(path);
    CHECK(archive.state() == ResultState::absent);
    archive.prepare(false);
    CHECK(archive.state() == ResultState::incomplete);
    const Result nothing = read_result(path);
    CHECK_FALSE(nothing.complete);
    archive.put(1, test::sample_block(test::sample_boxes()[1]));
    archive.put(3, test::sample_block(test::sample_boxes()[3]));
  }
  const Result part = read_result(path);
  CHECK_FALSE(part.complete);
  const auto& period = std::get<std::vector<std::int32_t>>(part.data.at("period").values);
  const auto& state = std::get<std::vector<double>>(part.data.at("map_state").values);
  for (std::size_t s = 0; s < test::starts; ++s)
    for (std::size_t i = 0; i < test::deltas; ++i) {
      const bool there = (s == 0 && i >= 4 && i < 8) || (s == 1 && i < 4);
      CHECK(period[s * test::deltas + i] == (there && i != 3 ? static_cast<int>(s + i) : -1));
      const double x = state[(s * test::deltas + i) * test::iterates * test::states];
      CHECK((there ? x == test::sample_state(s, i, 0, 0) : std::isnan(x)));
    }

  // a killed run leaves temporary files
  write_text(path + ".blocks/000005.h5.tmp", "half");
  write_text(path + ".blocks/joined.tmp", "half");
  Archive archive = test::sample_archive(path);
  CHECK(archive.state() == ResultState::incomplete);
  archive.prepare(false);
  for (std::size_t k = 0; k < test::sample_boxes().size(); ++k) CHECK(archive.has(k) == (k == 1 || k == 3));
  put_all(archive);
  CHECK(archive.state() == ResultState::incomplete);
  const Result unjoined = read_result(path);
  CHECK(unjoined.complete);
  check_whole(unjoined);
  archive.consolidate();
  CHECK(archive.state() == ResultState::complete);
  check_whole(read_result(path));
  CHECK(files_in(folder.file("")) == 1);
}

TEST_CASE("joining needs every block") {
  const test::Folder folder;
  Archive archive = test::sample_archive(folder.file("r.h5"));
  archive.prepare(false);
  CHECK_THROWS_AS(archive.consolidate(), std::logic_error);
}

TEST_CASE("killed after joining, before the blocks are removed: only the removal is left to do") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  write_sample(path);
  const std::string joined = bytes(path);
  fs::create_directory(path + ".blocks");
  Archive archive = test::sample_archive(path);
  CHECK(archive.state() == ResultState::incomplete);
  archive.prepare(false);
  CHECK(archive.has(0));
  archive.consolidate();
  CHECK(archive.state() == ResultState::complete);
  CHECK(bytes(path) == joined);
  CHECK_FALSE(fs::exists(path + ".blocks"));
}

TEST_CASE("damaged blocks count as missing") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  {
    Archive archive = test::sample_archive(path);
    archive.prepare(false);
    put_all(archive);
  }
  const std::string block = path + ".blocks/000002.h5";
  const std::string whole = bytes(block);
  SECTION("truncated") { fs::resize_file(block, whole.size() / 2); }
  SECTION("empty") { fs::resize_file(block, 0); }
  SECTION("no HDF5") { write_text(block, "not a block"); }
  SECTION("one value changed") {
    // the first number of map_state in this block, somewhere in the file
    const double x = test::sample_state(0, 8, 0, 0);
    const std::string pattern(reinterpret_cast<const char*>(&x), sizeof(x));
    const auto at = whole.find(pattern);
    REQUIRE(at != std::string::npos);
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    write_text(block, changed);
  }
  SECTION("of another box") { write_text(block, bytes(path + ".blocks/000001.h5")); }
  SECTION("a surplus block") {
    write_text(path + ".blocks/000099.h5", whole);
    write_text(block, "not a block");
  }
  Archive archive = test::sample_archive(path);
  archive.prepare(false);
  for (std::size_t k = 0; k < test::sample_boxes().size(); ++k) CHECK(archive.has(k) == (k != 2));
  put_all(archive);
  archive.consolidate();
  check_whole(read_result(path));
  CHECK_FALSE(fs::exists(path + ".blocks"));
}

TEST_CASE("a resumed run with other blocks starts from none") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  {
    Archive archive = test::sample_archive(path, "case A", 4);
    archive.prepare(false);
    put_all(archive);
  }
  Archive archive = test::sample_archive(path, "case A", 3);
  archive.prepare(false);
  for (std::size_t k = 0; k < test::sample_boxes(3).size(); ++k) CHECK_FALSE(archive.has(k));
  put_all(archive, 3);
  archive.consolidate();
  check_whole(read_result(path));
}

TEST_CASE("a result of another case is neither touched nor mixed in") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  const bool finished = GENERATE(true, false);
  {
    Archive archive = test::sample_archive(path, "case B");
    archive.prepare(false);
    put_all(archive);
    if (finished) archive.consolidate();
  }
  const std::string before = bytes(path);
  Archive archive = test::sample_archive(path, "case A");
  CHECK(archive.state() == ResultState::foreign);
  CHECK_THROWS_AS(archive.prepare(false), InputError);
  CHECK_THROWS_WITH(archive.prepare(false), Contains("of another case") && Contains("--force"));
  CHECK(bytes(path) == before);
  CHECK(fs::exists(path + ".blocks") == !finished);

  archive.prepare(true);
  CHECK_FALSE(archive.has(0));
  CHECK(archive.state() == ResultState::incomplete);
  put_all(archive);
  archive.consolidate();
  CHECK(attribute(read_result(path), "identity") == "case A");
}

TEST_CASE("blocks of another case are safe even when their master is gone") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  {
    Archive archive = test::sample_archive(path, "case B");
    archive.prepare(false);
    put_all(archive);
  }
  fs::remove(path);
  CHECK(test::sample_archive(path, "case A").state() == ResultState::foreign);
  CHECK(test::sample_archive(path, "case B").state() == ResultState::incomplete);
  CHECK_THROWS_AS(test::sample_archive(path, "case A").prepare(false), InputError);
  Archive archive = test::sample_archive(path, "case B");
  archive.prepare(false);
  CHECK(archive.has(0));
}

TEST_CASE("files of somebody else are foreign and stay") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  write_text(path, "a letter");
  Archive archive = test::sample_archive(path);
  CHECK(archive.state() == ResultState::foreign);
  CHECK_THROWS_AS(archive.prepare(false), InputError);
  CHECK(bytes(path) == "a letter");
  CHECK_FALSE(fs::exists(path + ".blocks"));
  CHECK_THROWS_AS(write_result(path, test::sample_whole(), {}, "case A", false), InputError);
  CHECK(bytes(path) == "a letter");

  fs::create_directory(folder.file("sub"));
  Archive on_folder = test::sample_archive(folder.file("sub"));
  CHECK_THROWS_WITH(on_folder.prepare(true), Contains("is a folder"));
}

TEST_CASE("only one process works on a result") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  {
    Archive first = test::sample_archive(path);
    first.prepare(false);
    Archive second = test::sample_archive(path);
    CHECK_THROWS_AS(second.prepare(false), InputError);
    CHECK_THROWS_WITH(second.prepare(true), Contains("another process is working on this result"));
  }
  Archive third = test::sample_archive(path);
  CHECK_NOTHROW(third.prepare(false));
}

TEST_CASE("a result in one piece") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  CHECK(result_state(path, "case A") == ResultState::absent);
  write_result(path, test::sample_whole(), test::sample_attributes, "case A", false);
  CHECK(result_state(path, "case A") == ResultState::complete);
  CHECK(result_state(path, "case B") == ResultState::foreign);
  check_whole(read_result(path));
  CHECK_THROWS_WITH(write_result(path, test::sample_whole(), {}, "case B", false), Contains("another case"));
  CHECK(result_state(path, "case A") == ResultState::complete);
  write_result(path, test::sample_whole(), {}, "case B", true);
  CHECK(result_state(path, "case B") == ResultState::complete);
  CHECK(files_in(folder.file("")) == 1);

  Dataset wrong = test::sample_whole();
  std::get<std::vector<std::int32_t>>(wrong.at("period").values).pop_back();
  CHECK_THROWS_AS(write_result(path, wrong, {}, "case B", false), std::logic_error);
  CHECK(files_in(folder.file("")) == 1);
  check_whole(read_result(path));
}

TEST_CASE("arrays without elements and single numbers") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  Dataset data;
  data.dimensions = {{"event", 0}, {"state", 2}};
  data.arrays.push_back({"event_before", {"event", "state"}, std::vector<double>{}, "1", "", {}, {}});
  data.arrays.push_back({"count", {}, std::vector<std::int32_t>{42}, "1", "", {}, {}});
  write_result(path, data, {}, "x", false);
  const Result result = read_result(path);
  CHECK(result.data.size("event") == 0);
  CHECK(std::get<std::vector<double>>(result.data.at("event_before").values).empty());
  CHECK(result.data.at("event_before").dimensions == std::vector<std::string>{"event", "state"});
  CHECK(std::get<std::vector<std::int32_t>>(result.data.at("count").values) == std::vector<std::int32_t>{42});
}

TEST_CASE("what is no result is refused with a sentence") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  CHECK_THROWS_AS(read_result(path), InputError);
  CHECK_THROWS_WITH(read_result(path), Contains("there is no such file"));
  CHECK_THROWS_WITH(read_result(folder.file("")), Contains("is a folder"));
  write_text(path, "");
  CHECK_THROWS_WITH(read_result(path), Contains("is empty"));
  write_text(path,
             "some text that is long enough to be a superblock, or is it not? " + std::string(200, 'x'));
  CHECK_THROWS_WITH(read_result(path), Contains("is not an HDF5 file"));
  write_text(path, "\x89HDF\r\n\x1a\n");
  CHECK_THROWS_AS(read_result(path), InputError);
  fs::remove(path);
  h5::replace_file(path, path + ".tmp",
                   [](h5::File& file) { file.set_text("", "made_by", "another program"); });
  CHECK_THROWS_WITH(read_result(path), Contains("is an HDF5 file, but not a result of graze"));
  h5::replace_file(path, path + ".tmp", [](h5::File& file) {
    file.set_text("", "filetype", "graze result");
    file.set_numbers("", "format_version", std::vector<std::int32_t>{3});
  });
  CHECK_THROWS_WITH(read_result(path), Contains("format version"));
}

TEST_CASE("a file cut anywhere is refused, never read in part") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  write_sample(path);
  const std::string whole = bytes(path);
  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 97) {
    write_text(path, whole.substr(0, size));
    CHECK_THROWS_AS(read_result(path), InputError);
    CHECK(result_state(path, "case A") == ResultState::foreign);
  }
}

TEST_CASE("a full disk is an exception that leaves nothing half written") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  Archive archive = test::sample_archive(path);
  archive.prepare(false);
  archive.put(0, test::sample_block(test::sample_boxes()[0]));

  // A limit on the size of files fails like a full disk, in the middle of a file.
  rlimit old{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = old;
  tight.rlim_cur = 1000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  std::string put_error;
  std::string write_error;
  try {
    archive.put(1, test::sample_block(test::sample_boxes()[1]));
  } catch (const std::runtime_error& error) {
    put_error = error.what();
  }
  try {
    write_result(folder.file("s.h5"), test::sample_whole(), {}, "case S", false);
  } catch (const std::runtime_error& error) {
    write_error = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_handler);

  CHECK_THAT(put_error, Contains("000001.h5") && Contains("writing: File too large"));
  CHECK_THAT(write_error, Contains("s.h5") && Contains("writing: File too large"));
  CHECK_FALSE(archive.has(1));
  CHECK_FALSE(fs::exists(folder.file("s.h5")));
  CHECK(files_in(path + ".blocks") == 2);  // the lock and block 0
  CHECK(files_in(folder.file("")) == 2);
  CHECK_FALSE(read_result(path).complete);
  put_all(archive);
  archive.consolidate();
  check_whole(read_result(path));
}

TEST_CASE("an interrupted result of more files than may be open is read all the same") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  Archive archive = test::sample_archive(path);
  archive.prepare(false);
  put_all(archive);
  rlimit old{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &old) == 0);
  rlimit tight = old;
  tight.rlim_cur = 66;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &tight) == 0);
  check_whole(read_result(path));
  ::setrlimit(RLIMIT_NOFILE, &old);
}

TEST_CASE("wrong layouts and blocks are errors of the program") {
  const test::Folder folder;
  const std::string path = folder.file("r.h5");
  CHECK_THROWS_AS(Archive(path, test::sample_layout(), test::point_dimensions, {}, {}, "x"),
                  std::logic_error);
  Dataset layout = test::sample_layout();
  layout.arrays.push_back({"stray", {"state"}, std::vector<double>{}, "1", "", {}, {}});
  CHECK_THROWS_AS(Archive(path, layout, test::point_dimensions, test::sample_boxes(), {}, "x"),
                  std::logic_error);
  Archive archive = test::sample_archive(path);
  CHECK_THROWS_AS(archive.put(0, test::sample_block(test::sample_boxes()[0])), std::logic_error);
  archive.prepare(false);
  CHECK_THROWS(archive.put(0, test::sample_block(test::sample_boxes()[2])));  // another extent
  Dataset block = test::sample_block(test::sample_boxes()[0]);
  block.at("period").values = std::vector<double>(4);
  CHECK_THROWS_AS(archive.put(0, block), std::logic_error);
  CHECK_FALSE(archive.has(0));
  CHECK(files_in(path + ".blocks") == 1);
}

#ifndef __SANITIZE_ADDRESS__  // which keeps what is freed
/// What /proc/self/status says, in bytes.
double memory(const std::string& kind) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(kind + ":")) return 1024 * std::stod(line.substr(kind.size() + 1));
  return 0;
}

TEST_CASE("a result of 1e7 points is stored and joined block by block, in little memory") {
  const test::Folder folder;
  const std::size_t columns = 2500;
  const std::size_t rows = 10;  // of a block
  const std::size_t blocks = 400;
  Dataset layout;
  layout.dimensions = {{"a", rows * blocks}, {"b", columns}};
  layout.arrays = {{"outcome", {"a", "b"}, std::vector<std::int8_t>(), "1", "", {"ok"}, {}},
                   {"speed", {"a", "b"}, std::vector<double>(), "1", "", {}, {}}};
  std::vector<Box> boxes;
  for (std::size_t k = 0; k < blocks; ++k) boxes.push_back({{k * rows, 0}, {rows, columns}});
  Dataset block = layout;
  block.dimensions[0].size = rows;

  write_text("/proc/self/clear_refs", "5");  // the greatest so far is forgotten
  const double before = memory("VmRSS");
  Archive archive(folder.file("r.h5"), layout, {"a", "b"}, boxes, {}, "case");
  archive.prepare(false);
  for (std::size_t k = 0; k < blocks; ++k) {
    block.arrays[0].values = std::vector<std::int8_t>(rows * columns, 0);
    block.arrays[1].values = std::vector<double>(rows * columns, static_cast<double>(k));
    archive.put(k, block);
  }
  archive.consolidate();
  CHECK(memory("VmHWM") - before < 4.5e7);  // all values take 9e7
  const h5::File file = h5::File::open(folder.file("r.h5"));
  CHECK(file.bytes("speed") == 8e7);
}
#endif

TEST_CASE("chunks are about a quarter of a MiB, in step with the boxes") {
  const h5::Extents small = chunk_shape({1401}, {4}, 8);
  CHECK(small == h5::Extents{1401});
  // many small boxes side by side
  CHECK(chunk_shape({1000000}, {10}, 8) == h5::Extents{32760});
  // the innermost point dimension is filled first, then whole rows
  CHECK(chunk_shape({1000, 2000}, {1, 100}, 8) == h5::Extents{16, 2000});
  // a box larger than a chunk is cut from the outside
  CHECK(chunk_shape({50, 1000, 400}, {10}, 8) == h5::Extents{1, 81, 400});
  CHECK(chunk_shape({3, 1 << 20}, {}, 8) == h5::Extents{1, 32768});
}
