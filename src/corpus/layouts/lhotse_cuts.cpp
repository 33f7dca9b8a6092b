// lhotse_cuts: *cuts*.jsonl(.gz) in DATA, one MonoCut (or MultiCut of all channels) a line, with
// its recording and supervisions. A cut with one supervision is a clip: that part of the
// recording, with the cut's id. A cut with several is a clip for each, since speakers may differ:
// that part of the cut, with the supervision's id. A cut that needs mixing is a problem.

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/clips/splits.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/layouts/lhotse_recording.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/clips_of_rows.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/lists/named_rows.hpp"
#include "corpus/lists/row_clip.hpp"

namespace xtts::corpus {
namespace lhotse_cuts_layout {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 2> kEndings = {"jsonl", "jsonl.gz"};
constexpr std::string_view kExpected =
    "lines {\"id\": ..., \"recording\": {...}, \"supervisions\": [...]}";

constexpr std::array<FieldNames, 4> kNames = {{
    {FieldRole::kId, {"id"}},
    {FieldRole::kRaw, {"text"}},
    {FieldRole::kLanguage, {"language"}},
    {FieldRole::kSpeaker, {"speaker"}},
}};

std::vector<std::string> find_cuts(const DataTree& tree) {
  std::vector<std::string> lists = lists_in(tree, "", kEndings);
  std::erase_if(lists, [](const std::string& list) {
    return folded(list).find("cuts") == std::string::npos;
  });
  // If a name exists with and without ".gz", the first is used.
  std::erase_if(lists, [&](const std::string& list) {
    return list.ends_with(".gz") &&
           std::find(lists.begin(), lists.end(), list.substr(0, list.size() - 3)) != lists.end();
  });
  return lists;
}

std::optional<double> seconds_at(const json& object, const char* key) {
  const auto member = object.find(key);
  if (member == object.end() || !member->is_number()) return std::nullopt;
  const double seconds = member->get<double>();
  return std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
}

// Times in a supervision count from the cut's first sample; those of clips from the source's.
void shift_alignments(json& supervision, double by_s) {
  const auto alignments = supervision.find("alignment");
  if (alignments == supervision.end() || !alignments->is_object()) return;
  for (json& list : *alignments) {
    if (!list.is_array()) continue;
    for (json& item : list) {
      const bool is_item = item.is_array() && item.size() >= 3 && item[1].is_number();
      if (is_item) item[1] = item[1].get<double>() + by_s;
    }
  }
}

struct Cut {
  std::string id;
  std::string path;
  double start_s = 0.0;
  double end_s = 0.0;
  std::optional<double> recording_s;
  json custom;  // null: none

  [[nodiscard]] std::optional<Segment> segment(double from_s, double to_s) const {
    const bool is_whole = recording_s && from_s <= kLhotseToleranceSeconds &&
                          std::abs(to_s - *recording_s) <= kLhotseToleranceSeconds;
    return is_whole ? std::nullopt : std::optional(Segment{from_s, to_s});
  }
};

class CutsReader {
 public:
  CutsReader(const LayoutInput& input, ClipCollector& clips) : input_(input), clips_(clips) {}

  Status read_list(const ListSource& source) {
    source_ = &source;
    XTTS_ASSIGN(NamedRows rows, NamedRows::open(input_, source.list));
    return read_rows(rows, source, clips_, [&](std::uint64_t line, json fields) {
      if (const auto fault = read_cut(line, fields)) {
        const std::string* const id = text_at(fields, "id");
        clips_.refuse(source, line, id == nullptr ? std::string() : *id, *fault);
      }
      return Status();
    });
  }

 private:
  std::optional<std::string> read_cut(std::uint64_t line, json& fields) {
    Cut cut;
    const std::string* const id = text_at(fields, "id");
    const std::string* const type = text_at(fields, "type");
    if (id == nullptr || id->empty()) return "the cut has no id";
    cut.id = *id;
    if (type != nullptr && *type != "MonoCut" && *type != "MultiCut") {
      return formatted(
          "the cut is a {}, which would have to be mixed; save its audio (CutSet.save_audios) and "
          "its cuts anew",
          printable(*type));
    }
    const auto recording = fields.find("recording");
    if (recording == fields.end() || !recording->is_object()) return "the cut has no recording";
    auto path = source_of_recording(*recording);
    if (!path.ok()) return path.status().message();
    cut.path = std::move(*path);
    const auto fault = fault_of_channels(channels_at(fields, "channel"),
                                         channels_at(recording->at("sources").front(), "channels"));
    if (fault) return fault;
    const auto start_s = seconds_at(fields, "start");
    const auto duration_s = seconds_at(fields, "duration");
    if (!start_s || !duration_s) return "the cut has no start or duration";
    cut.start_s = *start_s;
    cut.end_s = *start_s + *duration_s;
    cut.recording_s = seconds_at(*recording, "duration");
    if (const auto custom = fields.find("custom"); custom != fields.end() && !custom->empty()) {
      cut.custom = *custom;
    }
    return add_supervisions(line, cut, fields);
  }

  std::optional<std::string> add_supervisions(std::uint64_t line, const Cut& cut, json& fields) {
    const auto list = fields.find("supervisions");
    const bool is_list = list != fields.end() && list->is_array();
    if (!is_list || list->empty()) {
      return add(line, cut, json::object(), cut.id, cut.segment(cut.start_s, cut.end_s));
    }
    for (json& supervision : *list) {
      if (!supervision.is_object()) return "a supervision of the cut is no object";
      const auto start_s = seconds_at(supervision, "start");
      const auto duration_s = seconds_at(supervision, "duration");
      shift_alignments(supervision, cut.start_s);
      std::optional<std::string> fault;
      if (list->size() == 1) {
        fault = add(line, cut, std::move(supervision), cut.id, cut.segment(cut.start_s, cut.end_s));
      } else if (!start_s || !duration_s) {
        fault = "a supervision of the cut has no start or duration";
      } else {
        // A supervision may begin before its cut, or end after it.
        const double from_s = std::max(cut.start_s, cut.start_s + *start_s);
        const double to_s = std::min(cut.end_s, cut.start_s + *start_s + *duration_s);
        fault = add(line, cut, std::move(supervision), {}, cut.segment(from_s, to_s));
      }
      if (fault) return fault;
    }
    return std::nullopt;
  }

  // Empty `id`: the supervision's id is used.
  std::optional<std::string> add(std::uint64_t line, const Cut& cut, json supervision,
                                 const std::string& id, const std::optional<Segment>& segment) {
    for (const char* key : {"recording_id", "start", "duration", "channel"}) supervision.erase(key);
    if (!id.empty()) supervision.erase("id");
    const auto custom = supervision.find("custom");
    if (custom != supervision.end() && custom->empty()) supervision.erase(custom);
    if (!cut.custom.is_null()) supervision["cut_custom"] = cut.custom;
    const auto row = read_row(std::move(supervision), kNames);
    if (!row.ok()) return "a supervision " + row.status().message();
    if (id.empty() && row->id.empty()) return "a supervision of the cut has no id";
    ListedClip clip = listed(*row);
    clip.line = line;
    clip.audio = cut.path;
    if (!id.empty()) clip.id = id;
    clip.text_normalized = clip.text_raw;
    clip.segment = segment;
    clips_.add(*source_, clip);
    return std::nullopt;
  }

  const LayoutInput& input_;
  ClipCollector& clips_;
  const ListSource* source_ = nullptr;
};

Detected detect(const LayoutInput& input) {
  const std::vector<std::string> lists = find_cuts(input.tree);
  if (lists.empty()) return Detected(std::nullopt);
  return Detected(formatted("{}{} in DATA", names_of(lists), lists.size() == 1 ? " is" : " are"));
}

Result<Findings> read(const LayoutInput& input) {
  const std::vector<std::string> lists = find_cuts(input.tree);
  if (lists.empty()) return not_this_layout(input, "*cuts*.jsonl(.gz)");
  std::vector<ListSource> sources;
  for (const std::string& list : lists) {
    sources.push_back({list, "", lists.size() > 1 ? split_of_name(list) : std::nullopt});
  }
  ClipCollector clips(input);
  CutsReader reader(input, clips);
  for (const ListSource& source : sources) XTTS_TRY(reader.read_list(source));
  return clips.finish(sources, kExpected);
}

}  // namespace
}  // namespace lhotse_cuts_layout

extern const Layout kLhotseCutsLayout = {
    "lhotse_cuts", "lhotse cuts: *cuts*.jsonl(.gz), each with its recording and supervisions",
    lhotse_cuts_layout::detect, lhotse_cuts_layout::read, ListPlace::kInData};

}  // namespace xtts::corpus
