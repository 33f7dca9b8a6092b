// Forward declarations of a recipe's parts, for headers that only pass them on. Code that reads a
// part includes its own header. So a new key in feature_config.hpp recompiles only the readers of
// features.
#pragma once

namespace xtts::formats {

struct BakedConfig;
struct ColumnsConfig;
struct CorpusConfig;
struct FeatureConfig;
struct LoudnessConfig;
struct MelConfig;
struct Recipe;
struct StftConfig;
struct StorageConfig;
struct TextConfig;
struct TrimConfig;

}  // namespace xtts::formats
