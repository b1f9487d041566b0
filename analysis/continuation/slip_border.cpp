#include "analysis/continuation/slip_border.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "core/contact/friction_mode.hpp"

namespace graze {
namespace {

/// What a step's event and the next make together, where both are of one friction and come within `brief`:
/// `graze` where it goes on behind them as before.
std::optional<EventKind> merged_end(const Prescription& taken, std::size_t step, double brief) {
  const std::vector<Step>& steps = taken.itinerary.steps;
  const Step& now = steps[step];
  const Step& next = steps[step + 1];
  const bool pair = of_friction(now.end) && of_friction(next.end) && next.contact == now.contact;
  if (!pair || !(taken.durations[step + 1] <= brief)) return std::nullopt;
  if (next.end == EventKind::slip_to_stick)
    return now.end == EventKind::slip_reversal ? EventKind::slip_to_stick : EventKind::graze;
  if (now.end != EventKind::slip_to_stick) return std::nullopt;
  return steps[step + 2].mode == now.mode ? EventKind::graze : EventKind::slip_reversal;
}

void drop(Prescription& taken, std::size_t step) {
  const auto gone = static_cast<std::ptrdiff_t>(step);
  taken.durations[step + 1] += taken.durations[step];
  taken.durations.erase(taken.durations.begin() + gone);
  taken.itinerary.steps.erase(taken.itinerary.steps.begin() + gone);
}

/// One event, or none, in the place of two of one friction that come within `brief`; but at one step, whose
/// place is told.
std::size_t merge(Prescription& taken, double brief, std::size_t but) {
  for (std::size_t k = taken.itinerary.steps.size() - 1; k-- > 0;) {
    const auto end = k == but ? std::nullopt : merged_end(taken, k, brief);
    if (!end || k + 1 == but) continue;
    drop(taken, k + 1);
    taken.itinerary.steps[k].end = *end;
    if (k < but) --but;
    if (*end != EventKind::graze) continue;
    drop(taken, k);
    if (k < but) --but;
  }
  return but;
}

/// With one event in the place of that of a step and the next.
SlipForm merged(Prescription taken, std::size_t step, EventKind end) {
  drop(taken, step + 1);
  taken.itinerary.steps[step].end = end;
  return {std::move(taken.itinerary), std::move(taken.durations), step};
}

constexpr double any_length = std::numeric_limits<double>::infinity();
constexpr std::size_t no_step = std::numeric_limits<std::size_t>::max();

}  // namespace

std::optional<SlipForm> form_at_corner(const Prescription& taken, std::size_t border, std::size_t other) {
  const std::vector<Step>& steps = taken.itinerary.steps;
  if (steps[border].end != EventKind::graze) {
    const auto end = other == border + 1 ? merged_end(taken, border, any_length) : std::nullopt;
    if (!end || *end == EventKind::graze) return std::nullopt;
    return merged(taken, border, *end);
  }
  const std::size_t beside = other == border && border > 0 ? border - 1 : other;
  if (!ends_sliding(steps[beside].end) || steps[beside].contact != steps[border].contact) return std::nullopt;
  Prescription one = taken;
  drop(one, border);
  return SlipForm{std::move(one.itinerary), std::move(one.durations), std::min(beside, border)};
}

std::optional<SlipForm> form_without_pair(const Prescription& taken, std::size_t first) {
  if (first + 2 >= taken.itinerary.steps.size()) return std::nullopt;
  const auto end = merged_end(taken, first, any_length);
  return end ? std::optional(merged(taken, first, *end)) : std::nullopt;
}

std::vector<SlipForm> slip_forms(const Prescription& taken, double brief, double own) {
  const std::vector<Step>& steps = taken.itinerary.steps;
  std::vector<SlipForm> forms;
  const auto add = [&](Prescription form, std::size_t step) {
    step = merge(form, brief, step);
    forms.push_back({std::move(form.itinerary), std::move(form.durations), step});
  };
  for (std::size_t k = 0; k + 1 < steps.size(); ++k) {
    if (!of_friction(steps[k].end) || steps[k].instant) continue;
    if (const auto end = merged_end(taken, k, own)) {
      SlipForm one = merged(taken, k, *end);
      add({std::move(one.itinerary), std::move(one.durations), {}, {}}, k);
    }
    if (ends_sliding(steps[k].end)) add(taken, k);
  }
  return forms;
}

Itinerary without_brief(Prescription taken, double brief) {
  merge(taken, brief, no_step);
  std::vector<Step>& steps = taken.itinerary.steps;
  for (std::size_t k = steps.size() - 1; k-- > 0;) {
    const bool touch = steps[k].end == EventKind::graze && steps[k].contact < 0;
    const bool released = steps[k].end == EventKind::stick && steps[k + 1].end == EventKind::release &&
                          steps[k + 1].contact == steps[k].contact && taken.durations[k + 1] <= brief;
    if (released) drop(taken, k + 1);
    if (released || touch) drop(taken, k);
  }
  for (Step& step : steps) {
    step.mode = 0;
    step.instant = false;
  }
  const auto at = [&](std::size_t k) { return steps.begin() + static_cast<std::ptrdiff_t>(k); };
  for (std::size_t first = 0, last = 1; first < steps.size(); first = last++) {
    while (last + 1 < steps.size() && taken.durations[last] <= brief) ++last;
    std::sort(at(first), at(last), [](const Step& a, const Step& b) {
      return a.contact != b.contact ? a.contact < b.contact : a.end < b.end;
    });
  }
  return taken.itinerary;
}

std::optional<SlipForm> slip_form_at(const Prescription& taken, int place, bool touch, double time) {
  const double turn = std::accumulate(taken.durations.begin(), taken.durations.end(), 0.0);
  const double near = 1e-2 * turn;
  constexpr double brief = 1e-4;
  const auto away = [&](const SlipForm& form) {
    const auto begin = form.durations.begin();
    return std::abs(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(form.step) + 1, -time));
  };
  const auto nearest = [&](double own) -> std::optional<SlipForm> {
    std::vector<SlipForm> forms = slip_forms(taken, brief * turn, own);
    std::erase_if(forms, [&](const SlipForm& form) {
      const Step& step = form.itinerary.steps[form.step];
      return step.contact != place || (step.end == EventKind::graze) != touch || !(away(form) <= near);
    });
    const auto best = std::min_element(forms.begin(), forms.end(), [&](const SlipForm& a, const SlipForm& b) {
      const std::size_t m = a.itinerary.steps.size(), n = b.itinerary.steps.size();
      return m != n ? m < n : away(a) < away(b);
    });
    return best != forms.end() ? std::optional(*best) : std::nullopt;
  };
  if (auto form = nearest(brief * turn)) return form;
  if (!touch) return std::nullopt;
  if (auto form = nearest(near)) return form;          // beside the curve its two events are apart
  SlipForm form{taken.itinerary, taken.durations, 0};  // nothing happens on this side
  double begin = 0;
  while (form.step + 1 < form.durations.size() && begin + form.durations[form.step] < time)
    begin += form.durations[form.step++];
  const auto at = static_cast<std::ptrdiff_t>(form.step);
  Step touched = form.itinerary.steps[form.step];
  touched.end = EventKind::graze;
  touched.contact = place;
  touched.instant = false;
  form.itinerary.steps.insert(form.itinerary.steps.begin() + at, touched);
  form.durations[form.step] -= time - begin;
  form.durations.insert(form.durations.begin() + at, time - begin);
  return form;
}

double bound_rate(const Shooting& shooting, const Eigen::VectorXd& u, std::size_t step) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto legs = shooting.placed_legs(u);
  const auto system = shooting.family().system(u(shooting.size()));
  if (!legs || !system) return none;
  Leg probe = (*legs)[step + 1];
  probe.contact = shooting.itinerary().steps[step].contact;
  probe.mode = system->with_stick(probe.mode, -1 - probe.contact);
  probe.end = EventKind::graze;
  probe.length = Leg::Length::given;
  probe.duration = 0;
  const auto course = system->follow_values({&probe, 1}, {shooting.family().parameter});
  return course ? course->legs.front().guard : none;
}

BifurcationKind slip_kind(const Shooting& shooting, const Eigen::VectorXd& u, std::size_t step) {
  return bound_rate(shooting, u, step) > 0 ? BifurcationKind::reversal_border : BifurcationKind::slip_border;
}

bool creeps(const Itinerary& held, const Itinerary& sliding, const Model& model) {
  const ModeLayout layout = layout_of(model);
  const auto slides = [&](const Itinerary& turn, std::int64_t k, Sliding sense) {
    return std::any_of(turn.steps.begin(), turn.steps.end(),
                       [&](const Step& step) { return layout.sliding(step.mode, k) == sense; });
  };
  for (std::int64_t k = 0; k < layout.frictions; ++k) {
    const bool stays = !slides(held, k, Sliding::forward) && !slides(held, k, Sliding::backward);
    if (stays && slides(sliding, k, Sliding::forward) != slides(sliding, k, Sliding::backward)) return true;
  }
  return false;
}

std::vector<int> friction_places(const Model& model) {
  std::vector<int> places;
  for (std::size_t k = 0; k < model.frictions().size(); ++k) places.push_back(-1 - static_cast<int>(k));
  return places;
}

}  // namespace graze
