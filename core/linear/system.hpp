/// A linear system with stops and dry friction: what a model of the linear family hands to the engine.
#pragma once

#include <Eigen/Core>
#include <limits>

namespace graze {

/// M q'' + C q' + K q = f + Σ_j (a_j cos Ω_j t + b_j sin Ω_j t) − Σ_k p_k λ_k,  gaps g_i = d_i − n_iᵀ q ≥ 0.
///
/// An impact of contact i at n_iᵀ q'⁻ > 0 obeys Newton's law n_iᵀ q'⁺ = −r_i n_iᵀ q'⁻. A contact with
/// d_i = inf does not exist. Coulomb friction k has a constant amplitude F_k: λ_k = F_k sgn s_k while it
/// slides, s_k = p_kᵀ q', and |λ_k| ≤ F_k while it sticks; with F_k = 0 it does not exist. Sizes may be
/// Eigen::Dynamic (all together); else a model may have fewer contacts: the last ones do not exist.
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
  Eigen::Matrix<S, Frictions, 1> friction;    ///< F_k ≥ 0
  S base_frequency{0};        ///< fundamental frequency that defines the forcing period; 0: autonomous
  bool commensurate = true;   ///< every Ω_j is a whole multiple of it
  Eigen::Index contacts = 0;  ///< of the model

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
    sliding.setZero(dofs, frictions);
    friction.setZero(frictions);
  }
};

}  // namespace graze
