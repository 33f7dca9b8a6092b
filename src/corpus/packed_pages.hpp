// Pages of Parquet files, unpacked. Those that were asked for last stay, up to 256 MiB, since many
// clips share a page; one is unpacked at a time. So memory is that of these pages, of one packed,
// and of those that readers still hold. Synchronised inside.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/env.hpp"
#include "corpus/source_place.hpp"

namespace xtts::corpus {

inline constexpr std::uint64_t kPageBytesMax = std::uint64_t{256} << 20U;

// kBadInput, continuing a sentence that begins with the file: it is not what it was, or too big.
// kUnsupported: this build has no Arrow library.
[[nodiscard]] Result<std::shared_ptr<const std::vector<std::byte>>> unpacked(
    const RandomAccessFile& file, const std::shared_ptr<const PackedPage>& page);

}  // namespace xtts::corpus
