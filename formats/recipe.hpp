// Recipe: the four sections that describe a cache, kept apart because they have different
// consequences.
//   features  decides the numbers; its fingerprint is frozen in the cache
//   text      decides the tokens column; its own fingerprint; changed without decoding audio
//   corpus    layout, speakers, splits: the index only, changed without recomputing
//   storage   store, layout, dtype: how the same numbers lie on disk
// Plain values. validate() of each returns every problem at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/corpus_config.hpp"
#include "formats/recipe_fwd.hpp"
#include "formats/storage_config.hpp"
#include "formats/text_config.hpp"

namespace xtts::formats {

// The features section is a value like the others: always there, copied with its recipe. It is
// held out of line, so a new key recompiles only files that include feature_config.hpp.
class HeldFeatures {
 public:
  HeldFeatures();
  HeldFeatures(const HeldFeatures& other);
  HeldFeatures& operator=(const HeldFeatures& other);
  ~HeldFeatures();

  [[nodiscard]] FeatureConfig& operator*() noexcept { return *config_; }
  [[nodiscard]] const FeatureConfig& operator*() const noexcept { return *config_; }
  [[nodiscard]] FeatureConfig* operator->() noexcept { return config_.get(); }
  [[nodiscard]] const FeatureConfig* operator->() const noexcept { return config_.get(); }

 private:
  std::unique_ptr<FeatureConfig> config_;
};

struct Recipe {
  std::string name = "myxtts";
  std::string about;              // one line of description
  std::vector<std::string> fits;  // vocoders and models that take these features
  HeldFeatures features;
  TextConfig text;
  CorpusConfig corpus;
  StorageConfig storage;
};

}  // namespace xtts::formats
