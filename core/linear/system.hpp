/// A linear system with stops and dry friction: what a model of the linear family hands to the engine.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/system/compliant_stop.hpp"

namespace graze {

/// Compliant stops are compiled in only where the number of contacts is not fixed.
template <int Contacts>
inline constexpr bool may_comply = Contacts == Eigen::Dynamic;
template <int Contacts>
inline constexpr int compliant_size = may_comply<Contacts> ? Eigen::Dynamic : 0;

/// M q'' + C q' + K q = f + Σ_j (a_j cos Ω_j t + b_j sin Ω_j t) − Σ_k p_k λ_k,  gaps g_i = d_i − n_iᵀ q ≥ 0.
///
/// An impact of contact i at n_iᵀ q'⁻ > 0 obeys Newton's law n_iᵀ q'⁺ = −r_i n_iᵀ q'⁻. A contact with
/// d_i = inf does not exist. Coulomb friction k has a constant amplitude F_k: λ_k = F_k sgn s_k while it
/// slides, s_k = p_kᵀ q', and |λ_k| ≤ F_k while it sticks; with F_k = 0 it does not exist. Friction on a
/// compliant stop i has F_k = μ_k F_i while this is engaged.
///
/// A compliant stop has no impacts: engaged, at the penetration δ = n_iᵀ q − d_i, it acts on the body with
/// the force −n_i F_i, F_i = P_i + k_i δ + c_i δ'. A body at rest on its abutment, δ = δ' = 0, is held by 0 ≤
/// F_i ≤ P_i. Released at δ > 0, it engages again only after δ has come back to zero.
///
/// A relaxing plate is massless: z_i = δ while engaged, c_i z_i' + k_i z_i = 0 from the release on (c_i > 0,
/// P_i = 0). Its gap is z_i − δ; where that closes it is engaged again. The z_i are states, after q and q'.
///
/// Sizes may be Eigen::Dynamic (all together); else a model may have fewer contacts: the last ones do not
/// exist.
template <class S, int Dofs, int Harmonics, int Contacts, int Frictions = 0>
struct LinearSystem {
  Eigen::Matrix<S, Dofs, Dofs> mass;          ///< M, symmetric positive definite
  Eigen::Matrix<S, Dofs, Dofs> damping;       ///< C, any
  Eigen::Matrix<S, Dofs, Dofs> stiffness;     ///< K, any
  Eigen::Matrix<S, Dofs, 1> constant;         ///< f
  Eigen::Matrix<S, Harmonics, 1> frequency;   ///< Ω_j > 0, 1/time
  Eigen::Matrix<S, Dofs, Harmonics> cosine;   ///< a_j in columns
  Eigen::Matrix<S, Dofs, Harmonics> sine;     ///< b_j in columns
  Eigen::Matrix<S, Dofs, Contacts> normal;    ///< n_i in columns, towards the stop
  Eigen::Matrix<S, Contacts, 1> position;     ///< d_i
  Eigen::Matrix<S, Contacts, 1> restitution;  ///< r_i in [0, 1]
  Eigen::Matrix<S, Dofs, Frictions> sliding;  ///< p_k in columns
  Eigen::Matrix<S, Frictions, 1> friction;    ///< F_k ≥ 0, or μ_k
  std::vector<int> pressed_by;  ///< of each friction the stop it is on, −1: none; empty: none is on one
  std::vector<StopLaw> law;     ///< of each contact; empty: all are rigid
  Eigen::Matrix<S, compliant_size<Contacts>, 1> stop_stiffness;  ///< k_i > 0; of rigid stops not read
  Eigen::Matrix<S, compliant_size<Contacts>, 1> stop_damping;    ///< c_i ≥ 0
  Eigen::Matrix<S, compliant_size<Contacts>, 1> preload;         ///< P_i ≥ 0
  S base_frequency{0};        ///< fundamental frequency that defines the forcing period; 0: autonomous
  bool commensurate = true;   ///< every Ω_j is a whole multiple of it
  Eigen::Index contacts = 0;  ///< of the model

  /// Whether contact i is a compliant stop.
  bool compliant(Eigen::Index i) const { return !law.empty() && law_of(i) != StopLaw::rigid; }
  /// The compliant stop that friction k is on; −1: its force is constant.
  int stop_of(Eigen::Index k) const {
    return pressed_by.empty() ? -1 : pressed_by[static_cast<std::size_t>(k)];
  }
  StopLaw law_of(Eigen::Index i) const { return law[static_cast<std::size_t>(i)]; }
  /// Whether some contact is.
  bool any_compliant() const {
    return std::any_of(law.begin(), law.end(), [](StopLaw l) { return l != StopLaw::rigid; });
  }
  bool has_plate(Eigen::Index i) const { return !law.empty() && law_of(i) == StopLaw::relaxing_plate; }
  bool has_plates() const { return plates_before(law.end()) > 0; }
  /// Place of z_i among the states.
  Eigen::Index plate(Eigen::Index i) const { return 2 * mass.rows() + plates_before(law.begin() + i); }
  Eigen::Index states() const { return 2 * mass.rows() + plates_before(law.end()); }
  /// k_i/c_i, the rate at which it goes back.
  S relaxation(Eigen::Index i) const { return stop_stiffness(i) / stop_damping(i); }

  /// Everything zero; contacts up to the size that the model does not have, nowhere.
  void resize(Eigen::Index dofs, Eigen::Index harmonics, Eigen::Index own_contacts,
              Eigen::Index frictions = 0) {
    contacts = own_contacts;
    const Eigen::Index places = Contacts == Eigen::Dynamic ? contacts : Contacts;
    mass.setZero(dofs, dofs);
    damping.setZero(dofs, dofs);
    stiffness.setZero(dofs, dofs);
    constant.setZero(dofs);
    frequency.setZero(harmonics);
    cosine.setZero(dofs, harmonics);
    sine.setZero(dofs, harmonics);
    normal.setZero(dofs, places);
    position.setZero(places);
    position.tail(places - contacts).setConstant(S(std::numeric_limits<double>::infinity()));
    restitution.setZero(places);
    if constexpr (may_comply<Contacts>) {
      stop_stiffness.setZero(places);
      stop_damping.setZero(places);
      preload.setZero(places);
    }
    sliding.setZero(dofs, frictions);
    friction.setZero(frictions);
  }

 private:
  Eigen::Index plates_before(std::vector<StopLaw>::const_iterator end) const {
    return std::count(law.begin(), end, StopLaw::relaxing_plate);
  }
};

}  // namespace graze
