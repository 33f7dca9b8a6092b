#include "formats/json_fields.hpp"

#include "base/formatted.hpp"
#include "formats/preamble.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

const json& empty_object() {
  static const json object = json::object();
  return object;
}

const json& empty_array() {
  static const json array = json::array();
  return array;
}

}  // namespace

JsonFields::JsonFields(const json& value, std::string path, Status& failure)
    : value_(&value), path_(std::move(path)), failure_(&failure) {
  if (value.is_object()) return;
  fail("", "is not an object");
  value_ = &empty_object();
}

void JsonFields::fail(const std::string& key, const std::string& problem) {
  if (!failure_->ok()) return;
  std::string place = path_;
  if (!key.empty()) place += place.empty() ? key : "." + key;
  *failure_ = corrupt(place.empty() ? problem : formatted("{}: {}", place, problem));
}

const json* JsonFields::find(const char* key) const {
  const auto member = value_->find(key);
  return member == value_->end() || member->is_null() ? nullptr : &*member;
}

std::uint64_t JsonFields::integer_between(const char* key, std::uint64_t minimum,
                                          std::uint64_t maximum) {
  const json* const member = find(key);
  if (member == nullptr || !member->is_number_unsigned()) {
    fail(key, "is not a whole number from 0 up");
    return minimum;
  }
  const auto value = member->get<std::uint64_t>();
  if (value < minimum || value > maximum) {
    fail(key, formatted("{} is outside {} to {}", value, minimum, maximum));
    return minimum;
  }
  return value;
}

double JsonFields::number(const char* key) {
  const json* const member = find(key);
  if (member == nullptr || !member->is_number()) {
    fail(key, "is not a number");
    return 0.0;
  }
  return member->get<double>();
}

std::string JsonFields::text(const char* key) {
  const json* const member = find(key);
  if (member == nullptr || !member->is_string()) {
    fail(key, "is not a text");
    return {};
  }
  return member->get<std::string>();
}

Digest JsonFields::digest(const char* key) {
  const auto value = Digest::from_hex(text(key));
  if (!value) fail(key, "is not a digest of 32 hexadecimal digits");
  return value.value_or(Digest());
}

std::uint64_t JsonFields::check(const char* key) {
  const auto value = check_from_hex(text(key));
  if (!value) fail(key, "is not a check of 16 hexadecimal digits");
  return value.value_or(0);
}

const json& JsonFields::any_object(const char* key) {
  const json* const member = find(key);
  if (member != nullptr && member->is_object()) return *member;
  fail(key, "is not an object");
  return empty_object();
}

JsonFields JsonFields::object(const char* key) {
  const json& member = any_object(key);
  return {member, path_.empty() ? std::string(key) : formatted("{}.{}", path_, key), *failure_};
}

const json& JsonFields::array(const char* key) {
  const json* const member = find(key);
  if (member != nullptr && member->is_array()) return *member;
  fail(key, "is not a list");
  return empty_array();
}

std::vector<JsonFields> JsonFields::objects(const char* key) {
  const std::string place = path_.empty() ? std::string(key) : formatted("{}.{}", path_, key);
  std::vector<JsonFields> list;
  for (const json& member : array(key)) {
    list.emplace_back(member, formatted("{}[{}]", place, list.size()), *failure_);
  }
  return list;
}

std::vector<std::string> JsonFields::texts(const char* key) {
  std::vector<std::string> list;
  for (const json& member : array(key)) {
    if (!member.is_string()) {
      fail(key, "holds something that is not a text");
      return {};
    }
    list.push_back(member.get<std::string>());
  }
  return list;
}

std::vector<double> JsonFields::numbers(const char* key) {
  std::vector<double> list;
  for (const json& member : array(key)) {
    if (!member.is_number()) {
      fail(key, "holds something that is not a number");
      return {};
    }
    list.push_back(member.get<double>());
  }
  return list;
}

std::vector<std::uint32_t> JsonFields::integers(const char* key) {
  std::vector<std::uint32_t> list;
  for (const std::uint64_t value : long_integers(key)) {
    if (value > std::numeric_limits<std::uint32_t>::max()) {
      fail(key, "holds something that is not a whole number below 2^32");
      return {};
    }
    list.push_back(static_cast<std::uint32_t>(value));
  }
  return list;
}

std::vector<std::uint64_t> JsonFields::long_integers(const char* key) {
  std::vector<std::uint64_t> list;
  for (const json& member : array(key)) {
    if (!member.is_number_unsigned()) {
      fail(key, "holds something that is not a whole number from 0 up");
      return {};
    }
    list.push_back(member.get<std::uint64_t>());
  }
  return list;
}

std::string check_to_hex(std::uint64_t check) {
  return Digest{check, 0}.to_hex().substr(0, 16);
}

std::optional<std::uint64_t> check_from_hex(std::string_view text) {
  if (text.size() != 16) return std::nullopt;
  const auto digest = Digest::from_hex(std::string(16, '0').append(text));
  if (!digest) return std::nullopt;
  return digest->low;
}

}  // namespace xtts::formats
