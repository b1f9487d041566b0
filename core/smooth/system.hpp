/// From a motion in power series (core/taylor_motion) to a System.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/contact/follow_segments.hpp"
#include "core/contact/friction_mode.hpp"
#include "core/math/dual.hpp"
#include "core/system/motion_system.hpp"
#include "core/system/system.hpp"
#include "core/system/tolerance.hpp"

namespace graze {

/// `Kind` says what moves. It provides, for a scalar S,
///
///     Kind::Dynamics<S>, Kind::Motion<S>      as core/taylor_motion; Motion(const Dynamics&, const
///     Tolerance&) Dynamics<S> dynamics(std::span<const S> values) const        at these parameter values
///
/// and Dynamics, beyond what the motion asks for, with Vector<T> = Eigen::Matrix<T, states, 1>,
///
///     static constexpr int states, contacts     Eigen::Dynamic: size(), count() tell
///     static constexpr int touches              guards whose Touch the engine keeps; the contacts come first
///     T gap_in(i, mode, t, x) const, T opening_in(i, mode, t, x) const     gap and d gap/dt
///     S contact_force(i, mode, t, x) const       System::contact_forces, for T = S
///
/// and may provide
///
///     static constexpr int outer_states         the model's; what follows them is the engine's own
///     static constexpr bool compliant           a pressed contact has no gap: it is 0
///     static constexpr int frictions            with bool sticks(int k, mode) const; Eigen::Dynamic:
///                                               friction_count() tells
///     int touch_count() const                   instead of touches
///     bool in_contact(int i, mode) const
///     bool repeats() const                      whether the forcing has the period
///     Symmetry symmetry(int state) const
///     Eigen::MatrixXd shifts() const            System::shifts
///     double unit(int state) const              System::unit
///     const MotionProgram* motion_program() const, std::span<const double> fixed() const     SeriesLaw;
///                                               nullptr: it has none
///     int jump_count() const                    of jump maps; such a motion is not prescribed in legs
///     ModeLayout layout() const                 of modes with frictions or compliant contacts
///     bool has_legs() const                     of such a motion: whether it can be prescribed in legs
///
/// A motion with `static constexpr bool passes_contacts` can pass through contacts and be struck by
/// prescription. One with `bool follow(const Leg&, const S& duration)` and `Ending<S> ending` can be followed
/// in legs (core/follow_legs).
template <class Kind>
class TaylorSystem : public System {
 public:
  using Plain = typename Kind::template Dynamics<double>;

  TaylorSystem(Kind kind, std::span<const double> values, const Tolerance& tolerance)
      : kind_(std::move(kind)),
        values_(values.begin(), values.end()),
        tolerance_(tolerance),
        plain_(kind_.template dynamics<double>(values)),
        motion_(plain_, tolerance) {}
  TaylorSystem(const TaylorSystem&) = delete;
  TaylorSystem& operator=(const TaylorSystem&) = delete;

  int states() const override {
    if constexpr (Plain::states == Eigen::Dynamic) {
      return plain_.size();
    } else {
      return own_states;
    }
  }
  int contacts() const override {
    if constexpr (Plain::contacts == Eigen::Dynamic) {
      return plain_.count();
    } else {
      return Plain::contacts;
    }
  }
  Symmetry symmetry(int state) const override {
    if constexpr (requires { plain_.symmetry(state); }) {
      return plain_.symmetry(state);
    } else {
      return System::symmetry(state);
    }
  }
  int frictions() const override {
    if constexpr (requires { plain_.friction_count(); }) {
      return plain_.friction_count();
    } else if constexpr (requires { Plain::frictions; }) {
      return Plain::frictions;
    } else {
      return System::frictions();
    }
  }
  bool sticks(const HybridState& state, int k) override {
    if constexpr (requires { plain_.sticks(k, state.mode); }) {
      return plain_.sticks(k, state.mode);
    } else {
      return System::sticks(state, k);
    }
  }
  bool in_contact(const HybridState& state, int i) const override {
    if constexpr (requires { plain_.in_contact(i, state.mode); }) {
      return plain_.in_contact(i, state.mode);
    } else {
      return System::in_contact(state, i);
    }
  }
  Eigen::VectorXd contact_forces(const HybridState& state) override {
    const Vector<double> x = inner<double>(state);
    Eigen::VectorXd forces(contacts());
    for (int i = 0; i < contacts(); ++i) forces(i) = plain_.contact_force(i, state.mode, state.time, x);
    return forces;
  }
  Eigen::MatrixXd shifts() const override {
    if constexpr (requires { plain_.shifts(); }) {
      return plain_.shifts();
    } else {
      return System::shifts();
    }
  }
  double unit(int state) const override {
    if constexpr (requires { plain_.unit(state); }) {
      return plain_.unit(state);
    } else {
      return System::unit(state);
    }
  }
  double period() const override { return plain_.period(); }
  bool periodic() const override {
    if constexpr (requires { plain_.repeats(); }) {
      return plain_.repeats();
    } else {
      return true;
    }
  }
  double rate() const override { return plain_.rate(); }
  std::optional<SeriesLaw> series_law() const override {
    if constexpr (requires { plain_.motion_program(); }) {
      // Lanes move by power series.
      if (tolerance_.engine != Tolerance::Engine::series || plain_.motion_program() == nullptr)
        return std::nullopt;
      SeriesLaw law{
          plain_.motion_program(), plain_.fixed(),      period(),         rate(), tolerance_.chatter,
          tolerance_.integration,  tolerance_.patience, tolerance_.events};
      if constexpr (requires { plain_.layout(); }) law.springs = plain_.layout().spring_place(0);
      return law;
    } else {
      return System::series_law();
    }
  }

  Outcome advance(HybridState& state, const Section& section, Observer* observer) override {
    return move_plain(motion_, same, state, section, touches(), observer);
  }
  Outcome advance(HybridState& state, const Section& section, Tangent& tangent) override {
    return in_chunks(state, tangent, [&](HybridState& from, const Tangent& seed, Eigen::Index first) {
      const auto go = [&](auto& motion) { return motion.advance(section, nullptr); };
      return carry(from, seed, tangent, first, go);
    });
  }
  bool passes_contacts() const override { return may_pass; }
  Outcome end_leg(HybridState& state, LegEnd& end, Tangent& tangent) override {
    return in_chunks(state, tangent, [&](HybridState& from, const Tangent& seed, Eigen::Index first) {
      const auto go = [&](auto& motion) { return motion.end_leg(end, first); };
      return carry(from, seed, tangent, first, go);
    });
  }
  double period_slope(int parameter) const override {
    const std::vector<Dual<1>> values = varied_parameters<1>(values_, {&parameter, 1});
    return kind_.template dynamics<Dual<1>>(std::span<const Dual<1>>(values)).period().slope.front();
  }
  /// What rubs moves by itself, but where its sticking is asked for.
  bool prescribes(int parameter) const override {
    if constexpr (requires { plain_.layout(); }) {
      if (plain_.layout().frictions > 0) return false;
    }
    return prescribes_slip(parameter);
  }
  bool prescribes_slip(int) const override {
    if constexpr (requires { plain_.has_legs(); }) {
      return may_follow && plain_.has_legs();
    } else {
      return may_follow && !jumps();
    }
  }
  std::int64_t with_stick(std::int64_t mode, int k) const override {
    if constexpr (requires { plain_.layout(); }) {
      return plain_.layout().with(mode, k, Sliding::stuck);
    } else {
      return System::with_stick(mode, k);
    }
  }
  std::int64_t with_contact(std::int64_t mode, int i, bool engaged) const override {
    if constexpr (requires { plain_.layout(); }) {
      if (!plain_.compliant(i)) return mode;
      return plain_.layout().with_spring(mode, i, engaged ? Spring::engaged : Spring::open);
    } else {
      return System::with_contact(mode, i, engaged);
    }
  }
  std::optional<Course> follow(std::span<const Leg> legs, const std::vector<int>& parameters) override {
    if (!prescribed(legs, parameters)) return System::follow(legs, parameters);
    if constexpr (may_follow) {
      constexpr int columns = leg_directions;
      using S = Dual<columns>;
      using Point = typename Kind::template Motion<S>;
      const Eigen::Index count = static_cast<Eigen::Index>(parameters.size());
      const std::vector<S> values = varied_parameters<columns>(values_, parameters);
      const auto varied = kind_.template dynamics<S>(std::span<const S>(values));
      const auto point_for = [&](const Leg&) { return Point(varied, tolerance_); };
      auto course = follow_legs<columns>(legs, states(), count, point_for, same);
      if (!course) return std::nullopt;
      const S period = varied.period();
      course->period_slope =
          Eigen::Map<const Eigen::RowVectorXd>(period.slope.data() + columns - count, count);
      return course;
    } else {
      return System::follow(legs, parameters);
    }
  }
  std::optional<Course> follow_values(std::span<const Leg> legs,
                                      const std::vector<int>& parameters) override {
    if (!prescribed(legs, parameters)) return System::follow_values(legs, parameters);
    if constexpr (may_follow) {
      using Point = typename Kind::template Motion<double>;
      const auto dynamics = kind_.template dynamics<double>(std::span<const double>(values_));
      return one_by_one(legs, [&](const Leg& leg, Reached& reached) {
        return graze::follow_values(leg, Point(dynamics, tolerance_), same, reached);
      });
    } else {
      return System::follow_values(legs, parameters);
    }
  }
  void gaps(const HybridState& state, Eigen::VectorXd& gap, Eigen::VectorXd& rate) const override {
    gap.resize(contacts());
    rate.resize(contacts());
    const Vector<double> x = inner<double>(state);
    for (int i = 0; i < contacts(); ++i) {
      gap(i) = plain_.gap_in(i, state.mode, state.time, x);
      rate(i) = plain_.opening_in(i, state.mode, state.time, x);
      if constexpr (requires { Plain::compliant; }) gap(i) = std::max(0.0, gap(i));
      if constexpr (requires { plain_.behind(i, state.x); }) {  // before the start has told the side
        if (state.settled || !(gap(i) < 0) || !plain_.behind(i, state.x)) continue;
        gap(i) = -gap(i);
        rate(i) = -rate(i);
      }
    }
  }
  Eigen::RowVectorXd gap_gradient(const HybridState& state, int contact) const override {
    using S = Dual<1>;
    const std::vector<S> values(values_.begin(), values_.end());
    const auto dynamics = kind_.template dynamics<S>(std::span<const S>(values));
    Vector<S> x = inner<S>(state);
    S time(state.time);
    const auto slope_by = [&](S& variable) {
      variable.slope[0] = 1;
      const S gap = dynamics.gap_in(contact, state.mode, time, x);
      variable.slope[0] = 0;
      return gap.slope[0];
    };
    const Eigen::Index n = state.x.size();
    Eigen::RowVectorXd gradient(n + 1);
    for (Eigen::Index i = 0; i < n; ++i) gradient(i) = slope_by(x(i));
    gradient(n) = slope_by(time);
    return gradient;
  }

 private:
  template <class T>
  using Vector = Eigen::Matrix<T, Plain::states, 1>;
  static constexpr auto same = [](Eigen::Index i) { return i; };
  static constexpr int own_states = [] {
    if constexpr (requires { Plain::outer_states; }) {
      return Plain::outer_states;
    } else {
      return Plain::states;
    }
  }();
  /// The state, and nothing in the entries of the engine's own.
  template <class T>
  static Vector<T> inner(const HybridState& state) {
    const Eigen::Index own = state.x.size();
    Vector<T> x = Vector<T>::Constant(Plain::states == Eigen::Dynamic ? own : Plain::states, T(0));
    for (Eigen::Index i = 0; i < own; ++i) x(i) = T(state.x(i));
    return x;
  }
  /// Derivatives carried at once.
  static constexpr int directions = Plain::states == Eigen::Dynamic ? 6 : own_states;
  static constexpr int leg_directions = Plain::states == Eigen::Dynamic ? directions : directions + 3;
  static constexpr bool may_pass = requires { Kind::template Motion<double>::passes_contacts; };
  static constexpr bool may_follow = requires(typename Kind::template Motion<Dual<leg_directions>> & point,
                                              const Leg& leg, const Dual<leg_directions>& duration) {
    point.follow(leg, duration);
  };

  bool jumps() const {
    if constexpr (requires { plain_.jump_count(); }) {
      return plain_.jump_count() > 0;
    } else {
      return false;
    }
  }
  std::size_t touches() const {
    if constexpr (requires { plain_.touch_count(); }) {
      return static_cast<std::size_t>(plain_.touch_count());
    } else if constexpr (Plain::contacts == Eigen::Dynamic) {
      return static_cast<std::size_t>(jumps() ? plain_.guard_count() : contacts());
    } else {
      return static_cast<std::size_t>(Plain::touches);
    }
  }

  template <class Go>
  std::pair<Outcome, Eigen::Index> carry(HybridState& state, const Tangent& seed, Tangent& tangent,
                                         Eigen::Index first, const Go& go) {
    const Eigen::Index columns = seed.state.cols() - first;
    if (columns == 1) return carry<1>(state, seed, tangent, first, go);
    if (columns == 2) return carry<2>(state, seed, tangent, first, go);
    if constexpr (Plain::states == Eigen::Dynamic) {
      if (columns <= 4) return carry<4>(state, seed, tangent, first, go);
    }
    return carry<directions>(state, seed, tangent, first, go);
  }
  template <int N, class Go>
  std::pair<Outcome, Eigen::Index> carry(HybridState& state, const Tangent& seed, Tangent& tangent,
                                         Eigen::Index first, const Go& go) {
    auto& motion = carrier<N>(dual_parameters<N>(values_, seed, first)).motion;
    motion.x.fill(Dual<N>(0));  // the engine's own entries, too
    const auto move = [&] { return go(motion); };
    return {move_directions<N>(motion, same, state, touches(), seed, tangent, first, move), N};
  }

  /// What carries derivatives in some directions; the last one is kept, as the next iterate mostly asks for
  /// the same parameters.
  struct AnyCarrier {
    explicit AnyCarrier(int n) : directions(n) {}
    virtual ~AnyCarrier() = default;
    int directions;
  };
  template <int N>
  struct Carrier : AnyCarrier {
    Carrier(const Kind& kind, std::vector<Dual<N>> at, const Tolerance& tolerance)
        : AnyCarrier(N),
          values(std::move(at)),
          dynamics(kind.template dynamics<Dual<N>>(std::span<const Dual<N>>(values))),
          motion(dynamics, tolerance) {}
    std::vector<Dual<N>> values;
    typename Kind::template Dynamics<Dual<N>> dynamics;
    typename Kind::template Motion<Dual<N>> motion;
  };
  template <int N>
  Carrier<N>& carrier(std::vector<Dual<N>> values) {
    const auto fits = [&](const Carrier<N>& last) {
      return std::equal(values.begin(), values.end(), last.values.begin(), identical<N>);
    };
    if (carrier_ == nullptr || carrier_->directions != N || !fits(static_cast<Carrier<N>&>(*carrier_)))
      carrier_ = std::make_unique<Carrier<N>>(kind_, std::move(values), tolerance_);
    return static_cast<Carrier<N>&>(*carrier_);
  }

  Kind kind_;
  std::vector<double> values_;
  Tolerance tolerance_;
  Plain plain_;
  typename Kind::template Motion<double> motion_;
  std::unique_ptr<AnyCarrier> carrier_;
};

}  // namespace graze
