// The last part of a build: one pass over all clips in canonical order that brings sound (sealed or
// published before) and text together, writes tokens column and index, and gives the manifest to
// publish. Two phases, each of which makes a value of the one before:
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
#include "pipeline/plan.hpp"
#include "pipeline/warning_kinds.hpp"
#include "reader/cache_view.hpp"
#include "store/cache_folder.hpp"
#include "store/journal.hpp"

namespace xtts::pipeline {

// A column that no build makes, as add_column gave it.
struct AddedColumn {
  formats::ColumnEntry entry;               // without its shards
  std::vector<store::JournalShard> shards;  // in the order of the clips
};

struct IndexJob {
  Env& env;
  const Plan& plan;
  const formats::Recipe& recipe;
  const formats::Numerics& numerics;
  reader::CacheView* previous = nullptr;
  const std::vector<formats::ColumnSpec>& columns;  // of sound, by their numbers
  const std::vector<store::JournalShard>& shards;   // theirs, of this build
  // The published tokens are those of this index, too.
  bool keeps_texts = false;
  // Sealed before: then no tokens are written.
  const std::vector<store::JournalShard>* token_shards = nullptr;
  const std::vector<formats::Reject>& rejects;     // all, in the order of the file
  const std::vector<std::string>& known_speakers;  // numbers 0, 1, ... where nothing is published
  std::vector<std::string> known_languages = {};   // likewise
  std::uint64_t generation = 1;
  // Of a cache that is written anew: its added columns, as they were sealed. (Those of `previous`
  // are taken over.)
  std::vector<AddedColumn> added = {};
  // What the manifest says otherwise than a build's, before the index keeps a copy of it.
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

// Clips that have a record: published ones that stay, and those in sealed shards.
[[nodiscard]] std::uint64_t stored_count(const Plan& plan,
                                         const std::vector<store::JournalShard>& shards);

[[nodiscard]] Result<IndexResult> build_index(const IndexJob& job, store::CacheFolder& folder);

}  // namespace xtts::pipeline
