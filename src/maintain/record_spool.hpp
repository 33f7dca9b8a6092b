// RecordSpool: keeps on disk the records that an unfinished shard has received (cache-v1.md,
// section 10). Computing a shard of a column may take hours; with the spool, a crash loses only the
// last seconds.
//
// Each shard has a file, `.build/records-N`, which is removed once the shard is sealed. It is
// synced every few seconds. A record that does not read back right counts as never put, as do all
// after it. One thread at a time. Failures: kResource.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/env.hpp"
#include "base/hash.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

class RecordSpool {
 public:
  using Put = std::function<Status(std::span<const std::byte> rows)>;

  // `owner` tells this addition from others.
  RecordSpool(Env& env, const std::string& cache, const Digest& owner);

  // Begins a shard: gives `put` the records that are there already, at most `record_count_max`.
  [[nodiscard]] Status begin(std::uint64_t shard, std::uint64_t record_count_max, const Put& put);
  [[nodiscard]] Status append(std::span<const std::byte> rows);
  // Removes the file of a sealed shard.
  [[nodiscard]] Status remove(std::uint64_t shard);

 private:
  [[nodiscard]] std::string path_of(std::uint64_t shard) const;

  Env& env_;
  const std::string cache_;
  const Digest owner_;
  std::unique_ptr<WritableFile> file_;
  std::chrono::nanoseconds synced_at_{0};
};

}  // namespace xtts::maintain
