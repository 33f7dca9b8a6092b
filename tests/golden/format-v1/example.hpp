// The worked example of cache-v1.md, section 12: the smallest cache there can be, one clip whose
// text is "Hi!", made by the codecs. The golden test, the document and the fuzzers' seeds all come
// from here.
#pragma once

#include <string>

#include "formats/block.hpp"
#include "formats/facts.hpp"
#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "formats/reject.hpp"
#include "formats/shard_table.hpp"

namespace xtts::formats::example {

[[nodiscard]] std::string payload();  // 72, 105, 33, 0 as int32
[[nodiscard]] BlockHeader block_header();
[[nodiscard]] BlockFacts block_facts();
[[nodiscard]] ShardTable shard_table();
[[nodiscard]] std::string index();  // the whole file
[[nodiscard]] Manifest manifest();
[[nodiscard]] Reject reject();

// The code blocks of the document's section 12, in order.
[[nodiscard]] std::string block_header_dump();
[[nodiscard]] std::string index_dump();
[[nodiscard]] std::string manifest_dump();

}  // namespace xtts::formats::example
