#include "data/conventions.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <type_traits>

namespace graze {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18U;
constexpr int deepest = 8;  // groups in groups that are read

std::size_t product(h5::Extents::const_iterator begin, h5::Extents::const_iterator end) {
  return std::accumulate(begin, end, std::size_t{1}, std::multiplies<>());
}

bool has_values(const Array& array) {
  return std::visit([](const auto& v) { return !v.empty(); }, array.values);
}

bool is_coordinate(const Array& array) {
  return array.dimensions.size() == 1 && array.dimensions[0] == array.name;
}

/// 0, 1, … as numbers of the type of the array, as netCDF's conventions want flag_values.
Array::Values flag_numbers(const Array& array) {
  return std::visit(
      [&](const auto& values) -> Array::Values {
        std::decay_t<decltype(values)> numbers(array.flags.size());
        std::iota(numbers.begin(), numbers.end(), typename std::decay_t<decltype(values)>::value_type{0});
        return numbers;
      },
      array.values);
}

std::string joined(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : " ") + name;
  return result;
}

std::vector<std::string> split(const std::string& names) {
  std::istringstream stream(names);
  std::vector<std::string> result;
  for (std::string name; stream >> name;) result.push_back(name);
  return result;
}

void write_attributes(h5::File& file, const Array& array) {
  if (!array.unit.empty()) file.set_text(array.name, "units", array.unit);
  if (!array.long_name.empty()) file.set_text(array.name, "long_name", array.long_name);
  if (!array.flags.empty()) {
    file.set_numbers(array.name, "flag_values", flag_numbers(array));
    file.set_text(array.name, "flag_meanings", joined(array.flags));
  }
  // Not for integers: readers would turn them into floating-point numbers to have a NaN for the missing.
  // Not for coordinates: they have no missing values.
  if (std::holds_alternative<std::vector<double>>(array.values) && !is_coordinate(array))
    file.set_numbers(array.name, "_FillValue", std::vector<double>{std::numeric_limits<double>::quiet_NaN()});
  for (const auto& [name, text] : array.attributes) file.set_text(array.name, name, text);
}

void check_shape(const Dataset& data, const Array& array) {
  for (const Dimension& dimension : data.dimensions)
    if (dimension.name == array.name && !is_coordinate(array))
      throw std::logic_error("array " + array.name + " has the name of a dimension but another shape");
}

using StorageOf = std::function<h5::Storage(const Array&, const h5::Extents&)>;

void write_array(h5::File& file, const std::string& place, const Dataset& data, const Array& array,
                 const StorageOf& storage, ContentDigest& digest) {
  check_shape(data, array);
  const h5::Extents shape = extents(data, array);
  file.create_array(array.name, shape, array.values, storage(array, shape));
  write_attributes(file, array);
  if (!has_values(array)) {
    digest.header(place, array, shape);
    return;
  }
  file.write(array.name, {h5::Extents(shape.size(), 0), shape}, array.values);
  digest.whole(place, array, shape);
}

/// `place`: "" for the root, "name/" for a group.
void write_group(h5::File& file, const std::string& place, const Dataset& data, const StorageOf& storage,
                 ContentDigest& digest) {
  for (const Dimension& dimension : data.dimensions) {
    const Array* coordinates = data.find(dimension.name);
    if (coordinates == nullptr) {
      file.create_dimension(dimension);
    } else {
      write_array(file, place, data, *coordinates, storage, digest);
      file.make_coordinates(dimension.name);
    }
  }
  for (const Array& array : data.arrays) {
    if (is_coordinate(array)) continue;
    write_array(file, place, data, array, storage, digest);
    file.set_dimensions(array.name, array.dimensions);
  }
  for (const Group& part : data.groups) {
    const std::string inner = place + part.name + "/";
    h5::File group = file.make_group(part.name);
    for (const auto& [name, text] : part.data.attributes) {
      group.set_text("", name, text);
      digest.text(inner, name, text);
    }
    write_group(group, inner, part.data, storage, digest);
  }
}

/// All of an array but its values.
Array described(const h5::File& file, const std::string& name, const std::vector<std::string>& dimensions) {
  static const std::set<std::string> structural{
      "CLASS", "NAME", "DIMENSION_LIST", "_FillValue", "REFERENCE_LIST", "flag_values", "_Netcdf4Dimid"};
  Array array;
  array.name = name;
  array.dimensions = dimensions;
  for (const auto& [attribute, text] : file.attributes(name)) {
    if (attribute == "units")
      array.unit = text;
    else if (attribute == "long_name")
      array.long_name = text;
    else if (attribute == "flag_meanings")
      array.flags = split(text);
    else if (structural.count(attribute) == 0)
      array.attributes.emplace_back(attribute, text);
  }
  return array;
}

/// Those of some arrays that there are, and the coordinates; all for an empty list.
std::vector<std::string> wanted(const h5::File& file, const std::vector<std::string>& arrays) {
  std::vector<std::string> names = file.arrays();
  std::erase_if(names, [&](const std::string& name) {
    return !arrays.empty() && std::find(arrays.begin(), arrays.end(), name) == arrays.end() &&
           file.dimensions_of(name) != std::vector<std::string>{name};
  });
  return names;
}

/// What the arrays of a group and of all groups in it take of memory. `seen`: addresses of groups.
double bytes(const h5::File& file, const std::vector<std::string>& arrays, std::set<std::uint64_t>& seen,
             int depth = 0) {
  if (!seen.insert(file.address()).second || depth > deepest)
    throw h5::Error(file.path() + ": a group has two names or lies in too many others");
  double total = 0;
  for (const std::string& name : wanted(file, arrays)) total += file.bytes(name);
  if (!arrays.empty()) return total;
  for (const std::string& name : file.groups()) total += bytes(file.group(name), {}, seen, depth + 1);
  return total;
}

Dataset read_group(const h5::File& file, const std::vector<std::string>& arrays) {
  Dataset data;
  data.dimensions = file.dimensions();
  for (const std::string& name : wanted(file, arrays)) {
    data.arrays.push_back(described(file, name, file.dimensions_of(name)));
    data.arrays.back().values = file.read(name);
  }
  if (!arrays.empty()) return data;
  for (const std::string& name : file.groups()) {
    const h5::File group = file.group(name);
    Dataset part = read_group(group, {});
    part.attributes = group.attributes("");
    data.groups.push_back({name, std::move(part)});
  }
  return data;
}

/// Row by row of the first dimension: of an array only so many bytes are in memory at once.
void digest_array(const h5::File& file, const std::string& place, const std::string& name,
                  ContentDigest& digest) {
  constexpr double at_once = 1 << 24;
  file.check_memory(file.bytes(name), "reading array " + name);  // a damaged shape
  Array array = described(file, name, file.dimensions_of(name));
  const h5::Extents extents = file.extents(name);
  const std::size_t rows = extents.empty() ? 1 : extents.front();
  const std::size_t step = file.rows_within(name, at_once);
  Box piece{h5::Extents(extents.size(), 0), extents};
  for (std::size_t row = 0; row == 0 || row < rows; row += step) {
    if (!extents.empty()) {
      piece.offset.front() = row;
      piece.count.front() = std::min(step, rows - row);
    }
    array.values = file.read(name, piece);
    if (row == 0) digest.header(place, array, extents);
    digest.values(place, array, extents, piece);
  }
}

void digest_group(const h5::File& file, const std::string& place, ContentDigest& digest) {
  for (const std::string& name : file.arrays()) digest_array(file, place, name, digest);
  for (const std::string& name : file.groups()) {
    const h5::File group = file.group(name);
    const std::string inner = place + name + "/";
    for (const auto& [key, text] : group.attributes("")) digest.text(inner, key, text);
    digest_group(group, inner, digest);
  }
}

}  // namespace

h5::Extents extents(const Dataset& data, const Array& array) {
  h5::Extents result;
  for (const std::string& dimension : array.dimensions) result.push_back(data.size(dimension));
  return result;
}

std::size_t element_size(const Array& array) {
  return std::visit([](const auto& v) { return sizeof(typename std::decay_t<decltype(v)>::value_type); },
                    array.values);
}

h5::Extents chunk_shape(const h5::Extents& extents, const h5::Extents& box, std::size_t element_size) {
  const std::size_t target = chunk_bytes / element_size;
  h5::Extents chunk = extents;
  std::copy(box.begin(), box.end(), chunk.begin());
  for (auto d = chunk.begin(); d != chunk.end(); ++d)
    *d = std::clamp(target / product(d + 1, chunk.end()), std::size_t{1}, *d);
  for (std::size_t d = box.size(); d-- > 0;) {
    const std::size_t boxes = target / product(chunk.begin(), chunk.end());
    chunk[d] = std::min(extents[d], chunk[d] * std::max(boxes, std::size_t{1}));
    if (chunk[d] < extents[d]) break;
  }
  return chunk;
}

void write_dataset(h5::File& file, const Dataset& data,
                   const std::function<h5::Storage(const Array&, const h5::Extents&)>& storage,
                   ContentDigest& digest) {
  write_group(file, "", data, storage, digest);
}

void read_digest(const h5::File& file, ContentDigest& digest) {
  std::set<std::uint64_t> seen;
  bytes(file, {}, seen);  // refuses groups within themselves
  digest_group(file, "", digest);
}

Dataset read_dataset(const h5::File& file, const std::vector<std::string>& arrays) {
  std::set<std::uint64_t> seen;
  file.check_memory(bytes(file, arrays, seen), "reading");
  return read_group(file, arrays);
}

}  // namespace graze
