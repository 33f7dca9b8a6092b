// probe: numbers and facts for the adviser, as JSON. No words, and no part of --help.
#include <memory>
#include <optional>
#include <string>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/number_option.hpp"
#include "cli/progress_view.hpp"
#include "cli/stop_signal.hpp"
#include "formats/canonical_json.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "probe/numbers.hpp"
#include "reader/manifest_file.hpp"
#include "recipe/trainer_config.hpp"
#include "request/build_options.hpp"
#include "request/recipe_json.hpp"
#include "request/temporary_folder.hpp"
#include "xtts/builder.hpp"

namespace xtts::cli {
namespace {

using nlohmann::json;

struct ProbeCommand {
  std::string what, path, cache, recipe, config, writable;
  std::string batch_size = "32";
  std::string workers = "8";
  bool has_cache = false;
};

// Tells the recipe that `build --config FILE` honours: null, with the reason, where it refuses the
// file. With a cache: how its features differ.
Result<json> config_facts(Env& env, const ProbeCommand& command) {
  json facts = {{"recipe", nullptr}, {"refused", nullptr}, {"differences", json::array()}};
  std::optional<formats::Recipe> held;
  if (!command.cache.empty()) {
    XTTS_ASSIGN(const reader::LoadedManifest loaded, reader::load_manifest(env, command.cache));
    XTTS_ASSIGN(held, formats::recipe_of(loaded.manifest));
  }
  const auto config = recipe::apply_trainer_config(env, command.path, std::nullopt);
  if (!config.ok()) {
    facts["refused"] = config.status().message();
    return facts;
  }
  facts["recipe"] = request::recipe_to_json(config->recipe, config->keys);
  if (held) {
    facts["differences"] = formats::describe_differences(
        formats::to_json(*held->features), formats::to_json(*config->recipe.features), "features");
  }
  return facts;
}

Result<json> measured(Context& context, const ProbeCommand& command, probe::Run run) {
  ProgressView view(context);
  run.on_step = [&](const std::string& step) { view.update([&] { return step; }); };
  if (command.what == "cache") return probe::cache_numbers(context.env, command.path, run);
  XTTS_ASSIGN(const double workers, parse_number_option("--workers", command.workers, 1.0, 64.0));
  XTTS_ASSIGN(
      auto request,
      request::request_of(
          context.env, {.data = command.path, .recipe = command.recipe, .config = command.config},
          context.caller, {}));
  return probe::corpus_numbers(context.env,
                               {.build = std::move(request),
                                .worker_count = static_cast<std::uint32_t>(workers),
                                .builds_sample_cache = !command.has_cache},
                               run);
}

Result<json> facts_of(Context& context, const ProbeCommand& command) {
  if (command.what == "machine") return probe::machine_numbers(context.env);
  if (command.path.empty())
    return Status(StatusCode::kInvalidArgument, formatted("probe {} needs a path", command.what));
  if (command.what == "config") return config_facts(context.env, command);
  XTTS_ASSIGN(const double batch_size,
              parse_number_option("--batch-size", command.batch_size, 1.0, 100'000.0));
  return measured(context, command,
                  {.scratch_folder = request::temporary_folder(context.env),
                   .writable_folder = command.writable,
                   .batch_size = static_cast<std::uint32_t>(batch_size),
                   .cancelled = stop_requested});
}

Status run_probe(Context& context, const ProbeCommand& command) {
  XTTS_ASSIGN(const json facts, facts_of(context, command));
  context.print_json(facts);
  return {};
}

}  // namespace

void add_probe_command(CLI::App& app, Context& context) {
  auto command = std::make_shared<ProbeCommand>();
  Command(app, context, "probe", "Numbers and facts for the adviser, as JSON")
      .required_choice("WHAT", command->what, {"machine", "config", "corpus", "cache"},
                       "What to look at")
      .positional("PATH", command->path, "The trainer's config.yaml, DATA, or CACHE")
      .option("--cache", command->cache, "CACHE", "The cache to compare a configuration with")
      .option("--recipe", command->recipe, "NAME|FILE", "The features of a corpus, as for build")
      .option("--config", command->config, "FILE", "The features of a corpus, as for build")
      .option("--batch-size", command->batch_size, "N", "Clips a batch")
      .option("--workers", command->workers, "N", "Threads that compute beside one another")
      .option("--writable", command->writable, "DIR", "Where a sync to the disk is timed")
      .flag("--no-sample-cache", command->has_cache, "Build no cache of a sample")
      .runs([&context, command] { return run_probe(context, *command); });
}

}  // namespace xtts::cli
