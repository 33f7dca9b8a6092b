// Expressions select clips: `seconds > 2 and (speaker == "anna" or text ~ "^Hello")`. `ls --where`
// and a reader's selection use the same language.
//
//   or     := and ("or" and)*
//   and    := not ("and" not)*
//   not    := "not" not | "(" or ")" | test
//   test   := field [ ("==" | "!=" | "<" | "<=" | ">" | ">=" | "~") value ]
//   value  := number | "text" | 'text' | true | false
//
// Fields and their types are in fields.hpp. A field alone is true when it is known and neither 0,
// empty nor false. Text is compared by bytes. `~` finds a POSIX extended regular expression
// (pattern.hpp) anywhere in the text. In a quoted text, a backslash before the same kind of quote
// makes the quote part of the text; any other backslash stands for itself.
//
// `id` is the clip's id with its data set in front, as `ls` prints it, or without: `==` and `~` are
// true for either, `!=` for neither. `<` and the like compare the id without its data set.
//
// A comparison with an unknown value (a clip without a speaker) is false, `!=` too; `not` inverts
// that. The logic has two values, unlike SQL's three, because a user who writes `not speaker ==
// "anna"` means all other clips.
//
// An Expression is immutable; any number of threads may use it. parse() fails with
// kInvalidArgument. The message shows the expression with a caret under the place, and suggests
// the nearest field name for a misspelt one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "formats/facts.hpp"
#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "xtts/status.hpp"

namespace xtts::query {

// Tables that turn the numbers of plan rows into names and seconds. The manifest must outlive
// them.
struct Tables {
  double frame_s = 0.0;  // 0: unknown
  std::span<const std::string> datasets, speakers, languages;

  [[nodiscard]] static Tables of(const formats::Manifest& manifest);
};

// One clip, by reference. Without needs_facts(), `facts` may be empty (a default RecordFacts).
struct Clip {
  const Tables& tables;
  const formats::PlanRow& plan;
  const formats::RecordFacts& facts;
};

struct Node;  // node.hpp

class Expression {
 public:
  [[nodiscard]] static Result<Expression> parse(std::string_view text);

  [[nodiscard]] bool matches(const Clip& clip) const;
  // False: plan rows alone decide, so no details need to be read.
  [[nodiscard]] bool needs_facts() const noexcept;
  // False: the clip's lists decide, so its sound need not be known.
  [[nodiscard]] bool needs_sound() const noexcept;

 private:
  explicit Expression(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

}  // namespace xtts::query
