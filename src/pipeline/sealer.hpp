// Sealer: a thread that writes, syncs and journals finished shards while the next one is computed.
// Each column has at most two images: one that waits or is being written, and one being filled.
// Synchronised inside. The first failure is kept, and every later call returns it. The destructor
// waits for submitted jobs.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "store/cache_folder.hpp"
#include "store/journal.hpp"
#include "store/shard_image.hpp"

namespace xtts::pipeline {

struct SealImage {
  std::string column;
  std::uint64_t ordinal = 0;  // of the shard in its column
  std::unique_ptr<store::ShardImage> image;
};

struct SealJob {
  std::vector<SealImage> images;  // of the same clips, one per column; empty if no clip is left
  store::JournalShard entry;      // completed with the sealed shards, then journalled
};

class Sealer {
 public:
  // `journal` may be null (for columns that are cheap to make again).
  Sealer(store::CacheFolder& folder, store::Journal* journal);
  ~Sealer();
  Sealer(const Sealer&) = delete;
  Sealer& operator=(const Sealer&) = delete;

  [[nodiscard]] Status submit(SealJob job);  // waits for the job before this one
  [[nodiscard]] Result<std::vector<store::JournalShard>>
  finish();  // all entries, in the order of submission
  [[nodiscard]] double busy_seconds();

 private:
  void run();
  [[nodiscard]] Status seal(SealJob& job);
  [[nodiscard]] Status seal_or_fail(SealJob& job);

  store::CacheFolder& folder_;
  store::Journal* journal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<SealJob> job_;  // waiting or in work
  bool stopping_ = false;
  Status failure_;
  std::vector<store::JournalShard> sealed_;
  double busy_s_ = 0.0;
  std::thread thread_;  // last: starts when all other members are ready
};

}  // namespace xtts::pipeline
