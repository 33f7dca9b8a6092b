#include "pipeline/sealer.hpp"

#include <new>

#include "base/current_exception.hpp"
#include "base/lap_timer.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"

namespace xtts::pipeline {

Sealer::Sealer(store::CacheFolder& folder, store::Journal* journal)
    : folder_(folder), journal_(journal), thread_([this] { run(); }) {}

Sealer::~Sealer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Status Sealer::submit(SealJob job) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !job_ || !failure_.ok(); });
  if (!failure_.ok()) return failure_;
  job_ = std::move(job);
  lock.unlock();
  changed_.notify_all();
  return {};
}

Result<std::vector<store::JournalShard>> Sealer::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !job_; });
  if (!failure_.ok()) return failure_;
  return std::move(sealed_);
}

double Sealer::busy_seconds() {
  const std::lock_guard lock(mutex_);
  return busy_s_;
}

Status Sealer::seal(SealJob& job) {
  for (SealImage& one : job.images) {
    XTTS_ASSIGN(const auto finished, one.image->finish());
    XTTS_ASSIGN(auto sealed, folder_.seal(one.column, one.ordinal, finished));
    job.entry.sealed.push_back(std::move(sealed));
    one.image.reset();
  }
  if (journal_ != nullptr) XTTS_TRY(journal_->append(job.entry));
  const std::lock_guard lock(mutex_);
  sealed_.push_back(std::move(job.entry));
  return {};
}

// Turns an exception into a failure, for it would end the whole run. Only memory may throw here.
Status Sealer::seal_or_fail(SealJob& job) {
  try {
    try {
      return seal(job);
    } catch (const std::bad_alloc&) {
      return {StatusCode::kResource, "out of memory: run again with a lower " + option("memory")};
    }
  } catch (...) {  // memory may be short for the message too
    return status_of_current_exception();
  }
}

void Sealer::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return job_ || stopping_; });
    if (!job_) return;
    lock.unlock();
    // No other thread touches job_ while it is set: submit() waits until it is empty.
    LapTimer timer;
    Status status = seal_or_fail(*job_);
    lock.lock();
    busy_s_ += seconds_of(timer.lap());
    if (failure_.ok()) failure_ = std::move(status);
    job_.reset();
    changed_.notify_all();
  }
}

}  // namespace xtts::pipeline
