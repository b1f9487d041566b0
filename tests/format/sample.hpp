/// A small result of two dimensions in blocks, for the tests of the file format.
#pragma once

#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/results/dataset.hpp"
#include "data/archive.hpp"

namespace graze::test {

/// A folder that is removed with all its files at the end of the test.
class Folder {
 public:
  Folder() {
    static int number = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("graze_format_" + std::to_string(::getpid()) + "_" + std::to_string(number++));
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

constexpr std::size_t starts = 2;
constexpr std::size_t deltas = 11;
constexpr std::size_t iterates = 3;
constexpr std::size_t states = 2;

inline const std::vector<std::string> point_dimensions{"start", "delta"};

inline Dataset sample_layout() {
  Dataset data;
  data.dimensions = {{"start", starts}, {"delta", deltas}, {"iterate", iterates}, {"state", states}};
  Array delta{"delta", {"delta"}, std::vector<double>(deltas), "rad/s", "forcing frequency", {}, {}};
  for (std::size_t i = 0; i < deltas; ++i)
    std::get<std::vector<double>>(delta.values)[i] = 0.1 + 0.05 * static_cast<double>(i);
  data.arrays.push_back(delta);
  data.arrays.push_back({"map_state",
                         {"start", "delta", "iterate", "state"},
                         std::vector<double>(),
                         "1",
                         "state at the section",
                         {},
                         {{"comment", "δ in rad/s"}}});
  data.arrays.push_back({"attractor",
                         {"start", "delta"},
                         std::vector<std::int8_t>(),
                         "1",
                         "class of the motion",
                         {"undetermined", "periodic", "chaotic"},
                         {}});
  data.arrays.push_back(
      {"period", {"start", "delta"}, std::vector<std::int32_t>(), "1", "period of the orbit", {}, {}});
  data.arrays.push_back(
      {"impacts", {"start", "delta"}, std::vector<std::int64_t>(), "1", "impacts per orbit", {}, {}});
  return data;
}

/// Boxes of `width` points in the second dimension.
inline std::vector<Box> sample_boxes(std::size_t width = 4) {
  std::vector<Box> boxes;
  for (std::size_t s = 0; s < starts; ++s)
    for (std::size_t i = 0; i < deltas; i += width)
      boxes.push_back({{s, i}, {1, std::min(width, deltas - i)}});
  return boxes;
}

inline double sample_state(std::size_t s, std::size_t i, std::size_t k, std::size_t c) {
  if (k == 2 && i % 2 == 1) return std::numeric_limits<double>::quiet_NaN();
  return std::sin(1.0 + static_cast<double>(1000 * s + 100 * i + 10 * k + c));
}

/// A pure function of the box, as an analysis computes it.
inline Dataset sample_block(const Box& box) {
  Dataset block;
  block.dimensions = {
      {"start", box.count[0]}, {"delta", box.count[1]}, {"iterate", iterates}, {"state", states}};
  std::vector<double> map_state;
  std::vector<std::int8_t> attractor;
  std::vector<std::int32_t> period;
  std::vector<std::int64_t> impacts;
  for (std::size_t s = box.offset[0]; s < box.offset[0] + box.count[0]; ++s)
    for (std::size_t i = box.offset[1]; i < box.offset[1] + box.count[1]; ++i) {
      for (std::size_t k = 0; k < iterates; ++k)
        for (std::size_t c = 0; c < states; ++c) map_state.push_back(sample_state(s, i, k, c));
      attractor.push_back(static_cast<std::int8_t>((s + i) % 3));
      period.push_back(static_cast<std::int32_t>(i == 3 ? -1 : static_cast<int>(s + i)));
      impacts.push_back(static_cast<std::int64_t>(i) << 40);
    }
  for (Array array : sample_layout().arrays) {
    if (array.name == "map_state") array.values = map_state;
    if (array.name == "attractor") array.values = attractor;
    if (array.name == "period") array.values = period;
    if (array.name == "impacts") array.values = impacts;
    if (array.name != "delta") block.arrays.push_back(array);
  }
  return block;
}

inline const Attributes sample_attributes{
    {"case_toml", "graze = 1\ntitle = \"sample β\"\n"}, {"overrides", ""}, {"seed", "7"}, {"threads", "2"}};

inline Archive sample_archive(const std::string& path, const std::string& identity = "case A",
                              std::size_t width = 4) {
  return {path, sample_layout(), point_dimensions, sample_boxes(width), sample_attributes, identity};
}

/// Equal element for element, NaN equal to NaN.
inline bool same_values(const Array::Values& a, const Array::Values& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) {
        const auto& y = std::get<std::decay_t<decltype(x)>>(b);
        return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                          [](auto p, auto q) { return p == q || (p != p && q != q); });
      },
      a);
}

/// The whole sample as one block.
inline Dataset sample_whole() {
  Dataset data = sample_layout();
  for (const Array& array : sample_block({{0, 0}, {starts, deltas}}).arrays)
    data.at(array.name).values = array.values;
  return data;
}

}  // namespace graze::test
