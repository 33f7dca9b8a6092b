// Steps of writing that survive a power cut, made of Env's calls. A name is durable when its folder
// was synced, bytes when their file was; everything here leaves both so. Free functions; one thread
// at a time a path. Failures: kResource.
#pragma once

#include <span>
#include <string>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// Creates the folder where it is absent, and makes its name durable in any case: an earlier build
// may have died between making and syncing.
[[nodiscard]] Status make_durable_folder(Env& env, const std::string& path);

// A new file; what a dead builder left under its name goes.
[[nodiscard]] Result<std::unique_ptr<WritableFile>> create_file(Env& env, const std::string& path);

// Writes `bytes` to a new file and syncs it. Its name is not durable yet.
[[nodiscard]] Status write_synced_file(Env& env, const std::string& path,
                                       std::span<const std::byte> bytes);

// Renames within one file system and syncs the folder of the new name.
[[nodiscard]] Status rename_durably(Env& env, const std::string& from, const std::string& to);

// A new name for the bytes of `from`: a link, or where that cannot be a synced copy (true). The
// name is not durable yet.
[[nodiscard]] Result<bool> link_or_copy(Env& env, const std::string& from, const std::string& to);

// Removes a file; one that is not there is removed already.
[[nodiscard]] Status remove_if_there(Env& env, const std::string& path);

// Whether both files are there and hold the same bytes.
[[nodiscard]] Result<bool> same_contents(Env& env, const std::string& first,
                                         const std::string& second);

}  // namespace xtts::store
