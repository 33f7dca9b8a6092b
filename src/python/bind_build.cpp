// Binds build and verify of include/xtts/builder.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/beside.hpp"
#include "python/builder_bindings.hpp"
#include "python/errors.hpp"
#include "xtts/builder.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

// Paths come as the system's bytes, because a path need not be UTF-8.
std::string text_of(const nb::bytes& bytes) {
  return {bytes.c_str(), bytes.size()};
}

[[nodiscard]] bool is_same_stage(const BuildProgress&, const BuildProgress&) {
  return true;
}
[[nodiscard]] bool is_same_stage(const VerifyProgress& one, const VerifyProgress& other) {
  return one.stage == other.stage;
}

// News holds what the working threads report until the calling thread takes it: all notices, and
// the latest progress of each stage.
template <typename Progress>
class News {
 public:
  void add_notice(const std::string& text) {
    const std::lock_guard lock(mutex_);
    notices_.push_back(text);
  }
  void set_progress(const Progress& progress) {
    const std::lock_guard lock(mutex_);
    if (progress_.empty() || !is_same_stage(progress_.back(), progress)) {
      progress_.push_back(progress);
    } else {
      progress_.back() = progress;
    }
  }
  [[nodiscard]] std::vector<std::string> take_notices() {
    const std::lock_guard lock(mutex_);
    return std::exchange(notices_, {});
  }
  [[nodiscard]] std::vector<Progress> take_progress() {
    const std::lock_guard lock(mutex_);
    return std::exchange(progress_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> notices_;
  std::vector<Progress> progress_;
};

const char* name_of(VerifyStage stage) {
  switch (stage) {
    case VerifyStage::kCheck:
      return "check";
    case VerifyStage::kRecompute:
      return "recompute";
    case VerifyStage::kRepair:
      return "repair";
  }
  return "";
}

void tell(const nb::callable& hear, const BuildProgress& progress) {
  hear(progress.done_count, progress.total_count, progress.reject_count, progress.clips_per_s,
       progress.realtime_factor, progress.bytes_per_s, progress.seconds_left);
}

void tell(const nb::callable& hear, const VerifyProgress& progress) {
  hear(name_of(progress.stage), progress.done, progress.total, progress.per_second,
       progress.seconds_left);
}

// Runs `call`: the library's function with its callbacks as argument. Returns its report or throws.
template <typename Progress, typename Callbacks, typename Report, typename Call>
Report run(const nb::callable& on_notice, const std::optional<nb::callable>& on_progress,
           Callbacks callbacks, Call call) {
  News<Progress> news;
  WorkBesideGil beside;
  callbacks.notice = [&](const std::string& text) { news.add_notice(text); };
  if (on_progress)
    callbacks.progress = [&](const Progress& progress) { news.set_progress(progress); };
  callbacks.cancelled = [&] { return beside.is_stopped(); };
  std::optional<Result<Report>> result;
  beside.run([&] { result = call(callbacks); },
             [&] {
               for (const std::string& text : news.take_notices()) on_notice(to_text(text));
               for (const Progress& progress : news.take_progress()) tell(*on_progress, progress);
             });
  return must(std::move(*result));
}

std::vector<std::string> paths_of(const std::vector<nb::bytes>& paths) {
  std::vector<std::string> texts;
  texts.reserve(paths.size());
  for (const nb::bytes& path : paths) texts.push_back(text_of(path));
  return texts;
}

nb::object build(const nb::bytes& data, const nb::bytes& cache, const nb::bytes& recipe,
                 const std::vector<std::string>& settings, const nb::bytes& config,
                 const std::string& layout_of_data, const std::vector<nb::bytes>& audio_roots,
                 const std::string& language, const nb::bytes& speakers_file,
                 const std::string& store, const std::string& layout, const std::string& dtype,
                 const std::string& device, const std::string& isa, const std::string& memory,
                 const std::string& max_rejects, const std::string& max_dropped,
                 const std::string& max_gone, const std::string& partition, std::uint32_t threads,
                 bool no_text, bool retry_rejects, bool overwrite,
                 const std::string& overwrite_only, bool allow_mixed, bool dry_run,
                 bool discard_unfinished, const nb::bytes& program, const nb::callable& on_notice,
                 const std::optional<nb::callable>& on_progress) {
  const BuildOptions options = {.data = text_of(data),
                                .cache = text_of(cache),
                                .recipe = text_of(recipe),
                                .settings = settings,
                                .config = text_of(config),
                                .layout_of_data = layout_of_data,
                                .audio_roots = paths_of(audio_roots),
                                .language = language,
                                .speakers_file = text_of(speakers_file),
                                .store = store,
                                .layout = layout,
                                .dtype = dtype,
                                .device = device,
                                .isa = isa,
                                .memory = memory,
                                .max_rejects = max_rejects,
                                .max_dropped = max_dropped,
                                .max_gone = max_gone,
                                .partition = partition,
                                .thread_count = threads,
                                .no_text = no_text,
                                .retry_rejects = retry_rejects,
                                .overwrite = overwrite,
                                .overwrite_only = overwrite_only,
                                .allow_mixed = allow_mixed,
                                .dry_run = dry_run,
                                .program = text_of(program),
                                .discard_unfinished = discard_unfinished};
  BuildCallbacks callbacks;
  std::string preview;
  if (dry_run) callbacks.before = [&](const BuildPreview& seen) { preview = seen.json; };
  const auto report = run<BuildProgress, BuildCallbacks, BuildReport>(
      on_notice, on_progress, std::move(callbacks),
      [&](const BuildCallbacks& all) { return build_cache(options, all); });
  return to_text(dry_run ? preview : report.json);
}

nb::object verify_it(const nb::bytes& cache, const std::string& level, const nb::bytes& data,
                     const std::vector<nb::bytes>& audio_roots, const std::string& sample,
                     const std::string& seed, const std::string& isa, std::uint32_t threads,
                     bool repair, const std::string& index, const std::string& max_gone,
                     const nb::bytes& program, const nb::callable& on_notice,
                     const std::optional<nb::callable>& on_progress) {
  const VerifyOptions options = {.cache = text_of(cache),
                                 .level = level,
                                 .data = text_of(data),
                                 .audio_roots = paths_of(audio_roots),
                                 .sample = sample,
                                 .seed = seed,
                                 .isa = isa,
                                 .thread_count = threads,
                                 .repair = repair,
                                 .program = text_of(program),
                                 .index = index,
                                 .max_gone = max_gone};
  const auto report = run<VerifyProgress, VerifyCallbacks, VerifyReport>(
      on_notice, on_progress, VerifyCallbacks{},
      [&](const VerifyCallbacks& all) { return verify_cache(options, all); });
  return to_text(report.json);
}

}  // namespace

void bind_build(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def(
      "build", build, nb::kw_only(), "data"_a, "cache"_a, "recipe"_a, "settings"_a, "config"_a,
      "layout_of_data"_a, "audio_roots"_a, "language"_a, "speakers_file"_a, "store"_a, "layout"_a,
      "dtype"_a, "device"_a, "isa"_a, "memory"_a, "max_rejects"_a, "max_dropped"_a, "max_gone"_a,
      "partition"_a, "threads"_a, "no_text"_a, "retry_rejects"_a, "overwrite"_a, "overwrite_only"_a,
      "allow_mixed"_a, "dry_run"_a, "discard_unfinished"_a, "program"_a, "on_notice"_a,
      "on_progress"_a.none(),
      nb::sig(
          "def build(*, data: bytes, cache: bytes, recipe: bytes, settings: "
          "collections.abc.Sequence[str], config: bytes, layout_of_data: str, audio_roots: "
          "collections.abc.Sequence[bytes], language: str, "
          "speakers_file: bytes, store: str, layout: str, dtype: str, device: str, isa: str, "
          "memory: str, max_rejects: str, max_dropped: str, max_gone: str, partition: str, "
          "threads: "
          "int, no_text: bool, retry_rejects: bool, "
          "overwrite: bool, overwrite_only: str, allow_mixed: bool, dry_run: bool, "
          "discard_unfinished: bool, program: bytes, "
          "on_notice: "
          "collections.abc.Callable[[str], object], on_progress: collections.abc.Callable[[int, "
          "int, int, float, float, float, float | None], object] | None) -> str"),
      "Builds. Returns the JSON of `build --json`. Empty means not given.");
  module.def(
      "verify", verify_it, nb::kw_only(), "cache"_a, "level"_a, "data"_a, "audio_roots"_a,
      "sample"_a, "seed"_a, "isa"_a, "threads"_a, "repair"_a, "index"_a, "max_gone"_a, "program"_a,
      "on_notice"_a, "on_progress"_a.none(),
      nb::sig(
          "def verify(*, cache: bytes, level: str, data: bytes, audio_roots: "
          "collections.abc.Sequence[bytes], sample: str, seed: str, isa: str, "
          "threads: int, repair: bool, index: str, max_gone: str, program: bytes, on_notice: "
          "collections.abc.Callable[[str], "
          "object], on_progress: collections.abc.Callable[[str, int, int, float, float | None], "
          "object] | None) -> str"),
      "Verifies. Returns the JSON of `verify --json`. Empty means not given.");
}

}  // namespace xtts::python
