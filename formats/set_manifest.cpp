#include "formats/set_manifest.hpp"

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/json_fields.hpp"
#include "formats/manifest_members.hpp"
#include "formats/manifest_trailer.hpp"
#include "formats/preamble.hpp"
#include "formats/split.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

constexpr std::string_view kWhat = "set";
constexpr std::string_view kFormat = "xtts-set";

json to_json(const SetMember& member) {
  json groups = json::array();
  for (const ClipGroup& group : member.groups)
    groups.push_back({{"clips", group.clip_count},
                      {"dataset", group.dataset},
                      {"split", std::string(split_name(group.split))}});
  return {{"column_bytes", member.column_bytes},
          {"groups", std::move(groups)},
          {"index", member.index_digest.to_hex()},
          {"path", member.path}};
}

ClipGroup read_group(JsonFields fields, std::size_t dataset_count) {
  ClipGroup group;
  group.clip_count = fields.integer<std::uint64_t>("clips", 1, UINT32_MAX);
  // Clips without a data set have number 0, also where there are no names.
  const auto last = static_cast<std::uint16_t>(dataset_count == 0 ? 0 : dataset_count - 1);
  group.dataset = fields.integer<std::uint16_t>("dataset", 0, last);
  const std::string name = fields.text("split");
  const auto split = split_named(name);
  if (!split) fields.fail("split", formatted("'{}' is not known", name.substr(0, 40)));
  group.split = static_cast<std::uint8_t>(split.value_or(Split{}));
  return group;
}

SetMember read_member(JsonFields fields, const Manifest& whole) {
  SetMember member;
  member.path = fields.text("path");
  if (member.path.empty() || member.path.find('\0') != std::string::npos)
    fields.fail("path", "is no path");
  member.index_digest = fields.digest("index");
  for (const JsonFields& group : fields.objects("groups"))
    member.groups.push_back(read_group(group, whole.datasets.size()));
  member.column_bytes = fields.long_integers("column_bytes");
  if (member.column_bytes.size() != whole.columns.size())
    fields.fail("column_bytes", "has not a number for each column");
  return member;
}

void read_caches(JsonFields& fields, SetManifest& set) {
  std::uint64_t clips = 0;
  for (const JsonFields& member : fields.objects("caches")) {
    set.members.push_back(read_member(member, set.whole));
    if (!fields.ok()) return;
    clips += set.members.back().clip_count();
  }
  if (set.members.empty()) fields.fail("caches", "is empty");
  if (clips != set.whole.counts.records) fields.fail("caches", "holds not as many clips as counts");
  for (const ColumnEntry& column : set.whole.columns)
    if (!column.shards.empty()) fields.fail("columns", "has shards, which only a cache has");
}

}  // namespace

std::uint64_t SetMember::clip_count() const noexcept {
  std::uint64_t count = 0;
  for (const ClipGroup& group : groups) count += group.clip_count;
  return count;
}

Result<std::string> encode_set(const SetManifest& set) {
  XTTS_ASSIGN(json document, to_checked_json(set.whole));
  document["format"] = std::string(kFormat);
  document["plan"] = set.plan ? json(set.plan->to_hex()) : json();
  json caches = json::array();
  for (const SetMember& member : set.members) caches.push_back(to_json(member));
  document["caches"] = std::move(caches);
  return append_manifest_trailer(dump_canonical(document));
}

Result<SetManifest> decode_set(std::string_view text) {
  if (text.size() > kManifestBytesMax) return corrupt("set: larger than 256 MiB");
  XTTS_TRY(verify_manifest_trailer(text));
  auto document = parse_json(text);
  if (!document) return document.status().with_context(kWhat);
  Status failure;
  SetManifest set;
  JsonFields fields(*document, "", failure);
  XTTS_TRY(read_identity(fields, kFormat, kWhat, set.whole));
  if (failure.ok()) read_members(fields, set.whole);
  if (failure.ok()) {
    if (fields.find("plan") != nullptr) set.plan = fields.digest("plan");
    read_caches(fields, set);
  }
  if (!failure.ok()) return failure.with_context(kWhat);
  return set;
}

}  // namespace xtts::formats
