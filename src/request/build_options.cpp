#include "request/build_options.hpp"

#include <memory>
#include <utility>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "corpus/clips/speakers.hpp"
#include "dsp_cuda/cuda_frame_engine.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/planned_part.hpp"
#include "recipe/corpora_file.hpp"
#include "recipe/recipe_file.hpp"
#include "recipe/trainer_config.hpp"
#include "request/part_options.hpp"
#include "request/stored_recipe.hpp"
#include "request/unfinished_build.hpp"
#include "store/source_table.hpp"

namespace xtts::request {
namespace {

constexpr const char* kDefaultRecipe = "myxtts";

// Both records and DATA have a layout, so users easily confuse the names.
Status check_layout(const BuildOptions& options) {
  if (options.layout.empty() || options.layout == "padded" || options.layout == "packed") return {};
  return {StatusCode::kInvalidArgument,
          option("layout") + " takes padded or packed, how records are stored, not '" +
              options.layout + "'. The layout of DATA is " + option("layout-of-data")};
}

Result<std::uint64_t> memory_of(const BuildOptions& options) {
  if (options.memory.empty()) return pipeline::default_memory_bytes();
  const std::string name = option("memory");
  XTTS_ASSIGN(const std::uint64_t memory_bytes, parse_size(name, options.memory));
  if (memory_bytes >= pipeline::kMemoryBytesMin) return memory_bytes;
  return Status(StatusCode::kInvalidArgument,
                formatted("{} '{}': at least 512M: two shard images alone take 256 MiB", name,
                          options.memory));
}

// Takes the named recipe, else that of the trainer's configuration, else the default. Then applies
// the configuration on top.
Result<formats::Recipe> base_recipe_of(Env& env, const BuildOptions& options,
                                       const TrainerConfigCallback& on_trainer_config) {
  const bool is_named = !options.recipe.empty();
  if (options.config.empty()) return recipe::load(env, is_named ? options.recipe : kDefaultRecipe);
  std::optional<formats::Recipe> named;
  if (is_named) {
    XTTS_ASSIGN(named, recipe::load(env, options.recipe));
  }
  XTTS_ASSIGN(auto config, recipe::apply_trainer_config(env, options.config, std::move(named)));
  if (!options.data.empty()) recipe::keep_list_of_data(env, options.data, config);
  if (on_trainer_config) on_trainer_config(config);
  return std::move(config.recipe);
}

// Applies the settings of the options, and the short forms of settings.
Status change_by(Env& env, const BuildOptions& options, formats::Recipe& recipe) {
  const auto set = [&](const std::string& key, const std::string& value) {
    return value.empty() ? Status()
                         : recipe::apply_setting(env, recipe, formatted("{}={}", key, value));
  };
  XTTS_TRY(set("corpus.layout", options.layout_of_data));
  XTTS_TRY(set("corpus.language", options.language));
  XTTS_TRY(set("storage.store", options.store));
  XTTS_TRY(set("storage.layout", options.layout));
  XTTS_TRY(set("storage.dtype", options.dtype));
  XTTS_TRY(recipe::apply_settings(env, recipe, options.settings));
  if (options.no_text) recipe.text.store = false;
  return recipe::check(recipe);
}

// Takes the recipe of unfinished work, or of the cache that is there, unless the caller names
// another.
Status choose_recipe(Env& env, const BuildOptions& options,
                     const TrainerConfigCallback& on_trainer_config,
                     pipeline::BuildRequest& request) {
  XTTS_ASSIGN(const bool goes_on, take_unfinished(env, options, request));
  if (goes_on) return change_by(env, options, request.recipe);
  const auto change = [&](formats::Recipe& recipe) { return change_by(env, options, recipe); };
  XTTS_ASSIGN(auto stored, stored_recipe(env, options, change));
  if (stored) {
    request.recipe = std::move(stored->recipe);
    request.recipe_of = stored->index;
    return {};
  }
  XTTS_ASSIGN(request.recipe, recipe_of(env, options, on_trainer_config));
  return {};
}

// The CPU computes by default: its numbers are the reference, and decoding takes most of the time.
// A cache that a GPU began goes on there.
pipeline::ChooseEngines engines_of(const DeviceChoice& device) {
  using Engines = std::shared_ptr<const dsp::FrameEngines>;
  switch (device.kind) {
    case DeviceChoice::Kind::kCpu:
      return {};
    case DeviceChoice::Kind::kAuto:
      return [](std::string_view published) -> Result<Engines> {
        return Engines(dsp_cuda::CudaFrameEngines::find(published));
      };
    case DeviceChoice::Kind::kCuda:
      return [number = device.number](std::string_view /*published*/) -> Result<Engines> {
        XTTS_ASSIGN(auto opened, dsp_cuda::CudaFrameEngines::open(number));
        return Engines(std::move(opened));
      };
  }
  return {};
}

// What says how to build, and changes no byte.
Status take_run(const BuildOptions& options, pipeline::BuildRequest& request) {
  XTTS_ASSIGN(request.max_rejects, parse_reject_limit(option("max-rejects"), options.max_rejects));
  XTTS_ASSIGN(request.max_losses.dropped,
              parse_percent(option("max-dropped"), options.max_dropped));
  XTTS_ASSIGN(request.max_losses.gone, parse_percent(option("max-gone"), options.max_gone));
  request.run.thread_count =
      options.thread_count > 0 ? options.thread_count : pipeline::default_thread_count();
  XTTS_ASSIGN(request.run.memory_bytes, memory_of(options));
  return {};
}

// Completes a request that has its recipe.
Status end_request(const BuildOptions& options, const Caller& caller,
                   pipeline::BuildRequest& request) {
  XTTS_ASSIGN(request.run.make_decoder, caller.make_decoder());
  request.command = build_command(options);
  request.lasting_options = lasting_options(options);
  return {};
}

Result<pipeline::BuildRequest> request_of_part(Env& env, const BuildOptions& options,
                                               const Caller& caller) {
  pipeline::BuildRequest request;
  request.options = options;
  XTTS_TRY(take_part(env, options, request));
  XTTS_TRY(take_run(with_limits_of(request.part->plan, options), request));
  XTTS_ASSIGN(
      const DeviceChoice device,
      parse_device(option("device"), request.part->plan.numerics.device == "cpu" ? "cpu" : "auto"));
  request.choose_engines = engines_of(device);
  XTTS_TRY(end_request(options, caller, request));
  return request;
}

}  // namespace

Result<formats::Recipe> recipe_of(Env& env, const BuildOptions& options,
                                  const TrainerConfigCallback& on_trainer_config) {
  XTTS_ASSIGN(formats::Recipe recipe, base_recipe_of(env, options, on_trainer_config));
  XTTS_TRY(change_by(env, options, recipe));
  return recipe;
}

Result<pipeline::BuildRequest> request_of(Env& env, const BuildOptions& options,
                                          const Caller& caller,
                                          const TrainerConfigCallback& on_trainer_config) {
  if (!options.part.empty()) return request_of_part(env, options, caller);
  XTTS_TRY(check_layout(options));
  if (!options.overwrite && !options.overwrite_only.empty())
    return Status(
        StatusCode::kInvalidArgument,
        "overwrite_only is the generation that overwrite may replace: set overwrite, too");
  pipeline::BuildRequest request;
  request.options = options;
  request.data = {options.data, options.audio_roots};
  XTTS_ASSIGN(const DeviceChoice device, parse_device(option("device"), options.device));
  request.choose_engines = engines_of(device);
  XTTS_ASSIGN(const dsp::Isa isa, parse_isa(option("isa"), options.isa));
  request.isa = isa_for(env, options.cache, isa);
  XTTS_TRY(take_run(options, request));
  if (!options.partition.empty()) {
    XTTS_ASSIGN(request.partition, parse_partition(option("partition"), options.partition));
  }
  XTTS_TRY(choose_recipe(env, options, on_trainer_config, request));
  if (!options.speakers_file.empty()) {
    XTTS_ASSIGN(request.known_speakers, corpus::read_speaker_names(env, options.speakers_file,
                                                                   request.recipe.corpus.encoding));
  }
  if (recipe::is_corpora_file(options.data)) {
    XTTS_ASSIGN(request.corpora, recipe::load_corpora(env, options.data));
  }
  if (request.data.audio_roots.empty()) {
    if (const auto table = store::load_source_table(env, options.cache))
      request.data.audio_roots = table->data.audio_roots;
  }
  XTTS_TRY(end_request(options, caller, request));
  return request;
}

std::vector<std::string> not_reproduced(const recipe::TrainerConfig& config) {
  std::vector<std::string> lines;
  for (const recipe::TrainerKey& key : config.keys) {
    if (key.kind == recipe::KeyClass::kNotReproduced)
      lines.push_back(formatted("{} is not reproduced: {}", key.key, key.note));
  }
  return lines;
}

}  // namespace xtts::request
