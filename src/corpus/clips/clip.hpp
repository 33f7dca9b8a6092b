// Clip: what the lists and files of DATA say of one clip. Plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/shared_text.hpp"
#include "corpus/files/source_place.hpp"
#include "formats/reject.hpp"
#include "formats/split.hpp"

namespace xtts::corpus {

using formats::Reject;
using formats::RejectClass;
using formats::Split;

inline constexpr double kSegmentSecondsMax = 1e7;  // 115 days

// A part of a source, in seconds from its first sample.
struct Segment {
  double start_s = 0.0;
  std::optional<double> end_s;  // unset: to the end

  friend bool operator==(const Segment&, const Segment&) = default;
};

struct Clip {
  SharedText id;        // unique in the corpus; UTF-8, no control characters, 1..1024 bytes
  SharedText dataset;   // empty unless DATA holds several corpora
  SharedText source;    // path relative to its corpus' folder
  SharedText text_raw;  // empty where there is none
  SharedText text_normalized;
  SharedText speaker;              // empty: unknown
  SharedText language;             // empty: unknown
  SharedText extra_json;           // further fields of the list, canonical JSON; empty: none
  std::optional<Segment> segment;  // unset: the whole source
  Split split = Split::kTrain;
  bool has_own_split = false;  // the corpus itself gives the split
  std::uint16_t folder = 0;    // in Corpus::folders
  // The length of an archive's path in `source`, for a member of it: "train-000.tar" in
  // "train-000.tar/a.flac". 0: no member.
  std::uint32_t container_bytes = 0;
  std::uint64_t source_bytes = 0;
  std::int64_t source_mtime_ns = 0;
  std::int64_t source_ctime_ns = 0;
  std::uint64_t source_inode = 0;
  // Set: the source is this byte range of an archive. times and inode are the archive's.
  std::optional<ByteRange> range = {};
  std::optional<std::uint64_t> row = {};  // as in SourcePlace
};
// "dataset/id", or the id alone where DATA is one corpus.
[[nodiscard]] std::string full_id(const Clip& clip);
[[nodiscard]] bool has_text(const Clip& clip);

// "line 3 of train.csv", "wavs/a.wav".
[[nodiscard]] std::string place_in_words(const Reject& reject);

}  // namespace xtts::corpus
