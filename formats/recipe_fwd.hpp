// Names of a recipe's parts, for headers that only pass them on. Whoever looks into one includes
// its own header: a key added to feature_config.hpp then compiles only what reads features.
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
