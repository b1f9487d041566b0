/// Orbits at the borders of sliding, where an event of dry friction appears or vanishes.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/continuation/bifurcation.hpp"
#include "analysis/continuation/shooting.hpp"

namespace graze {

/// Whether a friction ceases to slide one way.
constexpr bool ends_sliding(EventKind kind) {
  return kind == EventKind::slip_to_stick || kind == EventKind::slip_reversal;
}

/// slip_border, reversal_border.
constexpr bool of_slip(BifurcationKind kind) {
  return kind == BifurcationKind::slip_border || kind == BifurcationKind::reversal_border;
}

/// An orbit as it is at such a border. The condition there is that the measure of a step is zero
/// (core/system/segment): where a sliding speed has come to zero, nothing is left of the bound of the force,
/// so that it sticks or slides back; or a sliding speed or, in a stick, what is left of the bound only
/// touches zero.
struct SlipForm {
  Itinerary itinerary;
  std::vector<double> durations;
  std::size_t step = 0;
};

/// The forms that the events of a motion may have at a border: each end of sliding as it is, or one event of
/// it and the next within `own`; without other sticks and slides of one friction that last no longer than
/// `brief`.
std::vector<SlipForm> slip_forms(const Prescription& taken, double brief, double own);

/// The itinerary as two motions beside a border have it in common, whatever appears or vanishes there:
/// without sticks and slides no longer than `brief`, touches of frictions, the order of events that follow
/// each other so soon, and what holds along legs.
Itinerary without_brief(Prescription taken, double brief);

/// The form of a motion nearest to one whose event at a friction happened at a time: a touch or not, as
/// short as its brief sticks and slides allow. Nothing: there is no such event.
std::optional<SlipForm> slip_form_at(const Prescription& taken, int place, bool touch, double time);

/// Where the event of a border and another one of its friction next to it come together: the form with one
/// event, at which nothing is left of the bound. Nothing: there is no such form.
std::optional<SlipForm> form_at_corner(const Prescription& taken, std::size_t border, std::size_t other);

/// The form without a short stick or slide of a friction that begins with the event of a step and ends with
/// that of the next: one event of it, or one that only touches. Nothing: they are no such pair.
std::optional<SlipForm> form_without_pair(const Prescription& taken, std::size_t first);

/// With stuck friction, how fast what is left of its bound grows right behind the step of an event.
double bound_rate(const Shooting& shooting, const Eigen::VectorXd& u, std::size_t step);

/// What a border is where nothing is left of the bound at the end of sliding: of a stick that lasts it only
/// takes the reversal away.
BifurcationKind slip_kind(const Shooting& shooting, const Eigen::VectorXd& u, std::size_t step);

/// Whether a friction holds its body all through one turn and lets it slide one way only in another: the body
/// does not come back, but creeps to where it is held again.
bool creeps(const Itinerary& held, const Itinerary& sliding, const Model& model);

/// The places of all frictions of a model, −1 − k.
std::vector<int> friction_places(const Model& model);

}  // namespace graze
