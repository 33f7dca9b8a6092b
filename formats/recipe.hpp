// Recipe: the four sections that describe a cache, kept apart because they have different
// consequences.
//   features  decides the numbers; its fingerprint is frozen in the cache
//   text      decides the tokens column; its own fingerprint; changed without decoding audio
//   corpus    layout, speakers, splits: the index only, changed without recomputing
//   storage   store, layout, dtype: how the same numbers lie on disk
// Plain values. validate() of each returns every problem at once.
#pragma once

#include <string>
#include <vector>

#include "formats/corpus_config.hpp"
#include "formats/feature_config.hpp"
#include "formats/storage_config.hpp"
#include "formats/text_config.hpp"

namespace xtts::formats {

struct Recipe {
  std::string name = "myxtts";
  std::string about;              // one line, for people
  std::vector<std::string> fits;  // vocoders and models that take these features
  FeatureConfig features;
  TextConfig text;
  CorpusConfig corpus;
  StorageConfig storage;
};

}  // namespace xtts::formats
