/// Branches of `continue` judged from outside, by nothing but the motion of the system itself: it must close
/// along every point and every located point, return to stable orbits and leave unstable ones; no point is
/// located twice; and why a branch ends is counted.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/results/dataset.hpp"

namespace graze::test {

/// A case of `continue`.
struct BranchCase {
  std::string model;  ///< table
  std::string parameter;
  double from = 0;
  double to = 1;
  int sweep_points = 0;       ///< > 0: starts are all attractors of a sweep with so many points
  double at = 0;              ///< … else what settles from `start` at this value of the parameter
  std::vector<double> start;  ///< initial state; none: zero
  std::string keys;           ///< further keys of `continue`
};

/// The case files that do the same.
std::string case_text(const BranchCase& c);
/// The result of `continue`.
Dataset branches_of(const BranchCase& c);

/// Kinds of ends of branches; broken: the motion is not continuous there, which the audit has seen.
enum class End { normal, turned_back, numerical, full, broken };
/// "" where a branch neither begins nor ends by this text: of a reason that is not known, End::numerical.
End end_kind(const std::string& reason);

struct Audit {
  int systems = 0;
  int branches = 0;
  int points = 0;
  int located = 0;
  int ghosts = 0;          ///< points along which the motion does not close
  int located_ghosts = 0;  ///< the same of located points
  int misnamed = 0;        ///< … at which no multiplier is where their name says
  int duplicates = 0;      ///< located points that are located again on an orbit of as many periods
  int met_again = 0;       ///< … of another number of periods: where a branch ends at one of another
  int unstable = 0;        ///< points told stable that the motion leaves, …
  int stable = 0;          ///< … told unstable to which it returns
  int neutral = 0;         ///< points with a multiplier within 1e-3 of modulus 1 or on a border: not decided
  int undecided = 0;       ///< points where the perturbed motion breaks off or cannot be begun
  std::array<int, 5> ends{};               ///< by End
  double worst = 0;                        ///< greatest error of closing of a point that is no ghost
  double worst_located = 0;                ///< … of a located point
  std::vector<std::string> violations;     ///< one line each
  std::vector<std::string> abnormal_ends;  ///< reasons that are not End::normal

  int faults() const {
    return ghosts + located_ghosts + misnamed + duplicates + met_again + unstable + stable;
  }
  int all_ends() const { return 2 * branches; }
  int ends_of(End kind) const { return ends[static_cast<std::size_t>(kind)]; }
  Audit& operator+=(const Audit& other);
};

Audit audit(const BranchCase& c, const Dataset& branches);

}  // namespace graze::test
