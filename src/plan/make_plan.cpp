#include "plan/make_plan.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/check_cancelled.hpp"
#include "base/confined_env.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/feature_config.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/confined_data.hpp"
#include "pipeline/lengths.hpp"
#include "pipeline/losses.hpp"
#include "pipeline/name_table.hpp"
#include "pipeline/speaker_numbers.hpp"
#include "plan/part_writer.hpp"
#include "plan/plan_folder.hpp"
#include "plan/shard_dealer.hpp"
#include "records/clip_worker.hpp"
#include "records/columns.hpp"

namespace xtts::plan {
namespace {

using formats::Plan;
using formats::Reject;
using pipeline::BuildPlan;
using pipeline::ClipFate;

constexpr std::size_t kRejectsKept = 1000;

Status check_data(Env& env, const pipeline::BuildRequest& build) {
  if (build.corpora.empty()) return pipeline::check_data_folder(env, build.data.path);
  for (const auto& entry : build.corpora)
    XTTS_TRY(pipeline::check_data_folder(env, entry.folder).with_context(entry.name));
  return {};
}

// Only what sees all sounds can tell which of two equal ones is dropped.
Status check_duplicates(const formats::Recipe& recipe) {
  if (recipe.corpus.duplicates != formats::OddClip::kDrop) return {};
  return {StatusCode::kInvalidArgument,
          formatted("corpus.duplicates=drop has to see all sounds in one build: give {}",
                    option_set("corpus.duplicates", "warn"))};
}

// The question that a plan answers. Lengths that the corpus is to choose are named as such.
Digest digest_of_request(const PlanRequest& request, const formats::Numerics& numerics) {
  const pipeline::BuildRequest& build = request.build;
  const formats::Recipe& recipe = build.recipe;
  nlohmann::json folders = nlohmann::json::array();
  for (const auto& entry : build.corpora)
    folders.push_back({entry.name, entry.folder, entry.layout, entry.language, entry.speaker,
                       entry.speaker_pattern, entry.split, entry.encoding, entry.audio_roots});
  return digest128(formats::dump_canonical({{"data", build.data.path},
                                            {"audio_roots", build.data.audio_roots},
                                            {"corpora", std::move(folders)},
                                            {"features", to_json(*recipe.features)},
                                            {"text", to_json(recipe.text)},
                                            {"corpus", to_json(recipe.corpus)},
                                            {"storage", to_json(recipe.storage)},
                                            {"max_frames", to_string(recipe.features->max_frames)},
                                            {"max_tokens", to_string(recipe.text.max_tokens)},
                                            {"speakers", build.known_speakers},
                                            {"parts", request.part_count},
                                            {"numerics", numerics.hash().to_hex()}}));
}

// Which root of the folder a mount leads to.
formats::PlanMount mount_of(const std::string& place, const std::string& real,
                            const std::vector<std::string>& roots) {
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (auto path = corpus::relative_to(roots[i], real))
      return {.place = place, .root = static_cast<std::uint32_t>(i), .path = std::move(*path)};
  }
  return {.place = place, .root = 0, .path = real};
}

Status add_folders(Env& env, const pipeline::BuildRequest& build, const corpus::Corpus& corpus,
                   Plan& plan) {
  for (std::size_t i = 0; i < corpus.folders.size(); ++i) {
    const formats::DataFolders given =
        build.corpora.empty() ? build.data : build.corpora[i].folders(build.data);
    formats::PlanFolder& folder = plan.folders.emplace_back();
    if (!build.corpora.empty()) folder.name = build.corpora[i].name;
    folder.path = corpus.folders[i];
    for (const std::string& root : given.audio_roots) {
      XTTS_ASSIGN(folder.audio_roots.emplace_back(), env.real_path(root));
    }
    for (const auto& [place, real] : corpus.mounts[i].places())
      folder.mounts.push_back(mount_of(place, real, folder.audio_roots));
  }
  return {};
}

std::vector<std::string> names_of(const std::vector<std::string>& known,
                                  const std::vector<corpus::Clip>& clips,
                                  SharedText corpus::Clip::*field) {
  return pipeline::NameTable(known, pipeline::names_of(clips, field)).names();
}

std::optional<double> seconds_of(const std::vector<corpus::Clip>& clips) {
  double seconds = 0.0;
  for (const corpus::Clip& clip : clips) {
    if (!clip.segment || !clip.segment->end_s) return std::nullopt;
    seconds += *clip.segment->end_s - clip.segment->start_s;
  }
  return seconds;
}

// The names' numbers in rows.
class NameNumbers {
 public:
  explicit NameNumbers(const Plan& plan)
      : datasets_(plan.datasets, {}),
        speakers_(plan.speakers, {}),
        languages_(plan.languages, {}) {}

  [[nodiscard]] pipeline::RowNumbers of(const corpus::Clip& clip) const {
    return {.dataset = static_cast<std::uint64_t>(std::max(datasets_.number_of(clip.dataset), 0)),
            .speaker = static_cast<std::uint64_t>(speakers_.number_of(clip.speaker) + 1),
            .language = static_cast<std::uint64_t>(languages_.number_of(clip.language) + 1)};
  }

 private:
  pipeline::NameTable datasets_, speakers_, languages_;
};

Verdict verdict_of(const pipeline::PlannedClip& clip) {
  return clip.fate == ClipFate::kRejected ? Verdict::kRefusedText : Verdict::kCompute;
}

// Equal lines are in one part: merge takes a line that two parts tell once.
std::uint32_t part_of_reject(const Reject& reject, std::uint32_t part_count) {
  return static_cast<std::uint32_t>(check64(as_bytes(formats::encode_reject(reject))) %
                                    part_count) +
         1;
}

class Planner {
 public:
  Planner(Env& env, const PlanRequest& request, PlanFolder& folder)
      : env_(env), request_(request), build_(request.build), folder_(folder) {}

  Result<PlanReport> run() {
    XTTS_TRY(find_numerics());
    report_.plan.asked = digest_of_request(request_, report_.plan.numerics);
    XTTS_ASSIGN(const bool is_there, look_at_old_plan());
    if (is_there) return std::move(report_);
    XTTS_TRY(folder_.begin());
    XTTS_ASSIGN(auto found, find_clips());
    const auto columns = records::sound_columns(build_.recipe, report_.plan.numerics);
    XTTS_ASSIGN(const BuildPlan planned,
                pipeline::make_plan({.env = env_, .build = build_, .recipe = build_.recipe},
                                    std::move(found)));
    XTTS_TRY(check_losses(planned));
    XTTS_TRY(describe(planned));
    XTTS_TRY(write_parts(planned, records::clips_per_shard(columns)));
    XTTS_TRY(folder_.publish(report_.plan));
    return std::move(report_);
  }

 private:
  Status find_numerics() {
    std::shared_ptr<const dsp::FrameEngines> engines;
    if (build_.choose_engines) {
      XTTS_ASSIGN(engines, build_.choose_engines(""));
    }
    XTTS_ASSIGN(report_.plan.numerics, records::numerics_of(build_.isa, build_.run.make_decoder,
                                                            build_.run.cancelled, engines.get()));
    return pipeline::check_dtype_holds_full_scale(build_.recipe, build_.isa);
  }

  Result<bool> look_at_old_plan() {
    XTTS_ASSIGN(auto old, folder_.plan());
    if (!old || request_.overwrite) return false;
    if (old->asked == report_.plan.asked) {
      report_.plan = std::move(*old);
      report_.unchanged = true;
      return true;
    }
    return Status(
        StatusCode::kMismatch,
        formatted("{} holds another plan, of {} in {} parts: name another folder, or give "
                  "{} to plan anew (parts that were built by the old plan do not fit)",
                  folder_.path(), old->data_path, old->parts.size(), option_on("overwrite")));
  }

  // Lists DATA, and gives open lengths their numbers.
  Result<corpus::Corpus> find_clips() {
    const bool is_open = pipeline::has_open_lengths(build_.recipe);
    const formats::Recipe longest = is_open ? pipeline::with_longest(build_.recipe) : build_.recipe;
    XTTS_ASSIGN(auto found, pipeline::discover_corpus({.env = env_,
                                                       .build = build_,
                                                       .recipe = longest,
                                                       .memory_bytes = build_.run.memory_bytes}));
    report_.lengths = pipeline::given_lengths(build_.recipe);
    if (is_open) {
      XTTS_ASSIGN(report_.lengths,
                  pipeline::choose_lengths({env_, found, build_.run}, build_.recipe));
    }
    return found;
  }

  Status check_losses(const BuildPlan& planned) const {
    XTTS_TRY(check_cancelled(build_.run.cancelled));
    XTTS_TRY(pipeline::check_known_rejects(planned, build_.max_rejects));
    return pipeline::check_known_drops(planned, build_.recipe, build_.max_losses);
  }

  Status describe(const BuildPlan& planned) {
    const corpus::Corpus& corpus = planned.corpus;
    Plan& plan = report_.plan;
    plan.clips = planned.all_clips;
    plan.recipe = build_.recipe;
    plan.data_path = planned.data.path;
    plan.audio_roots = planned.data.audio_roots;
    XTTS_TRY(add_folders(env_, build_, corpus, plan));
    plan.layout = corpus.layout;
    plan.has_text = corpus.has_text;
    plan.is_stream = corpus.is_stream;
    plan.datasets = names_of({""}, corpus.clips, &corpus::Clip::dataset);
    plan.speakers = names_of(build_.known_speakers, corpus.clips, &corpus::Clip::speaker);
    plan.languages = names_of({}, corpus.clips, &corpus::Clip::language);
    for (const corpus::Clip& clip : corpus.clips)
      ++plan.clips_by_split[std::string(to_string(clip.split))];
    report_.notes = corpus.notes;
    if (auto note = pipeline::note_on_speakers(build_.known_speakers, nullptr, corpus.clips))
      report_.notes.push_back(std::move(*note));
    report_.unknown_characters = planned.unknown_characters;
    report_.sound_seconds = seconds_of(corpus.clips);
    report_.refused_text_count = planned.count_of(ClipFate::kRejected);
    const auto kept = std::min(planned.rejects.size(), kRejectsKept);
    report_.rejects.assign(planned.rejects.begin(),
                           planned.rejects.begin() + static_cast<std::ptrdiff_t>(kept));
    return {};
  }

  // The rejects of lists come before those of texts.
  [[nodiscard]] static std::span<const Reject> rejects_of_lists(const BuildPlan& planned) {
    return std::span(planned.rejects).first(planned.corpus.problems.size());
  }

  Status write_parts(const BuildPlan& planned, std::uint64_t clips_per_shard) {
    ShardDealer dealer(clips_per_shard, request_.part_count);
    for (std::size_t i = 0; i < planned.clips.size(); ++i)
      dealer.measure(planned.corpus.clips[i], verdict_of(planned.clips[i]));
    report_.plan.parts = dealer.deal();
    std::vector<std::vector<const Reject*>> rejects(request_.part_count);
    for (const Reject& reject : rejects_of_lists(planned))
      rejects[part_of_reject(reject, request_.part_count) - 1].push_back(&reject);
    const NameNumbers numbers(report_.plan);
    SharedSourceCounter shared;
    std::size_t next = 0;
    for (std::uint32_t index = 1; index <= request_.part_count; ++index) {
      XTTS_TRY(check_cancelled(build_.run.cancelled));
      formats::PlanPart& part = report_.plan.parts[index - 1];
      XTTS_ASSIGN(const auto writer,
                  PartWriter::create(env_, folder_.path(),
                                     {.index = index,
                                      .count = request_.part_count,
                                      .plan = report_.plan.clips,
                                      .clip_count = part.clip_count,
                                      .reject_count = rejects[index - 1].size()}));
      for (const std::size_t end = next + part.clip_count; next < end; ++next) {
        const corpus::Clip& clip = planned.corpus.clips[next];
        shared.add(clip, index);
        XTTS_TRY(writer->add(clip, numbers.of(clip)));
      }
      for (const Reject* reject : rejects[index - 1]) XTTS_TRY(writer->add(*reject));
      XTTS_ASSIGN(formats::PlanPart written, writer->finish());
      written.shard_count = part.shard_count;
      written.source_bytes = part.source_bytes;
      part = std::move(written);
    }
    report_.shared = shared.finish();
    return {};
  }

  Env& env_;
  const PlanRequest& request_;
  pipeline::BuildRequest build_;  // its recipe gets its lengths
  PlanFolder& folder_;
  PlanReport report_;
};

Result<PlanReport> run(Env& whole_env, const PlanRequest& request) {
  XTTS_TRY(check_duplicates(request.build.recipe));
  const auto of_sources =
      pipeline::confined_to_data(whole_env, request.build.data, request.build.corpora);
  const auto confined = confined_to(*of_sources, request.folder, Links::kNone);
  XTTS_TRY(check_data(*confined, request.build));
  XTTS_ASSIGN(const auto folder,
              PlanFolder::open(*confined, request.folder,
                               {.notice = request.notice, .cancelled = request.cancelled}));
  auto report = Planner(*confined, request, *folder).run();
  const Status finished = folder->finish();
  if (report) XTTS_TRY(finished);
  return report;
}

}  // namespace

Result<PlanReport> make_plan(Env& env, const PlanRequest& request) {
  // Only a refusal of memory by the system may still throw. It is no defect of ours.
  try {
    return run(env, request);
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kResource,
                  formatted("out of memory: run again with a lower {}", option("memory")));
  }
}

}  // namespace xtts::plan
