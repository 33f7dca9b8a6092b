#include "doctor/diagnose.hpp"

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

#include "base/try.hpp"
#include "doctor/cache_probe.hpp"
#include "doctor/code_check.hpp"
#include "doctor/configuration_check.hpp"
#include "doctor/corpus_probe.hpp"
#include "doctor/formats_check.hpp"
#include "doctor/frameworks_check.hpp"
#include "doctor/gpu_check.hpp"
#include "doctor/help_check.hpp"
#include "doctor/machine.hpp"
#include "doctor/memory_check.hpp"
#include "doctor/named_commands.hpp"
#include "doctor/on_the_fly.hpp"
#include "doctor/profile_file.hpp"
#include "doctor/python_child.hpp"
#include "doctor/real_batches_check.hpp"
#include "doctor/scratch_folder.hpp"
#include "doctor/storage_check.hpp"
#include "doctor/storage_probe.hpp"
#include "doctor/system_counters.hpp"
#include "doctor/trace_check.hpp"
#include "formats/canonical_json.hpp"
#include "formats/feature_config.hpp"
#include "report/human.hpp"

namespace xtts::doctor {
namespace {

// How far rates measured for a few seconds are from those of an hour, beside what the rounds show.
constexpr double kRateMargin = 0.1;
// How far the steps of a training are from the one that a user has timed.
constexpr double kStepMargin = 0.1;
constexpr std::uint32_t kMeasureRounds = 4;
constexpr std::chrono::milliseconds kRound{700};
// A sample cache takes about this long to build.
constexpr double kSampleSeconds = 5.0;
constexpr std::uint64_t kSampleClipsMax = 512;
// The share of the sampled files that is in the page cache after they were read several times.
constexpr double kMostlyCached = 0.5;
// What a loader has if nobody says: the users' own setting for a small machine.
constexpr std::uint32_t kUsualWorkers = 8;
constexpr std::uint32_t kWorkersMax = 64;
// Reads of smaller files are mostly the time to find them.
constexpr double kTellingBytes = 1e6;
// A machine that is busier than this before anything is measured gives rates that are too low.
constexpr double kBusyShare = 0.2;
constexpr std::chrono::milliseconds kBusyTime{400};

class Doctor {
 public:
  Doctor(Env& env, const DoctorRequest& request) : env_(env), request_(request) {}

  Result<Diagnosis> diagnose() {
    XTTS_TRY(check_paths());
    machine_ = read_machine(env_);
    busy_share_ = share_of_others();
    XTTS_TRY(read_the_profile());
    gpus_.emplace(read_gpus());
    auto python = PythonChild::open(request_.python);
    if (python.ok()) {
      python_ = std::move(*python);
    } else if (!request_.python.empty()) {
      return python.status();
    } else {
      no_python_ = python.status().message();
    }
    if (request_.build) XTTS_TRY(examine_corpus());
    XTTS_TRY(examine_cache());
    Diagnosis diagnosis;
    diagnosis.checks.push_back(will_it_help());
    diagnosis.checks.push_back(check_gpus(*gpus_));
    if (trace_) diagnosis.checks.push_back(check_trace(*trace_));
    add(configuration(), diagnosis);
    add(code(), diagnosis);
    add(formats_, diagnosis);
    add_frameworks(diagnosis);
    diagnosis.checks.push_back(check_memory(machine_, shape()));
    add(storage_, diagnosis);
    add(storage_of_cache_, diagnosis);
    add(real_run(), diagnosis);
    XTTS_TRY(check_cancelled());
    const CommandNames names{.data = request_.build ? request_.build->data : std::string(),
                             .cache = request_.cache,
                             .recipe_words = request_.recipe_words};
    for (Check& check : diagnosis.checks)
      for (Finding& finding : check.findings) finding.remedy = with_names(finding.remedy, names);
    diagnosis.machine = machine_in_words();
    diagnosis.config = request_.config;
    return diagnosis;
  }

 private:
  static void add(std::optional<Check> check, Diagnosis& diagnosis) {
    if (check) diagnosis.checks.push_back(std::move(*check));
  }

  [[nodiscard]] bool is_cancelled() const { return request_.cancelled && request_.cancelled(); }
  [[nodiscard]] Status check_cancelled() const {
    return is_cancelled() ? Status(StatusCode::kCancelled, "stopped") : Status();
  }
  void begin(const std::string& step) const {
    if (request_.on_step) request_.on_step(step);
  }

  // What was named and is not there is a mistake, and no answer.
  Status check_paths() const {
    for (const std::string& path : {request_.config, request_.code, request_.profile,
                                    request_.trace, request_.scratch_folder}) {
      if (!path.empty()) XTTS_TRY(env_.stat(path).status());
    }
    return {};
  }

  Status read_the_profile() {
    batch_size_ = request_.batch_size;
    if (!request_.trace.empty()) {
      XTTS_ASSIGN(trace_, read_trace(env_, request_.trace));
      profile_ = profile_of(*trace_);
    }
    if (request_.profile.empty()) return {};
    XTTS_ASSIGN(profile_, read_profile(env_, request_.profile));
    if (profile_.batch_size) batch_size_ = *profile_.batch_size;
    return {};
  }

  [[nodiscard]] std::uint32_t thread_count() const {
    return static_cast<std::uint32_t>(std::max(1.0, machine_.usable_cores()));
  }
  [[nodiscard]] std::uint32_t worker_count() const {
    return std::clamp(request_.worker_count.value_or(kUsualWorkers), 1U, kWorkersMax);
  }

  Status examine_corpus() {
    const std::string& data = request_.build->data;
    begin("looking for clips in " + data);
    pipeline::BuildRequest request = *request_.build;
    request.run.thread_count = std::max(request.run.thread_count, worker_count());
    XTTS_ASSIGN(corpus_, CorpusProbe::open(env_, std::move(request), request_.scratch_folder));
    begin("reading from the storage of " + data);
    raw_storage_ = measure_storage(env_, {.folder = data,
                                          .extents = corpus_->extents(),
                                          .in_order = corpus_->neighbours(),
                                          .writable_folder = request_.writable_folder,
                                          .cancelled = request_.cancelled});
    XTTS_TRY(check_cancelled());
    begin("computing features on the fly");
    XTTS_ASSIGN(ours_,
                corpus_->measure(worker_count(), kMeasureRounds, kRound, request_.cancelled));
    // Some file systems keep nothing in the page cache, however much memory there is. Then the
    // rates contain the reads.
    stays_cached_ =
        share_in_page_cache(env_, corpus_->read_extents()).value_or(1.0) >= kMostlyCached;
    formats_ = check_formats(corpus_->sound(), corpus_->recipe().features->sample_rate_hz);
    judge_faults();
    judge_raw_storage(data);
    return measure_trainers_way();
  }

  // The sample shows only clips that the plan kept. A build counts those of the plan, too.
  void judge_faults() {
    const CorpusProbe::Faults faults = corpus_->faults();
    if (faults.count <= faults.allowed) return;
    formats_->findings.insert(
        formats_->findings.begin(),
        Finding{
            .status = CheckStatus::kFail,
            .text = "A build would stop: " + report::format_counted(faults.count, "clip", "clips") +
                    " cannot be used, and " + report::format_count(faults.allowed) +
                    " may be. One of them is " + faults.first + ".",
            .remedy = "`xtts-precompute build DATA CACHE --dry-run` lists them; --max-rejects "
                      "accepts them."});
    formats_->status = worst_of(formats_->findings);
    formats_->summary = formats_->findings.front().text;
  }

  void judge_raw_storage(const std::string& data) {
    const formats::FeatureConfig& features = *corpus_->recipe().features;
    storage_ = check_storage(raw_storage_,
                             {.folder = data,
                              .batch_size = batch_size_,
                              .whole_bytes = corpus_->source_bytes(),
                              .memory_available_bytes = machine_.memory_available_bytes,
                              .padded_record_bytes = corpus_->record_bytes(),
                              .packed_half_record_bytes = static_cast<std::uint64_t>(
                                  2.0 * features.mel.n_mels * corpus_->sound().mean_frames)});
  }

  Status measure_trainers_way() {
    if (python_ == nullptr) return {};
    begin("computing features with librosa");
    auto measured = measure_librosa(*python_, *corpus_, worker_count(), request_.cancelled);
    XTTS_TRY(check_cancelled());
    if (measured.ok()) {
      librosa_ = std::move(*measured);
    } else {
      no_librosa_ = measured.status().message();
    }
    return {};
  }

  // Measures the given cache, or one of a sample of DATA.
  Status examine_cache() {
    std::unique_ptr<ScratchFolder> sample;  // a cache that goes with it
    std::string cache = request_.cache;
    if (cache.empty()) {
      if (corpus_ == nullptr || range_of(ours_.all, 0.0) == std::nullopt) return {};
      XTTS_ASSIGN(sample, ScratchFolder::make(request_.scratch_folder));
      cache = join_path(sample->path(), "cache");
      begin("building a cache of a sample");
      const double rate = range_of(ours_.all, 0.0)->middle();
      const auto count = std::clamp<std::uint64_t>(
          static_cast<std::uint64_t>(rate * kSampleSeconds), batch_size_, kSampleClipsMax);
      const Status built = build_sample(env_, *request_.build, cache, count, corpus_->clip_count(),
                                        request_.cancelled);
      XTTS_TRY(check_cancelled());
      if (!built.ok()) {
        // What follows the reason is advice for a build that is to stay.
        const std::string reason = built.message().substr(0, built.message().find(';'));
        no_cache_ = "A cache of a sample could not be built in " + request_.scratch_folder +
                    " (TMPDIR names another folder): " + reason;
        return {};
      }
    }
    begin("reading batches from " + std::string(sample ? "it" : cache));
    auto measured = measure_cache(env_, {.cache = cache,
                                         .batch_size = batch_size_,
                                         .thread_count = std::min(thread_count(), 4U),
                                         .cancelled = request_.cancelled});
    XTTS_TRY(check_cancelled());
    if (!measured.ok()) {
      if (!sample) return measured.status();
      no_cache_ = measured.status().message();
      return {};
    }
    cache_ = std::move(*measured);
    is_sample_ = sample != nullptr;
    if (!sample) judge_cache_storage(cache);
    return {};
  }

  void judge_cache_storage(const std::string& cache) {
    begin("reading from the storage of " + cache);
    cache_storage_ = measure_storage(
        env_, {.folder = cache, .extents = cache_->extents, .cancelled = request_.cancelled});
    storage_of_cache_ =
        check_storage(*cache_storage_, {.folder = cache,
                                        .batch_size = batch_size_,
                                        .whole_bytes = cache_->shard_bytes,
                                        .memory_available_bytes = machine_.memory_available_bytes,
                                        .is_cache = true});
  }

  [[nodiscard]] LoaderShape shape() const {
    LoaderShape shape{.batch_size = batch_size_, .worker_count = request_.worker_count};
    constexpr std::uint64_t kUsualRecordBytes = std::uint64_t{800} * 80 * 4;
    shape.record_bytes = kUsualRecordBytes;
    if (cache_) {
      shape.record_bytes = cache_->record_bytes;
    } else if (corpus_ != nullptr) {
      shape.record_bytes = corpus_->record_bytes();
    }
    return shape;
  }

  // The way that the trainer loads now: librosa where it is installed, else ours.
  [[nodiscard]] const ComputeRates& way_now() const { return librosa_ ? librosa_->rates : ours_; }

  [[nodiscard]] Supply supply_on_the_fly() const {
    const ComputeRates& rates = way_now();
    const bool has_workers = request_.worker_count != 0U;
    const auto& rounds = has_workers ? rates.all : rates.one;
    Supply supply{
        .way = "on the fly with " + rates.way + ", " +
               (has_workers ? report::format_counted(rates.worker_count, "worker", "workers")
                            : std::string("no workers")),
        .clips_per_s = range_of(rounds, kRateMargin).value_or(Range{})};
    supply.is_overlapped = has_workers;
    supply.stays_in_memory = corpus_->source_bytes() < machine_.memory_available_bytes / 2;
    supply.rate_has_reads = !stays_cached_;
    const auto disk_ms = has_workers ? batch_ms_deep(raw_storage_, batch_size_)
                                     : batch_ms(raw_storage_, batch_size_);
    if (stays_cached_ && disk_ms) supply.disk_batch_ms = Range{*disk_ms, *disk_ms};
    if (const auto one = range_of(rates.one, 0.0)) supply.cpu_ms_per_clip = 1e3 / one->middle();
    return supply;
  }

  [[nodiscard]] Supply supply_of_cache() const {
    Supply supply{.way = "cache",
                  .clips_per_s = range_of(cache_->clips_per_s, kRateMargin).value_or(Range{})};
    supply.cpu_ms_per_clip = cache_->cpu_ms_per_clip;
    const StorageMeasurement& storage = cache_storage_ ? *cache_storage_ : raw_storage_;
    // A sample says nothing of the whole cache's size, but its clips do.
    const double record_bytes = static_cast<double>(cache_->shard_bytes) /
                                static_cast<double>(std::max<std::uint64_t>(cache_->clip_count, 1));
    const double whole_bytes = is_sample_
                                   ? record_bytes * static_cast<double>(corpus_->clip_count())
                                   : static_cast<double>(cache_->shard_bytes);
    supply.stays_in_memory =
        stays_cached_ && whole_bytes < static_cast<double>(machine_.memory_available_bytes) / 2.0;
    if (storage.sequential_bytes_per_s) {
      const double ms = 1e3 * record_bytes * batch_size_ / *storage.sequential_bytes_per_s;
      const bool tells_little = !cache_storage_ && storage.extent_bytes < kTellingBytes;
      supply.disk_batch_ms = Range{tells_little ? 0.0 : ms, ms};
    }
    return supply;
  }

  [[nodiscard]] Check will_it_help() const {
    Check cannot{.name = "will_it_help", .title = "Will precomputing help?"};
    if (corpus_ == nullptr) {
      cannot.summary =
          "Without the corpus nothing can be computed on the fly: give --data to get an answer.";
      return cannot;
    }
    if (!range_of(way_now().all, 0.0)) {
      cannot.summary = "No clip of the sample could be computed, so there is no rate.";
      return cannot;
    }
    HelpQuestion question;
    question.batch_size = batch_size_;
    question.clip_count = corpus_->clip_count();
    question.usable_cores = machine_.usable_cores();
    question.step_uses_cpu = request_.trains_on_cpu || profile_.is_on_cpu;
    question.has_cache = !request_.cache.empty();
    question.is_trainers_way = librosa_.has_value();
    question.trainer = request_.config.empty() ? request_.code : request_.config;
    question.step_ms = profile_.step_ms;
    if (request_.profile.empty()) question.profile_source = "the trace that was given";
    question.step_source = question.profile_source;
    if (request_.step_ms) {
      question.step_ms =
          Range{*request_.step_ms * (1.0 - kStepMargin), *request_.step_ms * (1.0 + kStepMargin)};
      question.step_source = "--step-ms, and 10 % on both sides";
    }
    question.measured_step_ms = profile_.real_step_ms;
    question.measured_data_share = profile_.data_share;
    question.gpu_utilization = profile_.gpu_utilization;
    question.gpu_utilization_std = profile_.gpu_utilization_std;
    question.on_the_fly = supply_on_the_fly();
    if (cache_ && !cache_->clips_per_s.empty()) question.cache = supply_of_cache();
    // A build uses all processors, the trainer's loader perhaps fewer.
    const bool has_all = ours_.worker_count >= thread_count();
    if (const auto rate = range_of(has_all ? ours_.all : ours_.one, kRateMargin)) {
      const double clips = static_cast<double>(question.clip_count);
      const double most = has_all ? 1.0 : machine_.usable_cores();
      question.build_s = Range{clips / (rate->high * most), clips / rate->low};
    }
    Check check = check_help(question);
    add_doubts(check);
    if (!request_.worker_count)
      check.evidence.push_back({.what = "workers of the loader now",
                                .value = std::to_string(worker_count()),
                                .source = "assumed: --workers says how many yours has",
                                .number = static_cast<double>(worker_count())});
    if (!librosa_)
      check.evidence.push_back({.what = "librosa, as most trainers use it",
                                .value = "not measured",
                                .source = python_ == nullptr ? no_python_ : no_librosa_});
    return check;
  }

  // What makes the prediction less sure than its range says.
  void add_doubts(Check& check) const {
    if (busy_share_ > kBusyShare)
      check.findings.push_back(
          {.status = CheckStatus::kWarn,
           .text = "Other programs used " + report::format_percent(busy_share_) +
                   " of the processors before the doctor began, so its rates are too low.",
           .remedy = "Let the machine be idle and ask again."});
    if (corpus_->clip_count() < batch_size_)
      check.findings.push_back(
          {.status = CheckStatus::kWarn,
           .text = "A batch of " + std::to_string(batch_size_) + " is more than the corpus has: " +
                   report::format_counted(corpus_->clip_count(), "clip", "clips") + ".",
           .remedy = "Give the batch size that you train with: --batch-size."});
    if (!request_.cache.empty() && cache_ &&
        cache_->features_fingerprint != formats::fingerprint(*corpus_->recipe().features))
      check.findings.push_back(
          {.status = CheckStatus::kWarn,
           .text = "The cache has other features than those measured on the fly (recipe " +
                   corpus_->recipe().name + ").",
           .remedy = "Name the cache's recipe: --recipe, or --config."});
    check.status = worst_of(check.findings);
    if (check.findings.empty()) check.status = CheckStatus::kCannotTell;
  }

  // The share of the processors that others use, before anything is measured.
  [[nodiscard]] double share_of_others() const {
    const SystemCounters before = read_counters("");
    env_.sleep_for(kBusyTime);
    return busy_share(before.all, read_counters("").all);
  }

  [[nodiscard]] bool has_gpu() const { return gpus_->ok() && !(*gpus_)->empty(); }

  [[nodiscard]] std::optional<Check> configuration() const {
    if (!request_.judged_config) return std::nullopt;
    return check_configuration(*request_.judged_config, request_.config);
  }

  void add_frameworks(Diagnosis& diagnosis) const {
    if (!request_.runs_frameworks) return;
    if (python_ == nullptr) {
      const Result<nlohmann::json> none = Status(StatusCode::kNotFound, no_python_);
      for (Check& check : check_frameworks(none, has_gpu()))
        diagnosis.checks.push_back(std::move(check));
      return;
    }
    begin("running the installed frameworks");
    std::string driver_cuda;
    if (has_gpu()) {
      if (const auto version = (*gpus_)->front().facts.cuda_version)
        driver_cuda = std::to_string(*version / 1000) + "." + std::to_string(*version % 1000 / 10);
    }
    const auto probe = probe_frameworks(*python_, driver_cuda, request_.cancelled);
    for (Check& check : check_frameworks(probe, has_gpu()))
      diagnosis.checks.push_back(std::move(check));
  }

  [[nodiscard]] std::optional<Check> code() const {
    if (request_.code.empty()) return std::nullopt;
    if (python_ == nullptr)
      return check_code(Status(StatusCode::kNotFound, no_python_), request_.code);
    begin("reading the code in " + request_.code);
    return check_code(scan_code(*python_, request_.code, request_.config, request_.cancelled),
                      request_.code);
  }

  [[nodiscard]] std::optional<Check> real_run() const {
    if (corpus_ == nullptr && !cache_) return std::nullopt;
    return check_real_batches(
        {.batch_size = batch_size_,
         .step_ms = request_.step_ms.value_or(profile_.step_ms.value_or(Range{}).middle()),
         .librosa = librosa_ ? &*librosa_ : nullptr,
         .ours = corpus_ == nullptr ? nullptr : &ours_,
         .cache = cache_ ? &*cache_ : nullptr,
         .is_sample = is_sample_,
         .no_cache = no_cache_});
  }

  [[nodiscard]] std::vector<std::string> machine_in_words() const {
    std::vector<std::string> lines;
    std::string cores = report::format_counted(machine_.core_count, "processor", "processors");
    if (machine_.cpu_limit)
      cores += ", of which a container may use " + report::format_short(*machine_.cpu_limit);
    lines.push_back(cores);
    lines.push_back(report::format_size(machine_.memory_total_bytes) + " of memory");
    lines.push_back(has_gpu() ? (*gpus_)->front().facts.name : "no GPU");
    lines.push_back(python_ == nullptr ? no_python_ : "Python " + python_->version());
    return lines;
  }

  Env& env_;
  const DoctorRequest& request_;
  std::uint32_t batch_size_ = 32;
  MachineFacts machine_;
  std::optional<nlohmann::json> trace_;
  ProfileFacts profile_;
  std::optional<Result<std::vector<GpuState>>> gpus_;
  std::unique_ptr<PythonChild> python_;
  std::string no_python_, no_librosa_, no_cache_;
  std::unique_ptr<CorpusProbe> corpus_;
  StorageMeasurement raw_storage_;
  std::optional<StorageMeasurement> cache_storage_;
  ComputeRates ours_;
  std::optional<LibrosaRates> librosa_;
  std::optional<CacheMeasurement> cache_;
  double busy_share_ = 0.0;
  bool is_sample_ = false;
  bool stays_cached_ = true;
  std::optional<Check> formats_, storage_, storage_of_cache_;
};

}  // namespace

Result<Diagnosis> diagnose(Env& env, const DoctorRequest& request) {
  return Doctor(env, request).diagnose();
}

}  // namespace xtts::doctor
