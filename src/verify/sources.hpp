// Sources: where the records of a cache can be computed again from, and with what. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "dsp/isa.hpp"
#include "formats/corpora.hpp"
#include "pipeline/run_config.hpp"
#include "xtts/status.hpp"

namespace xtts::verify {

struct Sources {
  std::string data = {};                            // DATA, as for a build; empty: not known
  std::vector<formats::CorporaEntry> corpora = {};  // of DATA, where it is a corpora.yaml
  std::vector<std::string> audio_roots = {};        // as corpus::discover() takes them
  dsp::Isa isa = dsp::Isa::kBest;
  audio::MakeDecoder make_decoder = {};  // as in RunConfig
  Status no_decoder = {};                // why there is none: told where one is needed
  std::uint64_t memory_bytes = pipeline::kMemoryBytesMin;
  // Of scratch files, for sound that is too long for the memory, or shared by segments. It is there
  // already, and may be one that all users share.
  std::string scratch_folder = {};
};

// A seeded part of the clips: those whose hash of seed and id lies under the share; at least one.
struct Sample {
  double share = 1.0;
  std::uint64_t seed = 0;
};

}  // namespace xtts::verify
