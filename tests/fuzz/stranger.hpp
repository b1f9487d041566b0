/// Result files as a stranger could make them who knows HDF5: whole files whose attributes, types, sizes,
/// names, links and groups are not those that are expected.
#pragma once

#include <string>
#include <string_view>

namespace graze::fuzz {

/// A small result, changed as any bytes say. Its own bytes are as the library writes them: what it does with
/// damaged ones is not graze's to mend.
std::string made_by_stranger(std::string_view recipe);

}  // namespace graze::fuzz
