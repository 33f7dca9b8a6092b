// ReadAhead: for disks that seek. One thread reads the sources of the next clips into the system's
// page cache, in the order of their paths, which is mostly their order on the disk. A worker waits
// until the source of its clip has been read. So the disk's heads move one way, however many
// workers there are.
//
// Synchronised inside. Reads a window of kWindowBytes beyond the one in work. It passes over a
// source that it cannot read: the clip's worker meets the failure.
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
#include "pipeline/build_plan.hpp"

namespace xtts::pipeline {

class ReadAhead {
 public:
  static constexpr std::uint64_t kWindowBytes = std::uint64_t{128} << 20U;

  // Reads the sources of `plan.to_compute` from `first` on. The plan must outlive the object.
  // `is_cancelled` is called on any thread; once it returns true, no worker waits any more.
  ReadAhead(Env& env, const BuildPlan& plan, std::size_t first, std::function<bool()> is_cancelled,
            std::uint64_t window_bytes = kWindowBytes);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // `place` is the clip's place in plan.to_compute.
  void wait_for(std::size_t place);

 private:
  void run();
  void read_windows();
  void read(const corpus::SourcePlace& place);
  // Lists the sources of the window that begins at `first`, sorted, and returns the window's end.
  std::size_t list_window(std::size_t first, std::vector<corpus::SourcePlace>& places);
  [[nodiscard]] bool is_stopped();

  Env& env_;
  const BuildPlan& plan_;
  const std::function<bool()> is_cancelled_;
  const std::uint64_t window_bytes_;
  std::unordered_set<std::string> shared_;  // sources of segments that have been read
  std::vector<std::byte> buffer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t wanted_ = 0;  // the furthest place asked for
  std::size_t ready_ = 0;   // all before it have been read
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace xtts::pipeline
