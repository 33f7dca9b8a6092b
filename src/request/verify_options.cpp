#include "request/verify_options.hpp"

#include <utility>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "recipe/corpora_file.hpp"
#include "request/stored_recipe.hpp"
#include "request/temporary_folder.hpp"
#include "store/source_table.hpp"

namespace xtts::request {
namespace {

// Takes DATA from the options, else as the cache remembers it.
Result<verify::Sources> sources_of(Env& env, const VerifyOptions& options, const Caller& caller) {
  verify::Sources sources;
  sources.data = {options.data, options.audio_roots};
  if (options.data.empty() || options.audio_roots.empty()) {
    if (const auto table = store::load_source_table(env, options.cache))
      sources.data.complete_from(table->data);
  }
  const std::string& data = sources.data.path;
  const bool is_remembered = options.data.empty() && !data.empty();
  if (is_remembered && options.level == "deep" &&
      env.stat(data).status().code() == StatusCode::kNotFound)
    return moved_sources_failure(data);
  if (recipe::is_corpora_file(data)) {
    auto corpora = recipe::load_corpora(env, data);
    // A repair may need no sources. One that does reports that they are missing.
    const bool is_needed = !options.data.empty() || options.level == "deep";
    if (!corpora && is_needed) return corpora.status();
    if (corpora) sources.corpora = std::move(*corpora);
  }
  XTTS_ASSIGN(const dsp::Isa isa, parse_isa(option("isa"), options.isa));
  sources.isa = isa_for(env, options.cache, isa);
  // A repair may also need no decoder.
  auto decoders = caller.make_decoder();
  if (!decoders && options.level == "deep") return decoders.status();
  if (decoders) {
    sources.make_decoder = std::move(*decoders);
  } else {
    sources.no_decoder = decoders.status();
  }
  sources.memory_bytes = pipeline::default_memory_bytes();
  sources.scratch_folder = temporary_folder(env);
  return sources;
}

// Refuses options of another level, because they would be ignored.
Status refuse_idle_options(const VerifyOptions& options, verify::Level level) {
  const std::string deep = option("level") + " deep";
  const auto refuse = [&](const char* flag, const std::string& where) {
    return Status(StatusCode::kInvalidArgument, formatted("{} is for {}", option(flag), where));
  };
  if (!options.index.empty() && !options.repair) return refuse("index", option("repair"));
  if (options.max_gone != "0%" && !options.repair) return refuse("max-gone", option("repair"));
  if (level == verify::Level::kDeep) return {};
  if (options.sample != "100%") return refuse("sample", deep);
  if (options.seed != "0") return refuse("seed", deep);
  if (options.repair) return {};
  const std::string deep_and_repair = formatted("{} and {}", deep, option("repair"));
  if (!options.data.empty()) return refuse("data", deep_and_repair);
  if (!options.audio_roots.empty()) return refuse("audio-root", deep_and_repair);
  if (options.isa != "best") return refuse("isa", deep_and_repair);
  return {};
}

}  // namespace

Result<verify::Options> settings_of(Env& env, const VerifyOptions& options, const Caller& caller) {
  verify::Options settings;
  XTTS_ASSIGN(settings.level, parse_level(option("level"), options.level));
  XTTS_TRY(refuse_idle_options(options, settings.level));
  settings.thread_count =
      options.thread_count != 0 ? options.thread_count : pipeline::default_thread_count();
  settings.repair = options.repair;
  settings.index = options.index;
  XTTS_ASSIGN(settings.max_gone, parse_percent(option("max-gone"), options.max_gone));
  const bool is_deep = settings.level == verify::Level::kDeep;
  if (options.repair || is_deep) {
    XTTS_ASSIGN(settings.sources, sources_of(env, options, caller));
  }
  if (is_deep) {
    XTTS_ASSIGN(settings.sample.share, parse_share(option("sample"), options.sample));
    XTTS_ASSIGN(settings.sample.seed, parse_seed(option("seed"), options.seed));
  }
  return settings;
}

}  // namespace xtts::request
