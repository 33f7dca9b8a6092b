// Facts: what is known of a record beside its numbers (cache-v1.md, section 6). Bytes <-> structs,
// no I/O; pure functions. The decoders take hostile bytes: they bound everything and fail with
// kCorrupt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "formats/reason.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// A field that is not set is unknown and is not written.
struct RecordFacts {
  std::optional<std::string> id, dataset;
  std::optional<std::uint8_t> split;  // 0 train, 1 validation, 2 test
  std::optional<std::string> speaker, language, source_path, text_raw, text_normalized;
  std::optional<Digest> content_digest, pcm_digest;
  std::optional<std::string> container, codec;
  std::optional<std::uint32_t> source_rate_hz;
  std::optional<std::uint16_t> source_channel_count;
  std::optional<std::uint64_t> source_frame_count, trim_start_samples, trim_end_samples;
  std::optional<float> gain, peak, rms;
  std::optional<std::uint64_t> clipped_sample_count;
  std::optional<float> silence_share, bandwidth_hz;
  std::optional<std::uint64_t> nonfinite_sample_count;
  std::vector<Reason> warnings;  // none: not written
  std::optional<std::string> extra_json;
  std::optional<std::uint32_t> frame_count_before_cut, character_count;
  std::optional<std::string> unknown_characters_json;
  std::optional<std::uint8_t> text_was_cut;
  // Seconds, of a clip that is a part of its source, as its list has them; no end: to the source's
  // end. source_frame_count is then the part's.
  std::optional<double> segment_start_s, segment_end_s;
  std::map<std::uint16_t, std::string> unknown;  // tags that this version does not know, passed on

  friend bool operator==(const RecordFacts&, const RecordFacts&) = default;
};

void append_facts(const RecordFacts& facts, std::string& out);
[[nodiscard]] Result<RecordFacts> decode_facts(std::span<const std::byte> bytes);

// A field that is set: for comparing what two records say, and telling it to people.
struct NamedFact {
  std::uint16_t tag = 0;
  std::string_view name;  // "source rate"
  std::string bytes;      // as it is written
  std::string text;       // "22050", "'wavs/a.wav'"
};
// In ascending order of tag; unknown tags are left out.
[[nodiscard]] std::vector<NamedFact> list_facts(const RecordFacts& facts);

// The facts value of one block.
struct BlockFacts {
  std::uint32_t block_index = 0;
  std::vector<RecordFacts> records;
  std::uint64_t summed_frame_count = 0;
  std::vector<double>
      sums;  // per channel sum of x, then per channel sum of x squared; empty where none are kept
};

[[nodiscard]] std::string encode_block_facts(
    const BlockFacts& facts);  // k * 4096 - 16 bytes, check included
[[nodiscard]] Result<BlockFacts> decode_block_facts(std::span<const std::byte> bytes);
// The check that a facts value carries (its last eight bytes), for the shard's table.
[[nodiscard]] std::uint64_t stored_facts_check(std::span<const std::byte> bytes);

}  // namespace xtts::formats
