/// Ragged lists: flat arrays that hold the lists of all owners one after the other, with a count per owner.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/dataset.hpp"

namespace graze {

/// The indices first … first + size − 1 along the dimension of the flat arrays.
struct Part {
  std::size_t first = 0;
  std::size_t size = 0;
};

/// The attribute of a count array that names the dimension of the flat arrays.
constexpr std::string_view sample_dimension = "sample_dimension";

/// The part of each owner. `counts`: an array of integers; "no value" counts as 0.
std::vector<Part> parts_from(const Array& counts);

/// The data with one part of a dimension: arrays that begin with this dimension are cut, the others stay.
/// Groups are left out. Throws std::out_of_range for a part that reaches beyond the dimension.
Dataset slice(const Dataset& data, std::string_view dimension, const Part& part);

/// An array of texts: int32 numbers of the lines of the attribute `texts`, which has each text once, in the
/// order of its first appearance. A text must not hold a line break.
Array text_array(const std::string& name, std::vector<std::string> dimensions,
                 const std::vector<std::string>& texts, const std::string& meaning);

/// Text k of such an array; "" where it has none.
std::string text_at(const Array& array, std::size_t k);

}  // namespace graze
