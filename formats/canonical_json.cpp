#include "formats/canonical_json.hpp"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <exception>

#include "base/formatted.hpp"
#include "formats/preamble.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

// Our deepest document has five levels. Copying and comparing JSON recurses, so depth takes stack.
constexpr std::size_t kDepthMax = 64;
// A value takes 16 bytes or more, but its text may take two ("1,"). The manifest of ten million
// clips has 200,000 values.
constexpr std::size_t kValueCountMax = std::size_t{8} << 20U;
constexpr std::size_t kMessageBytesMax = 300;
constexpr std::size_t kShownBytesMax = 80;

void append_text(const json& text, std::string& out) {
  out += text.dump(-1, ' ', false, json::error_handler_t::replace);
}

// We write floats ourselves, because fingerprints must outlive nlohmann-json: its digits are not
// always the fewest and may change with its version. std::to_chars gives the fewest digits that
// read back the same, in any locale.
void append_float(double value, std::string& out) {
  assert(std::isfinite(value));
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  const std::string_view digits(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  out += digits;
  if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";  // stays a float when read
}

void append_value(const json& value, std::string& out);

// nlohmann's objects are maps: their keys are sorted by bytes.
void append_object(const json& object, std::string& out) {
  char separator = '{';
  for (const auto& [key, member] : object.items()) {
    out += separator;
    append_text(json(key), out);
    out += ':';
    append_value(member, out);
    separator = ',';
  }
  out += object.empty() ? "{}" : "}";
}

void append_array(const json& array, std::string& out) {
  char separator = '[';
  for (const json& member : array) {
    out += separator;
    append_value(member, out);
    separator = ',';
  }
  out += array.empty() ? "[]" : "]";
}

void append_value(const json& value, std::string& out) {
  if (value.is_object()) return append_object(value, out);
  if (value.is_array()) return append_array(value, out);
  if (value.is_number_float()) return append_float(value.get<double>(), out);
  append_text(value, out);
}

// Checks depth and number of values before allocating for them. Text inside quotes does not count.
Status check_size(std::string_view text) {
  std::size_t depth = 0;
  std::size_t values = 1;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == ']' || c == '}') depth -= depth > 0 ? 1 : 0;
    if (c == '[' || c == '{') ++depth;
    if (c == '[' || c == '{' || c == ',') ++values;
    if (depth > kDepthMax)
      return corrupt(formatted("JSON is nested deeper than 64 levels at byte {}", i));
    if (values > kValueCountMax) {
      return corrupt(formatted("JSON holds more than {} values", kValueCountMax));
    }
  }
  return {};
}

std::string shown(const json& value) {
  std::string text = dump_canonical(value);
  if (text.size() <= kShownBytesMax) return text;
  std::size_t end = kShownBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return formatted("{}… ({} bytes)", text.substr(0, end), text.size());
}

class Differences {
 public:
  explicit Differences(const SideNames& names) : names_(names) {}

  void collect(const json& first, const json& second, const std::string& path) {
    if (first.is_object() && second.is_object()) {
      collect_members(first, second, path);
    } else if (first != second) {
      lines_.push_back(formatted("{}: {} {}, {} {}", path, shown(first), names_.in_first,
                                 shown(second), names_.in_second));
    }
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  void collect_members(const json& first, const json& second, const std::string& path) {
    const auto below = [&](const std::string& key) {
      return path.empty() ? key : formatted("{}.{}", path, key);
    };
    for (const auto& [key, member] : first.items()) {
      if (const auto other = second.find(key); other != second.end()) {
        collect(member, *other, below(key));
      } else {
        lines_.push_back(formatted("{}: {} {}, {}", below(key), shown(member), names_.in_first,
                                   names_.not_in_second));
      }
    }
    for (const auto& [key, member] : second.items()) {
      if (first.contains(key)) continue;
      lines_.push_back(formatted("{}: absent {}, {} {}", below(key), names_.in_first, shown(member),
                                 names_.in_second));
    }
  }

  const SideNames& names_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string dump_canonical(const json& value) {
  std::string out;
  append_value(value, out);
  return out;
}

Result<json> parse_json(std::string_view text) {
  if (Status status = check_size(text); !status.ok()) return status;
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    return corrupt(std::string(error.what()).substr(0, kMessageBytesMax));
  } catch (const std::exception& error) {
    return Status(StatusCode::kResource, std::string("parsing JSON: ") + error.what());
  }
}

std::vector<std::string> describe_differences(const json& first, const json& second,
                                              const std::string& prefix, const SideNames& names) {
  Differences differences(names);
  differences.collect(first, second, prefix);
  return differences.take();
}

}  // namespace xtts::formats
