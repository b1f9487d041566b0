#include "analysis/continuation/bifurcation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace graze {

const std::vector<std::string>& bifurcation_names() {
  static const std::vector<std::string> names = {
      "fold",           "period_doubling", "neimark_sacker", "branch_point", "grazing", "stick_border",
      "chatter_border", "rising_border",   "release_moves",  "simultaneous", "edge",    "hopf",
      "slip_border",    "reversal_border", "jump_border"};
  return names;
}

double away_from_border(BifurcationKind kind, const std::complex<double>& multiplier) {
  switch (kind) {
    case BifurcationKind::neimark_sacker:
      return std::abs(std::abs(multiplier) - 1);
    case BifurcationKind::period_doubling:
      return std::abs(multiplier + 1.0);
    default:
      return std::abs(multiplier - 1.0);
  }
}

bool is_on_border(BifurcationKind kind, const std::vector<std::complex<double>>& multipliers) {
  const bool torus = kind == BifurcationKind::neimark_sacker;
  const double near = torus ? 1e-6 : 1e-4;
  return std::any_of(multipliers.begin(), multipliers.end(), [&](const std::complex<double>& m) {
    return (!torus || std::abs(m.imag()) > 1e-6) && away_from_border(kind, m) < near;
  });
}

bool passes_by(const std::vector<Eigen::VectorXd>& orbit, const Eigen::VectorXd& state, double within) {
  return std::any_of(orbit.begin(), orbit.end(), [&](const Eigen::VectorXd& other) {
    return (state - other).cwiseAbs().maxCoeff() <= within;
  });
}

bool is_same_point(const Bifurcation& a, const Bifurcation& b, double range) {
  constexpr double near = 1e-7;        // of the range
  constexpr double same_state = 1e-6;  // of the orbit's size
  if (a.kind != b.kind || a.contact != b.contact || !(std::abs(a.parameter - b.parameter) <= near * range))
    return false;
  return passes_by(b.orbit, a.orbit.front(), same_state * std::max(a.size, b.size));
}

namespace {

/// The contact of the first release that one signature has and the other has not, or has elsewhere.
int moved_release(const Signature& before, const Signature& after) {
  for (std::size_t k = 0; k < std::min(before.events.size(), after.events.size()); ++k) {
    if (before.events[k] == after.events[k]) continue;
    for (const auto& event : {before.events[k], after.events[k]}) {
      if (event.kind == EventKind::release) return event.place;
    }
    break;
  }
  return -1;
}

/// Whether contact i is released and completes its chatter again with no impact of its own counted between.
int rises(const Signature& signature, int contact) {
  int count = 0;
  bool released = false;
  for (const bool again : {false, true}) {  // the orbit is a circle
    for (const auto& [kind, where, sense] : signature.events) {
      if (where != contact || kind == EventKind::jump) continue;
      if (released && kind == EventKind::chatter_complete && again) ++count;
      released = kind == EventKind::release;
    }
  }
  return count;
}

}  // namespace

std::pair<BifurcationKind, int> change_between(const Signature& before, const Signature& after,
                                               int contacts) {
  for (int i = 0; i < contacts; ++i) {
    const auto more = [&](EventKind kind) { return after.count(kind, i) - before.count(kind, i); };
    const int chatter = more(EventKind::chatter_complete);
    if (chatter != 0) {
      const bool rising = std::abs(chatter) == 1 && more(EventKind::release) == chatter &&
                          more(EventKind::impact) == 0 && rises(after, i) - rises(before, i) == chatter;
      return {rising ? BifurcationKind::rising_border : BifurcationKind::chatter_border, i};
    }
    if (more(EventKind::stick) != 0 || more(EventKind::release) != 0)
      return {BifurcationKind::stick_border, i};
  }
  for (int i = 0; i < contacts; ++i) {
    if (after.hits(i) != before.hits(i)) return {BifurcationKind::grazing, i};
  }
  const auto more = [&](EventKind kind) { return after.count(kind) - before.count(kind); };
  if (more(EventKind::slip_to_stick) != 0 || more(EventKind::stick_to_slip) != 0)
    return {BifurcationKind::slip_border, -1};
  if (more(EventKind::slip_reversal) != 0) return {BifurcationKind::reversal_border, -1};
  if (more(EventKind::jump) != 0) return {BifurcationKind::jump_border, -1};
  const int release = moved_release(before, after);
  if (release >= 0) return {BifurcationKind::release_moves, release};
  return {BifurcationKind::simultaneous, -1};
}

}  // namespace graze
