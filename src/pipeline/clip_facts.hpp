// What a clip's lists and text add to the facts of its sound. Pure functions.
#pragma once

#include <cstdint>

#include "corpus/corpus.hpp"
#include "formats/facts.hpp"
#include "formats/recipe_fwd.hpp"
#include "pipeline/text_column.hpp"

namespace xtts::pipeline {

void add_facts_of_lists(const corpus::Clip& clip, formats::RecordFacts& facts);
void add_facts_of_text(const ClipText& text, formats::RecordFacts& facts);

// Frames of a clip whose record in the first column has so many rows: a wave has samples, of which
// hop_samples are a frame; the last one's may be fewer.
[[nodiscard]] std::uint32_t frames_of_main_record(const formats::FeatureConfig& features,
                                                  std::uint32_t length);

}  // namespace xtts::pipeline
