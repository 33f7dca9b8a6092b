// Where the sound of a raw stream ends and the tags behind it begin, found from the file's end: a
// tag that has its size only behind it, such as APE's, cannot be known from its front. Reads a few
// bytes of each tag. Bytes may be hostile: the answer lies within the file, at most.
#pragma once

#include <cstdint>

#include "decode/detail/source_reader.hpp"

namespace xtts::decode::detail {

[[nodiscard]] std::uint64_t end_without_tags(SourceReader& file);

}  // namespace xtts::decode::detail
