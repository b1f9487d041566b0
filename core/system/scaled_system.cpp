#include "core/system/scaled_system.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "core/system/wrapped_system.hpp"

namespace graze {
namespace {

/// What hears of a motion in units.
class ScaledObserver final : public Observer {
 public:
  ScaledObserver(Observer& observer, const Units& units) : observer_(observer), units_(units) {}

  void event(const Event& event) override {
    Event told = event;
    const Eigen::VectorXd before = in(event.before), after = in(event.after);
    told.time /= units_.time;
    told.approach_speed /= speed();
    told.before = {before.data(), static_cast<std::size_t>(before.size())};
    told.after = {after.data(), static_cast<std::size_t>(after.size())};
    observer_.event(told);
  }
  void near_miss(int contact, double time, double speed_there) override {
    observer_.near_miss(contact, time / units_.time, speed_there / speed());
  }
  void excursion(int contact, double time, double gap) override {
    observer_.excursion(contact, time / units_.time, gap / units_.length);
  }
  void load(const ContactLoad& load) override {
    ContactLoad told = load;
    told.begin /= units_.time;
    told.turn /= units_.time;
    told.impulse /= units_.time;
    told.slip_speed /= speed();
    told.greatest_penetration /= units_.length;
    const double acceleration = speed() / units_.time;
    told.normal_mobility /= acceleration;
    told.cross_mobility /= acceleration;
    told.tangential_mobility /= acceleration;
    observer_.load(told);
  }
  bool follows_gaps() const override { return observer_.follows_gaps(); }
  bool follows_pieces() const override { return observer_.follows_pieces(); }
  void piece(const MotionPiece& piece) override {
    MotionPiece told = piece;
    for (std::size_t i = 0; i < told.coefficients.size(); ++i) {
      const Eigen::Index row = static_cast<Eigen::Index>(i / told.terms);
      told.coefficients[i] /= row == 0 ? units_.time : units_.state(row - 1);
    }
    observer_.piece(told);
  }

 private:
  double speed() const { return units_.length / units_.time; }
  Eigen::VectorXd in(std::span<const double> x) const {
    return units_.in(Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())));
  }

  Observer& observer_;
  const Units& units_;
};

/// How often a gap is differentiated by time in what is told of the end of a leg (core/system/segment).
struct Order {
  int guard = 0;
  int measure = 0;
};

/// Of the end of a leg; `sticks`: its friction does along it.
Order order_of(const Leg& leg, const Reached& reached, bool sticks) {
  const bool held = sticks || reached.guard_of == GuardOf::force ||
                    (leg.contact >= 0 && leg.length != Leg::Length::own && is_closed(leg.mode, leg.contact));
  switch (leg.end) {
    case EventKind::graze:
      if (held) return {3, 2};
      return leg.contact < 0 ? Order{2, 1} : Order{1, 0};
    case EventKind::release:
    case EventKind::stick_to_slip:
      return {2, 3};
    case EventKind::contact_begin:
    case EventKind::contact_end:
      if (reached.guard_of == GuardOf::force) return {2, 3};
      return reached.guard_of == GuardOf::mean_speed ? Order{1, 1} : Order{0, 1};
    case EventKind::chatter_complete:
      return {0, 2};
    case EventKind::stick:
    case EventKind::slip_to_stick:
    case EventKind::slip_reversal:
      return {1, 2};
    default:
      return {0, 1};
  }
}

class ScaledSystem final : public WrappedSystem {
 public:
  ScaledSystem(std::unique_ptr<System> system, Units units)
      : WrappedSystem(std::move(system)), units_(std::move(units)) {}

  bool sticks(const HybridState& state, int k) override { return system().sticks(out(state), k); }
  bool in_contact(const HybridState& state, int i) const override {
    return system().in_contact(out(state), i);
  }
  Eigen::VectorXd contact_forces(const HybridState& state) override {
    return system().contact_forces(out(state));
  }
  double period() const override { return system().period() / units_.time; }
  double rate() const override { return system().rate() * units_.time; }

  Outcome advance(HybridState& state, const Section& section, Observer* observer) override {
    HybridState own = out(state);
    std::optional<ScaledObserver> scaled;
    if (observer != nullptr) scaled.emplace(*observer, units_);
    const Outcome outcome = system().advance(own, out(section), scaled ? &*scaled : nullptr);
    state = in(std::move(own));
    return outcome;
  }
  Outcome advance(HybridState& state, const Section& section, Tangent& tangent) override {
    HybridState own = out(state);
    tangent.state = units_.state.asDiagonal() * tangent.state;
    tangent.time *= units_.time;
    const Outcome outcome = system().advance(own, out(section), tangent);
    tangent.state = units_.state.cwiseInverse().asDiagonal() * tangent.state;
    tangent.time /= units_.time;
    state = in(std::move(own));
    return outcome;
  }
  double period_slope(int parameter) const override { return system().period_slope(parameter) / units_.time; }
  std::optional<Course> follow(std::span<const Leg> legs, const std::vector<int>& parameters) override {
    return in(system().follow(out(legs), parameters), legs);
  }
  std::optional<Course> follow_values(std::span<const Leg> legs,
                                      const std::vector<int>& parameters) override {
    return in(system().follow_values(out(legs), parameters), legs);
  }
  void gaps(const HybridState& state, Eigen::VectorXd& gap, Eigen::VectorXd& rate) const override {
    system().gaps(out(state), gap, rate);
    gap /= units_.length;
    rate /= units_.length / units_.time;
  }
  std::optional<Energy> energy(const HybridState& state) override { return system().energy(out(state)); }
  Eigen::RowVectorXd gap_gradient(const HybridState& state, int contact) const override {
    Eigen::RowVectorXd gradient = system().gap_gradient(out(state), contact);
    to_columns(gradient);
    return gradient / units_.length;
  }
  Eigen::MatrixXd shifts() const override {
    return units_.state.cwiseInverse().asDiagonal() * system().shifts();
  }
  double unit(int state) const override { return system().unit(state) * units_.length / units_.state(state); }

 private:
  HybridState in(HybridState state) const {
    state.x = units_.in(state.x);
    state.time /= units_.time;
    return state;
  }
  HybridState out(HybridState state) const {
    state.x = units_.out(state.x);
    state.time *= units_.time;
    return state;
  }
  Section out(Section section) const {
    if (section.kind == Section::Kind::level) section.level *= units_.state(section.coordinate);
    section.interval *= units_.time;
    section.flights *= units_.time;
    return section;
  }
  std::vector<Leg> out(std::span<const Leg> legs) const {
    std::vector<Leg> own(legs.begin(), legs.end());
    for (Leg& leg : own) {
      leg.state = units_.out(leg.state);
      leg.time *= units_.time;
      leg.duration *= units_.time;
    }
    return own;
  }
  /// Derivatives by states, then by times where there are some, then by parameters.
  template <class Slope>
  void to_columns(Slope&& slope) const {
    const Eigen::Index n = units_.state.size();
    for (Eigen::Index i = 0; i < n; ++i) slope.col(i) *= units_.state(i);
    for (Eigen::Index i = n; i < std::min(n + 2, slope.cols()); ++i) slope.col(i) *= units_.time;
  }
  /// Whether the friction that a leg's end is about sticks along it.
  bool friction_sticks(const Leg& leg) const {
    HybridState state;
    state.mode = leg.mode;
    return leg.end == EventKind::graze && leg.contact < 0 && system().sticks(state, -1 - leg.contact);
  }
  std::optional<Course> in(std::optional<Course> course, std::span<const Leg> legs) const {
    if (!course) return course;
    for (std::size_t k = 0; k < course->legs.size(); ++k) {
      Reached& reached = course->legs[k];
      const Order order = order_of(legs[k], reached, friction_sticks(legs[k]));
      const double guard = units_.length / std::pow(units_.time, order.guard);
      const double measure = units_.length / std::pow(units_.time, order.measure);
      reached.state = units_.in(reached.state);
      reached.time /= units_.time;
      reached.guard /= guard;
      reached.measure /= measure;
      if (reached.state_slope.cols() == 0) continue;  // values only
      reached.state_slope = units_.state.cwiseInverse().asDiagonal() * reached.state_slope;
      reached.time_slope /= units_.time;
      reached.guard_slope /= guard;
      reached.measure_slope /= measure;
      to_columns(reached.state_slope);
      to_columns(reached.time_slope);
      to_columns(reached.guard_slope);
      to_columns(reached.measure_slope);
    }
    course->period_slope /= units_.time;
    return course;
  }

  Units units_;
};

}  // namespace

Section in_units(Section section, const Units& units) {
  if (units.none()) return section;
  if (section.kind == Section::Kind::level) section.level /= units.state(section.coordinate);
  section.interval /= units.time;
  section.flights /= units.time;
  return section;
}

std::unique_ptr<System> in_units(std::unique_ptr<System> system, const Units& units) {
  if (!system || units.none()) return system;
  return std::make_unique<ScaledSystem>(std::move(system), units);
}

}  // namespace graze
