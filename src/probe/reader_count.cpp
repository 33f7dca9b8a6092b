#include "probe/reader_count.hpp"

#include <nlohmann/json.hpp>

namespace xtts::probe {

std::optional<ReaderCount> parse_reader_count(std::string_view text) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object()) return std::nullopt;
  const auto number = [&](const char* key) {
    const auto found = document.find(key);
    return found != document.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  const auto count = [&](const char* key) {
    const auto found = document.find(key);
    return found != document.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  };
  return ReaderCount{.batches = count("batches"),
                     .samples = count("samples"),
                     .wait_s = number("consumer_wait_s"),
                     .at_s = number("at_s")};
}

}  // namespace xtts::probe
