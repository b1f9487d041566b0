#include "data/version_1.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/results/ragged.hpp"
#include "data/archive.hpp"

namespace graze {
namespace {

using Texts = std::vector<std::string>;

bool is_over_points(const Dataset& branch, const Array& array) {
  return !array.dimensions.empty() && array.dimensions.front() == branch.dimensions.front().name;
}

/// The values of an array with its second dimension lengthened by "no value".
Array::Values widened(const Dataset& branch, const Array& array, std::size_t iterates) {
  const auto at = std::find(array.dimensions.begin(), array.dimensions.end(), "iterate");
  if (at == array.dimensions.end()) return array.values;
  std::size_t inner = branch.size("iterate");
  std::size_t added = iterates - inner;
  for (auto d = at + 1; d != array.dimensions.end(); ++d) {
    inner *= branch.size(*d);
    added *= branch.size(*d);
  }
  if (inner == 0) return array.values;
  return std::visit(
      [&](const auto& values) -> Array::Values {
        const auto none = missing_values(array.values, added);
        const auto& missing = std::get<std::decay_t<decltype(values)>>(none);
        std::decay_t<decltype(values)> wide;
        for (auto row = values.begin(); row != values.end(); row += static_cast<std::ptrdiff_t>(inner)) {
          wide.insert(wide.end(), row, row + static_cast<std::ptrdiff_t>(inner));
          wide.insert(wide.end(), missing.begin(), missing.end());
        }
        return wide;
      },
      array.values);
}

/// The signatures of the points of a branch; each has a text of its own among the attributes of the array.
Texts signatures(const Array& array) {
  Texts texts;
  for (const std::int32_t number : std::get<std::vector<std::int32_t>>(array.values))
    texts.push_back(attribute(array.attributes, "signature_" + std::to_string(number)));
  return texts;
}

std::size_t most_iterates(const std::vector<Group>& branches) {
  std::size_t most = 0;
  for (const Group& branch : branches) most = std::max(most, branch.data.size("iterate"));
  return most;
}

/// An array over the points of all branches.
Array joined(const std::vector<Group>& branches, const Array& first, std::size_t iterates) {
  Array array = first;
  array.dimensions.front() = "point";
  std::visit([](auto& values) { values.clear(); }, array.values);
  for (const Group& branch : branches)
    append(array.values, widened(branch.data, branch.data.at(first.name), iterates));
  return array;
}

}  // namespace

Dataset flat_branches(Dataset data) {
  const auto at = std::find_if(data.groups.begin(), data.groups.end(),
                               [](const Group& group) { return group.name == "branch"; });
  if (at == data.groups.end()) throw std::out_of_range("no group branch");
  const std::vector<Group> branches = std::move(at->data.groups);
  data.groups.erase(at);
  for (const Group& branch : branches)
    if (branch.data.dimensions.empty()) throw std::out_of_range("no points in branch " + branch.name);
  if (branches.empty()) return data;
  const Dataset& model = branches.front().data;
  const std::size_t iterates = most_iterates(branches);

  std::vector<std::int32_t> number;
  Texts origin, begins, ends, signature;
  for (std::size_t k = 0; k < branches.size(); ++k) {
    const Dataset& branch = branches[k].data;
    const Array& parameter =
        branch.at(branch.dimensions.front().name);  // no more points than there are values
    const std::size_t points = std::visit([](const auto& v) { return v.size(); }, parameter.values);
    number.insert(number.end(), points, static_cast<std::int32_t>(k));
    origin.push_back(attribute(branch.attributes, "origin"));
    begins.push_back(attribute(branch.attributes, "begins"));
    ends.push_back(attribute(branch.attributes, "ends"));
    const Texts own = signatures(branch.at("signature"));
    signature.insert(signature.end(), own.begin(), own.end());
  }
  data.at("points").attributes.emplace_back(sample_dimension, "point");
  data.dimensions.push_back({"point", number.size()});
  for (const Dimension& dimension : model.dimensions) {
    if (dimension.name == model.dimensions.front().name) continue;
    data.dimensions.push_back({dimension.name, dimension.name == "iterate" ? iterates : dimension.size});
  }
  const Texts over = {"branch_number"};
  data.arrays.push_back(text_array("origin", over, origin, "where the start of the branch came from"));
  data.arrays.push_back(
      text_array("begins", over, begins, "why it does not continue before its first point"));
  data.arrays.push_back(text_array("ends", over, ends, "why it does not continue after its last point"));
  data.arrays.push_back({"branch", {"point"}, number, "1", "number of the branch", {}, {}});
  for (const Array& array : model.arrays) {
    if (array.name == "signature")
      data.arrays.push_back(text_array("signature", {"point"}, signature, array.long_name));
    else
      data.arrays.push_back(is_over_points(model, array) ? joined(branches, array, iterates) : array);
  }
  for (const Array& array : data.arrays)
    if (std::visit([](const auto& v) { return v.size(); }, array.values) != data.elements(array))
      throw std::out_of_range("array " + array.name + " has another shape in one of the branches");
  return data;
}

}  // namespace graze
