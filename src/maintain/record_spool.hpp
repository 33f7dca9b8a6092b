// RecordSpool: the records that a shard in the making was given, on disk (cache-v1.md, section 10).
// Who computes a column may need hours for a shard of it: a crash costs the last seconds instead.
//
// A file for each shard, `.build/records-N`, removed once the shard is sealed. Synced every few
// seconds; what does not read back right, and all behind it, was never put. One thread at a time.
// Failures: kResource.
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

  // `owner`: what tells this addition from others.
  RecordSpool(Env& env, const std::string& cache, const Digest& owner);

  // Of this shard from now on: gives `put` the records that are there already, at most so many.
  [[nodiscard]] Status begin(std::uint64_t shard, std::uint64_t record_count_max, const Put& put);
  [[nodiscard]] Status append(std::span<const std::byte> rows);
  // The shard is sealed.
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
