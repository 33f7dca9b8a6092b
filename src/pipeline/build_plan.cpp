#include "pipeline/build_plan.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/shell_words.hpp"
#include "base/try.hpp"
#include "corpus/files/names.hpp"
#include "formats/block.hpp"
#include "formats/canonical_json.hpp"
#include "formats/clip_id.hpp"
#include "formats/recipe.hpp"
#include "formats/rules.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/clip_facts.hpp"
#include "pipeline/gone_clips.hpp"
#include "pipeline/partition.hpp"
#include "pipeline/plan_hasher.hpp"
#include "pipeline/planned_part.hpp"
#include "pipeline/published_clip.hpp"
#include "pipeline/source_rows.hpp"
#include "pipeline/text_column.hpp"
#include "pipeline/text_rules.hpp"
#include "records/clip_rules.hpp"
#include "records/clip_worker.hpp"
#include "records/decoder_probe.hpp"
#include "records/segment.hpp"
#include "records/source_file.hpp"
#include "records/too_long.hpp"

namespace xtts::pipeline {
namespace {

using corpus::Clip;
using formats::Reject;
using formats::RejectClass;

corpus::KnownSplits known_splits(reader::CacheView* previous) {
  if (previous == nullptr) return {};
  return [previous](std::string_view id) -> std::optional<corpus::Split> {
    const auto position = previous->find(id);
    if (!position || !*position) return std::nullopt;
    const auto row = previous->plan_row(**position);
    if (!row) return std::nullopt;
    return static_cast<corpus::Split>(row->split);
  };
}

class Planner {
 public:
  explicit Planner(const PlanRequest& request) : request_(request) {}

  Result<BuildPlan> run(std::optional<corpus::Corpus> found) {
    XTTS_TRY(place_data());
    if (!found) {
      XTTS_ASSIGN(found, discover_corpus(request_));
    }
    plan_.corpus = *std::move(found);
    XTTS_TRY(check_lists_are_read(plan_.corpus, request_.build.data.path, request_.recipe));
    // Moves the problems out: after this point only their number is used, and a million of them
    // should not be in memory twice.
    plan_.rejects.reserve(plan_.corpus.problems.size());
    std::ranges::move(plan_.corpus.problems, std::back_inserter(plan_.rejects));
    plan_.clips.resize(plan_.corpus.clips.size());
    if (const auto& part = request_.build.part)
      plan_.elsewhere_count = part->considered_count() - considered_clip_count(plan_);
    XTTS_TRY(apply_text_policies());
    plan_.digest = digest_of_everything();
    if (is_as_before()) {
      plan_.unchanged = true;
      return std::move(plan_);
    }
    plan_.all_clips =
        request_.build.part ? request_.build.part->plan.clips : digest_of_all_clips(plan_);
    // A published part is never updated. The plan only has to say whether DATA is unchanged.
    const auto& partition = request_.build.partition;
    if (partition && request_.previous != nullptr) return std::move(plan_);
    XTTS_TRY(read_previous_rejects());
    for (std::size_t i = 0; i < plan_.clips.size(); ++i) {
      if (plan_.clips[i].fate == ClipFate::kRejected) continue;
      XTTS_TRY(decide(i));
    }
    if (request_.previous != nullptr) XTTS_TRY(find_gone_clips(request_, plan_));
    if (partition && !request_.build.part)
      assign_to_other_parts(plan_, *partition, request_.clips_per_shard);
    list_clips_to_compute();
    XTTS_TRY(compare_texts());
    return std::move(plan_);
  }

 private:
  Status place_data() {
    const formats::DataFolders& data = request_.build.data;
    // A part of several corpora needs their folders, and not the file that named them.
    if (request_.build.part && !request_.build.corpora.empty()) {
      plan_.data = data;
      return {};
    }
    XTTS_ASSIGN(plan_.data.path, request_.env.real_path(data.path));
    for (const std::string& folder : data.audio_roots) {
      XTTS_ASSIGN(plan_.data.audio_roots.emplace_back(), request_.env.real_path(folder));
    }
    return {};
  }

  void refuse(std::size_t i, records::Refusal refusal) {
    plan_.clips[i].fate = ClipFate::kRejected;
    plan_.rejects.push_back(
        records::reject_of(plan_.corpus.clips[i], refusal.kind, std::move(refusal.reason)));
  }
  void reject_by_rule(std::size_t i, formats::Reason reason) {
    refuse(i, {RejectClass::kPolicy, std::move(reason)});
  }

  Status apply_text_policies() {
    XTTS_ASSIGN(const auto rules, TextRules::create(request_.recipe, plan_.corpus.has_text));
    for (std::size_t i = 0; i < plan_.clips.size(); ++i) {
      if (rules.drops_for_want_of_text(plan_.corpus.clips[i]))
        reject_by_rule(i, records::refusal_of_no_text());
    }
    for (std::size_t i = 0; i < plan_.clips.size(); ++i) {
      if (plan_.clips[i].fate == ClipFate::kRejected) continue;
      auto reason = rules.refusal_of_tokens(plan_.corpus.clips[i], plan_.unknown_characters);
      if (reason) reject_by_rule(i, std::move(*reason));
    }
    return {};
  }

  Digest digest_of_everything() const {
    PlanHasher hasher;
    const auto& recipe = request_.recipe;
    hasher.add(formats::dump_canonical(to_json(*recipe.features)));
    hasher.add(formats::dump_canonical(to_json(recipe.text)));
    hasher.add(formats::dump_canonical(to_json(recipe.corpus)));
    hasher.add(formats::dump_canonical(to_json(recipe.storage)));
    // Caches of older versions have no texts here. A build must not take them for unchanged.
    if (plan_.corpus.has_text && !has_tokens(plan_, recipe)) hasher.add("texts without tokens");
    for (const Clip& clip : plan_.corpus.clips) {
      hasher.add_content(clip);
      hasher.add_identity(clip);
    }
    for (const Reject& reject : plan_.rejects) hasher.add(formats::encode_reject(reject));
    return hasher.finish();
  }

  [[nodiscard]] bool comes_from_same_folders() const {
    return request_.sources->data == plan_.data;
  }

  // True where the last build saw the same input and left nothing that is worth another try.
  bool is_as_before() const {
    return request_.previous != nullptr && request_.sources != nullptr &&
           !request_.build.options.retry_rejects && !request_.has_new_speakers &&
           request_.sources->plan_digest == plan_.digest && comes_from_same_folders() &&
           request_.sources->index_digest == request_.previous->manifest().index_digest &&
           !request_.previous->manifest().counts.rejects_by_class.contains(
               std::string(to_string(RejectClass::kEnvironment)));
  }

  Status read_previous_rejects() {
    if (request_.previous == nullptr || request_.build.options.retry_rejects) return {};
    const auto& manifest = request_.previous->manifest();
    // Another rule may refuse the clip now, before the fault is met.
    if (manifest.corpus_fingerprint != formats::fingerprint(request_.recipe.corpus)) return {};
    XTTS_ASSIGN(const std::string lines, request_.previous->rejects_jsonl());
    XTTS_ASSIGN(auto rejects, formats::decode_rejects(lines));
    for (Reject& reject : rejects) {
      // Every build judges lists and texts anew, and tries again where the environment was at
      // fault. The same corpus section decides the same.
      const bool final = reject.kind != RejectClass::kEnvironment;
      // A duplicate's reject is void if the clip with the same sound is gone. A rule of another
      // version is unknown here, so its clip is tried again.
      const formats::Rule rule = reject.reason.rule;
      const bool stands = final && !formats::precedes_sound(reject.stage()) &&
                          rule != formats::Rule::kSameSound && rule != formats::Rule::kUnknown;
      if (stands) previous_rejects_.emplace(reject.id, std::move(reject));
    }
    return {};
  }

  const store::SourceRow* row_of(const Clip& clip) const {
    if (request_.sources == nullptr) return nullptr;
    return request_.sources->find(formats::id_hash(clip.dataset, clip.id));
  }

  // True where the source is the file of the last build, so that it need not be hashed.
  bool is_file_of_before(const store::SourceRow* row, const Clip& clip) const {
    return row != nullptr && comes_from_same_folders() && is_same_file(*row, clip);
  }

  Status decide(std::size_t i) {
    if (request_.previous == nullptr) return {};
    const Clip& clip = plan_.corpus.clips[i];
    const store::SourceRow* const row = row_of(clip);
    XTTS_ASSIGN(const auto position, request_.previous->find(full_id(clip)));
    if (position) return decide_stored(i, *position, is_file_of_before(row, clip));

    const auto reject = previous_rejects_.find(full_id(clip));
    if (reject == previous_rejects_.end() || row == nullptr) return {};
    if (!has_text(clip) &&
        records::is_void_without_text(reject->second.reason.rule, request_.recipe))
      return {};
    if (reject->second.path != std::string_view(clip.source)) return {};
    if (row->reject_check != check_of(reject->second, clip)) return {};
    if (row->content != Digest()) reject->second.content_digest = row->content;
    if (!is_file_of_before(row, clip) &&
        (!reject->second.content_digest || reject->second.content_digest != content_digest(clip)))
      return {};
    plan_.clips[i].fate = ClipFate::kRejected;
    plan_.rejects.push_back(reject->second);
    return {};
  }

  Status decide_stored(std::size_t i, std::uint64_t position, bool source_unchanged) {
    const Clip& clip = plan_.corpus.clips[i];
    XTTS_ASSIGN(const auto facts, request_.previous->details(position));
    // A clip that was cut without a text and now has one is computed again: the reject says why.
    const formats::FeatureConfig& features = *request_.recipe.features;
    if (records::was_cut(features, facts) && has_text(clip) && records::depends_on_text(features))
      return {};
    if (!records::is_same_part(clip.segment, facts) || !is_decoded_alike(clip, facts)) return {};
    // A record of a part does not say how long its source is.
    if (clip.segment && is_source_limit_lowered()) return {};
    // If the source cannot be read, the worker meets the same failure and makes a reject of it.
    if (!source_unchanged && facts.content_digest != content_digest(clip)) return {};
    // Rules of the corpus section may have changed since the record was stored.
    if (auto refusal = refusal_of_stored(i, facts)) {
      refuse(i, std::move(*refusal));
      plan_.rejects.back().content_digest = facts.content_digest;
      return {};
    }
    plan_.clips[i] = {.fate = ClipFate::kReuse,
                      .previous_position = static_cast<std::uint32_t>(position)};
    return {};
  }

  [[nodiscard]] bool is_source_limit_lowered() const {
    const auto& published = request_.previous->manifest().corpus;
    const auto limit = published.find("max_source_seconds");
    return limit == published.end() || !limit->is_number() ||
           request_.recipe.corpus.max_source_seconds < limit->get<double>();
  }

  std::optional<records::Refusal> refusal_of_stored(std::size_t i,
                                                    const formats::RecordFacts& facts) {
    const auto& rules = request_.recipe.corpus;
    const bool with_text = has_text(plan_.corpus.clips[i]);
    if (auto refusal = records::refusal_of(facts, rules, with_text)) return refusal;
    if (rules.duplicates != formats::OddClip::kDrop || !facts.pcm_digest) return std::nullopt;
    const auto first = plan_.sounds.add(*facts.pcm_digest, static_cast<std::uint32_t>(i));
    if (!first) {
      reused_sounds_.add(full_id(plan_.corpus.clips[i]));
      reused_sounds_.add_number(*facts.pcm_digest);
      return std::nullopt;
    }
    return records::Refusal{RejectClass::kPolicy,
                            records::refusal_of_duplicate(full_id(plan_.corpus.clips[*first]))};
  }

  // Remembers the last source: mostly the segments of one source follow one another.
  std::optional<Digest> content_digest(const Clip& clip) {
    const corpus::SourcePlace place = plan_.corpus.place_of(clip);
    if (clip.segment && last_source_ == place) return last_digest_;
    const auto source = source_file_.read(request_.env, place);
    last_source_ = place;
    last_digest_ = source ? std::optional(source->content_digest) : std::nullopt;
    return last_digest_;
  }

  void list_clips_to_compute() {
    PlanHasher hasher;
    for (std::size_t i = 0; i < plan_.clips.size(); ++i) {
      if (plan_.clips[i].fate != ClipFate::kCompute) continue;
      plan_.to_compute.push_back(static_cast<std::uint32_t>(i));
      const Clip& clip = plan_.corpus.clips[i];
      hasher.add_source(clip);
      hasher.add_identity(clip);
      hasher.add_number(!has_text(clip));  // decides the too_long rule
    }
    hasher.add(formats::dump_canonical(to_json(request_.recipe.corpus)));
    hasher.add_number(reused_sounds_.finish());  // other reused sounds make other clips duplicates
    plan_.to_compute_digest = hasher.finish();
  }

  Status compare_texts() {
    plan_.texts_changed = true;
    if (request_.previous == nullptr) return {};
    const auto& manifest = request_.previous->manifest();
    if (manifest.text_fingerprint != formats::fingerprint(request_.recipe.text)) return {};
    std::uint64_t next_position = 0;
    for (std::size_t i = 0; i < plan_.clips.size(); ++i) {
      if (plan_.clips[i].fate != ClipFate::kReuse) continue;
      if (plan_.clips[i].previous_position != next_position++) return {};
      XTTS_ASSIGN(const auto facts, request_.previous->details(plan_.clips[i].previous_position));
      const Clip& clip = plan_.corpus.clips[i];
      if (differs_except_sound(clip, facts) || facts.extra_json.value_or("") != clip.extra_json)
        return {};
    }
    plan_.texts_changed = next_position != request_.previous->size();
    return {};
  }

  const PlanRequest& request_;
  BuildPlan plan_;
  records::SourceFile source_file_{0};  // only for hashing
  std::optional<corpus::SourcePlace> last_source_;
  std::optional<Digest> last_digest_;
  PlanHasher reused_sounds_;  // if duplicates are dropped
  std::unordered_map<std::string, Reject> previous_rejects_;
};

}  // namespace

namespace {

Result<corpus::Corpus> discover(const PlanRequest& request, corpus::FoundClips* receiver) {
  const RunConfig& run = request.build.run;
  return corpus::discover({.env = request.env,
                           .data = request.build.data,
                           .corpora = request.build.corpora,
                           .config = request.recipe.corpus,
                           .known_splits = known_splits(request.previous),
                           .split_above_s = records::split_above_s(*request.recipe.features),
                           .probe = records::make_content_probe(run.make_decoder, run.cancelled),
                           .memory_bytes = request.memory_bytes,
                           .receiver = receiver,
                           .cancelled = run.cancelled});
}

}  // namespace

Result<corpus::Corpus> discover_corpus(const PlanRequest& request) {
  XTTS_ASSIGN(auto found, discover(request, nullptr));
  XTTS_TRY(take_texts(request.recipe.text, found));
  return found;
}

Result<corpus::Corpus> discover_passing(const PlanRequest& request, corpus::FoundClips& receiver) {
  return discover(request, &receiver);
}

Status check_lists_are_read(const corpus::Corpus& corpus, const std::string& data,
                            const formats::Recipe& recipe) {
  if (corpus.unread_lists.empty() || !recipe.text.store) return {};
  if (const auto& below = corpus.corpus_below) {
    const std::string& beside = corpus.unread_beside_it;
    return {
        StatusCode::kInvalidArgument,
        formatted("{} holds one corpus, {} (layout {}): give its folder as DATA: {}{}", data,
                  xtts::corpus::printable(below->name), below->layout, shell_quoted(below->folder),
                  beside.empty() ? ""
                                 : "\nBeside it are texts that no layout knows how to read, and "
                                   "a cache of that folder lacks them:\n  " +
                                       beside)};
  }
  std::string lists;
  for (const std::string& list : corpus.unread_lists) lists += "\n  " + list;
  return {StatusCode::kInvalidArgument,
          "DATA holds texts that no layout knows how to read:" + lists +
              "\nA cache would lose them, and their splits and speakers. Give the columns names "
              "that are known (audio, text, speaker, language, split), or say which are "
              "meant with " +
              option_or_setting("audio-column", "corpus.audio_column", "NAME") + ", " +
              option_or_setting("text-column", "corpus.text_column", "NAME") +
              " and so on; other encodings than UTF-8 with " +
              option_or_setting("encoding", "corpus.encoding", "NAME") +
              ". Or name the layout that DATA is to be read as (" +
              option("layout-of-data", "folder") + " takes the sound alone), or give " +
              option_on("no-text")};
}

Result<BuildPlan> make_plan(const PlanRequest& request, std::optional<corpus::Corpus> found) {
  return Planner(request).run(std::move(found));
}

std::uint64_t BuildPlan::count_of(ClipFate fate) const {
  return static_cast<std::uint64_t>(std::ranges::count(clips, fate, &PlannedClip::fate));
}

std::uint64_t BuildPlan::clip_count() const {
  return clips.size() - count_of(ClipFate::kElsewhere);
}

bool has_tokens(const BuildPlan& plan, const formats::Recipe& recipe) {
  return plan.corpus.has_text && recipe.text.tokens != formats::TokenKind::kNone;
}

std::string_view text_to_tokenize(const Clip& clip, const formats::TextConfig& config) {
  // text.normalize makes the normalized text, whichever text it begins with.
  const bool takes_normalized = config.use_normalized || !config.normalize.empty();
  return takes_normalized && !clip.text_normalized.empty() ? clip.text_normalized : clip.text_raw;
}

}  // namespace xtts::pipeline
