// set: names caches as one.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "maintain/make_set.hpp"
#include "report/human.hpp"
#include "request/option_values.hpp"

namespace xtts::cli {
namespace {

using report::format_counted;
using report::format_size;

struct SetOptions {
  std::string to;
  std::vector<std::string> caches;
  std::string max_rejects = "5%";
  std::string max_dropped = "10%";
  bool allow_mixed = false;
};

Status run_set(Context& context, const SetOptions& options) {
  maintain::SetRequest request{
      .to = options.to, .caches = options.caches, .allow_mixed = options.allow_mixed};
  XTTS_ASSIGN(request.max_rejects,
              request::parse_reject_limit("--max-rejects", options.max_rejects));
  XTTS_ASSIGN(request.max_losses.dropped,
              request::parse_percent("--max-dropped", options.max_dropped));
  request.run.notice = [&context](const std::string& text) { context.warn(text); };
  XTTS_ASSIGN(const auto report, maintain::make_set(context.env, request));
  context.summarize(formatted(
      "{} names {}: {}, {}, {}, {}\n", options.to,
      format_counted(report.cache_count, report.are_parts ? "part" : "cache",
                     report.are_parts ? "parts" : "caches"),
      format_counted(report.record_count, "record", "records"),
      report::format_duration(report.sound_seconds),
      format_counted(report.reject_count, "reject", "rejects"), format_size(report.shard_bytes)));
  context.print_json({{"caches", report.cache_count},
                      {"are_parts", report.are_parts},
                      {"records", report.record_count},
                      {"rejects", report.reject_count},
                      {"seconds", report.sound_seconds},
                      {"statistics", report.has_statistics},
                      {"bytes", report.shard_bytes}});
  return {};
}

}  // namespace

void add_set_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<SetOptions>();
  Command(app, context, "set", "Name several caches, to be read as one")
      .required("SET", options->to, "The folder of the set; it may hold the caches")
      .required("CACHE", options->caches, "All the parts of a plan, in any order; or whole caches")
      .option("--max-rejects", options->max_rejects, "N|P%",
              "How many faulty clips are tolerated, in all caches together")
      .option("--max-dropped", options->max_dropped, "P%",
              "How much the rules may drop, in all caches together")
      .flag("--allow-mixed", options->allow_mixed,
            "Read together what different CPUs or library versions made")
      .notes(
          "A set is one small file, SET/set.json. Its caches stay where they are. What reads a "
          "cache reads a\n"
          "set, in the same order and with the same statistics as one cache of all clips. A part "
          "that is\n"
          "missing, doubled or of another recipe is named, and nothing is made.")
      .examples(
          "xtts-precompute set ./corpus ./corpus/parts/*\n"
          "xtts-precompute info ./corpus")
      .runs([&context, options] { return run_set(context, *options); });
}

}  // namespace xtts::cli
