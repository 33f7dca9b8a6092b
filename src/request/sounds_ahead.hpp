// SoundsAhead: makes the sounds of clips on threads of its own, before they are asked for, in the
// order in which they will be.
//
// It looks ahead as long as each unit (one clip, or clips that are used together) is asked for
// after the one before: first a few clips, then up to kClipsAheadMax for each thread. After a unit
// that nobody wanted it begins anew with none, so that a caller who wants few clips pays for few.
// A clip that nobody has begun is made in the calling thread. So it needs no thread at all.
//
// Synchronised inside: any number of threads may ask. Threads start at the first call that looks
// ahead, and the destructor waits for them. Memory: sounds that wait to be asked for, up to
// `bytes_max` and one for each thread. A failure of `make` is that clip's alone.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::request {

class SoundsAhead {
 public:
  static constexpr std::size_t kClipsAheadMax = 8;  // for each thread

  struct Options {
    std::uint32_t thread_count = 1;
    std::size_t clips_together = 1;  // the size of a unit
    std::uint64_t bytes_max = std::uint64_t{256} << 20U;
  };
  // Makes the sound of a position. Any thread.
  using Make = std::function<Result<std::vector<float>>(std::uint64_t position)>;

  // `positions` are ascending.
  SoundsAhead(Make make, std::vector<std::uint64_t> positions, const Options& options);
  ~SoundsAhead();
  SoundsAhead(const SoundsAhead&) = delete;
  SoundsAhead& operator=(const SoundsAhead&) = delete;

  // Gives the sound of a position, also of one that was not expected or was given already.
  [[nodiscard]] Result<std::vector<float>> get(std::uint64_t position);

 private:
  struct Sound {
    bool is_ready = false;
    std::optional<Result<std::vector<float>>> made;  // not set: in work, or given already
  };

  void run() noexcept;
  void make_sounds();
  void look_ahead(std::size_t index);
  void start_threads();
  [[nodiscard]] bool may_begin();
  [[nodiscard]] Result<std::vector<float>> make_or_fail(std::uint64_t position) const noexcept;
  // Puts down what was made; call it with the lock.
  void put(std::size_t index, Result<std::vector<float>> made);

  const Make make_;
  const std::vector<std::uint64_t> positions_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, Sound> sounds_;  // of the present unit and later, by index in positions_
  std::optional<std::size_t> unit_;      // the unit that was asked for last
  std::size_t clips_ahead_ = 0;
  std::size_t next_ = 0;  // what the threads begin next
  std::size_t end_ = 0;   // where they stop
  std::uint64_t waiting_bytes_ = 0;
  bool is_stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace xtts::request
