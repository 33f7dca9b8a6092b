// The parsed tree of an expression. Private to this folder. Immutable once built.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "query/fields.hpp"
#include "query/pattern.hpp"

namespace xtts::query {

enum class NodeKind { kOr, kAnd, kNot, kIsSet, kCompare, kMatch };
enum class Comparison { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

struct Node {
  NodeKind kind = NodeKind::kIsSet;
  std::vector<Node> children;  // of kOr, kAnd (two or more) and kNot (one)
  const Field* field = nullptr;
  Comparison comparison = Comparison::kEqual;
  std::variant<double, std::string, bool> value;  // of the field's type
  std::optional<Pattern> pattern;
};

// The limit on nested parentheses and `not`: the tree is walked by recursion.
inline constexpr std::size_t kExpressionDepthMax = 64;
inline constexpr std::size_t kExpressionBytesMax = 4096;

}  // namespace xtts::query
