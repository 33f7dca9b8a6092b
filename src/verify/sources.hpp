// Sources: the place of the sources and the means to compute records from them again. Plain
// values, and the look at what they list.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "dsp/isa.hpp"
#include "formats/corpora.hpp"
#include "formats/data_folders.hpp"
#include "formats/recipe_fwd.hpp"
#include "pipeline/run_config.hpp"
#include "xtts/status.hpp"

namespace xtts::verify {

struct Sources {
  formats::DataFolders data = {};                   // as for a build; an empty path: not known
  std::vector<formats::CorporaEntry> corpora = {};  // entries of DATA if it is a corpora.yaml
  dsp::Isa isa = dsp::Isa::kBest;
  audio::MakeDecoder make_decoder = {};  // as in RunConfig
  Status no_decoder = {};                // why there is none; reported when one is needed
  std::uint64_t memory_bytes = pipeline::kMemoryBytesMin;
  // The folder for scratch files, for sound that is too long for the memory or is shared by
  // segments. It exists already, and all users may share it.
  std::string scratch_folder = {};
};

// A seeded part of the clips: those whose hash of seed and id is below the share; at least one.
struct Sample {
  double share = 1.0;
  std::uint64_t seed = 0;
};

// Returns true if the work shall stop. Called while DATA is listed or a source is decoded. An empty
// function means never.
using CancelCheck = std::function<bool()>;

// Lists the clips of the sources, with their texts, as a build of `recipe` does. Failures: those of
// discovery.
[[nodiscard]] Result<corpus::Corpus> listed_corpus(Env& env, const Sources& sources,
                                                   const formats::Recipe& recipe,
                                                   corpus::KnownSplits known_splits,
                                                   const CancelCheck& cancelled);

}  // namespace xtts::verify
