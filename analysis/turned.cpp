#include "analysis/turned.hpp"

#include <algorithm>
#include <memory>

namespace graze {

namespace {

/// Length of the run of steps at one instant that begins at `first`.
std::size_t instant_run(const std::vector<Step>& steps, std::size_t first) {
  std::size_t last = first + 1;
  while (last < steps.size() && steps[last].instant) ++last;
  return last - first;
}

/// State after so much of a leg, whatever its end.
std::optional<Eigen::VectorXd> on_leg(const Shooting& shooting, double parameter, Leg leg, double duration) {
  const std::unique_ptr<System> system = shooting.family().system(parameter);
  leg.duration = duration;
  leg.end = EventKind::section;
  leg.contact = -1;
  const auto course = system->follow({&leg, 1}, shooting.family().parameter);
  if (!course) return std::nullopt;
  return course->legs.front().state;
}

/// Steps and durations but the last, `by` places on round a circle.
void rotate(Turned& t, std::size_t by) {
  const std::ptrdiff_t places = static_cast<std::ptrdiff_t>(by);
  std::vector<Step>& steps = t.itinerary.steps;
  std::rotate(steps.begin(), steps.begin() + places, steps.end() - 1);
  std::rotate(t.durations.begin(), t.durations.begin() + places, t.durations.end() - 1);
}

/// The first event has come `early` before the beginning: it becomes the last.
void first_to_end(const std::vector<Step>& steps, std::size_t run, double early, Turned& t) {
  t.durations[run] -= early;
  rotate(t, run);
  const std::size_t moved_to = steps.size() - 1 - run;
  t.durations[moved_to] = t.durations.back() - early;
  t.itinerary.steps[moved_to].mode = steps.back().mode;
  t.durations.back() = early;
  t.itinerary.steps.back().mode = steps[run].mode;
  t.itinerary.steps.front().length = Leg::Length::given;
}

/// The last event, step `first` and what follows in its instant, has come `late` behind the end.
void last_to_beginning(const std::vector<Step>& steps, std::size_t first, double late, Turned& t) {
  const double before = t.durations[first];
  rotate(t, first);
  const std::size_t run = steps.size() - 1 - first;
  t.durations.front() = late;
  t.durations[run] -= late;
  t.durations.back() = first == 0 ? before - 2 * late : before - late;
  t.itinerary.steps.back().mode = steps[first].mode;
  t.itinerary.steps.front().length = Leg::Length::given;
  if (run < steps.size() - 1) t.itinerary.steps[run].length = Leg::Length::given;
}

}  // namespace

std::optional<Turned> turned(const Shooting& shooting, const Eigen::VectorXd& u) {
  const std::vector<Step>& steps = shooting.itinerary().steps;
  const std::size_t count = steps.size();
  const double early = -u(shooting.duration_index(0));
  const double late = -u(shooting.duration_index(count - 1));
  if (count < 2 || !(early > 0 || late > 0)) return std::nullopt;
  const auto legs = shooting.placed_legs(u);
  if (!legs) return std::nullopt;
  Turned t{shooting.itinerary(), {}, {}};
  for (const Leg& leg : *legs) t.durations.push_back(leg.duration);
  const std::size_t run = instant_run(steps, 0);
  std::size_t first = count - 2;
  while (first > 0 && steps[first].instant) --first;
  const double parameter = u(shooting.size());
  const auto start = early > 0 ? on_leg(shooting, parameter, (*legs)[run], early)
                               : on_leg(shooting, parameter, (*legs)[first], t.durations[first] - late);
  if (!start) return std::nullopt;
  t.start = *start;
  if (early > 0) {
    first_to_end(steps, run, early, t);
  } else {
    last_to_beginning(steps, first, late, t);
  }
  return t;
}

}  // namespace graze
