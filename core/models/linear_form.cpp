#include "core/models/linear_form.hpp"

#include <utility>

#include "core/linear/family.hpp"

namespace graze {
namespace {

constexpr int dynamic = Eigen::Dynamic;

/// What the linear family asks for, with any scalar.
struct Equations {
  std::shared_ptr<const LinearForm> shared;

  template <class S>
  LinearSystem<S, dynamic, dynamic, dynamic, dynamic> operator()(std::span<const S> parameters) const {
    const LinearForm& form = *shared;
    std::vector<S> values;
    evaluate_fixed(form.operations, parameters.data(), values);
    const auto at = [&](Fixed f) -> S { return values[static_cast<std::size_t>(f)]; };
    const auto all = [&](const auto& quantities) { return quantities.unaryExpr(at); };
    LinearSystem<S, dynamic, dynamic, dynamic, dynamic> s;
    s.resize(form.mass.rows(), form.frequency.size(), form.position.size(), form.friction.size());
    s.mass = all(form.mass);
    s.damping = all(form.damping);
    s.stiffness = all(form.stiffness);
    s.constant = all(form.constant);
    s.frequency = all(form.frequency);
    s.cosine = all(form.cosine);
    s.sine = all(form.sine);
    s.base_frequency = at(form.base_frequency);
    s.commensurate = form.commensurate;
    s.normal = all(form.normal);
    s.position = all(form.position);
    s.restitution = all(form.restitution);
    if (!form.law.empty()) {
      s.law = form.law;
      s.stop_stiffness = all(form.stop_stiffness);
      s.stop_damping = all(form.stop_damping);
      s.preload = all(form.preload);
    }
    s.sliding = all(form.sliding);
    s.friction = all(form.friction);
    return s;
  }
};

}  // namespace

std::unique_ptr<System> linear_system(std::shared_ptr<const LinearForm> form, std::span<const double> values,
                                      const Tolerance& tolerance) {
  FrictionAmplitudes amplitudes;
  amplitudes.parameters = form->amplitudes;
  const Equations equations{std::move(form)};
  amplitudes.directions = equations(values).sliding;
  return linear_family_system<dynamic, dynamic, dynamic, dynamic>(equations, values, tolerance, amplitudes);
}

}  // namespace graze
