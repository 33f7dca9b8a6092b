// xtts-precompute plan DATA PLAN --parts N: one listing for many machines.
#include <chrono>
#include <optional>
#include <utility>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/shell_words.hpp"
#include "base/try.hpp"
#include "cli/build_flags.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/progress_view.hpp"
#include "cli/stop_signal.hpp"
#include "plan/make_plan.hpp"
#include "report/human.hpp"
#include "report/reasons.hpp"
#include "request/build_options.hpp"
#include "request/option_values.hpp"

namespace xtts::cli {
namespace {

using report::escape_controls;
using report::format_count;
using report::format_counted;
using report::format_size;

constexpr std::size_t kNotesShown = 8;
constexpr std::size_t kRejectsShown = 5;

struct PlanOptions {
  BuildOptions build;
  std::string folder;
  std::string parts;
  bool overwrite = false;
};

// A line of the summary, with its heading in a column of its own.
std::string line(std::string_view heading, const std::string& text) {
  constexpr std::size_t kColumn = 10;
  return formatted("{}{}{}\n", heading, std::string(kColumn - heading.size(), ' '), text);
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  const std::size_t shown = shown_of(notes.size(), kNotesShown);
  for (std::size_t i = 0; i < shown; ++i) text += line("", escape_controls(notes[i]));
  if (notes.size() > shown)
    text += line(
        "", formatted("and {} more notes (--json lists all)", format_count(notes.size() - shown)));
  return text;
}

std::string clips_text(const plan::PlanReport& report) {
  std::string splits;
  for (const auto& [split, count] : report.plan.clips_by_split)
    splits += formatted("{}{} {}", splits.empty() ? " (" : ", ", format_count(count), split);
  std::string text = format_counted(report.plan.clip_count(), "clip", "clips") +
                     (splits.empty() ? "" : splits + ")");
  if (report.sound_seconds) text += ", " + report::format_duration(*report.sound_seconds);
  return formatted("{}, {}", text, format_size(report.plan.source_bytes()));
}

std::string parts_text(const formats::Plan& plan) {
  std::uint64_t least = UINT64_MAX;
  std::uint64_t most = 0;
  for (const formats::PlanPart& part : plan.parts) {
    least = std::min(least, part.source_bytes);
    most = std::max(most, part.source_bytes);
  }
  return formatted(
      "{} of {}: {} to {} of sources each", format_counted(plan.parts.size(), "part", "parts"),
      format_counted(plan.shard_count(), "shard", "shards"), format_size(least), format_size(most));
}

std::string rejects_text(const plan::PlanReport& report) {
  const std::uint64_t count = report.plan.reject_count() + report.refused_text_count;
  if (count == 0) return {};
  std::string text = line("Rejected", formatted("{}, each with its reason in its part's "
                                                "rejects.jsonl",
                                                format_count(count)));
  const std::size_t shown = std::min(report.rejects.size(), kRejectsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const formats::Reject& reject = report.rejects[i];
    text += line("", escape_controls(
                         formatted("{}: {}", formats::place_of(reject), report::words_of(reject))));
  }
  return text;
}

std::string shared_text(const plan::SharedSources& shared) {
  if (shared.count == 0) return {};
  std::string names;
  for (const std::string& name : shared.names) names += (names.empty() ? "" : ", ") + name;
  return line(
      "Shared",
      escape_controls(formatted(
          "{} of several parts: {}{}",
          format_counted(shared.count, "archive or long source is", "archives or long sources are"),
          names, shared.is_all && shared.count == shared.names.size() ? "" : " and so on")));
}

std::string next_text(const PlanOptions& options, const formats::Plan& plan) {
  const std::string first = join_path(options.folder, plan.parts.front().file);
  return line("Next",
              formatted("xtts-precompute build --part {} CACHE, and so for each part, on any "
                        "machine",
                        escape_controls(shell_quoted(first)))) +
         line("",
              "xtts-precompute set SET CACHE..., once all parts are built: they read as one cache");
}

std::string describe(const PlanOptions& options, const plan::PlanReport& report) {
  const formats::Plan& plan = report.plan;
  if (report.unchanged) {
    return formatted(
               "nothing to do: {} holds this plan already, of {} in {}; --overwrite looks at "
               "DATA again\n",
               escape_controls(options.folder), format_counted(plan.clip_count(), "clip", "clips"),
               format_counted(plan.parts.size(), "part", "parts")) +
           next_text(options, plan);
  }
  return line("Data", formatted("{}: layout {}, {}{}", escape_controls(plan.data_path), plan.layout,
                                clips_text(report), plan.has_text ? "" : ", no text")) +
         notes_text(report.notes) +
         line("Recipe", formatted("{}, max_frames {}, max_tokens {}", plan.recipe.name,
                                  report.lengths.frames.number, report.lengths.tokens.number)) +
         line("For", formatted("{} {} ({})", plan.numerics.device, plan.numerics.isa,
                               plan.numerics.libraries)) +
         line("Parts", parts_text(plan)) + shared_text(report.shared) + rejects_text(report) +
         next_text(options, plan);
}

nlohmann::json part_to_json(const formats::PlanPart& part) {
  return {{"file", part.file},          {"bytes", part.file_bytes},
          {"clips", part.clip_count},   {"rejects", part.reject_count},
          {"shards", part.shard_count}, {"source_bytes", part.source_bytes}};
}

nlohmann::json to_json(const PlanOptions& options, const plan::PlanReport& report,
                       double elapsed_s) {
  const formats::Plan& plan = report.plan;
  nlohmann::json parts = nlohmann::json::array();
  for (const formats::PlanPart& part : plan.parts) parts.push_back(part_to_json(part));
  nlohmann::json json = {{"unchanged", report.unchanged},
                         {"plan", options.folder},
                         {"data", plan.data_path},
                         {"layout", plan.layout},
                         {"recipe", plan.recipe.name},
                         {"numerics",
                          {{"device", plan.numerics.device},
                           {"isa", plan.numerics.isa},
                           {"libraries", plan.numerics.libraries}}},
                         {"clips", plan.clip_count()},
                         {"clips_by_split", plan.clips_by_split},
                         {"rejects", plan.reject_count()},
                         {"shards", plan.shard_count()},
                         {"source_bytes", plan.source_bytes()},
                         {"parts", std::move(parts)},
                         {"elapsed_s", elapsed_s}};
  if (report.unchanged) return json;
  json["max_frames"] = report.lengths.frames.number;
  json["max_tokens"] = report.lengths.tokens.number;
  json["sound_seconds"] =
      report.sound_seconds ? nlohmann::json(*report.sound_seconds) : nlohmann::json();
  json["refused_texts"] = report.refused_text_count;
  json["notes"] = report.notes;
  json["unknown_characters"] = report.unknown_characters;
  json["shared_sources"] = {{"count", report.shared.count},
                            {"names", report.shared.names},
                            {"all", report.shared.is_all}};
  return json;
}

Status run_plan(Context& context, const PlanOptions& options) {
  plan::PlanRequest request;
  request.folder = options.folder;
  request.overwrite = options.overwrite;
  XTTS_ASSIGN(request.part_count, request::parse_part_count("--parts", options.parts));
  XTTS_ASSIGN(request.build, request::request_of(context.env, options.build, context.caller,
                                                 [&](const recipe::TrainerConfig& config) {
                                                   tell_trainer_keys(context, config);
                                                 }));
  request.build.run.cancelled = stop_requested;
  request.cancelled = stop_requested;
  request.notice = [&context](const std::string& text) { context.warn(text); };
  ProgressView view(context);
  request.progress = [&view](const char* step, std::uint64_t done, std::uint64_t total) {
    view.update([&] {
      return total == 0 ? formatted("{} {}", format_count(done), step)
                        : formatted("{} of {}", report::format_share(done, total), step);
    });
  };
  const auto begin = context.env.now();
  const GracefulStopScope graceful_stop;
  const auto report = plan::make_plan(context.env, request);
  view.clear();
  if (report.status().code() == StatusCode::kCancelled)
    return {StatusCode::kCancelled, "stopped: there is no plan; the same command begins again"};
  if (!report) return report.status();
  const double elapsed_s = std::chrono::duration<double>(context.env.now() - begin).count();
  context.summarize(describe(options, *report));
  context.print_json(to_json(options, *report, elapsed_s));
  return {};
}

}  // namespace

void add_plan_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<PlanOptions>();
  auto lists = std::make_shared<ListFlags>();
  Command command(app, context, "plan",
                  "List DATA once, and deal its clips to parts that many machines build");
  command
      .required("DATA", options->build.data,
                "A corpus in a known layout, any folder of audio, or a corpora.yaml")
      .required("PLAN", options->folder, "The folder of the plan")
      .required_option("--parts", options->parts, "N", "The number of parts");
  add_recipe_options(command, options->build);
  command.threads(options->build.thread_count);
  add_machine_options(command, options->build);
  command
      .flag("--no-text", options->build.no_text,
            "Store sound without texts, even if a list cannot be read")
      .flag("--overwrite", options->overwrite, "Replace another plan, or look at DATA again");
  add_list_flags(command, *lists);
  command
      .notes(
          "A part is a run of whole shards, by the bytes of their sources. It carries its clips, "
          "so "
          "a machine\n"
          "that builds it does not list DATA. Recipe, lengths, speakers, splits and numerics are "
          "the "
          "plan's:\n"
          "give --isa of the weakest machine. A part refuses a machine that computes other bits.")
      .examples(
          "xtts-precompute plan ./data ./plan --parts 64 --recipe tacotron2 --isa avx2\n"
          "xtts-precompute build --part ./plan/0007 ./part-7   # on any machine that sees ./data\n"
          "xtts-precompute set ./cache ./part-*                # reads as one cache; merge makes "
          "one")
      .runs([&context, options, lists] {
        PlanOptions all = *options;
        all.build.cache = all.folder;  // no cache: nothing of one is taken over
        for (std::string& setting : settings_of(*lists)) all.build.settings.push_back(setting);
        return run_plan(context, all);
      });
}

}  // namespace xtts::cli
