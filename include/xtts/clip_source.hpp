// ClipSource provides clips whose records are computed while a Reader reads them.
// RuntimeClips::source() (runtime.hpp) makes one, Reader::open() (batch.hpp) takes it. So the
// reader's library needs no code that computes, and the builder's none that reads.
//
//   auto clips = xtts::RuntimeClips::open({.data = "./data"});
//   auto reader = xtts::Reader::open(clips->source(), {.batch_size = 32});
//
// Texts here have formats of the cache (formats/cache-v1.md), so that both libraries read them
// alike in any version. Any number of threads may call all members at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/record_rows.hpp"
#include "xtts/status.hpp"

namespace xtts {

// A clip's numbers in the manifest's tables; -1: unknown.
struct SourceClip {
  std::int32_t speaker = -1;
  std::int32_t language = -1;
  std::uint32_t dataset = 0;
  std::uint8_t split = 0;  // 0 train, 1 validation, 2 test
};

// One computed clip.
struct SourceRecord {
  std::string reject = {};  // why the clip has no record, in words; then ignore the rest
  std::vector<RecordRows> columns = {};  // in the manifest's order
  std::uint32_t frame_count = 0;
  std::uint32_t token_count = 0;
  std::uint8_t flags = 0;  // as in the index: sound or text was cut, there are warnings
};

class ClipSource {
 public:
  virtual ~ClipSource() = default;

  // The folder, for messages.
  [[nodiscard]] virtual const std::string& path() const = 0;
  // 32 hexadecimal digits: a digest of everything that determines the records.
  [[nodiscard]] virtual std::string digest() const = 0;
  // The manifest that a cache of these clips would have, without shards and index (§9).
  [[nodiscard]] virtual Result<std::string> manifest() const = 0;
  // The default number of threads that compute at once.
  [[nodiscard]] virtual std::uint32_t thread_count() const = 0;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  // Positions are below size().
  [[nodiscard]] virtual SourceClip clip(std::uint64_t position) const = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> find(std::string_view id) const = 0;
  // The facts about a clip that are known before its sound is decoded (§6).
  [[nodiscard]] virtual std::string facts(std::uint64_t position) const = 0;

  // Computes a clip in the calling thread; reuses the memory of `record`. `facts` receives all
  // facts that are known then. A rejected clip is not a failure.
  [[nodiscard]] virtual Status compute(std::uint64_t position, SourceRecord& record,
                                       std::string* facts = nullptr) const = 0;

  // Positions of the clips found to have no record, in any caller's calls; ascending. Failures of
  // the environment may be over by now and are not included.
  [[nodiscard]] virtual std::vector<std::uint64_t> rejected() const = 0;
  // kTooManyRejects: more clips are faulty than allowed.
  [[nodiscard]] virtual Status check_rejects() const = 0;
};

}  // namespace xtts
