// Run: the state that the steps of one verify share. Synchronised inside; lives as long as
// verify_cache runs.
#pragma once

#include <atomic>
#include <string>

#include "base/env.hpp"
#include "store/builder_lease.hpp"
#include "verify/findings.hpp"
#include "verify/verify.hpp"

namespace xtts::verify {

// A failed read is a finding of its own, because the bytes may be sound although the disk is not.
[[nodiscard]] inline Finding failure(const std::string& file,
                                     std::optional<std::uint64_t> offset_bytes, Check check,
                                     const Status& status) {
  const bool damaged = status.code() == StatusCode::kCorrupt;
  return {.file = file,
          .offset_bytes = offset_bytes,
          .check = check,
          .outcome = damaged ? Outcome::kWrong : Outcome::kUnreadable,
          .expected = {"sound_bytes", "bytes whose check is right"},
          .found = {"status", status.message()},
          .remedy = damaged ? RemedyKind::kRepair : RemedyKind::kLookAtDisk};
}

class Run {
 public:
  Run(Env& env_in, std::string cache_in, const Options& options_in)
      : env(env_in),
        cache(std::move(cache_in)),
        options(options_in),
        findings(options_in.findings_max) {}

  [[nodiscard]] store::LeaseCallbacks lease_callbacks() const {
    return {.notice = options.notice, .cancelled = options.cancelled};
  }
  [[nodiscard]] bool cancelled() const { return options.cancelled && options.cancelled(); }
  [[nodiscard]] std::string path_of(std::string_view name) const { return join_path(cache, name); }

  void advance(std::uint64_t size_bytes) {
    const std::uint64_t done = bytes_done += size_bytes;
    if (options.progress) options.progress(done, bytes_total);
  }
  void add_failure(const std::string& file, Check check, const Status& status) {
    findings.add(failure(file, std::nullopt, check, status));
  }

  Env& env;
  const std::string cache;
  const Options& options;
  Findings findings;
  bool is_manifest_told = false;      // the reason for not making it again is reported
  std::string index_to_name;          // the likeliest index, without proof
  std::uint64_t lost_clip_count = 0;  // nothing makes their records again; told by a repair
  std::uint64_t clip_count = 0;       // of all; told with it
  std::atomic<std::uint64_t> bytes_done = 0;
  std::atomic<std::uint64_t> record_count = 0;
  std::uint64_t bytes_total = 0;
};

}  // namespace xtts::verify
