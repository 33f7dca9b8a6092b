// huggingface: data sets with their sound in columns: *.parquet from the Hub, and *.arrow that
// load_from_disk() reads; or *.rows, which xp.build() serves. Python reads them (column_files.hpp).
// The id is the column id if it tells all rows apart; else the name of the audio; else FILE/ROW.
// Names of files or folders are splits if they differ. metadata_train_file may choose files.

#include <fnmatch.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "base/hash.hpp"
#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/column_files.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/digest_hash.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_rows.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/lists/row_clip.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace huggingface_layout {
namespace {

const std::string kFiles = "*.parquet or *.arrow";
constexpr std::string_view kExpected =
    "rows with a column audio (bytes, path) of *.parquet or *.arrow";

constexpr std::array<FieldNames, 5> kNames = {{
    {FieldRole::kId, {"id", "utterance_id", "utt_id", "clip_id"}},
    {FieldRole::kRaw,
     {"text", "raw_text", "text_original", "raw_transcription", "transcript", "transcription",
      "sentence"}},
    {FieldRole::kNormalized, {"normalized_text", "text_normalized"}},
    {FieldRole::kSpeaker, {"speaker", "speaker_id", "speaker_name", "client_id"}},
    {FieldRole::kLanguage, {"language", "lang", "locale"}},
}};

Result<bool> looks_like_column_file(const LayoutInput& input, const WalkedFile& met) {
  const auto kind = column_file_kind(met.path);
  if (!kind || met.refusal != nullptr) return false;
  XTTS_ASSIGN(const auto file, input.env.open_for_read(input.tree.full_path(met.path)));
  return begins_as(*file, *kind);
}

// Such files beside loose audio may describe that audio and hold none.
Detected detect(const LayoutInput& input) {
  const bool has_files = any_file(input.tree, FileFilter::kAll, is_audio);
  if (has_files) return Detected(std::nullopt);
  return detect_by_file(
      input, FileFilter::kNotAudio, "Files with columns",
      [&](const WalkedFile& file) { return looks_like_column_file(input, file); });
}

RejectClass problem_of(const Status& failure) {
  const bool may_pass = failure.code() != StatusCode::kBadInput;
  return may_pass ? RejectClass::kEnvironment : RejectClass::kInput;
}

// "6930-75918-0000" for "/tmp/6930-75918-0000.flac".
std::string_view name_of_audio(const ColumnRow& row) {
  return without_audio_extension(file_name(row.audio_path));
}

// Checks whether names differ in all rows, and whether they ascend.
class UniqueNames {
 public:
  void add(std::string_view name) {
    are_unique_ = are_unique_ && !name.empty() && seen_.insert(digest128(name)).second;
    if (!are_unique_) seen_.clear();
    ascend_ = ascend_ && last_ < name;
    last_ = name;
  }
  [[nodiscard]] bool are_unique() const { return are_unique_; }
  [[nodiscard]] bool ascend() const { return ascend_; }
  // Memory, with the overhead of table entries.
  [[nodiscard]] std::uint64_t held_bytes() const { return (sizeof(Digest) + 24) * seen_.size(); }

 private:
  std::unordered_set<Digest, DigestHash> seen_;
  std::string last_;
  bool are_unique_ = true;
  bool ascend_ = true;
};

enum class IdsFrom : std::uint8_t { kColumn, kAudioName, kRow };

class ColumnFileReader {
 public:
  ColumnFileReader(const LayoutInput& input, ClipCollector& clips) : input_(input), clips_(clips) {}

  // Reads all rows to find what tells them apart. read() reports rows that cannot be read.
  Status choose_ids(std::span<const ListSource> shards) {
    UniqueNames ids;
    UniqueNames audio_names;
    for (const ListSource& shard : shards) {
      const auto status = for_each_row(shard, RowParts::kFields, [&](const ColumnRow& row) {
        clips_.release(ids.held_bytes() + audio_names.held_bytes());
        const nlohmann::json* const id = field_of(row.fields, kNames, FieldRole::kId);
        ids.add(id == nullptr ? std::string() : id->dump(-1, ' ', false, kReplace));
        audio_names.add(name_of_audio(row));
        clips_.hold(ids.held_bytes() + audio_names.held_bytes());
        return clips_.check_bounds(shard);
      });
      if (status.code() == StatusCode::kUnsupported)
        return {status.code(),
                formatted("{} {}", printable(input_.tree.full_path(shard.list)), status.message())};
      if (problem_of(status) == RejectClass::kEnvironment && !status.ok())
        return status.with_context(printable(shard.list));
    }
    clips_.release(ids.held_bytes() + audio_names.held_bytes());
    // Clips are computed in the order of their ids, and rows of a stream come in their own alone.
    const auto serve = [&](const UniqueNames& names) {
      return names.are_unique() && (!is_stream_ || names.ascend());
    };
    ids_from_ = serve(ids)           ? IdsFrom::kColumn
                : serve(audio_names) ? IdsFrom::kAudioName
                                     : IdsFrom::kRow;
    if (ids_from_ == IdsFrom::kRow)
      clips_.note(std::string(is_stream_ ? "no column ascends from row to row"
                                         : "no column tells all rows apart") +
                  ": ids are FILE/ROW");
    return {};
  }

  Status read(const ListSource& shard) {
    if (const Refusal* refusal = input_.tree.refusal_of(shard.list)) {
      clips_.refuse_file(shard.list, {}, refusal->reason, refusal->kind);
      return {};
    }
    std::uint64_t row_number = 0;
    if (input_.log != nullptr) input_.log->paths.emplace(shard.list);
    Status bounds;
    const Status status = for_each_row(shard, RowParts::kAll, [&](ColumnRow& row) {
      clips_.count_line();
      add(shard, row_number++, row);
      bounds = clips_.check_bounds(shard);
      return bounds;
    });
    XTTS_TRY(bounds);
    if (!status.ok() && status.code() == StatusCode::kInvalidArgument) return status;
    if (!status.ok()) {
      const std::string used = row_number > 0 ? "; the rows before that are used" : "";
      clips_.refuse_file(shard.list, {}, status.message() + used, problem_of(status));
    }
    return {};
  }

  [[nodiscard]] bool is_stream() const { return is_stream_; }

 private:
  static constexpr auto kReplace = nlohmann::json::error_handler_t::replace;

  template <typename Take>
  Status for_each_row(const ListSource& shard, RowParts parts, Take take) {
    if (input_.tree.refusal_of(shard.list) != nullptr) return {};
    XTTS_ASSIGN(auto rows, open_column_rows(input_.env, input_.tree.full_path(shard.list),
                                            *column_file_kind(shard.list), parts));
    note_left_out(rows.left_out());
    is_stream_ = is_stream_ || rows.is_stream();
    while (true) {
      XTTS_ASSIGN(auto row, rows.next());
      if (!row) return {};
      XTTS_TRY(take(*row));
    }
  }

  void note_left_out(const std::string& columns) {
    if (columns.empty() || !left_out_.insert(columns).second) return;
    clips_.note("columns that are not kept: " + columns);
  }

  // FILE includes the folder: load_from_disk's splits use equal file names.
  std::string id_of(const ListSource& shard, const ColumnRow& row, const RowClip& fields,
                    const std::string& name) const {
    if (ids_from_ == IdsFrom::kColumn) return fields.id;
    if (ids_from_ == IdsFrom::kAudioName) return std::string(name_of_audio(row));
    const std::size_t suffix_bytes = file_extension(shard.list).size() + 1;
    return join_path(shard.list.substr(0, shard.list.size() - suffix_bytes),
                     without_audio_extension(name));
  }

  void add(const ListSource& shard, std::uint64_t row_number, ColumnRow& row) {
    const std::string name = name_of_row(row_number, row.audio_path);
    const std::string place = join_path(shard.list, name);
    if (row.fault) return clips_.refuse_file(place, {}, *row.fault);
    // An id that repeats is kept as a further field.
    const auto names = ids_from_ == IdsFrom::kColumn
                           ? std::span<const FieldNames>(kNames)
                           : std::span<const FieldNames>(kNames).subspan(1);
    const auto fields = read_row(std::move(row.fields), names);
    if (!fields.ok()) return clips_.refuse_file(place, {}, fields.status().message());
    const std::string id = id_of(shard, row, *fields, name);
    if (!row.sound && row.audio_path.empty()) return clips_.refuse_file(place, id, "has no sound");
    const ArchiveMember member{shard.list, name, row.sound.value_or(ByteRange()), row.row};
    ListedClip clip = listed(*fields);
    clip.id = id;
    if (fields->text_normalized.empty()) clip.text_normalized = clip.text_raw;
    if (row.sound) {
      clip.file = place;
      clip.member = &member;
    } else {  // not embedded: the path names a file
      clip.line = row_number + 1;
      clip.audio = row.audio_path;
    }
    clips_.add(shard, clip);
  }

  const LayoutInput& input_;
  ClipCollector& clips_;
  IdsFrom ids_from_ = IdsFrom::kRow;
  std::set<std::string> left_out_;
  bool is_stream_ = false;
};

Result<Findings> read(const LayoutInput& input) {
  const std::string& chosen = input.config.metadata_train_file;
  formats::CorpusConfig other_keys = input.config;
  other_keys.metadata_train_file.clear();
  XTTS_TRY(refuse_list_keys(other_keys, "huggingface"));
  const auto shards = shards_by_split(input.tree, [&](std::string_view path) {
    if (!column_file_kind(path)) return false;
    return chosen.empty() || ::fnmatch(chosen.c_str(), std::string(path).c_str(), 0) == 0;
  });
  if (shards.empty())
    return not_this_layout(input, chosen.empty() ? kFiles : "file " + printable(chosen));
  ClipCollector clips(input);
  ColumnFileReader reader(input, clips);
  XTTS_TRY(reader.choose_ids(shards));
  for (const ListSource& shard : shards) XTTS_TRY(reader.read(shard));
  clips.refuse_folders();
  XTTS_ASSIGN(Findings findings, clips.finish(shards, kExpected));
  findings.is_stream = reader.is_stream();
  return findings;
}

}  // namespace
}  // namespace huggingface_layout

extern const Layout kHuggingFaceLayout = {
    "huggingface",
    "*.parquet, or *.arrow of load_from_disk, with a column of sound: read by Python's pyarrow",
    huggingface_layout::detect,
    huggingface_layout::read,
    ListPlace::kAnywhere,
    ListKeys::kTaken};

}  // namespace xtts::corpus
