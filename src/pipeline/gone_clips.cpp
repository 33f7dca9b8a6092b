#include "pipeline/gone_clips.hpp"

#include <map>
#include <vector>

#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/clip_id.hpp"
#include "formats/recipe.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/published_clip.hpp"
#include "records/segment.hpp"
#include "records/source_file.hpp"
#include "records/too_long.hpp"

namespace xtts::pipeline {
namespace {

using corpus::Clip;

constexpr std::size_t kExamplesMax = 5;

class GoneClips {
 public:
  GoneClips(const PlanRequest& request, BuildPlan& plan)
      : request_(request), plan_(plan), cache_(*request.previous) {}

  Status run() {
    XTTS_TRY(list());
    if (gone_.empty()) return {};
    if (request_.copies_renamed && request_.sources != nullptr) XTTS_TRY(find_renamed());
    plan_.gone_count = gone_.size();
    const bool same_rules =
        cache_.manifest().corpus_fingerprint == formats::fingerprint(request_.recipe.corpus);
    for (const auto& [position, id] : gone_) {
      if (!same_rules && has_source(position)) continue;
      ++plan_.vanished_count;
      if (plan_.vanished_examples.size() < kExamplesMax) plan_.vanished_examples.push_back(id);
    }
    return {};
  }

 private:
  Status list() {
    std::vector<bool> is_named(cache_.size(), false);
    for (std::size_t i = 0; i < plan_.clips.size(); ++i) {
      XTTS_ASSIGN(const auto position, cache_.find(full_id(plan_.corpus.clips[i])));
      if (position) {
        is_named[*position] = true;
      } else {
        new_clips_.push_back(i);
      }
    }
    for (std::uint64_t position = 0; position < is_named.size(); ++position) {
      if (is_named[position]) continue;
      XTTS_ASSIGN(const auto facts, cache_.details(position));
      gone_.emplace(position, formats::full_id(facts.dataset.value_or(""), facts.id.value_or("")));
    }
    return {};
  }

  // Compares sizes first, so that a corpus that has only grown is not hashed.
  Status find_renamed() {
    std::multimap<std::uint64_t, std::uint64_t> by_size;
    for (const auto& [position, id] : gone_) {
      XTTS_ASSIGN(const auto facts, cache_.details(position));
      const auto* const row = request_.sources->find(
          formats::id_hash(facts.dataset.value_or(""), facts.id.value_or("")));
      if (row != nullptr && facts.content_digest) by_size.emplace(row->size_bytes, position);
    }
    for (const std::size_t place : new_clips_) {
      const Clip& clip = plan_.corpus.clips[place];
      // A segment is cut out of its source anew: mostly the source is decoded for other segments
      // anyway.
      if (plan_.clips[place].fate != ClipFate::kCompute || clip.segment) continue;
      const auto [begin, end] = by_size.equal_range(clip.source_bytes);
      if (begin == end) continue;
      const auto source = source_file_.read(request_.env, plan_.corpus.place_of(clip));
      if (!source) continue;  // the worker meets the same failure and makes a reject of it
      for (auto candidate = begin; candidate != end; ++candidate) {
        XTTS_ASSIGN(const auto facts, cache_.details(candidate->second));
        if (facts.content_digest != source->content_digest || !may_be_copied(clip, facts)) continue;
        plan_.clips[place].copied_from = static_cast<std::uint32_t>(candidate->second);
        gone_.erase(candidate->second);
        by_size.erase(candidate);
        break;
      }
    }
    return {};
  }

  [[nodiscard]] bool may_be_copied(const Clip& clip, const formats::RecordFacts& facts) const {
    if (!records::is_same_part(clip.segment, facts) || !is_decoded_alike(clip, facts)) return false;
    const auto& features = *request_.recipe.features;
    return !(records::was_cut(features, facts) && has_text(clip) &&
             records::depends_on_text(features));
  }

  [[nodiscard]] bool has_source(std::uint64_t position) const {
    const auto facts = cache_.details(position);
    if (!facts || !facts->source_path) return false;
    std::size_t folder = 0;
    if (const auto& corpora = request_.build.corpora; !corpora.empty()) {
      while (folder < corpora.size() && corpora[folder].name != facts->dataset.value_or(""))
        ++folder;
      if (folder == corpora.size()) return true;  // the request no longer has that corpus
    }
    return request_.env.stat(join_path(plan_.corpus.folders[folder], *facts->source_path)).ok();
  }

  const PlanRequest& request_;
  BuildPlan& plan_;
  reader::CacheView& cache_;
  records::SourceFile source_file_{0};         // only for hashing
  std::vector<std::size_t> new_clips_;         // places of clips whose ids the cache does not have
  std::map<std::uint64_t, std::string> gone_;  // position -> full id
};

}  // namespace

Status find_gone_clips(const PlanRequest& request, BuildPlan& plan) {
  return GoneClips(request, plan).run();
}

}  // namespace xtts::pipeline
