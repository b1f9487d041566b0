#include "core/system/system.hpp"

#include <algorithm>
#include <cmath>

namespace graze {

double size_of(const System& system, const Eigen::VectorXd& x) {
  double size = 0;
  for (Eigen::Index i = 0; i < x.size(); ++i)
    size = std::max(size, std::abs(x(i)) / system.unit(static_cast<int>(i)));
  return size;
}

bool may_start(System& system, HybridState state) {
  state.settled = false;
  Section at_once;
  at_once.kind = Section::Kind::time;
  at_once.interval = 0;
  return system.advance(state, at_once, nullptr) != Outcome::bad_start;
}

Outcome System::end_leg(HybridState&, LegEnd&, Tangent&) { return Outcome::bad_start; }

double System::period_slope(int) const { return 0; }

HybridState begun(const System& system, const Leg& leg) {
  HybridState state;
  state.x = leg.state;
  state.turns = static_cast<std::int64_t>(std::floor(leg.time / system.period()));
  state.time = leg.time - static_cast<double>(state.turns) * system.period();
  state.heeded = leg.mode;
  return state;
}

namespace {

/// Legs of a system's own motion, one after the other. Directions: each state, the time of the beginning, the
/// duration, each parameter. The motion is the same whatever its duration: that direction comes at the end.
class OwnLegs {
 public:
  OwnLegs(System& system, const std::vector<int>& parameters)
      : system_(system),
        parameters_(parameters),
        period_slope_(static_cast<Eigen::Index>(parameters.size())),
        n_(system.states()) {
    std::transform(parameters.begin(), parameters.end(), period_slope_.begin(),
                   [&](int parameter) { return system.period_slope(parameter); });
  }

  const Eigen::RowVectorXd& period_slope() const { return period_slope_; }

  std::optional<Reached> follow(const Leg& leg) {
    if (leg.length != Leg::Length::own) return std::nullopt;
    begin(leg);
    const double from = time_;
    Tangent tangent = seed();
    if (!move(std::max(0.0, leg.duration), tangent)) return std::nullopt;
    with_duration(tangent);
    LegEnd end;
    end.shift = std::min(0.0, leg.duration);
    if (end.shift < -brief / system_.rate()) return std::nullopt;
    const Eigen::Index columns = n_ + 2 + period_slope_.size();
    end.late = Eigen::RowVectorXd::Unit(columns, n_ + 1);
    end.kind = leg.end;
    end.contact = leg.contact;
    end.guard_slope.setZero(columns);
    end.measure_slope.setZero(columns);
    if (system_.end_leg(state_, end, tangent) != Outcome::ok) return std::nullopt;
    time_ = from + leg.duration;
    Reached reached;
    reached.state = state_.x;
    reached.state_slope = tangent.state;
    reached.time = time_;
    reached.time_slope.setZero(columns);
    reached.time_slope(n_) = reached.time_slope(n_ + 1) = 1;
    reached.guard = end.guard;
    reached.guard_slope = end.guard_slope;
    reached.measure = end.measure;
    reached.measure_slope = end.measure_slope;
    return reached;
  }

 private:
  static constexpr double brief = 0.1;  // of the shortest time scale: a step of Euler's there

  /// Where a leg begins: anew, or where the one before has ended.
  void begin(const Leg& leg) {
    if (leg.state.size() == 0) {
      state_.heeded = leg.mode;
      return;
    }
    time_ = leg.time;
    state_ = begun(system_, leg);
  }
  /// All directions but that of the duration. The clock tells the time within a period: it moves with the
  /// period.
  Tangent seed() const {
    Tangent tangent;
    const Eigen::Index columns = n_ + 1 + period_slope_.size();
    tangent.state = Eigen::MatrixXd::Identity(n_, columns);
    tangent.time = Eigen::RowVectorXd::Unit(columns, n_);
    tangent.time.tail(period_slope_.size()) = -static_cast<double>(state_.turns) * period_slope_;
    tangent.parameter =
        Eigen::MatrixXd::Zero(*std::max_element(parameters_.begin(), parameters_.end()) + 1, columns);
    Eigen::Index column = n_ + 1;
    for (const int parameter : parameters_) tangent.parameter(parameter, column++) = 1;
    return tangent;
  }
  void with_duration(Tangent& tangent) const {
    const auto insert = [&](auto& directions) {
      const Eigen::Index count = period_slope_.size();
      directions.conservativeResize(Eigen::NoChange, n_ + 2 + count);
      directions.rightCols(count) = directions.middleCols(n_ + 1, count).eval();
      directions.col(n_ + 1).setZero();
    };
    insert(tangent.state);
    insert(tangent.time);
    insert(tangent.parameter);
  }
  bool move(double duration, Tangent& tangent) {
    Section section;
    section.kind = Section::Kind::time;
    section.interval = duration;
    return system_.advance(state_, section, tangent) == Outcome::ok;
  }

  System& system_;
  const std::vector<int>& parameters_;
  Eigen::RowVectorXd period_slope_;  // by each of them
  Eigen::Index n_;
  HybridState state_;
  double time_ = 0;
};

}  // namespace

std::optional<Course> System::follow(std::span<const Leg> legs, const std::vector<int>& parameters) {
  if (!(period() > 0)) return std::nullopt;
  OwnLegs own(*this, parameters);
  Course course;
  course.period_slope = own.period_slope();
  for (const Leg& leg : legs) {
    auto reached = own.follow(leg);
    if (!reached) return std::nullopt;
    course.legs.push_back(std::move(*reached));
  }
  return course;
}

}  // namespace graze
