/// A family of systems from a few lines of TOML.
#pragma once

#include <string>

#include "analysis/continuation/shooting.hpp"
#include "tests/support.hpp"

namespace graze::test {

/// The model of a table, with one parameter free.
inline Family family(const std::string& toml, const char* parameter) {
  Family f;
  f.model = make_model(toml);
  f.values = f.model->values();
  f.parameter = f.model->parameter_index(parameter);
  return f;
}

}  // namespace graze::test
