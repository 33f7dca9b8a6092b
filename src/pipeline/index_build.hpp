// The last part of a build. One pass over all clips in canonical order joins their sound (sealed or
// published before) with their text, writes the tokens column and the index, and returns the
// manifest to publish. It has two phases, each of which makes a value from the one before:
//
//   IndexJob ──► Gathered ──► IndexResult
//     plan,       rows of       tables written,
//     shards      all clips     manifest
//
// Memory: 64 bytes a clip for the index's tables, one block's facts, two images of tokens. One
// thread at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/manifest.hpp"
#include "formats/recipe_fwd.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/warning_kinds.hpp"
#include "reader/cache_view.hpp"
#include "store/cache_folder.hpp"
#include "store/journal.hpp"

namespace xtts::pipeline {

// A column that no build makes, as add_column made it.
struct AddedColumn {
  formats::ColumnEntry entry;               // without its shards
  std::vector<store::JournalShard> shards;  // in the order of the clips
};

struct IndexJob {
  Env& env;
  const BuildPlan& plan;
  const formats::Recipe& recipe;
  const formats::Numerics& numerics;
  reader::CacheView* previous = nullptr;
  const std::vector<formats::ColumnSpec>& columns;  // of sound, by their numbers
  const std::vector<store::JournalShard>& shards;   // of the columns of sound, by this build
  // True where this index keeps the published tokens.
  bool keeps_texts = false;
  const std::vector<formats::Reject>& rejects;     // all, in the order of the file
  const std::vector<std::string>& known_speakers;  // numbers 0, 1, ...; fit the published ones
  std::vector<std::string> known_languages = {};   // numbers 0, 1, ... if nothing is published
  std::vector<std::string> known_datasets = {""};  // likewise
  std::uint64_t generation = 1;
  // The added columns of a cache that is written anew, as they were sealed. (The added columns of
  // `previous` are taken over.)
  std::vector<AddedColumn> added = {};
  // Changes the manifest from a build's, before the index keeps a copy of it.
  std::function<void(formats::Manifest&)> amend_manifest = {};
};

struct IndexResult {
  formats::Manifest manifest;
  std::string rejects_jsonl;
  std::uint64_t cut_count = 0;
  std::uint64_t cut_text_count = 0;
  std::uint64_t warned_count = 0;
  WarningKinds warnings;
};

// Counts the clips that have a record: published ones that stay, and those in sealed shards.
[[nodiscard]] std::uint64_t stored_count(const BuildPlan& plan,
                                         const std::vector<store::JournalShard>& shards);

[[nodiscard]] Result<IndexResult> build_index(const IndexJob& job, store::CacheFolder& folder);

}  // namespace xtts::pipeline
