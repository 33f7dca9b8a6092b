// ClipSource: clips whose records are computed while a Reader reads them: RuntimeClips::source()
// (runtime.hpp) gives one, Reader::open() (batch.hpp) takes it. So the reader's library needs none
// of what computes, and the builder's none of what reads.
//
//   auto clips = xtts::RuntimeClips::open({.data = "./data"});
//   auto reader = xtts::Reader::open(clips->source(), {.batch_size = 32});
//
// Texts in here are formats of the cache (formats/cache-v1.md), so that both libraries read them
// alike whatever their versions. All members may be called from any number of threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/status.hpp"

namespace xtts {

// Numbers of a clip, in the manifest's tables; -1: unknown.
struct SourceClip {
  std::int32_t speaker = -1;
  std::int32_t language = -1;
  std::uint32_t dataset = 0;
  std::uint8_t split = 0;  // 0 train, 1 validation, 2 test
};

// One computed clip.
struct SourceRecord {
  struct Column {
    std::uint32_t length = 0;     // of axis 0
    std::uint32_t fill_bits = 0;  // of what stands behind the true rows
    std::vector<std::byte> rows = {};
  };
  std::string reject = {};           // why it has no record, in words; nothing else counts then
  std::vector<Column> columns = {};  // as the manifest lists them
  std::uint32_t frame_count = 0;
  std::uint32_t token_count = 0;
  std::uint8_t flags = 0;  // of the index's row: sound or text was cut, there are warnings
};

class ClipSource {
 public:
  virtual ~ClipSource() = default;

  // The folder, for messages.
  [[nodiscard]] virtual const std::string& path() const = 0;
  // 32 hexadecimal digits: of all that decides the records.
  [[nodiscard]] virtual std::string digest() const = 0;
  // What a cache of these clips would say of itself: its manifest, without shards and index (§9).
  [[nodiscard]] virtual Result<std::string> manifest() const = 0;
  // Threads that should compute at once, where nobody says otherwise.
  [[nodiscard]] virtual std::uint32_t thread_count() const = 0;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  // Positions are below size().
  [[nodiscard]] virtual SourceClip clip(std::uint64_t position) const = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> find(std::string_view id) const = 0;
  // What is known of a clip before its sound is (§6).
  [[nodiscard]] virtual std::string facts(std::uint64_t position) const = 0;

  // Computes a clip, in the calling thread, and reuses the memory of `record`. With `facts`: all
  // that is known of it then. A clip that is rejected is no failure.
  [[nodiscard]] virtual Status compute(std::uint64_t position, SourceRecord& record,
                                       std::string* facts = nullptr) const = 0;

  // Clips that were found to have no record, whoever asked for them: ascending. What the
  // environment did may be over by now, and is not among them.
  [[nodiscard]] virtual std::vector<std::uint64_t> rejected() const = 0;
  // kTooManyRejects: more clips were found at fault than is allowed.
  [[nodiscard]] virtual Status check_rejects() const = 0;
};

}  // namespace xtts
