#include "formats/facts.hpp"

#include <bit>
#include <cstdio>
#include <type_traits>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/preamble.hpp"
#include "formats/split.hpp"

namespace xtts::formats {
namespace {

constexpr std::size_t kFieldHeaderBytes = 8;

// The table of section 6.2: every field once, in ascending order of tag. Encoding, decoding and
// listing all walk it, so a field exists everywhere or nowhere. `visit` gets tag, name and member.
template <typename Facts, typename Visit>
void for_each_field(Facts& facts, Visit&& visit) {
  visit(1, "id", facts.id);
  visit(2, "data set", facts.dataset);
  visit(3, "split", facts.split);
  visit(4, "speaker", facts.speaker);
  visit(5, "language", facts.language);
  visit(6, "source path", facts.source_path);
  visit(7, "raw text", facts.text_raw);
  visit(8, "normalized text", facts.text_normalized);
  visit(9, "content hash", facts.content_digest);
  visit(10, "digest of the PCM", facts.pcm_digest);
  visit(11, "container", facts.container);
  visit(12, "codec", facts.codec);
  visit(13, "source rate", facts.source_rate_hz);
  visit(14, "source channels", facts.source_channel_count);
  visit(15, "source frames", facts.source_frame_count);
  visit(16, "trim start", facts.trim_start_samples);
  visit(17, "trim end", facts.trim_end_samples);
  visit(18, "gain", facts.gain);
  visit(19, "peak", facts.peak);
  visit(20, "RMS", facts.rms);
  visit(21, "clipped samples", facts.clipped_sample_count);
  visit(22, "share of silence", facts.silence_share);
  visit(23, "bandwidth", facts.bandwidth_hz);
  visit(24, "NaN and Inf samples", facts.nonfinite_sample_count);
  visit(26, "extra fields", facts.extra_json);
  visit(27, "frames before the cut", facts.frame_count_before_cut);
  visit(28, "characters", facts.character_count);
  visit(29, "unknown characters", facts.unknown_characters_json);
  visit(30, "text was cut", facts.text_was_cut);
  visit(31, "segment start", facts.segment_start_s);
  visit(32, "segment end", facts.segment_end_s);
  visit(34, "warnings", facts.warnings);
  visit(35, "signs of a cut source", facts.kept_signs);
}

void append_field(std::uint16_t tag, std::string_view bytes, std::string& out) {
  append(out, tag);
  append(out, std::uint16_t{0});
  append(out, static_cast<std::uint32_t>(bytes.size()));
  out += bytes;
}

template <typename T>
bool is_set(const std::optional<T>& field) {
  return field.has_value();
}
bool is_set(const std::vector<Reason>& reasons) {
  return !reasons.empty();
}
template <typename T>
const T& value_of(const std::optional<T>& field) {
  return *field;
}
const std::vector<Reason>& value_of(const std::vector<Reason>& reasons) {
  return reasons;
}

template <typename T>
std::string value_bytes(const T& value) {
  std::string bytes;
  if constexpr (std::is_same_v<T, std::string>) {
    bytes = value;
  } else if constexpr (std::is_same_v<T, std::vector<Reason>>) {
    bytes = encode_reasons(value);
  } else if constexpr (std::is_same_v<T, Digest>) {
    append_digest(bytes, value);
  } else if constexpr (std::is_same_v<T, float>) {
    append(bytes, std::bit_cast<std::uint32_t>(value));
  } else if constexpr (std::is_same_v<T, double>) {
    append(bytes, std::bit_cast<std::uint64_t>(value));
  } else {
    append(bytes, value);
  }
  return bytes;
}

template <typename T>
std::string value_text(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return "'" + value + "'";
  } else if constexpr (std::is_same_v<T, std::vector<Reason>>) {
    return encode_reasons(value);
  } else if constexpr (std::is_same_v<T, Digest>) {
    return value.to_hex();
  } else if constexpr (std::is_floating_point_v<T>) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    return text;
  } else {
    return std::to_string(value);
  }
}

template <typename T>
bool read_value(std::span<const std::byte> bytes, std::optional<T>& out) {
  if constexpr (std::is_same_v<T, std::string>) {
    out = std::string(text_of(bytes));
  } else {
    if (bytes.size() != sizeof(T)) return false;
    if constexpr (std::is_same_v<T, Digest>) {
      out = load_digest(bytes, 0);
    } else if constexpr (std::is_same_v<T, float>) {
      out = std::bit_cast<float>(load<std::uint32_t>(bytes, 0));
    } else if constexpr (std::is_same_v<T, double>) {
      out = std::bit_cast<double>(load<std::uint64_t>(bytes, 0));
    } else {
      out = load<T>(bytes, 0);
    }
  }
  return true;
}

bool read_value(std::span<const std::byte> bytes, std::vector<Reason>& out) {
  auto reasons = decode_reasons(text_of(bytes));
  if (reasons) out = std::move(*reasons);
  return reasons.ok();
}

Status check_values(const RecordFacts& facts) {
  if (facts.split.value_or(0) >= kSplits.size()) {
    return corrupt(formatted("facts: split {} is none of 0, 1, 2", *facts.split));
  }
  if (facts.text_was_cut.value_or(0) > 1) return corrupt("facts: text was cut is neither 0 nor 1");
  return {};
}

Status read_field(std::uint16_t tag, std::span<const std::byte> bytes, RecordFacts& facts) {
  Status status;
  bool known = false;
  for_each_field(facts, [&](int field_tag, const char* name, auto& member) {
    if (field_tag != tag) return;
    known = true;
    if (!read_value(bytes, member)) {
      status = corrupt(
          formatted("facts: {} has {} bytes, which no value of it has", name, bytes.size()));
    }
  });
  if (!known) facts.unknown.emplace(tag, text_of(bytes));
  return status;
}

}  // namespace

void append_facts(const RecordFacts& facts, std::string& out) {
  auto unknown = facts.unknown.begin();
  const auto append_unknown_below = [&](int tag) {
    for (; unknown != facts.unknown.end() && unknown->first < tag; ++unknown) {
      append_field(unknown->first, unknown->second, out);
    }
  };
  for_each_field(facts, [&](int tag, const char*, const auto& member) {
    append_unknown_below(tag);
    // A known tag among the unknown ones would make the sequence ambiguous.
    if (unknown != facts.unknown.end() && unknown->first == tag) ++unknown;
    if (is_set(member))
      append_field(static_cast<std::uint16_t>(tag), value_bytes(value_of(member)), out);
  });
  append_unknown_below(1 << 16);
}

Result<RecordFacts> decode_facts(std::span<const std::byte> bytes) {
  RecordFacts facts;
  int previous_tag = -1;
  while (!bytes.empty()) {
    if (bytes.size() < kFieldHeaderBytes) return corrupt("facts: cut within a field's header");
    const auto tag = load<std::uint16_t>(bytes, 0);
    const std::size_t size = load<std::uint32_t>(bytes, 4);
    if (tag <= previous_tag) {
      return corrupt(formatted("facts: tag {} is not above tag {}", tag, previous_tag));
    }
    if (size > bytes.size() - kFieldHeaderBytes) {
      return corrupt(formatted("facts: size of tag {} reaches beyond the record's facts", tag));
    }
    XTTS_TRY(read_field(tag, bytes.subspan(kFieldHeaderBytes, size), facts));
    previous_tag = tag;
    bytes = bytes.subspan(kFieldHeaderBytes + size);
  }
  XTTS_TRY(check_values(facts));
  return facts;
}

std::vector<NamedFact> list_facts(const RecordFacts& facts) {
  std::vector<NamedFact> list;
  for_each_field(facts, [&](int tag, const char* name, const auto& member) {
    if (!is_set(member)) return;
    list.push_back({.tag = static_cast<std::uint16_t>(tag),
                    .name = name,
                    .bytes = value_bytes(value_of(member)),
                    .text = value_text(value_of(member))});
  });
  return list;
}

}  // namespace xtts::formats
