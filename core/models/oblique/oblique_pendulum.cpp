/// A bob on an arm that hits an oscillating block obliquely, with friction.
#include <algorithm>
#include <cmath>
#include <memory>

#include "core/contact/oblique_impact.hpp"
#include "core/models/oblique/frictional_contact.hpp"
#include "core/smooth/motion.hpp"
#include "core/smooth/system.hpp"
#include "core/system/model.hpp"
#include "core/system/registry.hpp"

namespace graze {
namespace {

enum : std::size_t { eta, f1, f2, psi, zeta1, zeta2, kappa, mass_ratio, clearance, mu, r };
enum : Eigen::Index { theta, theta_dot, block, block_dot };

std::vector<Parameter> parameter_table() {
  return by_index({
      {eta, {{"eta", "1", "frequency of both forces"}, 1, Range::positive()}},
      {f1, {{"f1", "1", "amplitude of the torque on the arm"}, 0.3, Range::finite()}},
      {f2, {{"f2", "1", "amplitude of the force on the block"}, 0, Range::finite()}},
      {psi, {{"psi", "rad", "phase of the force on the block"}, 0, Range::finite()}},
      {zeta1, {{"zeta1", "1", "damping ratio of the arm"}, 0.05, Range::non_negative()}},
      {zeta2, {{"zeta2", "1", "damping ratio of the block"}, 0.05, Range::non_negative()}},
      {kappa,
       {{"kappa", "1", "natural frequency of the block over that of the arm"}, 1, Range::non_negative()}},
      {mass_ratio, {{"mass_ratio", "1", "mass of the bob over mass of the block"}, 0.6, Range::positive()}},
      {clearance, {{"clearance", "1", "gap at rest over length of the arm"}, 0.5, Range::finite()}},
      {mu, {{"mu", "1", "coefficient of friction"}, 0.5, Range::non_negative()}},
      {r, {{"r", "1", "restitution, of the impulses (Poisson)"}, 0.6, Range::unit()}},
  });
}

/// Greatest modulus of the roots of s² + 2 ζ ω s + ω².
double fastest_root(double omega, double zeta) {
  return zeta <= 1 ? omega : omega * (zeta + std::sqrt(zeta * zeta - 1));
}

/// In flight
///     theta'' = Θ = f1 cos(eta t) − 2 zeta1 theta' − theta
///     x''     = Ξ = f2 cos(eta t + psi) − 2 zeta2 kappa x' − kappa² x
/// and in contact as core/frictional_contact says.
template <class S>
struct ObliqueDynamics {
  static constexpr int states = 4;
  static constexpr int contacts = 1;
  static constexpr int guards = SlipGuard::count;
  static constexpr int touches = guards;
  template <class T>
  using Vector = Eigen::Matrix<T, states, 1>;

  ObliqueDynamics(std::span<const S> p, const ObliqueLaw& form)
      : law(form),
        omega(p[eta]),
        torque(p[f1]),
        damping{S(2.0) * p[zeta1], S(2.0) * p[zeta2] * p[kappa]},
        stiffness(p[kappa] * p[kappa]),
        ratio(p[mass_ratio]),
        distance(p[clearance]),
        roughness(p[mu]),
        bounce(p[r]) {
    const auto [sine, cosine] = sine_cosine(p[psi]);
    force_cosine = p[f2] * cosine;
    force_sine = -p[f2] * sine;
    fastest = std::max({value_of(omega), fastest_root(1, value_of(p[zeta1])),
                        fastest_root(value_of(p[kappa]), value_of(p[zeta2]))});
  }

  S period() const { return S(2 * M_PI) / omega; }
  double rate() const { return fastest; }
  double unit(int state) const { return state % 2 == 1 ? rate() : 1; }
  /// Also where there is no friction, of which derivatives are asked.
  bool rough() const { return !identical(roughness, S(0)); }
  bool watched(int k, std::int64_t mode) const {
    if (k == SlipGuard::domain) return true;
    if (SlipMode::stuck(mode)) return k == SlipGuard::lower || k == SlipGuard::upper;
    if (k == SlipGuard::singular) return rough() && SlipMode::direction(mode) < 0;
    return k == SlipGuard::normal || (SlipMode::slips(mode) && rough());
  }
  bool is_gap(int k, std::int64_t mode) const {
    return k == SlipGuard::normal && (mode & SlipMode::closed) == 0;
  }

  template <class T>
  struct Accelerations {
    T bob, block;
  };
  /// Θ and Ξ.
  template <class T>
  Accelerations<T> free(const T& t, const Vector<T>& x) const {
    const auto [sine, cosine] = sine_cosine(T(t * omega));
    return {torque * cosine - damping[0] * x(theta_dot) - x(theta),
            force_cosine * cosine + force_sine * sine - damping[1] * x(block_dot) - stiffness * x(block)};
  }
  template <class T>
  T pressing(const T& t, const Vector<T>& x) const {
    const auto [sine, cosine] = sine_cosine(x(theta));
    const Accelerations<T> a = free(t, x);
    return a.bob * cosine - a.block - x(theta_dot) * x(theta_dot) * sine;
  }
  /// a = c + f sgn u, with the signs that the mode tells.
  template <class T>
  T brake(std::int64_t mode, const T& sine, const T& cosine) const {
    return cosine + sine * S(roughness * (SlipMode::direction(mode) * SlipMode::side(mode)));
  }

  template <class T>
  void rates(std::int64_t mode, const T& t, const Vector<T>& x, Vector<T>& rate) const {
    if (SlipMode::stuck(mode)) {
      for (int i = 0; i < states; ++i) rate(i) = constant(x(i), S(0));
      return;
    }
    Accelerations<T> a = free(t, x);
    if (SlipMode::slips(mode)) {
      const auto [sine, cosine] = sine_cosine(x(theta));
      const T along = brake(mode, sine, cosine);
      const T pressed = a.bob * cosine - a.block - x(theta_dot) * x(theta_dot) * sine;
      const T force = pressed / (cosine * along + ratio);
      a.bob = a.bob - along * force;
      a.block = a.block + ratio * force;
    }
    rate(theta) = x(theta_dot);
    rate(theta_dot) = a.bob;
    rate(block) = x(block_dot);
    rate(block_dot) = a.block;
  }
  template <class T>
  T guard(int k, std::int64_t mode, const T& t, const Vector<T>& x) const {
    if (k == SlipGuard::normal) return is_gap(k, mode) ? gap_in(0, mode, t, x) : pressing(t, x);
    const auto [sine, cosine] = sine_cosine(x(theta));
    if (k == SlipGuard::domain) return cosine;
    if (k == SlipGuard::singular) return cosine * brake(mode, sine, cosine) + ratio;
    const double direction = SlipMode::direction(mode);
    const double side = SlipMode::side(mode);
    if (direction != 0) {
      return k == SlipGuard::lower ? T(x(theta_dot) * S(direction)) : T(sine * S(side));
    }
    const Accelerations<T> a = free(t, x);
    const T force = -a.block / ratio;
    const T friction = sine * S(roughness * side);
    return k == SlipGuard::lower ? T(a.bob - (cosine - friction) * force)
                                 : T((cosine + friction) * force - a.bob);
  }
  /// In the unit of the accelerations of the bob; stuck, the block alone tells it.
  S contact_force(int, std::int64_t mode, const S& t, const Vector<S>& x) const {
    if (SlipMode::stuck(mode)) return -free(t, x).block / ratio;
    if (!SlipMode::slips(mode)) return S(0);
    const auto [sine, cosine] = sine_cosine(x(theta));
    return pressing(t, x) / (cosine * brake(mode, sine, cosine) + ratio);
  }
  template <class T>
  T gap_in(int, std::int64_t, const T&, const Vector<T>& x) const {
    using std::sin;
    return x(block) - sin(x(theta)) + distance;
  }
  template <class T>
  T opening_in(int, std::int64_t, const T&, const Vector<T>& x) const {
    using std::cos;
    return x(block_dot) - cos(x(theta)) * x(theta_dot);
  }

  ObliqueLaw law;
  S omega, torque, force_cosine, force_sine, damping[2], stiffness, ratio, distance, roughness, bounce;
  double fastest;
};

/// One moving point.
template <class S>
class ObliqueMotion final
    : public TaylorMotion<ObliqueMotion<S>, FrictionalContact<ObliqueMotion<S>, S, Eigen::Matrix<S, 4, 1>>, S,
                          ObliqueDynamics<S>> {
 public:
  using State = Eigen::Matrix<S, 4, 1>;
  static constexpr bool passes_contacts = true;
  using Rules = FrictionalContact<ObliqueMotion, S, State>;
  using Base = TaylorMotion<ObliqueMotion, Rules, S, ObliqueDynamics<S>>;
  using Base::Base;
  using Base::time;
  using Base::x;

 private:
  friend Rules;
  friend typename Rules::Loop;
  using Base::dynamics;

  S gap() const { return dynamics().gap_in(0, 0, time, x); }
  S slip() const { return x(theta_dot); }
  S block_rate() const { return x(block_dot); }
  S sine() const {
    using std::sin;
    return sin(x(theta));
  }
  S drive() const { return dynamics().free(time, x).bob; }
  S pressing() const { return dynamics().pressing(time, x); }
  ObliqueContact<S> contact() const {
    const auto [s, c] = sine_cosine(x(theta));
    return {c, dynamics().roughness * (s < S(0) ? S(-s) : s), dynamics().ratio, dynamics().bounce};
  }
  const ObliqueLaw& law() const { return dynamics().law; }
  bool rough() const { return dynamics().rough(); }
  double reach() const { return std::abs(value_of(x(block))) + std::abs(value_of(dynamics().distance)) + 1; }
  double length() const { return std::max(std::abs(value_of(x(theta))), std::abs(value_of(x(block)))); }
  double speed() const {
    return std::max(std::abs(value_of(x(theta_dot))), std::abs(value_of(x(block_dot))));
  }
  void set_velocities(const S& bob, const S& of_block) {
    x(theta_dot) = bob;
    x(block_dot) = of_block;
  }
  void turn(const S& angle) { x(theta) += angle; }
  void put_on(int) { x(block) -= gap(); }
  S slip_rate(std::int64_t mode) const { return this->rates(mode)(theta_dot); }
  S pressing_rate(std::int64_t mode) { return this->guard_rate(SlipGuard::normal, mode); }
  /// Change of bob and block per impulse that adds one to the opening.
  std::pair<S, S> push(std::int64_t mode) const {
    const auto [s, c] = sine_cosine(x(theta));
    const S along = dynamics().brake(mode, s, c);
    const S sink = dynamics().ratio + c * along;
    return {-along / sink, dynamics().ratio / sink};
  }
  void shift(std::int64_t mode, const S& gap, const S& opening) {
    const auto [bob, of_block] = push(mode);
    x(theta) += bob * gap;
    x(block) += of_block * gap;
    x(theta_dot) += bob * opening;
    x(block_dot) += of_block * opening;
  }
  S damping(std::int64_t mode) {
    const auto [bob, of_block] = push(mode);
    State direction = State::Constant(S(0));
    direction(theta_dot) = bob;
    direction(block_dot) = of_block;
    return this->flow().along(time, x, direction,
                              [&](const auto& t, const auto& y) { return dynamics().pressing(t, y); })[1];
  }
  void pass_on(std::int64_t mode, const S& integral) {
    const auto [bob, of_block] = push(mode);
    State p = State::Constant(S(0)), u = p;
    p(theta) = u(theta_dot) = bob;
    p(block) = u(block_dot) = of_block;
    this->feel_gap(mode, p, u, integral);
  }
};

struct ObliqueKind {
  template <class S>
  using Dynamics = ObliqueDynamics<S>;
  template <class S>
  using Motion = ObliqueMotion<S>;
  template <class S>
  Dynamics<S> dynamics(std::span<const S> values) const {
    return Dynamics<S>(values, law);
  }
  ObliqueLaw law;
};

std::vector<Key> law_keys() {
  std::vector<Key> keys;
  Key& law = add_key(keys, "law", Key::Type::text, "how an impact is computed: all three agree to rounding");
  law.choices = {"event_to_event", "closed_form", "incremental"};
  law.fallback = Value("event_to_event");
  Key& steps = add_key(keys, "steps", Key::Type::integer,
                       "law = \"incremental\": steps of the impulse up to the end of compression");
  steps.unit = "1";
  steps.range = Range{1, 1e6, false, false};
  steps.fallback = Value(ObliqueLaw().steps);
  return keys;
}

ObliqueLaw read_law(const Value& table) {
  const std::string form = table.at("law").text("model.law");
  ObliqueLaw law;
  if (form == "closed_form") law.form = ObliqueLaw::Form::closed_form;
  if (form == "incremental") law.form = ObliqueLaw::Form::incremental;
  law.steps = table.at("steps").integer("model.steps");
  return law;
}

}  // namespace

GRAZE_MODEL(oblique_pendulum) {
  ModelInfo info;
  info.name = "oblique_pendulum";
  info.meaning =
      "A bob on a sprung arm in a horizontal plane hits a block on a spring obliquely, with friction: slip "
      "reverses, locks or goes on during the impact.";
  info.equations =
      "theta'' + 2 zeta1 theta' + theta = f1 cos(eta t)\n"
      "x'' + 2 zeta2 kappa x' + kappa^2 x = f2 cos(eta t + psi)\n"
      "gap = clearance + x - sin(theta) >= 0, |theta| < pi/2\n"
      "impact, per impulse p: du/dp = -(cos(theta) + mu |sin(theta)| sgn(u)), dx'/dp = mass_ratio, u = "
      "theta'; "
      "the impulse of restitution is r times that of compression";
  info.citations = {
      "Han Wei, Hu Haiyan, Jin Dongping: Analysis of oblique impact of a vibrating system of two degrees of "
      "freedom"};
  info.states = {{"theta", "rad", "angle of the arm"},
                 {"theta_dot", "rad", "angular velocity of the arm, per unit of time", "theta"},
                 {"x", "1", "displacement of the block"},
                 {"x_dot", "1", "velocity of the block", "x"}};
  info.contacts = {{"block", "1", "bob on the block"}};
  info.modes =
      "0: open; 1: stuck; 3: the bob slips forward (theta' > 0) on the block; 5: backward; plus 8 where "
      "theta < 0";
  const auto make_with = [states = info.states, contacts = info.contacts](const ObliqueLaw& law) {
    ModelInfo plain;
    plain.states = states;
    plain.contacts = contacts;
    plain.set_parameters(
        parameter_table(), [law](std::span<const double> values, const Tolerance& tolerance) {
          return std::make_unique<TaylorSystem<ObliqueKind>>(ObliqueKind{law}, values, tolerance);
        });
    return plain;
  };
  info.keys = make_with({}).keys;
  for (Key& key : law_keys()) info.keys.push_back(std::move(key));
  info.make = [make_with](const Value& table) { return make_with(read_law(table)).make(table); };
  return info;
}

}  // namespace graze
