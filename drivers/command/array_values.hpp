/// Arrays of a result as numbers and names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/dataset.hpp"
#include "core/settings/value.hpp"

namespace graze {

/// A group, an array of a result; throws InputError where the file has none of that name.
const Dataset& group_of(const Dataset& data, std::string_view name);
const Array& array_of(const Dataset& data, std::string_view name);
/// A name by an index that was stored as a number; below 0: "".
std::string name_at(double index, const std::vector<std::string>& names);
/// One element of an array as a number, NaN where there is no value.
double number(const Array& array, std::size_t i);
/// All elements of an array as numbers, NaN where there is no value.
std::vector<double> numbers(const Array& array);
/// The class of one element by name, "" where there is no value or no name for it.
std::string class_name(const Array& array, std::size_t element);
/// One name for each index of a dimension: the classes of its coordinate, else its numbers, else 0, 1, …
std::vector<std::string> index_names(const Dataset& data, std::string_view dimension);
/// Index of a name; throws InputError with the nearest name or all that there are.
std::size_t index_of(const std::vector<std::string>& names, const std::string& name, std::string_view what);
/// Throws InputError saying that there is no such `what`, with the nearest name or all that there are.
[[noreturn]] void refuse_name(const std::vector<std::string>& names, const std::string& name,
                              std::string_view what);
/// Texts as an array of settings.
Value text_list(const std::vector<std::string>& texts);
/// A name in a file as words: stick_fraction -> "stick fraction", neimark_sacker -> "Neimark-Sacker".
std::string spaced(std::string_view name);
/// What a thing is called: its name, or "what 1" where the name is a bare number.
std::string named(std::string_view what, const std::string& name);

}  // namespace graze
