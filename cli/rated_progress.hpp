// RatedProgress: a progress line with a rate and the time that is left, for steps that tell how
// much is done. From any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "cli/progress_view.hpp"
#include "report/rate.hpp"

namespace xtts::cli {

class RatedProgress {
 public:
  // "verify 12 %  1.2 GB/10 GB  900 MB/s"; the time that is left comes behind it.
  using Describe = std::string (*)(std::uint64_t done, std::uint64_t total, double per_second);

  RatedProgress(Context& context, Describe describe);

  void update(std::uint64_t done, std::uint64_t total);
  void clear() { view_.clear(); }

 private:
  Context& context_;
  const Describe describe_;
  ProgressView view_;
  std::mutex mutex_;
  report::RateEstimator rate_;  // guarded by mutex_
};

}  // namespace xtts::cli
