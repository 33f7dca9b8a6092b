// Facts: the data about a record beside its numbers (cache-v1.md, section 6). Bytes <-> structs,
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

// An unset field is unknown and is not written.
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
  std::vector<Reason> warnings;  // not written if empty
  std::vector<Reason>
      kept_signs;  // of a cut source, which corpus.truncated=keep takes out of these
  std::optional<std::string> extra_json;
  std::optional<std::uint32_t> frame_count_before_cut, character_count;
  std::optional<std::string> unknown_characters_json;
  std::optional<std::uint8_t> text_was_cut;
  // For a clip that is a part of its source: seconds, as its list has them. An unset end means the
  // source's end. source_frame_count then counts the part.
  std::optional<double> segment_start_s, segment_end_s;
  std::map<std::uint16_t, std::string> unknown;  // tags of other versions, kept as they are

  friend bool operator==(const RecordFacts&, const RecordFacts&) = default;
};

void append_facts(const RecordFacts& facts, std::string& out);
[[nodiscard]] Result<RecordFacts> decode_facts(std::span<const std::byte> bytes);

// A field that is set, for comparing two records and for messages.
struct NamedFact {
  std::uint16_t tag = 0;
  std::string_view name;  // "source rate"
  std::string bytes;      // the stored form
  std::string text;       // "22050", "'wavs/a.wav'"
};
// Lists fields in ascending order of tag, without unknown tags.
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
// Returns the check that a facts value carries (its last eight bytes), for the shard's table.
[[nodiscard]] std::uint64_t stored_facts_check(std::span<const std::byte> bytes);

}  // namespace xtts::formats
