/// A system that the case file says in equations.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/models/equations/typed_equations.hpp"
#include "core/models/equations/typed_model.hpp"
#include "core/smooth/compliant_system.hpp"
#include "core/smooth/newton_system.hpp"
#include "core/system/registry.hpp"

namespace graze {

TypedModel::TypedModel(const Value& table) {
  TypedDescription description = read_typed(table);
  parameters_ = std::move(description.parameters);
  states_ = std::move(description.states);
  contacts_ = std::move(description.contacts);
  jumps_ = std::move(description.jumps);
  frictions_ = std::move(description.frictions);
  warnings_ = std::move(description.warnings);
  system_ = std::move(description.system);
}

std::vector<double> TypedModel::start(std::span<const double> values) const {
  std::vector<double> quantities, state;
  evaluate_fixed(system_->operations, values.data(), quantities);
  for (const Fixed f : system_->start) state.push_back(quantities[static_cast<std::size_t>(f)]);
  return state;
}

std::unique_ptr<System> TypedModel::system(std::span<const double> values, const Tolerance& tolerance) const {
  std::vector<double> quantities;
  evaluate_fixed(system_->operations, values.data(), quantities);
  const auto at = [&](Fixed f) { return quantities[static_cast<std::size_t>(f)]; };
  const auto makes_sense = [&](const TypedContact& c) {
    if (!c.law) return Range::unit().contains(at(c.restitution));
    const auto& linear = c.law->linear;
    return !linear || (Range::positive().contains(at(linear->stiffness)) &&
                       Range::non_negative().contains(at(linear->damping)) &&
                       Range::non_negative().contains(at(c.law->preload)));
  };
  if (!std::all_of(system_->contacts.begin(), system_->contacts.end(), makes_sense)) return nullptr;
  const auto rubs = [&](const TypedFriction& f) {
    return (!f.fixed || Range::non_negative().contains(at(*f.fixed))) &&
           (!f.bounds || at(f.bounds->sliding) <= at(f.bounds->resting));
  };
  if (!std::all_of(system_->frictions.begin(), system_->frictions.end(), rubs)) return nullptr;
  const bool forced = system_->period && std::isfinite(at(*system_->period));
  const bool exact = tolerance.engine == Tolerance::Engine::series && system_->linear;
  return exact && (forced || !system_->period) ? linear_system(system_->linear, values, tolerance)
                                               : smooth_system(values, tolerance);
}

std::unique_ptr<System> TypedModel::smooth_system(std::span<const double> values,
                                                  const Tolerance& tolerance) const {
  using Kind = SmoothKind<TypedEquations, std::shared_ptr<const TypedSystem>>;
  if (!TypedEquations<double>(system_, values).valid()) return nullptr;
  if (!system_->only_impacts()) {
    using Compliant = CompliantKind<TypedEquations, std::shared_ptr<const TypedSystem>>;
    return std::make_unique<TaylorSystem<Compliant>>(Compliant{{{system_}}}, values, tolerance);
  }
  return std::make_unique<TaylorSystem<Kind>>(Kind{{system_}}, values, tolerance);
}

GRAZE_MODEL(equations) {
  ModelInfo info;
  info.name = "equations";
  info.meaning =
      "A system of one's own, in equations: coordinates with a mass matrix and forces, first-order states, "
      "rigid and compliant contacts, dry friction.";
  info.equations =
      "M(q, t) q'' = force(q, q', p, t), p' = rate(q, q', p, t)\n"
      "rigid contact: gap(q, t) >= 0; impact: the gap's rate -> -restitution times itself, by an impulse "
      "along M^-1 dgap/dq\n"
      "compliant contact: while depth = -gap is positive a force along dgap/dq, preload + stiffness depth + "
      "damping depth' or normal_force(depth, depth', ...), until it vanishes (release)\n"
      "friction: a force amplitude sgn(slip) against slip, at rest anything up to that or to static; of a "
      "contact with the amplitude mu times its force\n"
      "impact with mu, per normal impulse: a tangential one mu sgn(slip) against slip, that which keeps it "
      "at "
      "rest where mu is enough; the impulse of restitution is restitution times that of compression";
  info.citations = {
      "Han Wei, Hu Haiyan, Jin Dongping: Analysis of oblique impact of a vibrating system of two degrees of "
      "freedom "
      "(impact with friction)",
      "Brogliato: Nonsmooth Mechanics, 3rd edition, Springer 2016 (Newton's law with several contacts)"};
  info.keys = typed_keys();
  info.states = {{"x", "1", "a coordinate, as named in the case file"},
                 {"x_dot", "1", "its velocity, x' in expressions; and so on, then the first-order states"}};
  info.contacts = {{"1", "1", "first contact; and so on, or by name"}};
  info.example = R"toml(# A Duffing oscillator at a wall. Each number may be an expression.
# Also: zeta = { value = 0.02, min = 0, meaning = "damping ratio" }
parameters = { zeta = 0.02, alpha = 0.5, F = 1.0, omega = 0.9, position = 0.8, r = 0.7 }
coordinates = ["x"]  # x' is the velocity of x; the states are x and x_dot
definitions = { spring = "x + alpha*x^3" }
force = { x = "F*cos(omega*t) - 2*zeta*x' - spring" }
# mass = [["1"]]  # mass matrix; it may depend on the coordinates
# states = ["p"]  # first-order states, with rate = { p = "-p" }
period = "2*pi/omega"  # of the forcing; left out: no forcing

# One table for each contact, open where the gap is positive.
[[model.contact]]
name = "wall"
gap = "position - x"
restitution = "r"
# Instead of restitution, a compliant contact: a spring, or any law of depth = -gap.
# stiffness = 30
# damping = 0.5
# normal_force = "200*depth^1.5*(1 + 0.1*depth')"

# One table for each dry friction.
# [[model.friction]]
# name = "ground"
# slip = "x'"  # sliding speed
# amplitude = 0.1
)toml";
  info.modes = typed_modes;
  info.make = [](const Value& table) -> std::shared_ptr<const Model> {
    return std::make_shared<TypedModel>(table);
  };
  return info;
}

}  // namespace graze
