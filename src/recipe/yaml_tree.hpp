// A YAML document as a plain tree that keeps what a strict schema needs and yaml-cpp's own nodes
// lose: the line of every key, keys given twice, whether a scalar was quoted, and aliases as
// aliases. Nothing is ever expanded, so a file of nested anchors costs no more than its bytes. Free
// function; share freely. kInvalidArgument with origin and line; yaml-cpp's exceptions end here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::recipe {

constexpr std::size_t kYamlBytesMax = 64 * 1024;

struct YamlEntry;

struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kList, kMap, kAlias, kTagged };
  Kind kind = Kind::kNull;
  std::uint32_t line = 0;          // from 1
  std::string text;                // scalar
  bool quoted = false;             // scalar
  std::vector<YamlNode> items;     // list
  std::vector<YamlEntry> entries;  // map, in the file's order
};

struct YamlEntry {
  std::string key;
  std::uint32_t line = 0;
  YamlNode value;
};

// The root of a file of one document.
[[nodiscard]] Result<YamlNode> read_yaml(std::string_view text, std::string_view origin);
// The same, which must be a map.
[[nodiscard]] Result<YamlNode> read_yaml_map(std::string_view text, std::string_view origin);

// "a list", "a quoted text", ... for messages.
[[nodiscard]] std::string_view describe(const YamlNode& node);

}  // namespace xtts::recipe
