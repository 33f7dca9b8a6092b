// lhotse: pairs of manifests in DATA. *recordings*.jsonl(.gz) says where the audio is;
// *supervisions*.jsonl(.gz) gives its texts with times. Sources that are commands or addresses are
// never run or fetched.

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/clips/splits.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/lhotse_recording.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_rows.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/lists/named_rows.hpp"
#include "corpus/lists/row_clip.hpp"

namespace xtts::corpus {
namespace lhotse_layout {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 2> kEndings = {"jsonl", "jsonl.gz"};
constexpr std::string_view kRecordings = "recordings";
constexpr std::string_view kSupervisions = "supervisions";

struct ManifestPair {
  std::string recordings;
  std::string supervisions;
};

struct Manifests {
  std::vector<ManifestPair> pairs;
  std::vector<std::string> alone;  // recordings without supervisions, or the reverse
};

// The name of `list` without `kind` and ".gz"; empty: `list` is not of `kind`.
std::string key_of(std::string_view list, std::string_view kind) {
  const auto place = list.rfind(kind);
  if (place == std::string_view::npos) return {};
  if (list.ends_with(".gz")) list.remove_suffix(3);
  return formatted("{}*{}", list.substr(0, place), list.substr(place + kind.size()));
}

// Pairs manifests by their names.
Manifests find_manifests(const DataTree& tree) {
  std::unordered_map<std::string, std::string> supervisions;
  const std::vector<std::string> lists = lists_in(tree, "", kEndings);
  Manifests found;
  for (const std::string& list : lists) {
    const std::string key = key_of(list, kSupervisions);
    // If a name exists with and without ".gz", the first is used.
    if (!key.empty() && !supervisions.try_emplace(key, list).second) found.alone.push_back(list);
  }
  for (const std::string& list : lists) {
    const std::string key = key_of(list, kRecordings);
    if (key.empty()) continue;
    if (auto pair = supervisions.extract(key)) {
      found.pairs.push_back({list, std::move(pair.mapped())});
    } else {
      found.alone.push_back(list);
    }
  }
  for (auto& [key, list] : supervisions) found.alone.push_back(list);
  std::sort(found.alone.begin(), found.alone.end());
  return found;
}

constexpr std::array<FieldNames, 7> kNames = {{
    {FieldRole::kId, {"id"}},
    {FieldRole::kAudio, {"recording_id"}},  // found through the recordings
    {FieldRole::kStart, {"start"}},
    {FieldRole::kDuration, {"duration"}},
    {FieldRole::kRaw, {"text"}},
    {FieldRole::kLanguage, {"language"}},
    {FieldRole::kSpeaker, {"speaker"}},
}};

struct Recording {
  std::string path;
  LhotseChannels channels;  // empty: unknown
  std::optional<double> duration_s;
  std::uint64_t line = 0;
  bool is_usable = false;
  bool is_named = false;
};

// The memory of one recording: itself, its path and the overhead of its table.
constexpr std::uint64_t kLhotseRecordingBytes = sizeof(Recording) + 120;

class PairReader {
 public:
  PairReader(const LayoutInput& input, const ListSource& recordings, const ListSource& supervisions,
             ClipCollector& clips)
      : input_(input), recordings_(recordings), supervisions_(supervisions), clips_(clips) {}

  Status read() {
    XTTS_TRY(read_recordings());
    XTTS_TRY(read_supervisions());
    const auto idle_count = static_cast<std::uint64_t>(std::count_if(
        known_.begin(), known_.end(),
        [](const auto& member) { return member.second.is_usable && !member.second.is_named; }));
    if (idle_count > 0) {
      clips_.note(formatted("{} of {}{} no supervision: no clip is made of it",
                            counted(idle_count, "recording", "recordings"), recordings_.list,
                            idle_count == 1 ? " has" : " have"));
    }
    return {};
  }

 private:
  Status read_recordings() {
    clips_.count_read_file();
    XTTS_ASSIGN(NamedRows rows, NamedRows::open(input_, recordings_.list));
    while (const auto row = rows.next()) {
      if (const auto fault = add_recording(*row)) {
        const std::string id = row->fields.ok() ? id_of(*row->fields) : std::string();
        clips_.refuse(recordings_, row->line, id, *fault);
      }
      XTTS_TRY(clips_.check_bounds(recordings_));
    }
    return {};
  }

  static std::string id_of(const nlohmann::json& fields) {
    const std::string* const id = text_at(fields, "id");
    return id == nullptr ? std::string() : *id;
  }

  std::optional<std::string> add_recording(const NamedRow& row) {
    if (!row.fields.ok()) return "the line " + row.fields.status().message();
    const std::string id = id_of(*row.fields);
    if (id.empty()) return "the recording has no id";
    const auto [place, is_new] = known_.try_emplace(id);
    Recording& recording = place->second;
    if (!is_new) {
      return formatted("the same recording is in line {}, which is used", recording.line);
    }
    clips_.hold(kLhotseRecordingBytes + id.size());
    recording.line = row.line;
    auto source = source_of_recording(*row.fields);
    if (!source.ok()) return source.status().message();
    recording.path = std::move(*source);
    recording.channels = channels_at(row.fields->at("sources").front(), "channels");
    recording.is_usable = true;
    const auto duration = row.fields->find("duration");
    const bool has_duration = duration != row.fields->end() && duration->is_number();
    if (has_duration) recording.duration_s = duration->get<double>();
    return std::nullopt;
  }

  Status read_supervisions() {
    XTTS_ASSIGN(NamedRows rows, NamedRows::open(input_, supervisions_.list));
    return read_rows(rows, supervisions_, clips_, [&](std::uint64_t line, nlohmann::json fields) {
      const std::string id = id_of(fields);
      const auto fault = add_supervision(line, std::move(fields));
      if (fault) clips_.refuse(supervisions_, line, id, *fault);
      return Status();
    });
  }

  std::optional<std::string> add_supervision(std::uint64_t line, nlohmann::json fields) {
    const LhotseChannels said_on = channels_at(fields, "channel");
    auto read = read_row(std::move(fields), kNames);
    if (!read.ok()) return "the line " + read.status().message();
    if (read->id.empty()) return "the supervision has no id";
    const auto place = known_.find(read->audio);
    if (place == known_.end()) {
      return formatted("there is no recording {} in {}", printable(read->audio), recordings_.list);
    }
    Recording& recording = place->second;
    recording.is_named = true;
    if (!recording.is_usable) {
      return formatted("its recording cannot be used: line {} of {}", recording.line,
                       recordings_.list);
    }
    if (auto fault = fault_of_channels(said_on, recording.channels)) return fault;
    if (!read->segment || !read->segment->end_s) return "the supervision has no start or duration";
    add(line, *read, recording);
    return std::nullopt;
  }

  void add(std::uint64_t line, const RowClip& row, const Recording& recording) {
    const Segment& segment = *row.segment;
    const bool is_whole =
        segment.start_s == 0.0 && recording.duration_s &&
        std::abs(*segment.end_s - *recording.duration_s) <= kLhotseToleranceSeconds;
    ListedClip clip = listed(row);
    clip.line = line;
    clip.audio = recording.path;
    if (is_whole) clip.segment.reset();
    clips_.add(supervisions_, clip);
  }

  const LayoutInput& input_;
  const ListSource& recordings_;
  const ListSource& supervisions_;
  ClipCollector& clips_;
  std::unordered_map<std::string, Recording> known_;
};

Detected detect(const LayoutInput& input) {
  const Manifests found = find_manifests(input.tree);
  if (found.pairs.empty()) return Detected(std::nullopt);
  const ManifestPair& first = found.pairs.front();
  return Detected(formatted("{} and {} are in DATA", printable(first.recordings),
                            printable(first.supervisions)));
}

Result<Findings> read(const LayoutInput& input) {
  const Manifests found = find_manifests(input.tree);
  if (found.pairs.empty()) {
    return Status(
        StatusCode::kInvalidArgument,
        "no pair of *recordings*.jsonl(.gz) and *supervisions*.jsonl(.gz) in " + input.tree.root);
  }
  std::vector<ListSource> recordings;
  std::vector<ListSource> supervisions;
  for (const ManifestPair& pair : found.pairs) {
    const auto split = found.pairs.size() > 1 ? split_of_name(pair.supervisions) : std::nullopt;
    recordings.push_back({pair.recordings, "", split});
    supervisions.push_back({pair.supervisions, "", split});
  }
  ClipCollector clips(input);
  for (std::size_t i = 0; i < found.pairs.size(); ++i) {
    XTTS_TRY(PairReader(input, recordings[i], supervisions[i], clips).read());
  }
  if (!found.alone.empty()) {
    clips.note(names_of(found.alone) + ": not read, since the other list of the pair is not there");
  }
  return clips.finish(supervisions, "lines {\"id\": ..., \"recording_id\": ..., \"text\": ...}");
}

}  // namespace
}  // namespace lhotse_layout

extern const Layout kLhotseLayout = {
    "lhotse", "lhotse manifests: *recordings*.jsonl(.gz) beside *supervisions*.jsonl(.gz)",
    lhotse_layout::detect, lhotse_layout::read, ListPlace::kInData};

}  // namespace xtts::corpus
