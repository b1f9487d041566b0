/// The same work with CVODE of SUNDIALS: Adams method, its own rootfinding on the gaps, a fresh start after
/// each impact.
#pragma once

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_nonlinearsolver.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include "tests/bench/work.hpp"

namespace graze::bench {

template <class Oscillator>
class CvodePeer {
 public:
  explicit CvodePeer(const Oscillator& oscillator)
      : oscillator_(oscillator), period_(forcing_period(oscillator)) {
    SUNContext context = nullptr;
    check(SUNContext_Create(nullptr, &context), "SUNContext_Create");
    context_.reset(context);
    vector_.reset(N_VNew_Serial(static_cast<sunindextype>(Oscillator::states), context));
    const State start = Oscillator::start();
    std::copy(start.begin(), start.end(), data(vector_.get()));
    cvode_.reset(CVodeCreate(CV_ADAMS, context));
    if (!vector_ || !cvode_) throw std::runtime_error("CVODE: out of memory");
    check(CVodeInit(cvode_.get(), &right_hand_side, 0.0, vector_.get()), "CVodeInit");
    check(CVodeSStolerances(cvode_.get(), tolerance, tolerance), "CVodeSStolerances");
    check(CVodeSetUserData(cvode_.get(), &oscillator_), "CVodeSetUserData");
    check(CVodeSetMaxNumSteps(cvode_.get(), 100000), "CVodeSetMaxNumSteps");
    solver_.reset(SUNNonlinSol_FixedPoint(vector_.get(), 0, context));
    if (!solver_) throw std::runtime_error("CVODE: out of memory");
    check(CVodeSetNonlinearSolver(cvode_.get(), solver_.get()), "CVodeSetNonlinearSolver");
    check(CVodeRootInit(cvode_.get(), static_cast<int>(Oscillator::contacts), &gaps), "CVodeRootInit");
    std::array<int, Oscillator::contacts> closing;
    closing.fill(-1);
    check(CVodeSetRootDirection(cvode_.get(), closing.data()), "CVodeSetRootDirection");
    check(CVodeSetNoInactiveRootWarn(cvode_.get()), "CVodeSetNoInactiveRootWarn");
  }
  CvodePeer(const CvodePeer&) = delete;  // CVODE points to the oscillator here
  CvodePeer& operator=(const CvodePeer&) = delete;

  Orbit run() {
    Orbit orbit;
    for (int period = 1; period <= dropped_periods + recorded_periods;) {
      const bool recorded = period > dropped_periods;
      double time = 0;
      const int flag = CVode(cvode_.get(), period * period_, vector_.get(), &time, CV_NORMAL);
      if (flag == CV_ROOT_RETURN) {
        ++orbit.impacts;
        if (recorded) ++orbit.recorded_impacts;
        restart(time);
        continue;
      }
      check(flag, "CVode");
      const double* y = data(vector_.get());
      if (recorded) orbit.points.insert(orbit.points.end(), y, y + Oscillator::states);
      ++period;
    }
    return orbit;
  }

 private:
  using State = typename Oscillator::State;
  struct Release {
    void operator()(SUNContext context) const { SUNContext_Free(&context); }
    void operator()(N_Vector vector) const { N_VDestroy(vector); }
    void operator()(SUNNonlinearSolver solver) const { SUNNonlinSolFree(solver); }
    void operator()(void* cvode) const { CVodeFree(&cvode); }
  };
  template <class Pointer>
  using Owner = std::unique_ptr<std::remove_pointer_t<Pointer>, Release>;

  static void check(int flag, const char* call) {
    if (flag < 0) throw std::runtime_error(std::string(call) + " returned " + std::to_string(flag));
  }
  static double* data(N_Vector vector) { return N_VGetArrayPointer(vector); }
  static State state(N_Vector vector) {
    State y;
    std::copy_n(data(vector), y.size(), y.begin());
    return y;
  }

  static int right_hand_side(double t, N_Vector y, N_Vector rate, void* user) {
    State slope;
    (*static_cast<const Oscillator*>(user))(state(y), slope, t);
    std::copy(slope.begin(), slope.end(), data(rate));
    return 0;
  }
  static int gaps(double, N_Vector y, double* gap, void* user) {
    const State now = state(y);
    for (std::size_t i = 0; i < Oscillator::contacts; ++i) {
      gap[i] = static_cast<const Oscillator*>(user)->gap(i, now);
    }
    return 0;
  }

  void restart(double time) {
    std::array<int, Oscillator::contacts> closed;
    check(CVodeGetRootInfo(cvode_.get(), closed.data()), "CVodeGetRootInfo");
    State y = state(vector_.get());
    for (std::size_t i = 0; i < Oscillator::contacts; ++i) {
      if (closed[i] != 0) oscillator_.hit(i, y);
    }
    std::copy(y.begin(), y.end(), data(vector_.get()));
    check(CVodeReInit(cvode_.get(), time, vector_.get()), "CVodeReInit");
  }

  Oscillator oscillator_;
  double period_;
  // Freed in reverse order, the context last.
  Owner<SUNContext> context_;
  Owner<N_Vector> vector_;
  Owner<SUNNonlinearSolver> solver_;
  std::unique_ptr<void, Release> cvode_;
};

}  // namespace graze::bench
