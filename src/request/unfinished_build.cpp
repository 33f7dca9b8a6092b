#include "request/unfinished_build.hpp"

#include <initializer_list>
#include <utility>

#include "base/confined_env.hpp"
#include "base/formatted.hpp"
#include "base/shell_words.hpp"
#include "base/try.hpp"
#include "pipeline/unfinished.hpp"
#include "reader/manifest_file.hpp"

namespace xtts::request {
namespace {

using Text = std::string BuildOptions::*;

// " --store hdf5", of what is not the default.
std::string texts_of(const BuildOptions& options,
                     std::initializer_list<std::pair<const char*, Text>> texts) {
  const BuildOptions usual;
  std::string words;
  for (const auto& [flag, text] : texts)
    if (options.*text != usual.*text)
      words += formatted(" --{} {}", std::string(flag), shell_quoted(options.*text));
  return words;
}

}  // namespace

Result<bool> take_unfinished(Env& env, const BuildOptions& options,
                             pipeline::BuildRequest& request) {
  if (!options.recipe.empty() || !options.config.empty() || options.discard_unfinished ||
      !env.stat(options.cache).ok())
    return false;
  const auto confined = confined_to(env, options.cache, Links::kNone);
  const auto published = reader::load_manifest(*confined, options.cache);
  auto found = pipeline::find_unfinished(*confined, options.cache,
                                         published ? &published->manifest : nullptr);
  // The build meets the failure again, with better words.
  if (!found || !*found) return false;
  pipeline::AskedWork& asked = (*found)->asked;
  if (!asked.recipe || asked.overwrites != options.overwrite) return false;
  request.recipe = std::move(*asked.recipe);
  if (published && (asked.keeps_recipe || !options.overwrite))
    request.recipe_of = published->manifest.index_digest;
  if (options.audio_roots.empty()) request.data.audio_roots = std::move(asked.data.audio_roots);
  request.known_speakers = std::move(asked.speakers);
  return true;
}

std::string lasting_options(const BuildOptions& options) {
  return texts_of(options, {{"device", &BuildOptions::device},
                            {"isa", &BuildOptions::isa},
                            {"max-rejects", &BuildOptions::max_rejects},
                            {"max-dropped", &BuildOptions::max_dropped},
                            {"max-gone", &BuildOptions::max_gone}});
}

std::string build_command(const BuildOptions& options) {
  const bool is_part = !options.part.empty();
  std::string command =
      formatted("xtts-precompute build {}{}{}{}", is_part ? "" : shell_quoted(options.data) + " ",
                shell_quoted(options.cache), lasting_options(options),
                texts_of(options, {{"part", &BuildOptions::part},
                                   {"recipe", &BuildOptions::recipe},
                                   {"config", &BuildOptions::config},
                                   {"layout-of-data", &BuildOptions::layout_of_data},
                                   {"language", &BuildOptions::language},
                                   {"speakers", &BuildOptions::speakers_file},
                                   {"store", &BuildOptions::store},
                                   {"layout", &BuildOptions::layout},
                                   {"dtype", &BuildOptions::dtype},
                                   {"memory", &BuildOptions::memory},
                                   {"partition", &BuildOptions::partition}}));
  if (is_part && !options.data.empty()) command += " --data " + shell_quoted(options.data);
  for (const std::string& setting : options.settings) command += " --set " + shell_quoted(setting);
  command += formats::DataFolders{options.data, options.audio_roots}.audio_root_options();
  using Flag = bool BuildOptions::*;
  for (const auto& [flag, is_on] : std::initializer_list<std::pair<const char*, Flag>>{
           {"no-text", &BuildOptions::no_text},
           {"retry-rejects", &BuildOptions::retry_rejects},
           {"overwrite", &BuildOptions::overwrite},
           {"allow-mixed", &BuildOptions::allow_mixed},
           {"discard-unfinished", &BuildOptions::discard_unfinished}}) {
    if (options.*is_on) command += " --" + std::string(flag);
  }
  return command;
}

}  // namespace xtts::request
