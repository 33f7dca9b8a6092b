// The lines of a journal: canonical JSON, a tab, 16 hexadecimal digits of its check, a line feed.
// Pure functions. Decoders accept any bytes and give nullopt for a line whose check is wrong.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/journal.hpp"

namespace xtts::store {

[[nodiscard]] std::string encode_line(const JournalHead& head);
[[nodiscard]] std::string encode_line(const JournalShard& shard);

// `line` comes without its line feed.
[[nodiscard]] std::optional<JournalHead> decode_head_line(std::string_view line);
[[nodiscard]] std::optional<JournalShard> decode_shard_line(std::string_view line);

}  // namespace xtts::store
