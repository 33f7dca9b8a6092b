#include "frontend/verify_request.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <utility>

#include "base/try.hpp"
#include "recipe/corpora_file.hpp"
#include "store/source_table.hpp"

namespace xtts::frontend {
namespace {

// Of this call alone: several may run in a process.
std::string scratch_folder() {
  static std::atomic<std::uint32_t> call_count = 0;
  const char* const folder = std::getenv("TMPDIR");
  return join_path(
      folder != nullptr && *folder != '\0' ? folder : "/tmp",
      "xtts-verify-" + std::to_string(::getpid()) + "-" + std::to_string(call_count.fetch_add(1)));
}

// DATA as it is named, or as the cache remembers it.
Result<verify::Sources> sources_of(Env& env, const VerifyOptions& options, const Asker& asker) {
  verify::Sources sources;
  sources.data = options.data;
  if (sources.data.empty()) {
    if (const auto table = store::load_source_table(env, options.cache))
      sources.data = table->data_path;
  }
  if (recipe::is_corpora_file(sources.data)) {
    auto corpora = recipe::load_corpora(env, sources.data);
    // A repair may need no sources at all; where it does, it says that they are not there.
    const bool is_needed = !options.data.empty() || options.level == "deep";
    if (!corpora && is_needed) return corpora.status();
    if (corpora) sources.corpora = std::move(*corpora);
  }
  XTTS_ASSIGN(sources.isa, parse_isa(spelled(asker.spelling, "isa"), options.isa));
  XTTS_ASSIGN(sources.decoder_command, asker.decoder_command());
  sources.memory_bytes = pipeline::default_memory_bytes();
  sources.scratch_folder = scratch_folder();
  return sources;
}

// Options that say something about another level would be ignored: an error.
Status refuse_idle_options(const VerifyOptions& options, verify::Level level, Spelling spelling) {
  if (level == verify::Level::kDeep) return {};
  const std::string deep = spelled(spelling, "level") + " deep";
  const auto refuse = [&](const char* flag, const std::string& where) {
    return Status(StatusCode::kInvalidArgument, spelled(spelling, flag) + " is for " + where);
  };
  if (options.sample != "100%") return refuse("sample", deep);
  if (options.seed != "0") return refuse("seed", deep);
  if (options.repair) return {};
  const std::string deep_and_repair = deep + " and " + spelled(spelling, "repair");
  if (!options.data.empty()) return refuse("data", deep_and_repair);
  if (options.isa != "best") return refuse("isa", deep_and_repair);
  return {};
}

}  // namespace

Result<verify::Options> settings_of(Env& env, const VerifyOptions& options, const Asker& asker) {
  verify::Options settings;
  XTTS_ASSIGN(settings.level, parse_level(spelled(asker.spelling, "level"), options.level));
  XTTS_TRY(refuse_idle_options(options, settings.level, asker.spelling));
  settings.thread_count =
      options.thread_count != 0 ? options.thread_count : pipeline::default_thread_count();
  settings.repair = options.repair;
  const bool is_deep = settings.level == verify::Level::kDeep;
  if (options.repair || is_deep) {
    XTTS_ASSIGN(settings.sources, sources_of(env, options, asker));
  }
  if (is_deep) {
    XTTS_ASSIGN(settings.sample.share,
                parse_share(spelled(asker.spelling, "sample"), options.sample));
    XTTS_ASSIGN(settings.sample.seed, parse_seed(spelled(asker.spelling, "seed"), options.seed));
  }
  return settings;
}

}  // namespace xtts::frontend
