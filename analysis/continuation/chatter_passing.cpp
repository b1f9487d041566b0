/// How a branch goes over the borders of chatter.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/continuation/beginning.hpp"
#include "analysis/continuation/chatter_border.hpp"
#include "analysis/continuation/continuation.hpp"

namespace graze {

/// Of the range: so far behind a border the last point has been solved for all the same, and which way it
/// turns is rounding.
constexpr double past = 1e-10;

/// Whether a border lies between the last point, on that side of it, and a parameter further along.
bool Continuation::lies_ahead(const ChatterBorder& border, double sense, double reach) const {
  const double way = border.parameter - now_.point.parameter;
  const bool in_range = border.parameter > options_.from && border.parameter < options_.to;
  return in_range && way * sense > -past * metric().range && std::abs(way) <= reach;
}

bool Continuation::is_taken(const ChatterBorder& border) const {
  const Solution& there = border.solution;
  return is_taken(there, orbit_multipliers(*there.shooting, there.u));
}

/// The nearest border of a stick behind chatter, within so much of the parameter; of those that the orbit
/// beyond has no more, where that is known.
std::optional<ChatterBorder> Continuation::end_of_stick(const Signature* beyond, double reach) const {
  constexpr EventKind kind = EventKind::chatter_complete;
  const double sense = now_.parameter_slope() < 0 ? -1 : 1;
  const Itinerary& itinerary = now_.shooting->itinerary();
  std::optional<ChatterBorder> first;
  for (const ChatterStick& stick : chatter_sticks(itinerary)) {
    const int contact = itinerary.steps[stick.complete].contact;
    if (beyond && beyond->count(kind, contact) >= now_.point.signature.count(kind, contact)) continue;
    auto border = border_of_stick(now_, stick, metric());
    if (!border || !lies_ahead(*border, sense, reach)) continue;
    const bool at_hand = std::abs(border->parameter - now_.point.parameter) <= past * metric().range;
    if (border->sticks_towards == sense && !at_hand) continue;
    if (first && sense * (border->parameter - first->parameter) >= 0) continue;
    if (is_taken(*border)) first = std::move(border);
  }
  return first;
}

/// Over the border of a stick between the last point and the next.
Continuation::Passed Continuation::pass_end_of_stick(const Trial& beyond) {
  constexpr double slack = 1.05;
  constexpr double close = 1e-7;  // arclength: so short a way to the border is not looked at
  const Signature after = signature_of(beyond.record);
  const double reach = slack * std::abs(beyond.solution.point.parameter - now_.point.parameter);
  const auto border = end_of_stick(beyond.verdict == Verdict::changed ? &after : nullptr, reach);
  if (!border) return Passed::not_found;
  const double place = 0.99 * (border->parameter - now_.point.parameter) / now_.parameter_slope();
  if (place > close) {
    auto before = at(now_, place);
    if (!before || before->verdict != Verdict::same) return Passed::comes_later;
    take_stability(before->solution);
    locate_tests(now_, before->solution, place);
  }
  return leave_stick(*border);
}

/// Over a border ahead that is so near, where the walk finds nothing else to go over.
Continuation::Passed Continuation::pass_border_within(double reach) {
  const auto border = end_of_stick(nullptr, reach);
  if (border) return leave_stick(*border);
  return pass_accumulation(reach);
}

/// Whether the changes of the impacts lead towards a border: on the way there ever more of them belong to the
/// sequence, however the parameter turns. Where it is met first, the way of the parameter decides.
bool Continuation::approaches(const ChatterBorder& border) {
  constexpr double same = 1e-9;  // of the range
  const auto known = std::find_if(sequences_.begin(), sequences_.end(), [&](const Sequence& s) {
    return s.contact == border.contact && std::abs(s.border - border.parameter) <= same * metric().range;
  });
  if (known == sequences_.end()) {
    const bool ahead = border.sticks_towards == heading_;
    sequences_.push_back({border.contact, border.parameter, border.magnification, ahead, change_count_});
    return ahead;
  }
  known->looked = change_count_;
  if (border.magnification != known->magnification) {
    known->approached = border.magnification > known->magnification;
    known->magnification = border.magnification;
  }
  return known->approached;
}

/// Whether the last change has led away from a border.
bool Continuation::recedes() const {
  return std::any_of(sequences_.begin(), sequences_.end(),
                     [&](const Sequence& s) { return s.looked == change_count_ && !s.approached; });
}

/// Over the border at which impacts of a contact that is hit ever more slowly come to accumulate, if it lies
/// within `reach`, or, however far, so many impacts are followed already: infinitely many changes of the
/// orbit lie before it, and where they are crowded, on both sides of it. Behind it the contact sticks.
Continuation::Passed Continuation::pass_accumulation(double reach) {
  constexpr double most_magnified = 1e3;
  constexpr double far = 1e-2;  // of the range
  const bool either_side = crowded(crowd);
  std::optional<ChatterBorder> first;
  for (ChatterBorder& border : borders_of_sequences(now_, metric())) {
    const double within =
        border.magnification < most_magnified ? reach : std::max(reach, far * metric().range);
    const double sense = border.sticks_towards;
    const bool lies_there =
        lies_ahead(border, sense, within) || (either_side && lies_ahead(border, -sense, within));
    if (!approaches(border) || !lies_there) continue;
    if (repeated(BifurcationKind::chatter_border, border.contact, border.parameter)) continue;
    const auto away = [&](const ChatterBorder& b) { return std::abs(b.parameter - now_.point.parameter); };
    if (first && away(border) >= away(*first)) continue;
    if (is_taken(border)) first = std::move(border);
  }
  if (!first) return Passed::not_found;
  // Where no orbit is found behind it, more changes lead nearer to it.
  return cross(*first, first->sticks_towards) ? Passed::on : Passed::not_found;
}

/// Over the border of a stick, to where the contact does not stick.
Continuation::Passed Continuation::leave_stick(const ChatterBorder& border) {
  if (cross(border, -border.sticks_towards)) return Passed::on;
  note(BifurcationKind::chatter_border, border.contact, border.solution, border.error);
  end_ = no_way_on(BifurcationKind::chatter_border, border.contact);
  return Passed::ended;
}

/// On from the orbit behind a border, if one is found; where its contact does not stick, towards changes that
/// are further from it: others lead back to it.
bool Continuation::cross(const ChatterBorder& border, double sense) {
  auto behind = orbit_behind(border, sense);
  if (!behind) return false;
  note(BifurcationKind::chatter_border, border.contact, border.solution, border.error);
  now_ = std::move(*behind);
  take_stability(now_);
  const bool leads_back =
      sense != border.sticks_towards && next_change_from(border, -sense) > next_change_from(border, sense);
  heading_ = leads_back ? -sense : sense;
  face(now_, heading_);
  changes_.clear();
  step_ = options_.first_step;
  return true;
}

/// How far from a border the next change of the orbit is that this way leads to; infinite: none is near.
double Continuation::next_change_from(const ChatterBorder& border, double sense) const {
  constexpr int most = 40;  // points
  Continuation ahead(family_, now_, sense < 0 ? -1 : 1, options_);
  for (int k = 0; k < most && ahead.next(); ++k) {
    if (!ahead.changes_.empty()) return std::abs(ahead.changes_.back() - border.parameter);
  }
  return std::numeric_limits<double>::infinity();
}

/// The orbit that far along the tangent of another one, with the events that its motion has there; nearer to
/// the tangent than to that one.
std::optional<Continuation::Trial> Continuation::ahead(const Solution& from, double along) const {
  Trial trial;
  Solution& s = trial.solution;
  s = from;
  s.u += along * s.tangent;
  s.point.parameter = s.u(s.u.size() - 1);
  s.point.state = s.start();
  const std::unique_ptr<System> system = family_.system(s.point.parameter);
  const auto record = system ? recorded_ahead(*system, from, along) : std::nullopt;
  if (!record || record->outcome != Outcome::ok) return std::nullopt;
  const double moved = (s.start() - from.start()).cwiseAbs().maxCoeff() / size_;
  auto other = remade(trial, family_.prescribed(*record, *system), moved);
  if (!other) return std::nullopt;
  s = std::move(*other);
  judge(trial, moved);
  return trial;
}

/// The orbit a little behind a border, with one stick of its contact more or less and no other change of
/// chatter. Where the contact does not stick, there are orbits that graze at any distance: several are tried.
/// Where it sticks, the one next to the border is the one that the branch goes on with.
std::optional<Solution> Continuation::orbit_behind(const ChatterBorder& border, double sense) const {
  static constexpr double outside[] = {1e-4, 6.1e-5, 3.7e-5, 2.3e-5, 1e-5, 3e-6,
                                       1e-6, 3e-7,   1.7e-4, 2.9e-4, 5e-4, 1.3e-3};  // of the range
  static constexpr double inside[] = {1e-6, 3e-6, 1e-5, 3e-7, 3e-5, 1e-4, 3e-4, 1.3e-3};
  const Solution& there = border.solution;
  const bool sticks = sense == border.sticks_towards;
  const std::span<const double> ways = sticks ? std::span<const double>(inside) : outside;
  const int change = sticks ? 1 : -1;
  const auto fits = [&](const Signature& after) {
    for (int i = 0; i < static_cast<int>(family_.model->contacts().size()); ++i) {
      const int expected = i == border.contact ? change : 0;
      const EventKind kind = EventKind::chatter_complete;
      if (after.count(kind, i) - now_.point.signature.count(kind, i) != expected) return false;
    }
    return true;
  };
  const auto beside = [&](double way) -> std::optional<Solution> {
    auto found = ahead(there, sense * way * metric().range / there.parameter_slope());
    if (!found || found->verdict == Verdict::open) return std::nullopt;
    const BranchPoint& p = found->solution.point;
    const bool beyond = (p.parameter - border.parameter) * sense > 0;
    if (!beyond || p.parameter < options_.from || p.parameter > options_.to || !fits(p.signature))
      return std::nullopt;
    return std::move(found->solution);
  };
  // Not over what the walk has just come from.
  const double room =
      last_jump_ ? 0.3 * std::abs(border.parameter - last_jump_->parameter) / metric().range : HUGE_VAL;
  for (const bool within : {true, false}) {
    for (const double way : ways) {
      if ((way <= room) != within) continue;
      if (auto found = beside(way)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace graze
