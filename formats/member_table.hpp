// Tables of a section's members: what JSON, YAML, --set, help and fingerprints know of each, said
// once. A table has a row for each member of its struct, or does not compile, so no member can stay
// outside of the fingerprint. A struct within a struct is a row that has a table of its own.
//
// The fingerprint of every cache ever made hangs on them. So a member that came after the first
// caches is `kLater`: what a recipe without it makes is what it made before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

namespace xtts::formats {

enum class InJson : std::uint8_t {
  kAlways,  // in every object; an optional that is unset is null
  kLater,   // where it differs from its default
};

// When a key means something: another key has one of these values. A file that sets it elsewhere is
// refused, for it would be ignored in silence.
struct Condition {
  std::string_view key = {};  // "features.mel.scale"; empty: always
  std::array<std::string_view, 5> values = {};
};

template <typename Section, typename Value>
struct Member {
  Value Section::*at;
  std::string_view name;
  InJson in_json;
  std::string_view about;  // of the recipe's key: the comment that to_yaml prints
  Condition applies_when = {};
};
template <typename Section, typename Value>
Member(Value Section::*, std::string_view, InJson, std::string_view, Condition = {})
    -> Member<Section, Value>;

// `is_there`: the section is in JSON where that is true, and no recipe sets it. Null: a part of
// every recipe. Without a name, its members are told as those of the section around it.
template <typename Section, typename Inner, typename Table>
struct Nested {
  Inner Section::*at;
  std::string_view name;
  Table table;
  bool (Inner::*is_there)() const noexcept = nullptr;
};
template <typename Section, typename Inner, typename Table>
Nested(Inner Section::*, std::string_view, Table, bool (Inner::*)() const noexcept = nullptr)
    -> Nested<Section, Inner, Table>;

namespace detail {

struct Anything {
  template <typename Value>
  operator Value() const;  // NOLINT: never called
};

template <typename Struct, typename... Given>
consteval std::size_t member_count() {
  if constexpr (requires { Struct{Given{}..., Anything{}}; })
    return member_count<Struct, Given..., Anything>();
  else
    return sizeof...(Given);
}

}  // namespace detail

template <typename Section, typename... Rows>
constexpr std::tuple<Rows...> table_of(Rows... rows) {
  static_assert(sizeof...(Rows) == detail::member_count<Section>(),
                "each member has a row: else no fingerprint tells its values apart");
  return {rows...};
}

// Calls `visitor.member(row, name, at)` for each member: `name` is "mel.n_mels", and `at` leads
// from what `from` takes, const or not, to the value. A nested table is visited where
// `visitor.enters(row, name, at)`.
template <typename... Rows>
void visit_members(const std::tuple<Rows...>& table, const std::string& prefix, auto from,
                   auto& visitor);

namespace detail {

template <typename Section, typename Value>
void visit_row(const Member<Section, Value>& row, const std::string& prefix, auto from,
               auto& visitor) {
  const auto at = [ from, member = row.at ](auto& whole) -> auto& {
    return from(whole).*member;
  };
  visitor.member(row, prefix + std::string(row.name), at);
}

template <typename Section, typename Inner, typename Table>
void visit_row(const Nested<Section, Inner, Table>& row, const std::string& prefix, auto from,
               auto& visitor) {
  const auto at = [ from, member = row.at ](auto& whole) -> auto& {
    return from(whole).*member;
  };
  const std::string name = prefix + std::string(row.name);
  if (visitor.enters(row, name, at))
    visit_members(row.table, row.name.empty() ? prefix : name + ".", at, visitor);
}

}  // namespace detail

template <typename... Rows>
void visit_members(const std::tuple<Rows...>& table, const std::string& prefix, auto from,
                   auto& visitor) {
  std::apply([&](const auto&... row) { (detail::visit_row(row, prefix, from, visitor), ...); },
             table);
}

// Of a section itself.
inline constexpr auto kItself = [](auto& section) -> auto& {
  return section;
};

}  // namespace xtts::formats
