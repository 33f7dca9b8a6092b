// JsonFields: typed members of a JSON object that came from a file. Whoever reads a document asks
// for its members one after the other and looks at the status once, at the end: the first problem
// is kept in the Status that all readers of a document share, with the member's full path
// ("columns[0].shards[2].digest"), and what comes after it is a default. A reader shows the memory
// of the document and of that Status. One thread at a time. Never throws on content.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

class JsonFields {
 public:
  JsonFields(const nlohmann::json& value, std::string path, Status& failure);

  // Null where the member is absent or null.
  [[nodiscard]] const nlohmann::json* find(const char* key) const;

  template <std::unsigned_integral T>
  [[nodiscard]] T integer(const char* key, T minimum = 0,
                          T maximum = std::numeric_limits<T>::max()) {
    return static_cast<T>(integer_between(key, minimum, maximum));
  }
  [[nodiscard]] double number(const char* key);
  [[nodiscard]] std::string text(const char* key);
  [[nodiscard]] Digest digest(const char* key);
  [[nodiscard]] std::uint64_t check(const char* key);  // 16 hexadecimal digits
  [[nodiscard]] const nlohmann::json& any_object(const char* key);
  [[nodiscard]] JsonFields object(const char* key);
  [[nodiscard]] std::vector<JsonFields> objects(const char* key);
  [[nodiscard]] std::vector<std::string> texts(const char* key);
  [[nodiscard]] std::vector<double> numbers(const char* key);
  [[nodiscard]] std::vector<std::uint32_t> integers(const char* key);

  void fail(const std::string& key, const std::string& problem);
  [[nodiscard]] bool ok() const noexcept { return failure_->ok(); }

 private:
  [[nodiscard]] std::uint64_t integer_between(const char* key, std::uint64_t minimum,
                                              std::uint64_t maximum);
  [[nodiscard]] const nlohmann::json& array(const char* key);

  const nlohmann::json* value_;
  std::string path_;
  Status* failure_;
};

// 16 lower-case hexadecimal digits, and back (nothing for any other text).
[[nodiscard]] std::string check_to_hex(std::uint64_t check);
[[nodiscard]] std::optional<std::uint64_t> check_from_hex(std::string_view text);

}  // namespace xtts::formats
