// Unfinished work in a cache's .build/: a build's, or a column's that add_column makes. A build
// goes on with the work of its own recipe, however DATA has changed. It never removes the work of
// another recipe or of a column unasked: it ends, and names the two commands that there are.
//
// Free functions; they only read. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "base/hash.hpp"
#include "formats/data_folders.hpp"
#include "formats/manifest.hpp"
#include "formats/recipe.hpp"
#include "pipeline/build_request.hpp"
#include "store/journal.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

struct BuildPlan;

// The request behind the work, as the head of its journal keeps it (JournalHead::about).
struct AskedWork {
  std::string column;              // of add_column; empty: a build, with the members below
  formats::DataFolders data = {};  // absolute
  std::vector<std::string> speakers = {};
  std::string partition = {};  // "1/3"; empty: the whole
  std::string part = {};       // of a plan: PLAN/0007
  bool overwrites = false;
  bool keeps_recipe = false;                   // BuildRequest::recipe_of was set
  std::string lasting_options = {};            // BuildRequest::lasting_options
  std::optional<formats::Recipe> recipe = {};  // as asked: its lengths may be those of the corpus
};
[[nodiscard]] std::string encode_asked(const AskedWork& asked);
// Accepts any text: what it does not tell stays unset.
[[nodiscard]] AskedWork decode_asked(const std::string& text);

// `lengths_of`: the recipe before the corpus chose its lengths.
[[nodiscard]] AskedWork asked_of(const BuildRequest& request, const formats::Recipe& lengths_of,
                                 const BuildPlan& plan);

struct Unfinished {
  store::JournalHead head;
  AskedWork asked;
  std::uint64_t bytes = 0;  // of sealed shards, and of records that wait for their shard
};
// nullopt: nothing, or the leavings of what `published` holds already.
[[nodiscard]] Result<std::optional<Unfinished>> find_unfinished(Env& env, const std::string& cache,
                                                                const formats::Manifest* published);

// "an unfinished build of the recipe tacotron2 (3.1 GiB)"
[[nodiscard]] std::string words_of(const Unfinished& unfinished);
// The command, or the call of Python, that goes on with the work.
[[nodiscard]] std::string command_to_continue(const std::string& cache,
                                              const Unfinished& unfinished);

// True where the build may take over what lies in .build/. kMismatch: it is other work, which must
// go on or be given up first; the message has both commands. `continued`: the published cache that
// the build updates.
[[nodiscard]] Result<bool> check_unfinished(Env& env, const BuildRequest& request,
                                            const formats::Manifest* published, bool is_update,
                                            const Digest& numerics);
// For commands that cannot begin while any unfinished work lies in the cache: kMismatch.
[[nodiscard]] Status check_no_unfinished(Env& env, const std::string& cache,
                                         const formats::Manifest* published);

}  // namespace xtts::pipeline
