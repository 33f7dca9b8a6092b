// ReadAhead: for disks that seek. One thread reads the sources of the next clips in the order of
// their paths, which is mostly that of the disk, into the system's page cache; who works on a clip
// waits until its source has been read. So the heads move one way, however many work.
//
// Synchronised inside. Reads a window of kWindowBytes beyond the one that is being worked on. A
// source that cannot be read is passed over: whoever works on its clip meets the failure.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "base/env.hpp"
#include "pipeline/plan.hpp"

namespace xtts::pipeline {

class ReadAhead {
 public:
  static constexpr std::uint64_t kWindowBytes = std::uint64_t{128} << 20U;

  // Of `plan.to_compute` from `first` on. The plan must outlive it. Once `is_cancelled` (called on
  // any thread) says so, nobody waits any more.
  ReadAhead(Env& env, const Plan& plan, std::size_t first, std::function<bool()> is_cancelled,
            std::uint64_t window_bytes = kWindowBytes);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // `place`: in plan.to_compute.
  void wait_for(std::size_t place);

 private:
  void run();
  void read_windows();
  void read(const corpus::SourcePlace& place);
  // The end of the window that begins at `first`, with its sources sorted.
  std::size_t list_window(std::size_t first, std::vector<corpus::SourcePlace>& places);
  [[nodiscard]] bool is_stopped();

  Env& env_;
  const Plan& plan_;
  const std::function<bool()> is_cancelled_;
  const std::uint64_t window_bytes_;
  std::unordered_set<std::string> shared_;  // sources of segments, read already
  std::vector<std::byte> buffer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t wanted_ = 0;  // the furthest place that was asked for
  std::size_t ready_ = 0;   // all before it have been read
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace xtts::pipeline
