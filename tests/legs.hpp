/// A recorded turn by prescription.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "analysis/maps/itinerary.hpp"

namespace graze::test {

/// The legs of a turn from `start`. Short flights within chatter find their ends themselves, the others are
/// given.
inline std::vector<Leg> legs_of(const Record& record, const Eigen::VectorXd& start) {
  std::vector<Leg> legs;
  for (std::size_t k = 0; k < record.itinerary.steps.size(); ++k) {
    const Step& step = record.itinerary.steps[k];
    Leg leg;
    leg.time = k == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
    leg.duration = record.durations[k];
    leg.length = step.length;
    leg.mode = step.mode;
    leg.end = step.end;
    leg.contact = step.contact;
    legs.push_back(leg);
  }
  legs.front().state = start;
  return legs;
}

}  // namespace graze::test
