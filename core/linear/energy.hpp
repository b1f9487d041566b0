/// The energy of a linear system.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/contact/friction_mode.hpp"
#include "core/linear/mode.hpp"
#include "core/linear/system.hpp"
#include "core/system/energy.hpp"

namespace graze {

/// At a state in the order of models, at `time`, with the normal forces of all contacts there.
template <int D, int H, int C, int F>
Energy energy_of(const LinearSystem<double, D, H, C, F>& system, std::int64_t mode, double time,
                 const Eigen::VectorXd& x, const Eigen::VectorXd& normal_force) {
  const Eigen::Index n = system.mass.rows();
  const ModeLayout layout = layout_of(system);
  Eigen::VectorXd q(n), v(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    q(i) = x(2 * i);
    v(i) = x(2 * i + 1);
  }
  Energy e;
  const Eigen::VectorXd spring = system.stiffness * q, mirrored = system.stiffness.transpose() * q;
  e.motion = (v.dot(system.mass * v) + q.dot(spring)) / 2;
  e.damping_power = v.dot(system.damping * v);
  e.force_power = v.dot(system.constant) - v.dot(spring - mirrored) / 2;
  for (Eigen::Index j = 0; j < system.frequency.size(); ++j) {
    const double phase = system.frequency(j) * time;
    e.force_power +=
        v.dot(system.cosine.col(j)) * std::cos(phase) + v.dot(system.sine.col(j)) * std::sin(phase);
  }
  if constexpr (may_comply<C>) {
    for (int i = 0; i < static_cast<int>(layout.springs); ++i) {
      const double k = system.stop_stiffness(i), c = system.stop_damping(i);
      if (layout.spring(mode, i) == Spring::engaged) {
        const double depth = system.normal.col(i).dot(q) - system.position(i);
        const double rate = system.normal.col(i).dot(v);
        e.stops += (system.preload(i) + k * depth / 2) * depth;
        e.stop_power += c * rate * rate;
      } else if (system.has_plate(i)) {  // on its way back
        const double z = x(system.plate(i));
        e.stops += k * z * z / 2;
        e.stop_power += k * system.relaxation(i) * z * z;
      }
    }
  }
  if constexpr (F != 0) {
    for (int k = 0; k < static_cast<int>(layout.frictions); ++k) {
      const Sliding sliding = layout.sliding(mode, k);
      if (!at_bound(sliding)) continue;
      const int on = system.stop_of(k);
      const double force = system.friction(k) * (on < 0 ? 1 : normal_force(on));
      e.friction_power += force * sign_of(sliding) * system.sliding.col(k).dot(v);
    }
  }
  return e;
}

}  // namespace graze
