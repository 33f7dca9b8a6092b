// corpora.yaml: several corpora for one cache, an entry each:
//
//   - name: vctk
//     path: /data/VCTK-Corpus-0.92     # or relative to this file
//     layout: vctk                     # and language, speaker or speaker_pattern, split
//     text_column: sentence            # and the other *_column keys of a recipe's corpus section
//     audio_root: /mnt/hdd             # audio outside of path: a folder, or a list of them
//
// Strict as recipes are: an unknown key is an error that names line and nearest key, and all
// problems are told at once (kInvalidArgument). Free functions; share freely.
#pragma once

#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/corpora.hpp"
#include "xtts/status.hpp"

namespace xtts::recipe {

// True where DATA is meant as such a file: it ends in .yaml or .yml.
[[nodiscard]] bool is_corpora_file(const std::string& data);
[[nodiscard]] Result<std::vector<formats::CorporaEntry>> load_corpora(Env& env,
                                                                      const std::string& path);

}  // namespace xtts::recipe
