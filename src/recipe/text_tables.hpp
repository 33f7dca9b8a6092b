// The tables that text.normalize may name: those of configs/text, compiled in, and `nfc`. Free
// functions; share freely.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/text_config.hpp"

namespace xtts::recipe {

// Its rows as text/normalizer.hpp reads them; nullopt: there is no such table.
[[nodiscard]] std::optional<formats::TextTable> text_table(std::string_view name);
[[nodiscard]] std::string text_table_names();  // "nfc | arabic_letters | ..."

}  // namespace xtts::recipe
