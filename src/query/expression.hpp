// Expressions that choose clips: `seconds > 2 and (speaker == "anna" or text ~ "^Hello")`. One
// language for `ls --where` and for a reader's selection.
//
//   or     := and ("or" and)*
//   and    := not ("and" not)*
//   not    := "not" not | "(" or ")" | test
//   test   := field [ ("==" | "!=" | "<" | "<=" | ">" | ">=" | "~") value ]
//   value  := number | "text" | 'text' | true | false
//
// Fields and their types are in fields.hpp. A field alone is true when it is known and neither 0,
// empty nor false. Text is compared by bytes. `~` finds a POSIX extended regular expression
// (pattern.hpp) anywhere in the text. In quotes a backslash stands for itself, but before the same
// quote, which it keeps from ending the text.
//
// A comparison with something unknown (a clip without a speaker) is false, `!=` too; `not` turns
// that round. Two values, not the three of SQL: whoever writes `not speaker == "anna"` means
// everybody else.
//
// An Expression is immutable and may be used by any number of threads. parse() fails with
// kInvalidArgument; the message shows the expression with a caret under the place, and the nearest
// field where one was misspelt.
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

// What turns the numbers of plan rows into names and seconds. Shows memory of the manifest, which
// must stay.
struct Tables {
  double frame_s = 0.0;  // 0: unknown
  std::span<const std::string> datasets, speakers, languages;

  [[nodiscard]] static Tables of(const formats::Manifest& manifest);
};

// One clip, looked at through references. `facts` may be empty (a default RecordFacts) when
// needs_facts() is false.
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
  // False where plan rows alone decide: then no details need to be read.
  [[nodiscard]] bool needs_facts() const noexcept;
  // False where the clip's lists decide: then its sound need not be there.
  [[nodiscard]] bool needs_sound() const noexcept;

 private:
  explicit Expression(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

}  // namespace xtts::query
