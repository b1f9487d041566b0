/// How a Dataset looks inside a result file: netCDF-4 dimensions and the attributes units, long_name,
/// flag_values and flag_meanings (see FORMAT.md).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/results/dataset.hpp"
#include "data/content_digest.hpp"
#include "data/h5.hpp"

namespace graze {

/// Sizes of the dimensions of an array.
h5::Extents extents(const Dataset& data, const Array& array);

/// A chunk of about a quarter of a MiB for an array that is written in boxes: a part of a box, or whole
/// boxes side by side, the innermost point dimension first, so that boxes written in row-major order finish
/// one chunk after the other.
/// @param extents      of the array, none zero
/// @param box          of the largest box in the leading dimensions (empty: written as a whole)
/// @param element_size bytes
h5::Extents chunk_shape(const h5::Extents& extents, const h5::Extents& box, std::size_t element_size);

/// Bytes of one element of an array.
std::size_t element_size(const Array& array);

/// Makes all dimensions, arrays and groups of `data` in a new file and writes the values of those that have
/// some. `storage` says how an array of these extents is stored; what is written is added to `digest`. Throws
/// std::logic_error for a Dataset that is no result (coordinates of another shape than their dimension).
void write_dataset(h5::File& file, const Dataset& data,
                   const std::function<h5::Storage(const Array&, const h5::Extents&)>& storage,
                   ContentDigest& digest);

/// Adds all arrays and groups of a file to a digest, one array at a time.
void read_digest(const h5::File& file, ContentDigest& digest);

/// Reads dimensions, coordinates and the arrays of these names that the file has; no names: all of them, and
/// all groups.
Dataset read_dataset(const h5::File& file, const std::vector<std::string>& arrays);

}  // namespace graze
