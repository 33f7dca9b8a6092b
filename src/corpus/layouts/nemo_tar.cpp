// nemo_tar: tarred data of NVIDIA NeMo from convert_to_tarred_audio_dataset.py: audio_0.tar,
// audio_1.tar, ... The manifest is tarred_audio_manifest.json beside them, or one a shard in
// sharded_manifests/. Its lines name a member and the number of its shard: {"audio_filepath":
// "a.wav", "shard_id": 0, "text": "..."}. Parts of one file are "a.wav", "a-sub1.wav", ... with an
// offset each, and share one member. The audio is read inside the archive.

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/clips/splits.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "corpus/files/tar_members.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/layouts/nemo_fields.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/clips_of_rows.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/lists/named_rows.hpp"
#include "corpus/lists/row_clip.hpp"

namespace xtts::corpus {
namespace nemo_tar_layout {
namespace {

using nlohmann::json;

constexpr std::string_view kExpected =
    "lines {\"audio_filepath\": ..., \"shard_id\": ..., \"text\": ...} beside audio_0.tar";
constexpr std::string_view kSharded = "sharded_manifests";
// Bounds the memory for a hostile archive of empty members: 200 MB.
constexpr std::size_t kMembersMax = 1'000'000;

bool is_tar(std::string_view path) {
  return equals_ignoring_case(file_extension(path), "tar");
}

std::optional<std::uint64_t> shard_at(const json& row) {
  const auto member = row.find("shard_id");
  if (member == row.end() || !member->is_number_unsigned()) return std::nullopt;
  return member->get<std::uint64_t>();
}

// 17 for "audio_17.tar".
std::optional<std::uint64_t> number_of_tar(std::string_view path) {
  const std::string_view stem = file_stem(path);
  const auto last = stem.find_last_not_of("0123456789");
  const std::string_view digits = stem.substr(last == std::string_view::npos ? 0 : last + 1);
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  return !digits.empty() && parsed.ec == std::errc() && parsed.ptr == end ? std::optional(number)
                                                                          : std::nullopt;
}

// The folder of a manifest's archives.
std::string_view tar_folder_of(std::string_view manifest) {
  const std::string_view folder = folder_of(manifest);
  return file_name(folder) == kSharded ? folder_of(folder) : folder;
}

// "a.wav" for "a-sub3.wav"; nullopt: a name without "-sub".
std::optional<std::string> without_sub(std::string_view name) {
  const std::string_view stem = without_audio_extension(name);
  const auto sub = stem.rfind("-sub");
  if (sub == std::string_view::npos || !is_number(stem.substr(sub + 4))) return std::nullopt;
  return std::string(stem.substr(0, sub)) + std::string(name.substr(stem.size()));
}

Result<bool> is_manifest(const LayoutInput& input, std::string_view list) {
  XTTS_ASSIGN(const std::string beginning, beginning_of(input, list));
  return begins_with_object(beginning, [](const json& row) {
    const json* const audio = field_of(row, kNemoNames, FieldRole::kAudio);
    return audio != nullptr && audio->is_string() && shard_at(row);
  });
}

// The manifests beside tars. If a folder has one manifest of all shards and one for each, the
// first is read: they hold the same clips.
Result<std::vector<std::string>> find_nemo_manifests(const LayoutInput& input) {
  std::vector<std::string_view> folders;
  for_each_file(input.tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
    if (!is_tar(file.path)) return;
    const std::string_view folder = folder_of(file.path);
    if (folders.empty() || folders.back() != folder) folders.push_back(folder);
  });
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  std::vector<std::string> found;
  for (const std::string_view folder : folders) {
    const std::size_t count = found.size();
    for (const std::string& place : {std::string(folder), join_path(folder, kSharded)}) {
      if (found.size() > count) break;
      for (std::string& list : lists_in(input.tree, place, kNemoEndings)) {
        XTTS_ASSIGN(const bool is_one, is_manifest(input, list));
        if (is_one) found.push_back(std::move(list));
      }
    }
  }
  return found;
}

// Finds the members of an archive by name.
struct ByMemberName {
  using is_transparent = void;
  static std::string_view name_of(std::string_view name) { return name; }
  static std::string_view name_of(const TarMember& member) { return member.name; }
  std::size_t operator()(const auto& one) const {
    return std::hash<std::string_view>()(name_of(one));
  }
  bool operator()(const auto& left, const auto& right) const {
    return name_of(left) == name_of(right);
  }
};
using MembersByName = std::unordered_set<TarMember, ByMemberName, ByMemberName>;
// The memory of one entry, with the overhead of its table.
constexpr std::uint64_t kMemberBytes = sizeof(TarMember) + 40;

class NemoTarReader {
 public:
  explicit NemoTarReader(const LayoutInput& input) : input_(input), clips_(input) {
    for_each_file(input.tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
      const auto number = number_of_tar(file.path);
      if (is_tar(file.path) && number) {
        tars_.emplace(std::pair(std::string(folder_of(file.path)), *number), file.path);
      }
    });
  }

  Result<Findings> read(std::span<const ListSource> sources) {
    for (const ListSource& source : sources) XTTS_TRY(read_list(source));
    for (std::size_t i = 0; i < archives_.size(); ++i) clips_.count_read_file();
    clips_.refuse_folders();
    return clips_.finish(sources, kExpected);
  }

 private:
  struct Archive {
    std::string_view path;  // in the tree
    std::string fault;      // set: why it cannot be read, wholly or from some place on
    MembersByName members;
  };

  Status read_list(const ListSource& source) {
    XTTS_ASSIGN(NamedRows rows, NamedRows::open(input_, source.list));
    return read_rows(rows, source, clips_, [&](std::uint64_t line, json fields) {
      return read_line(source, line, std::move(fields));
    });
  }

  Status read_line(const ListSource& source, std::uint64_t line, json fields) {
    const auto shard = shard_at(fields);
    fields.erase("shard_id");
    auto row = read_row(std::move(fields), kNemoNames);
    const auto refuse = [&](std::string reason) {
      clips_.refuse(source, line, row.ok() ? row->audio : std::string(), std::move(reason));
      return Status();
    };
    if (!row.ok()) return refuse("the line " + row.status().message());
    if (row->audio.empty()) return refuse("the line names no audio");
    if (!shard) return refuse("the line has no shard_id");
    const auto tar = tars_.find(std::pair(std::string(tar_folder_of(source.list)), *shard));
    if (tar == tars_.end()) {
      return refuse(formatted("there is no archive of shard {} in {}", *shard,
                              folder_name(std::string(tar_folder_of(source.list)))));
    }
    XTTS_ASSIGN(const Archive* const archive, archive_of(source, tar->second));
    const TarMember* member = find(*archive, row->audio);
    if (member == nullptr) {
      return refuse(formatted("{} has no member {}{}", printable(archive->path),
                              printable(row->audio),
                              archive->fault.empty() ? "" : "; it " + archive->fault));
    }
    if (member->fault) return refuse(formatted("{} {}", printable(member->name), *member->fault));
    add(source, line, *row, *archive, *member);
    return {};
  }

  static const TarMember* find(const Archive& archive, const std::string& name) {
    auto member = archive.members.find(std::string_view(name));
    if (member == archive.members.end()) {
      const auto whole = without_sub(name);
      if (whole) member = archive.members.find(std::string_view(*whole));
    }
    return member == archive.members.end() ? nullptr : &*member;
  }

  // All archives stay in memory: a manifest may mix its shards.
  Result<const Archive*> archive_of(const ListSource& source, std::string_view path) {
    auto& slot = archives_[path];
    if (slot) return slot.get();
    slot = std::make_unique<Archive>();
    slot->path = path;
    if (const Refusal* refusal = input_.tree.refusal_of(path)) {
      slot->fault = refusal->reason;
      return slot.get();
    }
    const auto file = input_.env.open_for_read(input_.tree.full_path(path));
    if (!file.ok()) {
      slot->fault = "cannot be read: " + file.status().message();
      return slot.get();
    }
    if (input_.log != nullptr) input_.log->paths.emplace(path);
    TarMembers members(**file);
    while (true) {
      auto member = members.next();
      if (!member.ok()) slot->fault = member.status().message();
      if (!member.ok() || !*member) break;
      if ((*member)->is_folder) continue;
      if (++member_count_ > kMembersMax) {
        return Status(StatusCode::kInvalidArgument,
                      "the archives have more than " + counted(kMembersMax, "member", "members") +
                          "; name parts of them as corpora of a corpora.yaml");
      }
      clips_.hold(kMemberBytes + (*member)->name.size());
      XTTS_TRY(clips_.check_bounds(source));
      slot->members.insert(std::move(**member));
    }
    if (!slot->fault.empty()) clips_.note(formatted("{} {}", printable(path), slot->fault));
    return slot.get();
  }

  void add(const ListSource& source, std::uint64_t line, const RowClip& row, const Archive& archive,
           const TarMember& found) {
    const ArchiveMember member{archive.path, found.name, found.data};
    const std::string suffix = row.segment ? segment_suffix(*row.segment) : std::string();
    ListedClip clip = listed(row);
    clip.line = line;
    clip.member = &member;
    clip.id = without_audio_extension(found.name);
    clip.id_suffix = suffix;
    clips_.add(source, clip);
  }

  const LayoutInput& input_;
  ClipCollector clips_;
  std::map<std::pair<std::string, std::uint64_t>, std::string_view> tars_;  // folder, number
  std::map<std::string_view, std::unique_ptr<Archive>> archives_;
  std::size_t member_count_ = 0;
};

Detected detect(const LayoutInput& input) {
  XTTS_ASSIGN(const std::vector<std::string> lists, find_nemo_manifests(input));
  if (lists.empty()) return Detected(std::nullopt);
  return Detected(formatted("{}{} members of tars beside", names_of(lists),
                            lists.size() == 1 ? " names" : " name"));
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_ASSIGN(const std::vector<std::string> lists, find_nemo_manifests(input));
  if (lists.empty()) return not_this_layout(input, "tarred_audio_manifest.json beside audio_0.tar");
  std::vector<ListSource> sources;
  for (const std::string& list : lists) {
    auto split = split_of_word(file_name(tar_folder_of(list)));
    if (!split) split = split_of_name(list);
    sources.push_back({list, "", lists.size() > 1 ? split : std::nullopt});
  }
  return NemoTarReader(input).read(sources);
}

}  // namespace
}  // namespace nemo_tar_layout

extern const Layout kNemoTarLayout = {
    "nemo_tar", "NeMo tarred data: a manifest with shard_id beside audio_0.tar, ...: read in place",
    nemo_tar_layout::detect, nemo_tar_layout::read, ListPlace::kInData};

}  // namespace xtts::corpus
