// diff: what differs between two caches, and by how much?
#include <charconv>
#include <cmath>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/diff_view.hpp"
#include "cli/progress_view.hpp"
#include "cli/stop_signal.hpp"
#include "report/human.hpp"
#include "report/progress_meter.hpp"

namespace xtts::cli {
namespace {

constexpr std::uint64_t kShownMax = 20;     // differences of each kind, in text
constexpr std::uint64_t kListedMax = 1000;  // differences of each kind, in JSON

struct DiffCommandOptions {
  std::string a;
  std::string b;
  std::string limit;
  std::string tolerance;
};

template <typename Number>
Result<std::optional<Number>> parse_number(const std::string& option, const std::string& text,
                                           const std::string& expected) {
  if (text.empty()) return std::optional<Number>();
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end) return std::optional<Number>(number);
  return Status(StatusCode::kInvalidArgument,
                formatted("{} is {}, not '{}'", option, expected, text));
}

Result<maintain::DiffOptions> settings_of(const Context& context,
                                          const DiffCommandOptions& options) {
  maintain::DiffOptions settings;
  XTTS_ASSIGN(const auto limit,
              parse_number<std::uint64_t>("--limit", options.limit, "a number of differences"));
  settings.kept_max = limit.value_or(context.flags.json ? kListedMax : kShownMax);
  const std::string expected = "a number from 0, such as 1e-4";
  XTTS_ASSIGN(settings.tolerance, parse_number<double>("--tolerance", options.tolerance, expected));
  if (settings.tolerance && !(std::isfinite(*settings.tolerance) && *settings.tolerance >= 0.0)) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("--tolerance is {}, not '{}'", expected, options.tolerance));
  }
  return settings;
}

Status run_diff(Context& context, const DiffCommandOptions& options) {
  XTTS_ASSIGN(maintain::DiffOptions settings, settings_of(context, options));
  const auto begin = context.env.now();
  ProgressView view(context);
  report::ProgressMeter meter;
  settings.progress = [&](std::uint64_t done, std::uint64_t total) {
    meter.update(context.env.now(), {.done = done, .total = total});
    view.update(meter);
  };
  settings.cancelled = stop_requested;
  const auto report = maintain::diff_caches(context.env, options.a, options.b, settings);
  view.clear();
  if (!report) return report.status();

  const DiffQuestion question{
      .a = options.a,
      .b = options.b,
      .tolerance = settings.tolerance,
      .seconds = std::chrono::duration<double>(context.env.now() - begin).count()};
  context.summarize(describe_caches(question, *report) + describe_differences(*report) +
                    describe_outcome(question, *report));
  context.print_json(diff_to_json(question, *report));
  if (report->equal) return {};
  // This is the code of a failed verification. The exit code 1, which diff(1) gives, means a
  // defect of ours.
  return {StatusCode::kCorrupt, formatted("{} and {} differ", options.a, options.b)};
}

}  // namespace

void add_diff_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<DiffCommandOptions>();
  Command(app, context, "diff",
          "Compare two caches, of whatever store, layout and dtype: clips, texts, numbers")
      .required("A", options->a, "A cache's folder")
      .required("B", options->b, "The other cache's folder")
      .option("--limit", options->limit, "N",
              "Differences of each kind that are listed (default: 20; with --json 1000)")
      .option("--tolerance", options->tolerance, "X",
              "Numbers may be so far apart (default: the same bits)")
      .notes(
          "Exit code 0: the same clips with the same facts and numbers; 4: they differ.\n"
          "Another recipe, machine, layout or dtype is shown, but is no difference by itself.")
      .examples(
          "xtts-precompute diff ./cache ./rebuilt\n"
          "xtts-precompute diff ./cache ./cache-float16 --tolerance 0.01\n"
          "xtts-precompute diff ./cache ./rebuilt --json | jq -r '.differing[].id'")
      .runs([&context, options] { return run_diff(context, *options); });
}

}  // namespace xtts::cli
