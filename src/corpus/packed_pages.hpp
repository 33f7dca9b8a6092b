// Pages of Parquet files, unpacked. The pages used last stay in memory, up to 256 MiB, because
// many clips share a page. One page is unpacked at a time. Memory is that of these pages, of one
// packed page, and of the pages that readers still hold. Synchronised inside.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/env.hpp"
#include "corpus/source_place.hpp"

namespace xtts::corpus {

inline constexpr std::uint64_t kPageBytesMax = std::uint64_t{256} << 20U;

// kBadInput: the page has changed or is too big; the message continues a sentence that begins with
// the file. kUnsupported: this build has no Arrow library.
[[nodiscard]] Result<std::shared_ptr<const std::vector<std::byte>>> unpacked(
    const RandomAccessFile& file, const std::shared_ptr<const PackedPage>& page);

}  // namespace xtts::corpus
