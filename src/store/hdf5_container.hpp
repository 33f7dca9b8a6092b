// The image of an HDF5 shard (cache-v1.md, section 4b). HDF5 lays out, we fill in: see README.md.
#pragma once

#include "store/image_container.hpp"

namespace xtts::store {

// The column is valid. kInvalidArgument where its name is that of another dataset.
[[nodiscard]] Result<std::unique_ptr<ImageContainer>> make_hdf5_container(
    const formats::ColumnSpec& column);

}  // namespace xtts::store
