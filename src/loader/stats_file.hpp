// StatsFile: a reader's counters in a small file, once a second, for `xtts-precompute monitor`.
//
// The environment variable XTTS_READER_STATS names a folder; without it, nothing is written. The
// file is FOLDER/reader-PID-N.json. It is replaced atomically and removed at the end. A file that
// cannot be written never disturbs the reader: nothing is said. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace xtts::loader {

class StatsFile {
 public:
  struct Counts {
    std::uint64_t batches = 0;
    std::uint64_t samples = 0;
    std::uint64_t bytes = 0;
    double consumer_wait_s = 0.0;
  };

  // Null: nobody asked.
  [[nodiscard]] static std::unique_ptr<StatsFile> open_if_asked();
  ~StatsFile();
  StatsFile(const StatsFile&) = delete;
  StatsFile& operator=(const StatsFile&) = delete;

  [[nodiscard]] bool is_due(std::chrono::steady_clock::time_point now) const noexcept {
    return now >= next_;
  }
  void write(std::chrono::steady_clock::time_point now, const Counts& counts);

 private:
  explicit StatsFile(std::string path);

  const std::string path_;
  const std::uint32_t forks_;  // a forked child leaves the parent's file alone
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace xtts::loader
