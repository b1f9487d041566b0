#include "drivers/run/ranks.hpp"

#include <cstdlib>

#include "core/settings/value.hpp"

namespace graze {
namespace {

class Alone final : public Ranks {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::size_t draw() override { return next_++; }
  std::size_t add(std::size_t points) override { return sum_ += points; }
  void meet() override {}
  int tell(int value) override { return value; }

 private:
  std::size_t next_ = 0;
  std::size_t sum_ = 0;
};

/// Open MPI's mpirun and Slurm's srun --mpi=pmix tell their processes so.
bool is_started_as_rank() {
  return std::getenv("OMPI_COMM_WORLD_RANK") != nullptr || std::getenv("PMIX_RANK") != nullptr;
}

}  // namespace

Exit with_ranks(const std::function<Exit(Ranks&)>& action) {
  if (is_started_as_rank()) {
#ifdef GRAZE_MPI
    return with_mpi_ranks(action);
#else
    throw InputError(
        "started by mpirun, but built without MPI: build with the preset mpi, or give every process a "
        "--shard of its own");
#endif
  }
  Alone alone;
  return action(alone);
}

}  // namespace graze
