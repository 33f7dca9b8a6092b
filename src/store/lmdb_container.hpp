// The image of an LMDB shard (cache-v1.md, section 4). LMDB lays out, we fill in: see README.md.
#pragma once

#include "store/image_container.hpp"

namespace xtts::store {

// The column is valid. Failures: kResource, kUnsupported (a system of other pages than 4,096
// bytes).
[[nodiscard]] Result<std::unique_ptr<ImageContainer>> make_lmdb_container(
    const formats::ColumnSpec& column);

}  // namespace xtts::store
