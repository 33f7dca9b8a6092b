// webdataset: *.tar of samples. A sample is the members whose names agree up to the first dot of
// the last part: "a/0001.flac", "a/0001.txt", "a/0001.json", "a/0001.cls". The audio is read
// inside the archive. That name is the id; if shards repeat names, all ids are SHARD/NAME. Names
// of shards or of their folders are splits where they differ.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
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
#include "corpus/files/names.hpp"
#include "corpus/files/tar_members.hpp"
#include "corpus/layouts/digest_hash.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_rows.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/lists/named_rows.hpp"
#include "corpus/lists/row_clip.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace webdataset_layout {
namespace {

using nlohmann::json;

constexpr std::string_view kExpected = "members NAME.flac, NAME.txt, NAME.json of tars";
// A tar without audio among its first members holds no samples.
constexpr int kMembersLookedAt = 64;

constexpr std::array<std::string_view, 4> kTextEndings = {"txt", "text", "transcript", "lab"};

constexpr std::array<FieldNames, 4> kNames = {{
    {FieldRole::kRaw, {"text", "transcript", "transcription", "sentence"}},
    {FieldRole::kNormalized, {"normalized_text", "text_normalized"}},
    {FieldRole::kSpeaker, {"speaker", "speaker_id", "speaker_name"}},
    {FieldRole::kLanguage, {"language", "lang", "locale"}},
}};
// If a .txt has the text, a text in the .json is kept as a further field.
constexpr std::span<const FieldNames> kNamesWithoutText = std::span(kNames).subspan(1);

bool is_tar(std::string_view path) {
  return equals_ignoring_case(file_extension(path), "tar");
}

// "a/0001" and "seg.flac" of "a/0001.seg.flac".
std::pair<std::string_view, std::string_view> key_and_ending(std::string_view name) {
  const auto slash = name.rfind('/');
  const auto begin = slash == std::string_view::npos ? 0 : slash + 1;
  const auto dot = name.find('.', begin);
  if (dot == std::string_view::npos) return {name, {}};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

bool is_text_ending(std::string_view ending) {
  return std::any_of(kTextEndings.begin(), kTextEndings.end(),
                     [&](std::string_view known) { return equals_ignoring_case(ending, known); });
}

struct TarSample {
  std::string key;
  std::optional<TarMember> audio;
  std::optional<TarMember> text;
  std::optional<TarMember> fields;
  std::optional<TarMember> label;
};

// Digests of the keys: only repetition is checked.
using SampleKeys = std::unordered_set<Digest, DigestHash>;
// The memory of one entry, with the overhead of its table.
constexpr std::uint64_t kKeyBytes = sizeof(Digest) + 24;

struct SampleTexts {
  std::string text;
  RowClip row;
};

class ShardReader {
 public:
  ShardReader(const LayoutInput& input, ClipCollector& clips, SampleKeys* keys_seen)
      : input_(input), clips_(clips), keys_seen_(keys_seen) {}

  // kKeys only checks whether shards repeat keys, and adds no clip.
  enum class Pass { kKeys, kClips };

  Status read(const ListSource& shard, Pass pass, bool with_shard_name, bool& keys_repeat) {
    shard_ = &shard;
    pass_ = pass;
    with_shard_name_ = with_shard_name;
    keys_repeat_ = &keys_repeat;
    if (const Refusal* refusal = input_.tree.refusal_of(shard.list)) {
      if (pass == Pass::kClips) clips_.refuse_file(shard.list, {}, refusal->reason, refusal->kind);
      return {};
    }
    auto file = input_.env.open_for_read(input_.tree.full_path(shard.list));
    if (!file.ok()) {
      if (pass == Pass::kClips) {
        clips_.refuse_file(shard.list, {}, "cannot be read: " + file.status().message(),
                           RejectClass::kEnvironment);
      }
      return {};
    }
    file_ = file->get();
    if (input_.log != nullptr) input_.log->paths.emplace(shard.list);
    XTTS_TRY(read_members());
    file_ = nullptr;
    return {};
  }

 private:
  Status read_members() {
    TarMembers members(*file_);
    TarSample sample;
    while (true) {
      auto member = members.next();
      if (!member.ok()) {
        if (pass_ == Pass::kClips) refuse_rest(member.status(), sample);
        return clips_.check_bounds(*shard_);
      }
      if (!*member) break;
      XTTS_TRY(take(std::move(**member), sample));
    }
    flush(sample);
    if (pass_ == Pass::kClips && !members.has_end_mark()) {
      clips_.note(printable(shard_->list) + " has no end mark: it may have been cut short");
    }
    return clips_.check_bounds(*shard_);
  }

  // The damage may have cut off a sample's text: sound and text must stay a pair.
  void refuse_rest(const Status& failure, const TarSample& sample) {
    const bool is_input = failure.code() == StatusCode::kBadInput;
    const RejectClass kind = is_input ? RejectClass::kInput : RejectClass::kEnvironment;
    clips_.refuse_file(shard_->list, {}, failure.message() + "; the samples before that are used",
                       kind);
    if (sample.audio)
      refuse(sample.key, "may be incomplete: its archive is damaged after it", kind);
  }

  Status take(TarMember member, TarSample& sample) {
    const auto [key, ending] = key_and_ending(member.name);
    const bool is_hidden = file_name(member.name).starts_with('.');
    if (member.is_folder || is_hidden) return {};
    if (key != sample.key) {
      flush(sample);
      sample = {};
      sample.key = std::string(key);
      XTTS_TRY(clips_.check_bounds(*shard_));
    }
    const bool is_audio = audio_rank(file_extension(ending.empty() ? "" : member.name)).has_value();
    if (is_audio && member.fault) {
      if (pass_ == Pass::kClips) refuse(member.name, *member.fault);
    } else if (is_audio) {
      // The most preferred of several formats is used, as in a folder of files.
      const auto rank = audio_rank(file_extension(member.name));
      const bool is_better = !sample.audio || rank < audio_rank(file_extension(sample.audio->name));
      if (is_better) sample.audio = std::move(member);
    } else if (is_text_ending(ending)) {
      sample.text = std::move(member);
    } else if (equals_ignoring_case(ending, "json")) {
      sample.fields = std::move(member);
    } else if (equals_ignoring_case(ending, "cls")) {
      sample.label = std::move(member);
    }
    return {};
  }

  void refuse(std::string_view name, std::string reason, RejectClass kind = RejectClass::kInput) {
    clips_.refuse_file(join_path(shard_->list, name), key_and_ending(name).first, std::move(reason),
                       kind);
  }

  void flush(const TarSample& sample) {
    if (sample.key.empty()) return;
    if (pass_ == Pass::kKeys) {
      if (!sample.audio) return;
      const bool is_new = keys_seen_->insert(digest128(sample.key)).second;
      if (is_new) clips_.hold(kKeyBytes);
      if (!is_new) *keys_repeat_ = true;
      return;
    }
    clips_.count_line();
    if (!sample.audio) {
      if (sample.text || sample.fields) refuse(sample.key, "has a text and no audio");
      return;
    }
    auto texts = texts_of(sample);
    if (!texts.ok()) {
      const bool is_input = texts.status().code() == StatusCode::kBadInput;
      return refuse(sample.key, texts.status().message(),
                    is_input ? RejectClass::kInput : RejectClass::kEnvironment);
    }
    add(sample, *texts);
  }

  Result<std::string> content(const TarMember& member) {
    const std::string_view name = file_name(member.name);
    if (member.fault)
      return Status(StatusCode::kBadInput, formatted("{} {}", printable(name), *member.fault));
    if (member.data.size_bytes > kTextBytesMax) {
      return Status(StatusCode::kBadInput,
                    formatted("{} has {}", printable(name),
                              counted(member.data.size_bytes, "byte", "bytes")));
    }
    std::string bytes(static_cast<std::size_t>(member.data.size_bytes), '\0');
    const auto out = std::as_writable_bytes(std::span<char>(bytes));
    XTTS_ASSIGN(const std::size_t got, file_->read_at(member.data.offset_bytes, out));
    if (got != bytes.size()) {
      return Status(StatusCode::kBadInput, printable(name) + " is cut short");
    }
    if (bytes.starts_with(kUtf8Mark)) bytes.erase(0, kUtf8Mark.size());
    if (const auto fault = fault_of_text_bytes(bytes)) {
      return Status(StatusCode::kBadInput, formatted("{} {}", printable(name), *fault));
    }
    return std::string(trimmed(bytes));
  }

  Result<SampleTexts> texts_of(const TarSample& sample) {
    SampleTexts texts;
    json fields = json::object();
    if (sample.text) {
      XTTS_ASSIGN(texts.text, content(*sample.text));
    }
    if (sample.fields) {
      XTTS_ASSIGN(const std::string line, content(*sample.fields));
      auto parsed = parse_json_line(on_one_line(line));
      if (!parsed.ok()) {
        return Status(StatusCode::kBadInput,
                      formatted("{} {}", printable(file_name(sample.fields->name)),
                                parsed.status().message()));
      }
      fields = std::move(*parsed);
    }
    if (sample.label) {
      XTTS_ASSIGN(std::string label, content(*sample.label));
      fields["cls"] = std::move(label);
    }
    auto row = sample.text ? read_row(std::move(fields), kNamesWithoutText)
                           : read_row(std::move(fields), kNames);
    if (!row.ok()) {
      return Status(
          StatusCode::kBadInput,
          formatted("{} {}", printable(file_name(sample.fields->name)), row.status().message()));
    }
    texts.row = std::move(*row);
    return texts;
  }

  void add(const TarSample& sample, const SampleTexts& texts) {
    const std::string id =
        with_shard_name_ ? join_path(file_stem(shard_->list), sample.key) : sample.key;
    const std::string place = join_path(shard_->list, sample.audio->name);
    const ArchiveMember member{shard_->list, sample.audio->name, sample.audio->data};
    ListedClip clip = listed(texts.row);
    clip.file = place;
    clip.member = &member;
    clip.id = id;
    if (!texts.text.empty()) clip.text_raw = texts.text;
    if (texts.row.text_normalized.empty()) clip.text_normalized = clip.text_raw;
    clips_.add(*shard_, clip);
  }

  const LayoutInput& input_;
  ClipCollector& clips_;
  SampleKeys* keys_seen_;
  const ListSource* shard_ = nullptr;
  const RandomAccessFile* file_ = nullptr;
  Pass pass_ = Pass::kKeys;
  bool with_shard_name_ = false;
  bool* keys_repeat_ = nullptr;
};

Result<bool> looks_like_shard(const LayoutInput& input, const WalkedFile& met) {
  if (!is_tar(met.path) || met.refusal != nullptr) return false;
  XTTS_ASSIGN(const auto file, input.env.open_for_read(input.tree.full_path(met.path)));
  TarMembers members(*file);
  for (int i = 0; i < kMembersLookedAt; ++i) {
    const auto member = members.next();
    if (!member.ok() || !*member) return false;
    if (!(*member)->is_folder && audio_rank(file_extension((*member)->name))) return true;
  }
  return false;
}

// A tar beside its unpacked files is no second corpus.
Detected detect(const LayoutInput& input) {
  const bool has_files = std::any_of(input.tree.files.begin(), input.tree.files.end(),
                                     [](const TreeFile& file) { return file.audio_rank; });
  if (has_files) return Detected(std::nullopt);
  return detect_by_file(input, FileFilter::kNotAudio, "Shards of samples",
                        [&](const WalkedFile& file) { return looks_like_shard(input, file); });
}

Result<Findings> read(const LayoutInput& input) {
  const std::vector<ListSource> shards = shards_by_split(input.tree, is_tar);
  if (shards.empty()) return not_this_layout(input, "*.tar");
  ClipCollector clips(input);
  SampleKeys keys;
  bool keys_repeat = false;
  ShardReader reader(input, clips, &keys);
  // A single shard is not checked: its sample names do not repeat.
  for (const ListSource& shard : shards) {
    if (shards.size() > 1 && !keys_repeat) {
      XTTS_TRY(reader.read(shard, ShardReader::Pass::kKeys, false, keys_repeat));
    }
  }
  clips.release(kKeyBytes * keys.size());
  keys = {};
  if (keys_repeat) clips.note("shards use the same names again: ids are SHARD/NAME");
  for (const ListSource& shard : shards) {
    XTTS_TRY(reader.read(shard, ShardReader::Pass::kClips, keys_repeat, keys_repeat));
  }
  clips.refuse_folders();
  return clips.finish(shards, kExpected);
}

}  // namespace
}  // namespace webdataset_layout

extern const Layout kWebDatasetLayout = {
    "webdataset", "*.tar with NAME.flac, NAME.txt, NAME.json, ...: read in place, not unpacked",
    webdataset_layout::detect, webdataset_layout::read};

}  // namespace xtts::corpus
