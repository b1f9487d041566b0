#include "analysis/maps/shifts.hpp"

#include <algorithm>

namespace graze {

Shifts::Shifts(const System& system, const Section& section) : columns_(system.shifts()) {
  for (Eigen::Index k = 0; k < columns_.cols(); ++k) {
    Eigen::Index entry = section.coordinate;
    const bool crosses = section.kind == Section::Kind::level && columns_(entry, k) != 0;
    if (!crosses) columns_.col(k).cwiseAbs().maxCoeff(&entry);
    columns_.col(k) /= columns_(entry, k);
    for (Eigen::Index j = 0; j < columns_.cols(); ++j) {
      if (j != k) columns_.col(j) -= (columns_.col(k) * columns_(entry, j)).eval();
    }
    free_.push_back(static_cast<int>(entry));
  }
}

bool Shifts::is_free(int state) const { return std::find(free_.begin(), free_.end(), state) != free_.end(); }

}  // namespace graze
