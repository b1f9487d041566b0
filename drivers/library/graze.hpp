/// \mainpage The C++ library
/// `#include <graze/graze.hpp>` declares everything that a program outside of graze may use; all of it is in
/// the namespace graze. The programs in `drivers/examples` (installed in `share/graze/examples`) show how.
///
/// | To ...                                 | see ...                                                       |
/// | -------------------------------------- | ------------------------------------------------------------- |
/// | have the whole command line            | graze::main                                                   |
/// | add a model                            | GRAZE_MODEL, ModelInfo, linear_family_system, smooth_system   |
/// | add an analysis                        | GRAZE_ANALYSIS, AnalysisInfo, Analysis                        |
/// | read a case, run it in memory          | load_case, run, Dataset::values                               |
/// | read and write result files            | read_result, write_result                                     |
/// | follow a motion                        | make_model, Model::system, System::advance                    |
/// | iterate a map, refine an orbit         | PoincareMap, refine_orbit, find_attractor                     |
/// | follow a branch of periodic orbits     | Family, find_orbit, Continuation, continue_branch             |
#pragma once

#include "analysis/continuation/branch.hpp"
#include "analysis/maps/attractor.hpp"
#include "analysis/maps/map_keys.hpp"
#include "analysis/maps/orbit.hpp"
#include "analysis/maps/poincare_map.hpp"
#include "analysis/run/axis.hpp"
#include "analysis/run/execute.hpp"
#include "analysis/run/points.hpp"
#include "analysis/run/registry.hpp"
#include "core/linear/family.hpp"
#include "core/smooth/newton_system.hpp"
#include "core/system/registry.hpp"
#include "data/archive.hpp"
#include "drivers/library/case.hpp"
#include "drivers/library/main.hpp"
#include "drivers/library/run.hpp"
