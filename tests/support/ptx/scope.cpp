#include "support/ptx/scope.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "support/ptx/fault.hpp"

namespace xtts::testing::ptx {
namespace {

constexpr std::uint32_t kRegistersMax = 100'000;
constexpr std::uint64_t kSharedAlignMax = 16;

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

// Floats are their bits: "0f" and 8 digits, "0d" and 16.
std::optional<std::uint64_t> parse_constant(std::string_view text, Type type) {
  if (type.kind == Kind::kFloat) {
    const bool is_float = type.size_bytes == 4;
    if (!text.starts_with(is_float ? "0f" : "0d")) return std::nullopt;
    if (text.size() != (is_float ? 10U : 18U)) return std::nullopt;
    return parse_number(text.substr(2), 16);
  }
  if (text.starts_with("0x")) return parse_number(text.substr(2), 16);
  if (!text.starts_with('-')) return parse_number(text, 10);
  const auto value = parse_number(text.substr(1), 10);
  if (!value) return std::nullopt;
  return 0 - *value;
}

}  // namespace

Scope::Scope(std::string_view kernel_name) : table_name_(std::string(kernel_name) + "_param_0") {
  const auto declare = [&](const char* name, Special number, std::uint32_t size_bytes) {
    names_[name] = {.number = number, .size_bytes = size_bytes, .is_special = true};
  };
  declare("%tid.x", kThreadX, 4);
  declare("%ntid.x", kBlockSizeX, 4);
  declare("%ctaid.x", kBlockX, 4);
  declare("%ctaid.y", kBlockY, 4);
  declare("%nctaid.x", kGridSizeX, 4);
  declare("%nctaid.y", kGridSizeY, 4);
  declare(table_name_.c_str(), kTableAddress, 8);
}

void Scope::declare_registers(std::string_view type, std::string_view names) {
  static const std::map<std::string_view, std::uint32_t> sizes = {
      {".pred", 1}, {".b16", 2}, {".b32", 4}, {".f32", 4}, {".b64", 8}, {".f64", 8}};
  const auto size = sizes.find(type);
  const std::size_t open = names.find('<');
  if (size == sizes.end() || open == std::string_view::npos || !names.ends_with('>')) {
    throw Fault("unknown kind of registers");
  }
  const auto count = parse_number(names.substr(open + 1, names.size() - open - 2), 10);
  if (!count || *count > kRegistersMax) throw Fault("unknown number of registers");
  for (std::uint64_t i = 0; i < *count; ++i) {
    names_[std::string(names.substr(0, open)) + std::to_string(i)] = {
        .number = register_count_++, .size_bytes = size->second, .is_predicate = size->second == 1};
  }
}

void Scope::declare_label(std::string_view name, std::uint32_t instruction) {
  if (!labels_.emplace(name, instruction).second) throw Fault("a label that was there already");
}

void Scope::declare_shared(std::string_view declaration) {
  const std::string_view before_align = ".align ";
  const std::string_view before_name = " .b8 ";
  const std::size_t name = declaration.find(before_name);
  const std::size_t open = declaration.find('[');
  if (!declaration.starts_with(before_align) || name == std::string_view::npos ||
      open == std::string_view::npos || open < name || !declaration.ends_with(']')) {
    throw Fault("unknown kind of shared memory");
  }
  const auto align =
      parse_number(declaration.substr(before_align.size(), name - before_align.size()), 10);
  const auto size = parse_number(declaration.substr(open + 1, declaration.size() - open - 2), 10);
  if (!align || !size || *align == 0 || *align > kSharedAlignMax || *size > kSharedMax) {
    throw Fault("unknown size of shared memory");
  }
  const std::uint64_t begin =
      shared_.empty() ? kSharedBegin : shared_.back().address + shared_.back().size_bytes;
  const std::uint64_t address = (begin + *align - 1) / *align * *align;
  if (address + *size > kSharedBegin + kSharedMax) throw Fault("too much shared memory");
  const std::size_t first = name + before_name.size();
  shared_.push_back({.name = std::string(declaration.substr(first, open - first)),
                     .address = address,
                     .size_bytes = *size});
}

Operand Scope::operand(std::string_view text, Type type, Fit fit) const {
  if (text.starts_with('%') || text == table_name_) {
    return {.is_register = true, .bits = find(text, type, fit).number};
  }
  const auto variable = std::ranges::find(shared_, text, &SharedVariable::name);
  if (variable != shared_.end() && type.size_bytes >= 4 && type.kind != Kind::kFloat) {
    return {.is_register = false, .bits = variable->address};
  }
  const auto constant = parse_constant(text, type);
  if (!constant) throw Fault("unknown operand " + quoted(text));
  return {.is_register = false, .bits = *constant};
}

std::uint32_t Scope::result(std::string_view text, Type type, Fit fit) const {
  const Name& found = find(text, type, fit);
  if (found.is_special) throw Fault(quoted(text) + " cannot be set");
  return found.number;
}

std::uint32_t Scope::label(std::string_view name) const {
  const auto found = labels_.find(name);
  if (found == labels_.end()) throw Fault("unknown label " + quoted(name));
  return found->second;
}

const Scope::Name& Scope::find(std::string_view text, Type type, Fit fit) const {
  const auto found = names_.find(text);
  if (found == names_.end()) throw Fault("unknown register " + quoted(text));
  const Name& name = found->second;
  const bool fits =
      fit == Fit::kExact ? name.size_bytes == type.size_bytes : name.size_bytes >= type.size_bytes;
  if (!fits || name.is_predicate != (type.kind == Kind::kPredicate)) {
    throw Fault(quoted(text) + " does not fit the instruction's type");
  }
  return name;
}

}  // namespace xtts::testing::ptx
