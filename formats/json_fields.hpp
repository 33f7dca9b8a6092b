// JsonFields reads typed members of a JSON object that came from a file. A caller reads members
// one after the other and checks the status once, at the end. All readers of a document share one
// Status. It keeps the first problem, with the member's full path ("columns[0].shards[2].digest").
// Members read after a problem have default values. A reader points into the memory of the
// document and of that Status. One thread at a time. Never throws on content.
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

  // Returns null where the member is absent or null.
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
  [[nodiscard]] std::vector<std::uint64_t> long_integers(const char* key);

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

// Converts to 16 lower-case hexadecimal digits and back (nothing for any other text).
[[nodiscard]] std::string check_to_hex(std::uint64_t check);
[[nodiscard]] std::optional<std::uint64_t> check_from_hex(std::string_view text);

}  // namespace xtts::formats
