// File operations that survive a power cut, built from Env's calls. A name is durable after a sync
// of its folder, bytes after a sync of their file; unless stated otherwise, these functions do
// both. Free functions; one thread at a time per path. Failures: kResource.
#pragma once

#include <span>
#include <string>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// Creates the folder if absent. Makes its name durable in any case, because an earlier build may
// have died between creating and syncing.
[[nodiscard]] Status make_durable_folder(Env& env, const std::string& path);

// Creates a file; replaces one that a dead builder left under its name.
[[nodiscard]] Result<std::unique_ptr<WritableFile>> create_file(Env& env, const std::string& path);

// Writes `bytes` to a new file and syncs it. Its name is not durable yet.
[[nodiscard]] Status write_synced_file(Env& env, const std::string& path,
                                       std::span<const std::byte> bytes);

// Renames within one file system and syncs the folder of the new name.
[[nodiscard]] Status rename_durably(Env& env, const std::string& from, const std::string& to);

// Writes the bytes of `from` to a new file, syncs it and closes it.
[[nodiscard]] Status copy_synced(Env& env, const std::string& from, WritableFile& to);

// Gives the bytes of `from` a new name: by a link or, where that is impossible, by a synced copy
// (returns true). The name is not durable yet.
[[nodiscard]] Result<bool> link_or_copy(Env& env, const std::string& from, const std::string& to);

// Removes a file; ok if it does not exist.
[[nodiscard]] Status remove_if_there(Env& env, const std::string& path);

// True where both files exist and hold the same bytes.
[[nodiscard]] Result<bool> same_contents(Env& env, const std::string& first,
                                         const std::string& second);

}  // namespace xtts::store
