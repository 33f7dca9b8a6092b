// Files of numbers by channel -> what a recipe holds. Free functions; share freely.
#pragma once

#include <string>
#include <vector>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::recipe {

struct ChannelNumbers {
  std::vector<double> offsets;  // empty where the file has scales alone
  std::vector<double> scales;
};

// A line a channel, SCALE or OFFSET SCALE, all of one kind; empty lines and those that begin with #
// are passed over. `path` is relative to `folder` unless absolute. How many channels there must be
// is not known here.
[[nodiscard]] Result<ChannelNumbers> read_channels_file(Env& env, const std::string& folder,
                                                        const std::string& path);

}  // namespace xtts::recipe
