// probe: numbers and facts for the adviser, as JSON. No words, and no part of --help.
#include <memory>
#include <optional>
#include <string>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "doctor/gpu_check.hpp"
#include "doctor/machine.hpp"
#include "formats/canonical_json.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "reader/manifest_file.hpp"
#include "recipe/trainer_config.hpp"
#include "request/recipe_json.hpp"

namespace xtts::cli {
namespace {

using nlohmann::json;

struct ProbeCommand {
  std::string what, file, cache;
};

json machine_facts(Env& env) {
  json gpus = json::array();
  if (const auto found = doctor::read_gpus(); found.ok()) {
    for (const doctor::GpuState& gpu : *found) {
      const auto memory_bytes = gpu.facts.memory_total_bytes;
      if (memory_bytes) gpus.push_back({{"name", gpu.facts.name}, {"memory_bytes", *memory_bytes}});
    }
  }
  return {{"usable_cores", doctor::read_machine(env).usable_cores()}, {"gpus", std::move(gpus)}};
}

// What `build --config FILE` honours: null, with the reason, where it refuses the file. With a
// cache: how its features differ.
Result<json> config_facts(Env& env, const ProbeCommand& command) {
  json facts = {{"recipe", nullptr}, {"refused", nullptr}, {"differences", json::array()}};
  std::optional<formats::Recipe> held;
  if (!command.cache.empty()) {
    XTTS_ASSIGN(const reader::LoadedManifest loaded, reader::load_manifest(env, command.cache));
    XTTS_ASSIGN(held, formats::recipe_of(loaded.manifest));
  }
  const auto config = recipe::apply_trainer_config(env, command.file, std::nullopt);
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

Status run_probe(Context& context, const ProbeCommand& command) {
  if (command.what == "machine") {
    context.print_json(machine_facts(context.env));
    return {};
  }
  XTTS_ASSIGN(const json facts, config_facts(context.env, command));
  context.print_json(facts);
  return {};
}

}  // namespace

void add_probe_command(CLI::App& app, Context& context) {
  auto command = std::make_shared<ProbeCommand>();
  Command(app, context, "probe", "Numbers and facts for the adviser, as JSON")
      .required_choice("WHAT", command->what, {"machine", "config"}, "What to look at")
      .positional("FILE", command->file, "The trainer's config.yaml")
      .option("--cache", command->cache, "CACHE", "The cache to compare it with")
      .runs([&context, command] { return run_probe(context, *command); });
}

}  // namespace xtts::cli
