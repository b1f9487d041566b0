/// What analyses of orbits over parameters have in common: which systems they take, and a first orbit.
#pragma once

#include <string>

#include "analysis/continuation/shooting.hpp"
#include "analysis/continuation/start.hpp"
#include "analysis/maps/attractor.hpp"
#include "core/settings/value.hpp"

namespace graze {

/// Throws InputError, naming keys of table [analysis], where orbits of the system at this value of the
/// family's parameter cannot be continued.
void check_continued(const Value& analysis, const Family& family, double parameter);

/// The periodic orbit that a motion settles to at a value of the family's parameter; periods 0: none.
Start settled_start(const Family& family, double parameter, const HybridState& begin,
                    const AttractorOptions& options, const std::string& origin);

}  // namespace graze
