#include "query/pattern.hpp"

#include <locale.h>  // newlocale and uselocale are POSIX
#include <regex.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/formatted.hpp"
#include "base/utf8.hpp"

namespace xtts::query {
namespace {

constexpr std::size_t kPatternBytesMax = 500;
constexpr std::size_t kTextBytesMax = std::size_t{64} << 10U;
constexpr std::uint64_t kRepetitionMax = 255;
constexpr std::size_t kDepthMax = 20;
constexpr std::uint32_t kRangeMax = 2000;
constexpr std::size_t kTranslatedBytesMax = std::size_t{16} << 10U;

// Sets this thread's locale to UTF-8 while it lives, because regcomp and regexec take characters
// from the thread's locale.
class Utf8Scope {
 public:
  Utf8Scope() : before_(locale() != nullptr ? uselocale(locale()) : nullptr) {}
  ~Utf8Scope() {
    if (before_ != nullptr) uselocale(before_);
  }
  Utf8Scope(const Utf8Scope&) = delete;
  Utf8Scope& operator=(const Utf8Scope&) = delete;

 private:
  // Made once and kept, because a locale must outlive all its users. Without C.UTF-8 (glibc has it
  // since 2.35), bytes match bytes.
  static locale_t locale() {
    static const locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return made;
  }
  locale_t before_;
};

Status refuse(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Copies a pattern, enforces the limits and spells out \d.
class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  Result<std::string> run() {
    while (at_ < pattern_.size()) {
      if (Status status = step(); !status.ok()) return status;
      if (out_.size() > kTranslatedBytesMax) return refuse("too many characters in ranges");
    }
    return out_;
  }

 private:
  Status step() {
    const char c = pattern_[at_];
    if (c == '\0') return refuse("a NUL character in the regular expression");
    if (c == '\\') return escape();
    if (c == '[') return bracket();
    if (c == '{') return repetition();
    if (c == '(' && ++depth_ > kDepthMax) return refuse("more than 20 nested parentheses");
    if (c == ')' && depth_ > 0) --depth_;
    // "a**" is legal and means "a*". Long chains of repetitions only serve to hurt the matcher.
    repeats_ = c == '*' || c == '+' || c == '?' ? repeats_ + 1 : 0;
    if (repeats_ > 2) return refuse("three repetitions one after the other");
    out_ += c;
    ++at_;
    return {};
  }

  Status escape() {
    if (at_ + 1 == pattern_.size()) return refuse("the regular expression ends in a backslash");
    const char c = pattern_[at_ + 1];
    at_ += 2;
    repeats_ = 0;
    if (is_digit(c)) return refuse("back references are not supported");
    if (c == 'd' || c == 'D') {
      out_ += c == 'd' ? "[0-9]" : "[^0-9]";
      return {};
    }
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter && std::string_view("wWsSbB").find(c) == std::string_view::npos) {
      return refuse(formatted("\\{} is not known: \\d \\w \\s \\b and their capitals are", c));
    }
    out_ += '\\';
    out_ += c;
    return {};
  }

  // Copies a bracket expression. Ranges of characters beyond ASCII are spelled out, because glibc
  // 2.36 has no order of characters in C.UTF-8 and refuses them.
  Status bracket() {
    out_ += take(1);
    if (front() == '^') out_ += take(1);
    if (front() == ']') out_ += take(1);
    while (at_ < pattern_.size() && front() != ']') {
      if (front() == '\0') return refuse("a NUL character in the regular expression");
      const std::string_view next = pattern_.substr(at_ + 1, 1);
      if (front() == '[' && !next.empty() &&
          std::string_view(":.=").find(next) != std::string_view::npos) {
        const std::size_t end = pattern_.find(std::string(next) + "]", at_ + 2);
        if (end == std::string_view::npos) return refuse("'[' is not closed");
        out_ += take(end + 2 - at_);
        continue;
      }
      const std::string_view first = take_character();
      const bool is_range = front() == '-' && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']';
      if (!is_range) {
        out_ += first;
        continue;
      }
      ++at_;
      if (Status status = range(first, take_character()); !status.ok()) return status;
    }
    if (at_ >= pattern_.size()) return refuse("'[' is not closed");
    out_ += take(1);
    repeats_ = 0;
    return {};
  }

  Status range(std::string_view first, std::string_view last) {
    const bool ascii = first.size() == 1 && last.size() == 1;
    if (ascii) {
      out_ += formatted("{}-{}", first, last);
      return {};
    }
    if (!is_utf8(first) || !is_utf8(last)) return refuse("a range that ends in a broken character");
    std::uint32_t begin = utf8_code_point(first);
    const std::uint32_t end = utf8_code_point(last);
    if (end < begin) return refuse("a range that ends before it begins");
    if (end - begin > kRangeMax) return refuse("a range of more than 2,000 characters");
    if (begin < 0x80) {
      out_ += std::string(first) + "-\x7F";
      begin = 0x80;
    }
    for (std::uint32_t point = begin; point <= end; ++point) append_utf8(point);
    return {};
  }

  void append_utf8(std::uint32_t point) {
    if (point >= 0xD800 && point <= 0xDFFF) return;  // surrogates are no characters
    if (point >= 0x10000) {
      out_ += static_cast<char>(0xF0U | point >> 18U);
      out_ += static_cast<char>(0x80U | (point >> 12U & 0x3FU));
    } else if (point >= 0x800) {
      out_ += static_cast<char>(0xE0U | point >> 12U);
    }
    out_ += static_cast<char>(point >= 0x800 ? 0x80U | (point >> 6U & 0x3FU) : 0xC0U | point >> 6U);
    out_ += static_cast<char>(0x80U | (point & 0x3FU));
  }

  [[nodiscard]] char front() const { return at_ < pattern_.size() ? pattern_[at_] : '\0'; }
  std::string_view take(std::size_t size_bytes) {
    const std::string_view taken = pattern_.substr(at_, size_bytes);
    at_ += taken.size();
    return taken;
  }
  std::string_view take_character() {
    return take(std::max<std::size_t>(utf8_length_bytes(pattern_.substr(at_)), 1));
  }

  // {2}, {2,} and {2,5}. The library unrolls them, so nested ones multiply: the product must stay
  // small.
  Status repetition() {
    const std::size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos) return refuse("'{' is not closed; \\{ is the character");
    std::uint64_t largest = 0;
    std::uint64_t number = 0;
    for (const char c : pattern_.substr(at_ + 1, end - at_ - 1)) {
      if (!is_digit(c) && c != ',') return refuse("'{' needs a count; \\{ is the character");
      number = is_digit(c) ? std::min<std::uint64_t>(
                                 number * 10 + static_cast<std::uint64_t>(c - '0'), 1000)
                           : 0;
      largest = std::max(largest, number);
    }
    unrolled_ *= std::max<std::uint64_t>(largest, 2);
    if (unrolled_ > kRepetitionMax) return refuse("repetition counts multiply to more than 255");
    out_ += pattern_.substr(at_, end + 1 - at_);
    at_ = end + 1;
    return {};
  }

  std::string_view pattern_;
  std::string out_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t repeats_ = 0;
  std::uint64_t unrolled_ = 1;
};

}  // namespace

struct Pattern::Compiled {
  regex_t regex{};
  bool ready = false;

  Compiled() = default;
  ~Compiled() {
    if (ready) regfree(&regex);
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
};

Result<Pattern> Pattern::compile(std::string_view pattern) {
  if (pattern.empty()) return refuse("the regular expression is empty");
  if (pattern.size() > kPatternBytesMax) {
    return refuse("the regular expression is longer than 500 bytes");
  }
  auto translated = Translator(pattern).run();
  if (!translated.ok()) return translated.status();
  auto compiled = std::make_shared<Compiled>();
  const Utf8Scope scope;
  const int code = regcomp(&compiled->regex, translated->c_str(), REG_EXTENDED | REG_NOSUB);
  if (code != 0) {
    std::array<char, 200> message{};
    regerror(code, &compiled->regex, message.data(), message.size());
    return refuse(std::string("the regular expression: ") + message.data());
  }
  compiled->ready = true;
  return Pattern(std::move(compiled));
}

bool Pattern::found_in(std::string_view text) const {
  const Utf8Scope scope;
  // REG_STARTEND passes the end, so neither a copy nor a terminating NUL is needed.
  regmatch_t range{};
  range.rm_so = 0;
  range.rm_eo = static_cast<regoff_t>(std::min(text.size(), kTextBytesMax));
  const char* begin = text.empty() ? "" : text.data();
  return regexec(&compiled_->regex, begin, 1, &range, REG_STARTEND) == 0;
}

}  // namespace xtts::query
