// SharedSources: the sound of sources that contain several clips. The first clip that asks gets its
// source decoded into a scratch file (mixed to one channel, at the source's own rate). All other
// clips cut their parts out of that file. So one decode serves all clips in any order, and a part
// equals, to the sample, a cut of the whole.
//
// Synchronised inside: a thread that asks for a source which another thread decodes waits for it. A
// source is freed when its last clip has asked. Disk: 4 bytes a sample. Beyond kDiskBytesMax, the
// source that was asked for longest ago is freed, and decoded again at need. Scratch files have no
// names, so none outlives the process.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"
#include "base/hash.hpp"
#include "base/scratch_file.hpp"
#include "formats/rules.hpp"
#include "xtts/status.hpp"

namespace xtts::records {

// The facts that decoding a source for its first clip found out.
struct SourceSound {
  Digest content_digest;
  audio::SourceFacts facts;
};

// Why a source has no sound: the failure, and the rule that is broken if the source's bytes are at
// fault. All clips of the source get the same failure.
struct SourceFailure {
  Status status;
  formats::Rule rule = formats::Rule::kDecodeFailed;
  std::optional<audio::ExceededLimit> exceeded_limit = {};
};

// The sound itself, float32 by frames. Its file is freed with the last holder.
struct SharedSound {
  SourceSound source;
  std::unique_ptr<const ScratchFile> samples;
  std::uint64_t size_bytes = 0;

  [[nodiscard]] Status read(std::uint64_t first_frame, std::span<float> out) const;
};

class SharedSources {
 public:
  static constexpr std::uint64_t kDiskBytesMax = std::uint64_t{8} << 30U;

  // `clip_counts`: the clips of each source, by its path. `folder`: for the scratch files.
  SharedSources(Env& env, std::string folder,
                std::unordered_map<std::string, std::uint32_t> clip_counts,
                std::uint64_t disk_bytes_max = kDiskBytesMax);

  // From now on, `clip_count` clips of the source will ask, whatever was said before. UINT32_MAX:
  // not known how many; the source stays while there is room.
  void expect(const std::string& path, std::uint32_t clip_count);

  using Decoded = std::variant<SourceSound, SourceFailure>;
  using Decode = std::function<Decoded(const audio::TakeSamples& take)>;
  using Shared = std::variant<std::shared_ptr<const SharedSound>, SourceFailure>;

  // Call it once for each clip. It calls `decode` if the sound is not there. A failure of `decode`
  // is the failure of every clip of the source.
  [[nodiscard]] Shared get(const std::string& path, const Decode& decode);

 private:
  struct Entry {
    std::uint32_t clips_left = 0;
    bool is_being_decoded = false;
    std::uint64_t asked_at = 0;
    std::shared_ptr<const SharedSound> sound;
    std::optional<SourceFailure> failure;
  };

  [[nodiscard]] Shared decode_or_fail(const Decode& decode);
  [[nodiscard]] Shared make(const Decode& decode);
  void keep(Entry& entry, std::shared_ptr<const SharedSound> sound);
  void drop(Entry& entry);

  Env& env_;
  const std::string folder_;
  const std::uint64_t disk_bytes_max_;
  std::mutex mutex_;
  std::condition_variable decoded_;
  std::unordered_map<std::string, Entry> entries_;
  std::map<std::uint64_t, Entry*> kept_;  // entries with a sound, asked for longest ago first
  std::uint64_t disk_bytes_ = 0;          // of the kept entries
  std::uint64_t request_count_ = 0;
};

}  // namespace xtts::records
