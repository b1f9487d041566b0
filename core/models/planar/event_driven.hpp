/// The event-driven engine of core/planar_friction: power series from event to event.
#pragma once

#include "core/models/planar/motion.hpp"
#include "core/smooth/motion.hpp"

namespace graze {

/// Steps are as long as the series allow; all events are located as zeros of the series. A free slide runs on
/// a clock of its own, its start from rest is a series in time.
template <class S>
class EventDrivenPlanar final
    : public TaylorMotion<EventDrivenPlanar<S>, PlanarRules<EventDrivenPlanar<S>, S>, S, PlanarFriction<S>> {
 public:
  using Rules = PlanarRules<EventDrivenPlanar, S>;
  using Base = TaylorMotion<EventDrivenPlanar, Rules, S, PlanarFriction<S>>;
  using Base::Base;
  static constexpr bool passes_contacts = true;
  using Rules::commensurate;

  const PlanarFriction<S>& planar() const { return this->dynamics(); }
};

}  // namespace graze
