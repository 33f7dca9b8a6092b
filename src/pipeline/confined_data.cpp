#include "pipeline/confined_data.hpp"

#include <algorithm>

#include "base/confined_env.hpp"

namespace xtts::pipeline {

std::shared_ptr<Env> confined_to_data(Env& env, const formats::DataFolders& data,
                                      std::span<const formats::CorporaEntry> corpora) {
  std::shared_ptr<Env> confined;
  const auto confine = [&](const std::string& folder) {
    confined = confined_to(confined ? *confined : env, folder, Links::kInside);
  };
  if (corpora.empty()) confine(data.path);
  for (const formats::CorporaEntry& entry : corpora) {
    confine(entry.folder);
    std::ranges::for_each(entry.audio_roots, confine);
  }
  std::ranges::for_each(data.audio_roots, confine);
  return confined;
}

}  // namespace xtts::pipeline
