/// The ranks of an MPI run. The only file that knows MPI.
#include <fmt/format.h>
#define OMPI_SKIP_MPICXX
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include "core/settings/value.hpp"
#include "drivers/run/ranks.hpp"

namespace graze {
namespace {

using namespace std::chrono_literals;

class MpiRanks final : public Ranks {
 public:
  MpiRanks();
  ~MpiRanks() override;
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::size_t draw() override { return add_to(0, 1); }
  std::size_t add(std::size_t points) override { return add_to(1, points) + points; }
  void meet() override;
  int tell(int value) override;

 private:
  /// Adds to a counter in the memory of the first rank and returns what it was before.
  std::size_t add_to(MPI_Aint counter, std::size_t more);

  int rank_ = 0;
  int size_ = 1;
  std::int64_t* counters_ = nullptr;  // of the first rank: the next place, the points done
  MPI_Win window_ = MPI_WIN_NULL;
  std::mutex mutex_;  // held for every call: not all networks allow several at once
  std::atomic<bool> over_ = false;
  std::thread answer_;
};

MpiRanks::MpiRanks() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  constexpr int width = sizeof(std::int64_t);
  MPI_Win_allocate(is_first() ? 2 * width : 0, width, MPI_INFO_NULL, MPI_COMM_WORLD, &counters_, &window_);
  if (is_first()) std::fill_n(counters_, 2, 0);
  meet();
  MPI_Win_lock_all(0, window_);
  if (!is_first() || size_ == 1) return;
  // Over some networks the library answers one-sided calls only while the target is inside it, and the first
  // rank is busy with blocks.
  answer_ = std::thread([this] {
    while (!over_) {
      std::this_thread::sleep_for(1ms);
      const std::lock_guard lock(mutex_);
      int found = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
  });
}

MpiRanks::~MpiRanks() {
  meet();
  over_ = true;
  if (answer_.joinable()) answer_.join();
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

std::size_t MpiRanks::add_to(MPI_Aint counter, std::size_t more) {
  const std::lock_guard lock(mutex_);
  const auto addend = static_cast<std::int64_t>(more);
  std::int64_t before = 0;
  MPI_Fetch_and_op(&addend, &before, MPI_INT64_T, 0, counter, MPI_SUM, window_);
  MPI_Win_flush(0, window_);
  return static_cast<std::size_t>(before);
}

void MpiRanks::meet() {
  MPI_Request request = MPI_REQUEST_NULL;
  int all_here = 0;
  {
    const std::lock_guard lock(mutex_);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
  }
  while (all_here == 0) {
    {
      const std::lock_guard lock(mutex_);
      MPI_Test(&request, &all_here, MPI_STATUS_IGNORE);
    }
    if (all_here == 0) std::this_thread::sleep_for(1ms);
  }
}

int MpiRanks::tell(int value) {
  meet();  // so that nobody waits inside the library while others compute
  const std::lock_guard lock(mutex_);
  MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return value;
}

[[noreturn]] void end_all(Exit exit, const std::string& message) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // What is wrong in the first rank is mostly wrong in all: it says so, and ends the others meanwhile.
  if (rank > 0) std::this_thread::sleep_for(500ms);
  fmt::print(stderr, "graze: {}\n", message);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(exit));
  std::terminate();
}

Exit act(const std::function<Exit(Ranks&)>& action) {
  MpiRanks ranks;
  try {
    return static_cast<Exit>(ranks.tell(static_cast<int>(action(ranks))));
  } catch (const InputError& error) {
    end_all(Exit::wrong_input, error.what());
  } catch (const std::exception& error) {
    end_all(Exit::internal_error, error.what());
  }
}

}  // namespace

Exit with_mpi_ranks(const std::function<Exit(Ranks&)>& action) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  if (level < MPI_THREAD_SERIALIZED) {
    end_all(Exit::wrong_input, "this MPI library does not allow calls from several threads");
  }
  const Exit exit = act(action);
  MPI_Finalize();
  return exit;
}

}  // namespace graze
