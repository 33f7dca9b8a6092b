#include "maintain/published_clips.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/try.hpp"

namespace xtts::maintain {
namespace {

using corpus::Clip;
using corpus::Split;
using formats::RecordFacts;
using formats::Reject;
using pipeline::ClipFate;

struct Entry {
  Clip clip;
  ClipFate fate = ClipFate::kCompute;
  std::optional<std::uint64_t> position;
};

Clip clip_of(RecordFacts facts) {
  Clip clip;
  clip.id = std::move(facts.id).value_or("");
  clip.dataset = std::move(facts.dataset).value_or("");
  clip.source = std::move(facts.source_path).value_or("");
  clip.text_raw = std::move(facts.text_raw).value_or("");
  clip.text_normalized = std::move(facts.text_normalized).value_or("");
  clip.speaker = std::move(facts.speaker).value_or("");
  clip.language = std::move(facts.language).value_or("");
  clip.extra_json = std::move(facts.extra_json).value_or("");
  clip.split = static_cast<Split>(facts.split.value_or(0));
  return clip;
}

std::optional<Split> parse_split(std::string_view name) {
  for (const Split split : {Split::kTrain, Split::kValidation, Split::kTest}) {
    if (corpus::to_string(split) == name) return split;
  }
  return std::nullopt;
}

// "data set/id" where the cache has data sets: their names hold no '/'.
void set_full_id(const std::string& full_id, bool has_datasets, Clip& clip) {
  const std::size_t slash = has_datasets ? full_id.find('/') : std::string::npos;
  if (slash == std::string::npos) {
    clip.id = full_id;
    return;
  }
  clip.dataset = full_id.substr(0, slash);
  clip.id = full_id.substr(slash + 1);
}

class Collector {
 public:
  explicit Collector(reader::CacheView& view) : view_(view) {}

  Result<PublishedClips> run() {
    XTTS_TRY(add_records());
    XTTS_TRY(add_rejected());
    if (entries_.size() != view_.manifest().counts.planned) {
      return Status(StatusCode::kUnsupported,
                    view_.path() + " was made by a version that did not keep the places of its " +
                        "rejected clips: build it anew with 'build DATA CACHE --overwrite'");
    }
    put_in_order();
    return std::move(result_);
  }

 private:
  Status add_records() {
    entries_.reserve(view_.manifest().counts.planned);
    for (std::uint64_t position = 0; position < view_.size(); ++position) {
      XTTS_ASSIGN(auto facts, view_.details(position));
      entries_.push_back({clip_of(std::move(facts)), ClipFate::kCompute, position});
    }
    return {};
  }

  Status add_rejected() {
    const bool has_datasets = view_.manifest().datasets.size() > 1;
    XTTS_ASSIGN(const std::string lines, view_.rejects_jsonl());
    XTTS_ASSIGN(result_.rejects, formats::decode_rejects(lines));
    for (const Reject& reject : result_.rejects) {
      const auto split = parse_split(reject.split);
      if (!split) continue;  // no clip: a line of a list, a file that is none
      Entry entry;
      set_full_id(reject.id, has_datasets, entry.clip);
      entry.clip.source = reject.path;
      entry.clip.split = *split;
      // Only what was to be decoded has a place among the planned clips.
      if (!pipeline::is_judged_by_sound(reject)) entry.fate = ClipFate::kRejected;
      entries_.push_back(std::move(entry));
    }
    return {};
  }

  void put_in_order() {
    std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
      return std::tie(a.clip.dataset, a.clip.split, a.clip.id) <
             std::tie(b.clip.dataset, b.clip.split, b.clip.id);
    });
    pipeline::Plan& plan = result_.plan;
    plan.corpus.layout = view_.manifest().data_layout;
    plan.corpus.has_text = view_.manifest().find_column("tokens") != nullptr;
    for (Entry& entry : entries_) {
      if (entry.fate == ClipFate::kCompute)
        plan.to_compute.push_back(static_cast<std::uint32_t>(plan.clips.size()));
      plan.clips.push_back({.fate = entry.fate});
      plan.corpus.clips.push_back(std::move(entry.clip));
      result_.positions.push_back(entry.position);
    }
  }

  reader::CacheView& view_;
  std::vector<Entry> entries_;
  PublishedClips result_;
};

}  // namespace

Result<PublishedClips> published_clips(reader::CacheView& view) {
  return Collector(view).run();
}

}  // namespace xtts::maintain
