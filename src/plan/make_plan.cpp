#include "plan/make_plan.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/check_cancelled.hpp"
#include "base/confined_env.hpp"
#include "base/counted.hpp"
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
#include "pipeline/plan_hasher.hpp"
#include "pipeline/speaker_numbers.hpp"
#include "pipeline/text_column.hpp"
#include "pipeline/text_rules.hpp"
#include "plan/clip_spool.hpp"
#include "plan/gathered_clips.hpp"
#include "plan/name_interner.hpp"
#include "plan/part_writer.hpp"
#include "plan/plan_folder.hpp"
#include "plan/plan_losses.hpp"
#include "plan/row_sorter.hpp"
#include "plan/shard_dealer.hpp"
#include "records/clip_worker.hpp"
#include "records/columns.hpp"
#include "records/segment.hpp"
#include "store/durable.hpp"

namespace xtts::plan {
namespace {

using formats::Plan;
using formats::Reject;

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

nlohmann::json columns_to_json(const formats::CorpusColumns& columns) {
  return {columns.audio,    columns.id,    columns.text,  columns.normalized, columns.speaker,
          columns.language, columns.split, columns.start, columns.end};
}

// The question that a plan answers. Lengths that the corpus is to choose are named as such.
Digest digest_of_request(Env& env, const PlanRequest& request, const formats::Numerics& numerics) {
  const pipeline::BuildRequest& build = request.build;
  // The same folder has one name, wherever the command runs.
  const auto real = [&env](const std::string& path) {
    const auto found = env.real_path(path);
    return found ? *found : path;
  };
  const formats::Recipe& recipe = build.recipe;
  nlohmann::json folders = nlohmann::json::array();
  for (const auto& entry : build.corpora)
    folders.push_back({entry.name, real(entry.folder), entry.layout, entry.language, entry.speaker,
                       entry.speaker_pattern, entry.split, entry.encoding, entry.audio_roots,
                       columns_to_json(entry.columns)});
  return digest128(formats::dump_canonical({{"data", real(build.data.path)},
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

// A plan that no version of ours can read. It is somebody's all the same.
bool is_damage(const Status& status) {
  return status.code() == StatusCode::kCorrupt || status.code() == StatusCode::kInvalidArgument;
}

// Numbers as keys, in whose order they are sorted.
std::string key_of_number(std::uint64_t number) {
  std::string key;
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(number >> shift));
  return key;
}
std::uint64_t number_of_key(std::string_view key) {
  std::uint64_t number = 0;
  for (const char byte : key) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
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

// Gives rows the numbers that the plan has for names. Neighbours mostly share theirs.
class NameNumbers {
 public:
  explicit NameNumbers(const Plan& plan)
      : datasets_(plan.datasets, {}),
        speakers_(plan.speakers, {}),
        languages_(plan.languages, {}) {}

  [[nodiscard]] pipeline::RowNumbers of(const corpus::Clip& clip) {
    if (clip.dataset != last_dataset_ || clip.speaker != last_speaker_ ||
        clip.language != last_language_) {
      last_dataset_ = clip.dataset;
      last_speaker_ = clip.speaker;
      last_language_ = clip.language;
      last_ = {
          .dataset = static_cast<std::uint64_t>(std::max(datasets_.number_of(clip.dataset), 0)),
          .speaker = static_cast<std::uint64_t>(speakers_.number_of(clip.speaker) + 1),
          .language = static_cast<std::uint64_t>(languages_.number_of(clip.language) + 1)};
    }
    return last_;
  }

 private:
  pipeline::NameTable datasets_, speakers_, languages_;
  SharedText last_dataset_, last_speaker_, last_language_;
  pipeline::RowNumbers last_;
};

constexpr std::string_view kClipsName = "clips";

// Shares of the memory. Half of it is discovery's, for what layouts hold at once.
constexpr std::uint64_t kShareOfClips = 4;
constexpr std::uint64_t kShareOfSplits = 16;
constexpr std::uint64_t kShareOfRejects = 16;

class Planner {
 public:
  Planner(Env& env, const PlanRequest& request, PlanFolder& folder)
      : env_(env),
        request_(request),
        build_(request.build),
        folder_(folder),
        clips_(env, folder.scratch_path(kClipsName), build_.run.memory_bytes / kShareOfClips,
               [this](std::uint64_t count) { tell("clips listed", count, 0); }),
        spool_(env, {folder.scratch_path("train"), folder.scratch_path("validation"),
                     folder.scratch_path("test")}),
        losses_(env, folder.scratch_path("rejects"), build_.run.memory_bytes / kShareOfRejects,
                request.part_count) {}

  Result<PlanReport> run() {
    XTTS_TRY(find_numerics());
    report_.plan.asked = digest_of_request(env_, request_, report_.plan.numerics);
    XTTS_ASSIGN(const bool is_there, look_at_old_plan());
    if (is_there) return std::move(report_);
    XTTS_TRY(list_data());
    XTTS_TRY(choose_splits());
    XTTS_TRY(put_in_order());
    XTTS_TRY(choose_lengths());
    XTTS_TRY(describe());
    XTTS_TRY(judge_texts());
    XTTS_TRY(losses_.check(build_, report_.plan.clip_count()));
    XTTS_TRY(folder_.withdraw());
    XTTS_TRY(write_parts());
    XTTS_TRY(folder_.publish(report_.plan));
    losses_.report(report_);
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
    auto read = folder_.plan();
    if (is_damage(read.status())) {
      if (request_.overwrite) return false;
      return Status(read.status().code(),
                    formatted("{}; give {} to plan anew in its place", read.status().message(),
                              option_on("overwrite")));
    }
    XTTS_ASSIGN(auto old, std::move(read));
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

  // Gathers the clips of DATA, as its lists name them.
  Status list_data() {
    const bool is_open = pipeline::has_open_lengths(build_.recipe);
    const formats::Recipe longest = is_open ? pipeline::with_longest(build_.recipe) : build_.recipe;
    XTTS_ASSIGN(corpus_, pipeline::discover_passing({.env = env_,
                                                     .build = build_,
                                                     .recipe = longest,
                                                     .memory_bytes = build_.run.memory_bytes},
                                                    clips_));
    XTTS_TRY(clips_.finish(corpus_.folders.size()));
    XTTS_TRY(pipeline::check_lists_are_read(corpus_, build_.data.path, build_.recipe));
    for (const Reject& problem : corpus_.problems) XTTS_TRY(losses_.add(problem));
    corpus_.problems = {};
    return {};
  }

  // One pass over clips by their ids: finds ids that are there twice, and draws the splits.
  Status choose_splits() {
    RowSorter draws(env_, folder_.scratch_path("splits"), build_.run.memory_bytes / kShareOfSplits);
    const corpus::SplitChooser rule(build_.recipe.corpus, 0);
    std::uint64_t validation_count = 0;
    std::uint64_t without_text = 0;
    const auto use = [&](corpus::Clip& clip) -> Status {
      XTTS_TRY(pass("clips by id"));
      if (!has_text(clip) && without_text++ == 0) first_without_text_ = full_id(clip);
      ++found_count_;
      validation_count += clip.has_own_split && clip.split == corpus::Split::kValidation ? 1 : 0;
      if (clip.has_own_split) return {};
      const std::uint64_t number = corpus::split_number(build_.recipe.corpus, clip);
      return rule.may_validate(number) ? draws.add(key_of_number(number), {}) : Status();
    };
    XTTS_TRY(clips_.for_each(use, [&](const Reject& reject) { return losses_.add(reject); }));
    XTTS_TRY(draws.finish());
    without_text_count_ = without_text;
    return choose_validation(draws, validation_count);
  }

  // Of clips whose number may validate, the lowest do, as many as there is room for.
  Status choose_validation(const RowSorter& draws, std::uint64_t validation_count) {
    corpus::SplitChooser chooser(build_.recipe.corpus, validation_count);
    const auto end_group = [&](std::uint64_t number, std::uint64_t count) {
      if (count > 0 && chooser.choose(number, count) == corpus::Split::kValidation)
        validating_.push_back(number);
    };
    XTTS_ASSIGN(const auto rows, draws.read());
    std::uint64_t number = 0;
    std::uint64_t count = 0;
    while (true) {
      XTTS_ASSIGN(const bool has_more, rows->next());
      if (!has_more) break;
      const std::uint64_t next = number_of_key(rows->key());
      if (next != number) {
        end_group(number, count);
        count = 0;
      }
      number = next;
      ++count;
    }
    end_group(number, count);
    held_back_count_ = chooser.held_back_count();
    return {};
  }

  [[nodiscard]] corpus::Split split_of(const corpus::Clip& clip,
                                       const corpus::SplitChooser& rule) const {
    if (clip.has_own_split) return clip.split;
    const std::uint64_t number = corpus::split_number(build_.recipe.corpus, clip);
    if (!rule.may_validate(number)) return rule.beyond_validation(number);
    return std::ranges::binary_search(validating_, number) ? corpus::Split::kValidation
                                                           : corpus::Split::kTrain;
  }

  // The next pass: each clip gets its split and its texts as a cache keeps them, and goes to its
  // place in canonical order.
  Status put_in_order() {
    const corpus::SplitChooser rule(build_.recipe.corpus, 0);
    XTTS_ASSIGN(const auto texts, pipeline::TextTaker::create(build_.recipe.text));
    XTTS_ASSIGN(lengths_, pipeline::LengthTally::create(build_.recipe));
    std::uint64_t train_count = 0;
    std::uint64_t kept_count = 0;
    const bool is_subset = build_.recipe.corpus.train_subset_fraction < 1.0;
    const auto use = [&](corpus::Clip& clip) -> Status {
      XTTS_TRY(pass("clips in order"));
      clip.split = split_of(clip, rule);
      if (is_subset && clip.split == corpus::Split::kTrain) {
        ++train_count;
        if (!corpus::is_in_training_subset(build_.recipe.corpus, clip)) return {};
        ++kept_count;
      }
      texts.apply(clip);
      return add_in_order(clip);
    };
    XTTS_TRY(clips_.for_each(use, {}));
    XTTS_TRY(spool_.finish());
    // The disk then holds the clips twice at most.
    XTTS_TRY(store::remove_if_there(env_, folder_.scratch_path(kClipsName)));
    if (is_subset) corpus::note_subset(kept_count, train_count, corpus_.notes);
    const auto& by_split = report_.plan.clips_by_split;
    corpus::note_splits(build_.recipe.corpus, held_back_count_,
                        by_split.contains(std::string(to_string(corpus::Split::kValidation))),
                        corpus_.notes);
    return {};
  }

  Status add_in_order(const corpus::Clip& clip) {
    ++report_.plan.clips_by_split[std::string(to_string(clip.split))];
    corpus_.has_text = corpus_.has_text || has_text(clip);
    if (clip.segment && clip.segment->end_s) {
      listed_seconds_ += *clip.segment->end_s - clip.segment->start_s;
    } else {
      has_unlisted_seconds_ = true;
    }
    lengths_->add(clip);
    const pipeline::RowNumbers numbers = names_.of(clip);
    return spool_.add(clip, numbers);
  }

  Status choose_lengths() {
    report_.lengths = pipeline::given_lengths(build_.recipe);
    if (!pipeline::has_open_lengths(build_.recipe)) return {};
    XTTS_ASSIGN(report_.lengths, lengths_->choose(env_, corpus_, build_.run, build_.recipe));
    if (lengths_->unknown_count() > lengths_->sample_count()) {
      corpus_.notes.push_back(formatted(
          "lengths are those of {} of {}, chosen by their ids: no list tells them",
          lengths_->sample_count(), counted(lengths_->unknown_count(), "source", "sources")));
    }
    return {};
  }

  Status describe() {
    Plan& plan = report_.plan;
    plan.recipe = build_.recipe;
    plan.limits = {.max_rejects = build_.options.max_rejects,
                   .max_dropped = build_.options.max_dropped};
    XTTS_ASSIGN(plan.data_path, env_.real_path(build_.data.path));
    for (const std::string& root : build_.data.audio_roots) {
      XTTS_ASSIGN(plan.audio_roots.emplace_back(), env_.real_path(root));
    }
    XTTS_TRY(add_folders(env_, build_, corpus_, plan));
    plan.layout = corpus_.layout;
    plan.has_text = corpus_.has_text;
    plan.is_stream = corpus_.is_stream;
    const auto found = [](const std::vector<SharedText>& names) {
      pipeline::NameSet set;
      for (const SharedText& name : names)
        if (!name.empty()) set.emplace(name.view());
      return set;
    };
    const pipeline::NameSet speakers = found(names_.names().speakers);
    plan.datasets = pipeline::NameTable({""}, found(names_.names().datasets)).names();
    plan.speakers = pipeline::NameTable(build_.known_speakers, speakers).names();
    plan.languages = pipeline::NameTable({}, found(names_.names().languages)).names();
    if (!has_unlisted_seconds_) report_.sound_seconds = listed_seconds_;
    if (without_text_count_ > 0 && without_text_count_ < found_count_) {
      corpus_.notes.push_back(
          formatted("{} no text ({}{}", counted(without_text_count_, "clip has", "clips have"),
                    first_without_text_, without_text_count_ > 1 ? ", ...)" : ")"));
    }
    if (auto note = pipeline::note_on_speakers(build_.known_speakers, nullptr, speakers))
      corpus_.notes.push_back(std::move(*note));
    report_.notes = corpus_.notes;
    return {};
  }

  // The pass in canonical order: which texts are refused, and what the shards weigh.
  Status judge_texts() {
    XTTS_ASSIGN(const auto rules, pipeline::TextRules::create(build_.recipe, corpus_.has_text));
    const auto columns = records::sound_columns(build_.recipe, report_.plan.numerics);
    ShardDealer dealer(records::clips_per_shard(columns), request_.part_count);
    pipeline::PlanHasher hasher;
    const auto use = [&](const corpus::Clip& clip) -> Status {
      XTTS_TRY(pass("texts"));
      auto reason = rules.refusal_of(clip, report_.unknown_characters);
      hasher.add_planned(clip, reason.has_value());
      dealer.measure(clip, reason ? Verdict::kRefusedText : Verdict::kCompute);
      if (reason)
        losses_.add_refused_text(
            records::reject_of(clip, formats::RejectClass::kPolicy, std::move(*reason)));
      return {};
    };
    XTTS_TRY(spool_.for_each(names_.names(), corpus_.folders.size(), use));
    report_.plan.clips = hasher.finish();
    report_.plan.parts = dealer.deal();
    return {};
  }

  // The last pass writes each part's clips, then its share of the rejects of lists.
  Status write_parts() {
    XTTS_TRY(losses_.finish());
    XTTS_ASSIGN(const auto rejects, losses_.read());
    NameNumbers numbers(report_.plan);
    SharedSourceCounter shared(build_.run.memory_bytes / kShareOfClips);
    std::uint32_t index = 0;
    std::uint64_t left = 0;  // clips of the part at hand
    std::unique_ptr<PartWriter> writer;
    const auto use = [&](const corpus::Clip& clip) -> Status {
      XTTS_TRY(pass("clips in parts"));
      while (left == 0) {
        XTTS_TRY(end_part(index, std::move(writer), *rejects));
        XTTS_ASSIGN(writer, begin_part(++index));
        left = report_.plan.parts[index - 1].clip_count;
      }
      --left;
      shared.add(clip, index);
      return writer->add(clip, numbers.of(clip));
    };
    XTTS_TRY(spool_.for_each(names_.names(), corpus_.folders.size(), use));
    XTTS_TRY(end_part(index, std::move(writer), *rejects));
    while (index < request_.part_count) {
      XTTS_ASSIGN(writer, begin_part(++index));
      XTTS_TRY(end_part(index, std::move(writer), *rejects));
    }
    report_.shared = shared.finish();
    return {};
  }

  Result<std::unique_ptr<PartWriter>> begin_part(std::uint32_t index) {
    return PartWriter::create(env_, folder_.path(),
                              {.index = index,
                               .count = request_.part_count,
                               .plan = report_.plan.clips,
                               .clip_count = report_.plan.parts[index - 1].clip_count,
                               .reject_count = losses_.count_of_part(index)});
  }

  // `writer`: null before the first part.
  Status end_part(std::uint32_t index, std::unique_ptr<PartWriter> writer,
                  RejectsOfParts& rejects) {
    if (writer == nullptr) return {};
    for (std::uint64_t i = 0; i < losses_.count_of_part(index); ++i) {
      XTTS_ASSIGN(const Reject reject, rejects.next());
      XTTS_TRY(writer->add(reject));
    }
    formats::PlanPart& part = report_.plan.parts[index - 1];
    XTTS_ASSIGN(formats::PlanPart written, writer->finish());
    written.shard_count = part.shard_count;
    written.source_bytes = part.source_bytes;
    part = std::move(written);
    return {};
  }

  void tell(const char* step, std::uint64_t done, std::uint64_t total) const {
    if (request_.progress) request_.progress(step, done, total);
  }

  // Counts a clip of a pass: tells of it, and looks whether to stop.
  Status pass(const char* step) {
    constexpr std::uint64_t kStride = 4096;
    if (step != step_) passed_count_ = 0;
    step_ = step;
    if (++passed_count_ % kStride != 0) return {};
    tell(step, passed_count_, clips_.count());
    return check_cancelled(build_.run.cancelled);
  }

  Env& env_;
  const PlanRequest& request_;
  pipeline::BuildRequest build_;  // its recipe gets its lengths
  PlanFolder& folder_;
  PlanReport report_;
  corpus::Corpus corpus_;  // without clips
  GatheredClips clips_;
  ClipSpool spool_;
  NameInterner names_;  // of the clips in the spool
  PlanLosses losses_;
  std::vector<std::uint64_t> validating_;  // numbers of clips in the validation split, ascending
  std::optional<pipeline::LengthTally> lengths_;
  std::uint64_t held_back_count_ = 0;
  std::uint64_t found_count_ = 0;
  std::uint64_t without_text_count_ = 0;
  std::string first_without_text_;
  double listed_seconds_ = 0.0;
  bool has_unlisted_seconds_ = false;
  const char* step_ = nullptr;  // of pass()
  std::uint64_t passed_count_ = 0;
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
