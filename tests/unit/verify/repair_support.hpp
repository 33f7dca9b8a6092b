// A small cache that the real pipeline built, to be damaged and mended. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "build_support.hpp"
#include "formats/block.hpp"
#include "verify/verify.hpp"

namespace xtts::testing {

inline constexpr std::uint32_t kRepairClips = 10;  // mel shards of 7 and 2: the fourth is no sound
inline constexpr std::size_t kHeaderBytes = formats::kBlockHeaderBytes;

[[nodiscard]] pipeline::BuildRequest repair_request(const std::vector<std::string>& settings = {});
void add_repair_corpus(MemoryEnv& env);
// The bytes that every repair must come back to, by name.
[[nodiscard]] const Files& whole_cache();
[[nodiscard]] const std::string& whole(const std::string& name);
[[nodiscard]] std::vector<std::string> shard_names(const std::string& column = "");
void add_whole_cache(MemoryEnv& env);  // with its corpus

// `data` empty: the sources are not known.
[[nodiscard]] verify::Options repair_options(const std::string& data = kData);
[[nodiscard]] verify::Report repaired(Env& env, const verify::Options& options = repair_options());
[[nodiscard]] std::string told(const verify::Report& report);  // its findings
// That one file is mended, and all bytes are those of the whole cache.
void expect_repaired(MemoryEnv& env, const verify::Report& report, const std::string& file);

[[nodiscard]] std::string flipped(std::string bytes, std::size_t offset);
[[nodiscard]] std::size_t header_of(const std::string& bytes);  // of a shard's first block
[[nodiscard]] std::size_t facts_of(const std::string& bytes);   // the first block's

}  // namespace xtts::testing
