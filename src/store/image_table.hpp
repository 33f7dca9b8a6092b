// The table of a finished image, read from its final bytes (cache-v1.md, section 7). Pure
// functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/shard_table.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// `places` tell where the blocks of `image` lie; their checks come from the bytes. Every header and
// facts value is checked as a reader would check it. kInternal where anything is not as the format
// promises it: such an image must not reach a disk.
[[nodiscard]] Result<formats::ShardTable> read_table(std::span<const std::byte> image,
                                                     std::vector<formats::BlockPlace> places,
                                                     formats::StoreKind store);

}  // namespace xtts::store
