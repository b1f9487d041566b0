/// Chunks that the program filters itself are read with the filters of the HDF5 library.
#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/h5.hpp"
#include "tests/format/sample.hpp"

using namespace graze;

namespace {

/// Values of which every fourth row of 64 is noise, the others repeat.
template <class T>
std::vector<T> mixed_values(std::size_t size, std::mt19937_64& random) {
  std::vector<T> values(size);
  for (std::size_t k = 0; k < size; ++k) {
    const std::uint64_t bits = k / 64 % 4 == 0 ? random() : 0x4009'21fb'5444'2d18U + k % 4;
    if constexpr (std::is_floating_point_v<T>)
      values[k] = std::ldexp(static_cast<T>(bits), -60);
    else
      values[k] = static_cast<T>(bits);
  }
  return values;
}

/// The part of a row-major array in a box of two dimensions.
template <class T>
std::vector<T> part(const std::vector<T>& values, std::size_t columns, const Box& box) {
  std::vector<T> result;
  for (std::size_t row = 0; row < box.count[0]; ++row) {
    const auto first =
        values.begin() + static_cast<std::ptrdiff_t>((box.offset[0] + row) * columns + box.offset[1]);
    result.insert(result.end(), first, first + static_cast<std::ptrdiff_t>(box.count[1]));
  }
  return result;
}

/// Boxes of up to 30 x 20 that cover the array, in any order.
std::vector<Box> shuffled_boxes(std::size_t rows, std::size_t columns, std::mt19937_64& random) {
  std::vector<Box> boxes;
  for (std::size_t row = 0; row < rows; row += 30)
    for (std::size_t column = 0; column < columns; column += 20)
      boxes.push_back({{row, column},
                       {std::min<std::size_t>(30, rows - row), std::min<std::size_t>(20, columns - column)}});
  std::shuffle(boxes.begin(), boxes.end(), random);
  return boxes;
}

template <class T>
void check_type(h5::File& out, const std::string& name, const h5::Storage& storage, std::mt19937_64& random,
                std::vector<std::pair<std::string, Array::Values>>& written) {
  constexpr std::size_t rows = 151, columns = 83;
  const std::vector<T> values = mixed_values<T>(rows * columns, random);
  out.create_array(name, {rows, columns}, std::vector<T>(), storage);
  for (const Box& box : shuffled_boxes(rows, columns, random))
    out.write(name, box, part(values, columns, box));
  written.emplace_back(name, values);
}

}  // namespace

TEST_CASE("what is written in boxes in any order is what HDF5 decodes") {
  const test::Folder folder;
  std::mt19937_64 random(3);
  std::vector<std::pair<std::string, Array::Values>> written;
  {
    h5::File out = h5::File::create(folder.file("chunks.h5"));
    int number = 0;
    for (const h5::Extents& chunk :
         {h5::Extents{64, 40}, h5::Extents{151, 83}, h5::Extents{7, 83}, h5::Extents{1, 1}})
      for (const bool compress : {false, true})
        for (const int threads : {1, 3}) {
          const h5::Storage storage{chunk, compress, threads};
          const std::string name = "a" + std::to_string(number++) + "_";
          check_type<std::int8_t>(out, name + "int8", storage, random, written);
          check_type<std::int32_t>(out, name + "int32", storage, random, written);
          check_type<std::int64_t>(out, name + "int64", storage, random, written);
          check_type<double>(out, name + "float64", storage, random, written);
        }
    out.close();
  }
  const h5::File in = h5::File::open(folder.file("chunks.h5"));
  for (const auto& [name, values] : written) {
    INFO(name);
    CHECK(in.read(name) == values);
  }
}

TEST_CASE("noise takes no more room than it has, repeated values take little") {
  const test::Folder folder;
  constexpr std::size_t count = 100000;
  std::mt19937_64 random(4);
  const auto size_of = [&](const std::vector<double>& values) {
    const std::string path = folder.file("size.h5");
    std::filesystem::remove(path);
    h5::File out = h5::File::create(path);
    out.create_array("x", {count}, values, {{count}, true});
    out.write("x", {{0}, {count}}, values);
    out.close();
    CHECK(h5::File::open(path).read("x") == Array::Values(values));
    return std::filesystem::file_size(path);
  };
  std::vector<double> values(count);
  const auto set = [&](auto value) { std::generate(values.begin(), values.end(), value); };
  set([&] { return std::bit_cast<double>(random() >> 2U); });
  CHECK(size_of(values) < 8 * count + 8192);
  set([&] { return std::generate_canonical<double, 64>(random) + 1; });  // the sign and exponent are known
  CHECK(size_of(values) < 7 * count + 8192);
  set([] { return 0.1; });
  CHECK(size_of(values) < 16384);
}

TEST_CASE("an array of chunks of which a part was never written is an error") {
  const test::Folder folder;
  h5::File out = h5::File::create(folder.file("part.h5"));
  out.create_array("x", {10}, std::vector<double>(), {{4}, true});
  out.write("x", {{0}, {5}}, std::vector<double>(5));
  CHECK_THROWS_AS(out.close(), std::logic_error);
}
