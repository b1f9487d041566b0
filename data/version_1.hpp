/// Results of format version 1, as version 2 has them.
#pragma once

#include "core/results/dataset.hpp"

namespace graze {

/// The result of a continuation with its groups branch/0, branch/1, … joined into flat arrays at the root.
/// Throws std::out_of_range or std::bad_variant_access for a result that is not of this kind.
Dataset flat_branches(Dataset data);

}  // namespace graze
