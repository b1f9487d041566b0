/// Whether equations are linear with constant coefficients and harmonic forces.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/equations/graph.hpp"
#include "core/models/linear_form.hpp"

namespace graze {

/// M q'' = force, gaps ≥ 0, in terms of inputs: t is input 0, coordinate i and its velocity are inputs 1 + 2i
/// and 2 + 2i.
struct Motions {
  /// Of a contact whose force is preload + stiffness depth + damping depth'; rigid: the others are not read.
  struct Contact {
    Expression gap;
    StopLaw law = StopLaw::rigid;
    bool is_linear = true;  ///< false: it has another law
    Fixed restitution{}, stiffness{}, damping{}, preload{};
  };
  struct Friction {
    Expression slip;
    /// Share of the force of `contact`, or where that is −1 the amplitude; nothing: it is not the same all
    /// the time, or another one at rest.
    std::optional<Fixed> factor;
    int contact = -1;
  };

  std::vector<std::vector<Expression>> mass;
  std::vector<Expression> force;
  std::vector<Contact> contacts;
  std::vector<Friction> frictions;
  std::optional<Fixed> period;
};

/// What the linear family is to be given; nullptr where it has no place. Harmonics must be seen to be whole
/// multiples of the forcing frequency.
std::shared_ptr<LinearForm> linear_form(Graph& graph, const Motions& motions);

}  // namespace graze
