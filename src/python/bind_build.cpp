// Binds build and verify of include/xtts/builder.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/beside.hpp"
#include "python/builder_bindings.hpp"
#include "python/builder_options.hpp"
#include "python/errors.hpp"
#include "xtts/builder.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

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

nb::object build(const nb::dict& given, const nb::callable& on_notice,
                 const std::optional<nb::callable>& on_progress) {
  const BuildOptions options = to_build_options(given);
  BuildCallbacks callbacks;
  std::string preview;
  if (options.dry_run) callbacks.before = [&](const BuildPreview& seen) { preview = seen.json; };
  const auto report = run<BuildProgress, BuildCallbacks, BuildReport>(
      on_notice, on_progress, std::move(callbacks),
      [&](const BuildCallbacks& all) { return build_cache(options, all); });
  return to_text(options.dry_run ? preview : report.json);
}

nb::object verify_it(const nb::dict& given, const nb::callable& on_notice,
                     const std::optional<nb::callable>& on_progress) {
  const VerifyOptions options = to_verify_options(given);
  const auto report = run<VerifyProgress, VerifyCallbacks, VerifyReport>(
      on_notice, on_progress, VerifyCallbacks{},
      [&](const VerifyCallbacks& all) { return verify_cache(options, all); });
  return to_text(report.json);
}

}  // namespace

void bind_build(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def(
      "build", build, "options"_a, nb::kw_only(), "on_notice"_a, "on_progress"_a.none(),
      nb::sig(
          "def build(options: dict[str, object], *, on_notice: "
          "collections.abc.Callable[[str], object], on_progress: "
          "collections.abc.Callable[[int, int, int, float, float, float, float | None], object] "
          "| None) -> str"),
      "Builds. Returns the JSON of `build --json`.");
  module.def(
      "verify", verify_it, "options"_a, nb::kw_only(), "on_notice"_a, "on_progress"_a.none(),
      nb::sig("def verify(options: dict[str, object], *, on_notice: "
              "collections.abc.Callable[[str], object], on_progress: "
              "collections.abc.Callable[[str, int, int, float, float | None], object] | None) -> "
              "str"),
      "Verifies. Returns the JSON of `verify --json`.");
}

}  // namespace xtts::python
