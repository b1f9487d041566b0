/// Two masses in a chain, each with a stop of its own and dry friction, harmonically forced.
#include <array>
#include <cmath>

#include "core/linear/family.hpp"
#include "core/system/model.hpp"
#include "core/system/registry.hpp"

namespace graze {
namespace {

enum : std::size_t { m1, m2, k1, k2, c1, c2, A1, A2, delta, d1, d2, r1, r2, mass_ratio, f1, f2, f12 };

std::vector<Parameter> parameter_table() {
  const Range stop = Range::any();
  return by_index({
      {m1, {{"m1", "1", "mass 1, held to the ground by spring 1"}, 1, Range::positive()}},
      {m2, {{"m2", "1", "mass 2, held to mass 1 by spring 2"}, 1, Range::positive()}},
      {k1, {{"k1", "1", "stiffness of spring 1"}, 1, Range::non_negative()}},
      {k2, {{"k2", "1", "stiffness of spring 2"}, 1, Range::non_negative()}},
      {c1, {{"c1", "1", "viscous damping beside spring 1"}, 0.1, Range::non_negative()}},
      {c2, {{"c2", "1", "viscous damping beside spring 2"}, 0.1, Range::non_negative()}},
      {A1, {{"A1", "1", "amplitude of the force on mass 1; negative: in antiphase"}, 0.5, Range::finite()}},
      {A2, {{"A2", "1", "amplitude of the force on mass 2; negative: in antiphase"}, 0, Range::finite()}},
      {delta, {{"delta", "1", "frequency of both forces"}, 0.16, Range::positive()}},
      {d1,
       {{"d1", "1", "stop of mass 1: above it when positive or 0, below when negative; inf: none"},
        0.3,
        stop}},
      {d2,
       {{"d2", "1", "stop of mass 2: above it when positive or 0, below when negative; inf: none"},
        0.3,
        stop}},
      {r1, {{"r1", "1", "restitution of stop 1"}, 0.7, Range::unit()}},
      {r2, {{"r2", "1", "restitution of stop 2"}, 0.7, Range::unit()}},
      {mass_ratio,
       {{"mass_ratio", "1", "m1/m2 at fixed m2, takes the place of m1; 0: m1 as given"},
        0,
        Range::non_negative()}},
      {f1, {{"f1", "1", "dry friction between mass 1 and the ground; 0: none"}, 0, Range::non_negative()}},
      {f2, {{"f2", "1", "dry friction between mass 2 and the ground; 0: none"}, 0, Range::non_negative()}},
      {f12, {{"f12", "1", "dry friction between the masses; 0: none"}, 0, Range::non_negative()}},
  });
}

/// Equations of motion after Xiao, Yue & Xie, with Newton's impact law and, for Frictions = 3, dry friction.
template <int Frictions>
struct Equations {
  template <class S>
  LinearSystem<S, 2, 1, 2, Frictions> operator()(std::span<const S> p) const {
    LinearSystem<S, 2, 1, 2, Frictions> s;
    s.resize(2, 1, 2, Frictions);
    const S mass1 = p[mass_ratio] > S(0) ? p[mass_ratio] * p[m2] : p[m1];
    s.mass << mass1, S(0), S(0), p[m2];
    s.damping << p[c1] + p[c2], -p[c2], -p[c2], p[c2];
    s.stiffness << p[k1] + p[k2], -p[k2], -p[k2], p[k2];
    s.cosine << p[A1], p[A2];
    s.frequency << p[delta];
    s.base_frequency = p[delta];
    const std::array<S, 2> stops = {p[d1], p[d2]};
    for (int i = 0; i < 2; ++i) {
      const S& d = stops[static_cast<std::size_t>(i)];
      const double side = d < S(0) ? -1.0 : 1.0;
      s.normal(i, i) = S(side);
      s.position(i) = d * S(side);
    }
    s.restitution << p[r1], p[r2];
    if constexpr (Frictions > 0) {
      s.sliding << S(1), S(0), S(1), S(0), S(1), S(-1);
      s.friction << p[f1], p[f2], p[f12];
    }
    return s;
  }
};

std::unique_ptr<System> chain_system(std::span<const double> values, const Tolerance& tolerance) {
  const bool rubs = values[f1] > 0 || values[f2] > 0 || values[f12] > 0;
  static const FrictionAmplitudes amplitudes = {{f1, f2, f12}, Eigen::MatrixXd{{1, 0, 1}, {0, 1, -1}}};
  return rubs ? linear_family_system<2, 1, 2, 3>(Equations<3>{}, values, tolerance)
              : linear_family_system<2, 1, 2>(Equations<0>{}, values, tolerance, amplitudes);
}

}  // namespace

GRAZE_MODEL(two_dof_stops) {
  ModelInfo info;
  info.name = "two_dof_stops";
  info.meaning =
      "Two masses in a chain fixed at one end, each facing a rigid stop, harmonically forced, with or "
      "without "
      "dry friction.";
  info.equations =
      "m1 x1'' + c1 x1' + c2 (x1' - x2') + k1 x1 + k2 (x1 - x2) = A1 cos(delta t)\n"
      "m2 x2'' + c2 (x2' - x1') + k2 (x2 - x1) = A2 cos(delta t)\n"
      "stop of mass i at x_i = d_i; impact: v_i -> -r_i v_i; a mass pressed to its stop sticks\n"
      "dry friction: -f1 sgn(x1') - f12 sgn(x1' - x2') on mass 1, -f2 sgn(x2') + f12 sgn(x1' - x2') on mass "
      "2, "
      "at rest anything up to that";
  info.citations = {
      "Xiao Huayi, Yue Yuan, Xie Jianhua: Sticking motions and rising phenomena in the two-degree-of-freedom "
      "vibro-impact system"};
  info.states = {{"x1", "1", "displacement of mass 1"},
                 {"v1", "1", "velocity of mass 1", "x1"},
                 {"x2", "1", "displacement of mass 2"},
                 {"v2", "1", "velocity of mass 2", "x2"}};
  info.contacts = {{"1", "1", "mass 1 at its stop"}, {"2", "1", "mass 2 at its stop"}};
  info.frictions = {{"f1", "1", "mass 1 on the ground"},
                    {"f2", "1", "mass 2 on the ground"},
                    {"f12", "1", "the masses on each other"}};
  info.modes =
      "bit 0 set: mass 1 sticks at its stop; bit 1 set: mass 2 sticks; 3: motionless\n"
      "  with friction, bits 2-3 (f1), 4-5 (f2), 6-7 (f12): 0 none, 1 slides forward, 2 backward, 3 sticks\n"
      "  bit 8, 9 set: mass 1, 2 rests on its stop without pressing, held by friction";
  info.set_parameters(parameter_table(), chain_system);
  return info;
}

}  // namespace graze
