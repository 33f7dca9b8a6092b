#include "store/journal_line.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "formats/block.hpp"
#include "formats/canonical_json.hpp"
#include "formats/enum_names.hpp"
#include "formats/json_fields.hpp"

namespace xtts::store {
namespace {

using formats::JsonFields;
using nlohmann::json;

constexpr std::size_t kCheckDigits = 16;
// A larger number is no generation of ours, and leaves none for later ones.
constexpr std::uint64_t kGenerationMax = std::uint64_t{1} << 48U;

std::string line_of(const json& document) {
  std::string line = formats::dump_canonical(document);
  const std::uint64_t check = check64(as_bytes(std::string_view(line)));
  line += '\t';
  line += formats::check_to_hex(check);
  line += '\n';
  return line;
}

std::optional<json> document_of(std::string_view line) {
  if (line.size() <= kCheckDigits || line[line.size() - kCheckDigits - 1] != '\t') return {};
  const auto check = formats::check_from_hex(line.substr(line.size() - kCheckDigits));
  const std::string_view text = line.substr(0, line.size() - kCheckDigits - 1);
  if (!check || *check != check64(as_bytes(text))) return {};
  auto document = formats::parse_json(text);
  if (!document || !document->is_object()) return {};
  return std::move(*document);
}

json to_json(const formats::BlockPlace& place) {
  return {{"header_offset", place.header_offset},
          {"payload_offset", place.payload_offset},
          {"payload_bytes", place.payload_bytes},
          {"facts_offset", place.facts_offset},
          {"facts_bytes", place.facts_bytes},
          {"header_check", formats::check_to_hex(place.header_check)},
          {"facts_check", formats::check_to_hex(place.facts_check)},
          {"records", place.record_count}};
}

formats::BlockPlace read_place(JsonFields fields) {
  formats::BlockPlace place;
  place.header_offset = fields.integer<std::uint64_t>("header_offset");
  place.payload_offset = fields.integer<std::uint64_t>("payload_offset");
  place.payload_bytes = fields.integer<std::uint64_t>("payload_bytes");
  place.facts_offset = fields.integer<std::uint64_t>("facts_offset");
  place.facts_bytes = fields.integer<std::uint64_t>("facts_bytes");
  place.header_check = fields.check("header_check");
  place.facts_check = fields.check("facts_check");
  place.record_count = fields.integer<std::uint16_t>("records", 1, formats::kBlockRecordsMax);
  return place;
}

json to_json(const SealedShard& shard) {
  json blocks = json::array();
  for (const formats::BlockPlace& place : shard.table.blocks) blocks.push_back(to_json(place));
  return {{"column", shard.column},
          {"number", shard.ordinal},
          {"store", std::string(formats::name_of(shard.store))},
          {"records", shard.record_count},
          {"digest", shard.digest.to_hex()},
          {"bytes", shard.table.file_bytes},
          {"structure", formats::check_to_hex(shard.table.structure_check)},
          {"blocks", std::move(blocks)}};
}

SealedShard read_shard(JsonFields fields) {
  SealedShard shard;
  shard.column = fields.text("column");
  shard.ordinal = fields.integer<std::uint64_t>("number");
  const std::string store = fields.text("store");
  const auto known = formats::parse_enum<formats::StoreKind>(store);
  if (!known) fields.fail("store", "is not known");
  shard.store = known.value_or(formats::StoreKind::kLmdb);
  shard.record_count = fields.integer<std::uint64_t>("records");
  shard.digest = fields.digest("digest");
  shard.table.file_bytes = fields.integer<std::uint64_t>("bytes");
  shard.table.structure_check = fields.check("structure");
  for (const JsonFields& block : fields.objects("blocks")) {
    shard.table.blocks.push_back(read_place(block));
  }
  return shard;
}

}  // namespace

std::string encode_line(const JournalHead& head) {
  return line_of({{"plan", head.plan.to_hex()},
                  {"features", head.features_fingerprint.to_hex()},
                  {"storage", head.storage_fingerprint.to_hex()},
                  {"numerics", head.numerics.to_hex()},
                  {"generation", head.generation},
                  {"about", head.about}});
}

std::string encode_line(const JournalShard& shard) {
  json rejects = json::array();
  json contents = json::array();
  for (const formats::Reject& reject : shard.rejects) {
    rejects.push_back(formats::encode_reject(reject));
    contents.push_back(reject.content_digest ? reject.content_digest->to_hex() : std::string());
  }
  json document = {{"planned", shard.planned_shard},
                   {"rejects", std::move(rejects)},
                   {"reject_contents", std::move(contents)}};
  for (const auto& [name, is_set] : {std::pair{"kept", shard.is_kept},
                                     {"other_rules", shard.has_other_rules},
                                     {"other_features", shard.has_other_features}})
    if (is_set) document[name] = true;
  for (const SealedShard& sealed : shard.sealed) document["sealed"].push_back(to_json(sealed));
  return line_of(document);
}

std::optional<JournalHead> decode_head_line(std::string_view line) {
  const auto document = document_of(line);
  if (!document) return {};
  Status failure;
  JsonFields fields(*document, "", failure);
  JournalHead head;
  head.plan = fields.digest("plan");
  head.features_fingerprint = fields.digest("features");
  head.storage_fingerprint = fields.digest("storage");
  head.numerics = fields.digest("numerics");
  head.generation = fields.integer<std::uint64_t>("generation", 1, kGenerationMax);
  if (fields.find("about") != nullptr) head.about = fields.text("about");
  if (!failure.ok()) return {};
  return head;
}

std::optional<JournalShard> decode_shard_line(std::string_view line) {
  const auto document = document_of(line);
  if (!document) return {};
  Status failure;
  JsonFields fields(*document, "", failure);
  JournalShard shard;
  shard.planned_shard = fields.integer<std::uint64_t>("planned");
  for (const std::string& text : fields.texts("rejects")) {
    auto reject = formats::decode_reject(text);
    if (!reject) return {};
    shard.rejects.push_back(std::move(*reject));
  }
  if (fields.find("reject_contents") != nullptr) {
    const auto contents = fields.texts("reject_contents");
    for (std::size_t i = 0; i < std::min(contents.size(), shard.rejects.size()); ++i)
      shard.rejects[i].content_digest = Digest::from_hex(contents[i]);
  }
  const auto is_set = [&](const char* name) {
    const json* const value = fields.find(name);
    return value != nullptr && *value == true;
  };
  shard.is_kept = is_set("kept");
  shard.has_other_rules = is_set("other_rules");
  shard.has_other_features = is_set("other_features");
  if (fields.find("sealed") != nullptr) {
    for (const JsonFields& sealed : fields.objects("sealed"))
      shard.sealed.push_back(read_shard(sealed));
  }
  if (!failure.ok()) return {};
  for (const SealedShard& sealed : shard.sealed) {
    std::uint64_t record_count = 0;
    for (const formats::BlockPlace& place : sealed.table.blocks) record_count += place.record_count;
    if (!sealed.table.validate(sealed.store).ok() || sealed.table.digest() != sealed.digest ||
        sealed.record_count != record_count)
      return {};
  }
  return shard;
}

}  // namespace xtts::store
