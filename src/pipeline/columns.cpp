#include "pipeline/columns.hpp"

#include "formats/canonical_json.hpp"

namespace xtts::pipeline {

formats::ColumnSpec mel_column(const formats::Recipe& recipe, const formats::Numerics& numerics) {
  return {.name = "mel",
          .id = kMelId,
          .dtype = recipe.storage.dtype,
          .shape = {recipe.features.max_frames, recipe.features.channel_count()},
          .layout = recipe.storage.layout,
          .fingerprint = formats::fingerprint(recipe.features),
          .numerics = numerics.hash()};
}

formats::ColumnSpec tokens_column(const formats::Recipe& recipe,
                                  const formats::Numerics& numerics) {
  return {.name = "tokens",
          .id = kTokensId,
          .dtype = DType::kInt32,
          .shape = {recipe.text.max_tokens},
          .layout = recipe.storage.layout,
          .fingerprint = formats::fingerprint(recipe.text),
          .numerics = numerics.hash()};
}

}  // namespace xtts::pipeline
