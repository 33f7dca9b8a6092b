#include "records/columns.hpp"

#include <algorithm>
#include <bit>

#include "formats/canonical_json.hpp"
#include "formats/enum_names.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "formats/sound_columns.hpp"

namespace xtts::records {
std::vector<formats::ColumnSpec> sound_column_forms(const formats::Recipe& recipe) {
  std::vector<formats::ColumnSpec> columns;
  for (const formats::SoundColumn column : formats::sound_columns_of(*recipe.features)) {
    const formats::SoundColumnInfo& info = formats::info_of(column);
    columns.push_back({.name = std::string(info.name),
                       .id = static_cast<std::uint32_t>(columns.size()),
                       .dtype = info.dtype(*recipe.features, recipe.storage.dtype),
                       .shape = info.shape(*recipe.features),
                       .layout = recipe.storage.layout,
                       .fingerprint = {},
                       .numerics = {}});
  }
  return columns;
}

std::vector<formats::ColumnSpec> sound_columns(const formats::Recipe& recipe,
                                               const formats::Numerics& numerics) {
  std::vector<formats::ColumnSpec> columns = sound_column_forms(recipe);
  const Digest fingerprint = formats::fingerprint(*recipe.features);
  for (formats::ColumnSpec& column : columns) {
    column.fingerprint = fingerprint;
    column.numerics = numerics.hash();
  }
  return columns;
}

formats::ColumnSpec tokens_column(const formats::Recipe& recipe,
                                  const formats::Numerics& numerics) {
  return {.name = "tokens",
          .id = static_cast<std::uint32_t>(formats::sound_columns_of(*recipe.features).size()),
          .dtype = DType::kInt32,
          .shape = {recipe.text.max_tokens},
          .layout = recipe.storage.layout,
          .fingerprint = formats::fingerprint(recipe.text),
          .numerics = numerics.hash()};
}

std::uint64_t clips_per_shard(std::span<const formats::ColumnSpec> sound_columns) {
  std::uint64_t fewest = UINT64_MAX;
  for (const formats::ColumnSpec& column : sound_columns)
    fewest = std::min(fewest, column.geometry().clips_per_shard());
  return fewest;
}

bool has_sums(const formats::ColumnSpec& column) {
  const auto* const sound = formats::find_sound_column(column.name);
  return sound != nullptr && sound->is_feature;
}

formats::ColumnEntry entry_of(const formats::ColumnSpec& column, const formats::Recipe& recipe) {
  formats::ColumnEntry entry;
  entry.spec = column;
  entry.store = recipe.storage.store;
  if (has_sums(column))
    entry.fill_bits = std::bit_cast<std::uint32_t>(static_cast<float>(recipe.features->pad_value));
  if (column.id < formats::sound_columns_of(*recipe.features).size())
    entry.records_per_shard = clips_per_shard(sound_column_forms(recipe));
  return entry;
}

}  // namespace xtts::records
