#include "core/models/equations/odeint_system.hpp"

#include <utility>

#include "core/models/equations/typed_equations.hpp"
#include "core/smooth/compliant_system.hpp"
#include "core/smooth/newton_system.hpp"
#include "core/smooth/odeint_flow.hpp"

namespace graze {

template <class S>
struct OdeintEquations : TypedEquations<S> {
  using TypedEquations<S>::TypedEquations;
  template <class Dynamics>
  using OwnFlow = OdeintFlow<S, Dynamics>;
  /// Not for the lanes, which move by power series.
  const MotionProgram* motion_program() const { return nullptr; }
};

std::unique_ptr<System> odeint_system(std::shared_ptr<const TypedSystem> system,
                                      std::span<const double> values, const Tolerance& tolerance) {
  if (!system->only_impacts()) {
    using Compliant = CompliantKind<OdeintEquations, std::shared_ptr<const TypedSystem>>;
    return std::make_unique<TaylorSystem<Compliant>>(Compliant{{{std::move(system)}}}, values, tolerance);
  }
  using Kind = SmoothKind<OdeintEquations, std::shared_ptr<const TypedSystem>>;
  return std::make_unique<TaylorSystem<Kind>>(Kind{{std::move(system)}}, values, tolerance);
}

}  // namespace graze
