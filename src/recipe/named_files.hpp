// The files that a recipe names: vocabularies and numbers by channel -> what a recipe holds. They
// are small lists (base/small_list.hpp). Paths are relative to `folder` unless absolute. Free
// functions; share freely.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::recipe {

// One line of characters, whichever way they were spelled: equal vocabularies have one fingerprint.
[[nodiscard]] Result<std::string> canonical_vocabulary(std::string_view spelled);

[[nodiscard]] Result<std::string> read_vocabulary_file(Env& env, const std::string& folder,
                                                       const std::string& path);

struct ChannelNumbers {
  std::vector<double> offsets;  // empty where the file has scales alone
  std::vector<double> scales;
};

// A line a channel, SCALE or OFFSET SCALE, all of one kind; empty lines and those that begin with #
// are passed over. How many channels there must be is not known here.
[[nodiscard]] Result<ChannelNumbers> read_channels_file(Env& env, const std::string& folder,
                                                        const std::string& path);

}  // namespace xtts::recipe
