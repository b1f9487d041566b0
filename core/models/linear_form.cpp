#include "core/models/linear_form.hpp"

#include "core/linear/family.hpp"

namespace graze {
namespace {

constexpr int dynamic = Eigen::Dynamic;

/// What the linear family asks for, with any scalar; of these sizes, fewer contacts allowed.
template <int Dofs, int Harmonics, int Contacts, int Frictions>
struct Equations {
  std::shared_ptr<const LinearForm> shared;

  template <class S>
  LinearSystem<S, Dofs, Harmonics, Contacts, Frictions> operator()(std::span<const S> parameters) const {
    const LinearForm& form = *shared;
    std::vector<S> values;
    evaluate_fixed(form.operations, parameters.data(), values);
    const auto at = [&](Fixed f) -> S { return values[static_cast<std::size_t>(f)]; };
    const auto all = [&](const auto& quantities) { return quantities.unaryExpr(at); };
    LinearSystem<S, Dofs, Harmonics, Contacts, Frictions> s;
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
    const Eigen::Index contacts = form.position.size();
    s.normal.leftCols(contacts) = all(form.normal);
    s.position.head(contacts) = all(form.position);
    s.restitution.head(contacts) = all(form.restitution);
    if constexpr (may_comply<Contacts>) {
      if (!form.law.empty()) {
        s.law = form.law;
        s.stop_stiffness = all(form.stop_stiffness);
        s.stop_damping = all(form.stop_damping);
        s.preload = all(form.preload);
      }
    }
    if constexpr (Frictions != 0) {
      s.sliding = all(form.sliding);
      s.friction = all(form.friction);
      s.pressed_by = form.pressed_by;
    }
    return s;
  }
};

}  // namespace

std::unique_ptr<System> linear_system(std::shared_ptr<const LinearForm> form, std::span<const double> values,
                                      const Tolerance& tolerance) {
  // The sizes that core/linear/family compiles for themselves.
  const bool is_small = form->frequency.size() == 1 && form->position.size() <= 2 && form->law.empty();
  const Eigen::Index masses = is_small ? form->mass.rows() : 0, frictions = form->friction.size();
  if (masses == 1 && frictions == 0)
    return linear_family_system<1, 1, 2>(Equations<1, 1, 2, 0>{std::move(form)}, values, tolerance);
  if (masses == 2 && frictions == 0)
    return linear_family_system<2, 1, 2>(Equations<2, 1, 2, 0>{std::move(form)}, values, tolerance);
  if (masses == 2 && frictions == 3)
    return linear_family_system<2, 1, 2, 3>(Equations<2, 1, 2, 3>{std::move(form)}, values, tolerance);
  const Equations<dynamic, dynamic, dynamic, dynamic> equations{std::move(form)};
  return linear_family_system<dynamic, dynamic, dynamic, dynamic>(equations, values, tolerance);
}

}  // namespace graze
