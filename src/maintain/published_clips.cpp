#include "maintain/published_clips.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/try.hpp"
#include "formats/clip_id.hpp"
#include "formats/rules.hpp"
#include "formats/split.hpp"
#include "pipeline/published_clip.hpp"

namespace xtts::maintain {
namespace {

using corpus::Clip;
using corpus::Split;
using formats::Reject;
using pipeline::ClipFate;

struct Entry {
  Clip clip;
  ClipFate fate = ClipFate::kCompute;
  std::optional<RecordPlace> place;
};

class Collector {
 public:
  explicit Collector(std::span<const std::shared_ptr<reader::CacheView>> parts) : parts_(parts) {}

  Result<PublishedClips> run() {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      clip_count_ = 0;
      XTTS_TRY(add_records(part));
      XTTS_TRY(add_rejected(*parts_[part]));
      if (clip_count_ == parts_[part]->manifest().counts.planned) continue;
      return Status(StatusCode::kUnsupported,
                    parts_[part]->path() +
                        " was made by a version that did not keep the places of its rejected "
                        "clips: build it anew with 'xtts-precompute build DATA CACHE --overwrite'");
    }
    formats::sort_rejects(result_.rejects);
    put_in_order();
    return std::move(result_);
  }

 private:
  Status add_records(std::size_t part) {
    reader::CacheView& view = *parts_[part];
    entries_.reserve(entries_.size() + view.manifest().counts.planned);
    for (std::uint64_t position = 0; position < view.size(); ++position) {
      XTTS_ASSIGN(auto facts, view.details(position));
      entries_.push_back(
          {pipeline::clip_of(std::move(facts)), ClipFate::kCompute, RecordPlace{part, position}});
    }
    clip_count_ += view.size();
    return {};
  }

  // Adds a part's rejects. Each part repeats the rejects of lists and texts.
  Status add_rejected(reader::CacheView& view) {
    const bool has_datasets = view.manifest().datasets.size() > 1;
    XTTS_ASSIGN(const std::string lines, view.rejects_jsonl());
    XTTS_ASSIGN(const auto rejects, formats::decode_rejects(lines));
    std::vector<std::string> told;
    for (const Reject& reject : rejects) {
      const auto split = formats::split_named(reject.split);
      if (split) ++clip_count_;
      std::string line = formats::encode_reject(reject);
      if (known_rejects_.contains(line)) continue;
      told.push_back(std::move(line));
      result_.rejects.push_back(reject);
      if (!split) continue;  // not a clip: a line of a list, or a file without sound
      Entry entry;
      formats::ClipId name = formats::parts_of_full_id(reject.id, has_datasets);
      entry.clip.dataset = name.dataset;
      entry.clip.id = name.id;
      entry.clip.source = reject.path;
      entry.clip.split = *split;
      // Only clips that were to be decoded have a place among the planned clips.
      if (formats::precedes_sound(reject.stage())) entry.fate = ClipFate::kRejected;
      entries_.push_back(std::move(entry));
    }
    known_rejects_.insert(told.begin(), told.end());
    return {};
  }

  void put_in_order() {
    std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
      return std::tie(a.clip.dataset, a.clip.split, a.clip.id) <
             std::tie(b.clip.dataset, b.clip.split, b.clip.id);
    });
    pipeline::BuildPlan& plan = result_.plan;
    plan.corpus.layout = parts_.front()->manifest().data_layout;
    for (Entry& entry : entries_) {
      if (entry.fate == ClipFate::kCompute)
        plan.to_compute.push_back(static_cast<std::uint32_t>(plan.clips.size()));
      plan.clips.push_back({.fate = entry.fate});
      plan.corpus.clips.push_back(std::move(entry.clip));
      result_.places.push_back(entry.place);
    }
    plan.corpus.has_text = pipeline::has_texts(parts_.front()->manifest(), plan.corpus.clips);
  }

  std::span<const std::shared_ptr<reader::CacheView>> parts_;
  std::vector<Entry> entries_;
  std::set<std::string> known_rejects_;  // lines of rejects from the parts before
  std::uint64_t clip_count_ = 0;         // of this part
  PublishedClips result_;
};

}  // namespace

Result<PublishedClips> published_clips(std::span<const std::shared_ptr<reader::CacheView>> parts) {
  return Collector(parts).run();
}

}  // namespace xtts::maintain
