// Chooses the lists of an LJSpeech-like corpus, and the folder of audio for each. Pure functions
// of a scan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corpus/lists/audio_finder.hpp"
#include "corpus/lists/layout_input.hpp"

namespace xtts::corpus {

// The lists directly in DATA, the likeliest first: metadata.csv, metadata.txt, then *metadata*.csv
// by name.
struct MetadataCandidates {
  std::optional<std::string> plain;  // metadata.csv or metadata.txt
  std::vector<std::string> others;
};
[[nodiscard]] MetadataCandidates find_metadata(const DataTree& tree);

// kInvalidArgument: no list, several lists without a metadata.csv, or an unusable path in the
// config.
[[nodiscard]] Result<std::vector<ListSource>> choose_lists(const LayoutInput& input);

// wavs, wav or audio, beside the list or in DATA; else the folder of the list.
[[nodiscard]] std::string usual_audio_folder(const DataTree& tree, const std::string& list);

}  // namespace xtts::corpus
