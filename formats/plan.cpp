#include "formats/plan.hpp"

#include <numeric>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/constants.hpp"
#include "formats/json_fields.hpp"
#include "formats/manifest_members.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/manifest_trailer.hpp"
#include "formats/preamble.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "xtts-plan";
constexpr std::string_view kRemedy = "plan with --overwrite makes it anew";

json to_json(const PlanFolder& folder) {
  json mounts = json::array();
  for (const PlanMount& mount : folder.mounts)
    mounts.push_back({{"place", mount.place}, {"root", mount.root}, {"path", mount.path}});
  return {{"name", folder.name},
          {"path", folder.path},
          {"audio_roots", folder.audio_roots},
          {"mounts", std::move(mounts)}};
}

json to_json(const PlanPart& part) {
  return {{"file", part.file},
          {"bytes", part.file_bytes},
          {"digest", part.digest.to_hex()},
          {"clips", part.clip_count},
          {"rejects", part.reject_count},
          {"shards", part.shard_count},
          {"source_bytes", part.source_bytes}};
}

json recipe_to_json(const Recipe& recipe) {
  return {{"name", recipe.name},
          {"features", to_json(*recipe.features)},
          {"text", to_json(recipe.text)},
          {"corpus", to_json(recipe.corpus)},
          {"storage", to_json(recipe.storage)}};
}

template <typename Item>
json list_of(const std::vector<Item>& items) {
  json list = json::array();
  for (const Item& item : items) list.push_back(to_json(item));
  return list;
}

Result<Recipe> read_recipe(JsonFields fields, const Status& failure) {
  Manifest sections;
  sections.recipe_name = fields.text("name");
  sections.features = fields.any_object("features");
  sections.text = fields.any_object("text");
  sections.corpus = fields.any_object("corpus");
  sections.storage = fields.any_object("storage");
  XTTS_TRY(failure);
  return recipe_of(sections);
}

PlanFolder read_folder(JsonFields fields) {
  PlanFolder folder{.name = fields.text("name"),
                    .path = fields.text("path"),
                    .audio_roots = fields.texts("audio_roots"),
                    .mounts = {}};
  for (JsonFields mount : fields.objects("mounts")) {
    folder.mounts.push_back({.place = mount.text("place"),
                             .root = mount.integer<std::uint32_t>("root"),
                             .path = mount.text("path")});
    if (folder.mounts.back().root >= folder.audio_roots.size())
      mount.fail("root", "is no audio root of the folder");
  }
  return folder;
}

// The name is that of the number alone: a plan leads to no other file.
PlanPart read_part(JsonFields fields, std::uint32_t index) {
  PlanPart part{.file = fields.text("file"),
                .file_bytes = fields.integer<std::uint64_t>("bytes"),
                .digest = fields.digest("digest"),
                .clip_count = fields.integer<std::uint64_t>("clips"),
                .reject_count = fields.integer<std::uint64_t>("rejects"),
                .shard_count = fields.integer<std::uint64_t>("shards"),
                .source_bytes = fields.integer<std::uint64_t>("source_bytes")};
  if (part.file != part_file_name(index))
    fields.fail("file", formatted("is not {}", part_file_name(index)));
  return part;
}

bool read_switch(JsonFields& fields, const char* key) {
  const json* const value = fields.find(key);
  if (value == nullptr || !value->is_boolean()) fields.fail(key, "is not true or false");
  return value != nullptr && *value == true;
}

Status check_format(JsonFields& fields, const Status& failure) {
  if (const std::string format = fields.text("format"); fields.ok() && format != kFormat)
    fields.fail("format", formatted("is not {}", kFormat));
  const auto version = fields.integer<std::uint64_t>("version");
  const auto incompat = fields.object("flags").integer<std::uint64_t>("incompat");
  XTTS_TRY(failure);
  XTTS_TRY(check_version(version, "plan"));
  return check_incompat(incompat, "plan");
}

void read_numerics(JsonFields fields, Numerics& numerics) {
  numerics.device = fields.text("device");
  numerics.isa = fields.text("isa");
  numerics.libraries = fields.text("libraries");
  if (fields.digest("hash") != numerics.hash())
    fields.fail("hash", "is not that of device, isa and libraries");
}

void read_names(JsonFields fields, Plan& plan) {
  plan.datasets = read_names(fields, "datasets", kDatasetsMax, kRemedy);
  plan.speakers = read_names(fields, "speakers", kSpeakersMax, kRemedy);
  plan.languages = read_names(fields, "languages", kLanguagesMax, kRemedy);
  if (plan.datasets.empty() || !plan.datasets.front().empty())
    fields.fail("datasets", "does not begin with the empty name");
}

void read_counts(JsonFields fields, Plan& plan) {
  for (const auto& [split, count] : fields.any_object("clips_by_split").items()) {
    if (!count.is_number_unsigned())
      fields.fail("clips_by_split", "holds no whole number");
    else
      plan.clips_by_split[split] = count.get<std::uint64_t>();
  }
}

// Plans of before have no limits: the usual ones hold.
void read_limits(JsonFields& fields, PlanLimits& limits) {
  if (fields.find("limits") == nullptr) return;
  JsonFields found = fields.object("limits");
  limits.max_rejects = found.text("max_rejects");
  limits.max_dropped = found.text("max_dropped");
}

void read_parts(JsonFields& fields, Plan& plan) {
  for (const JsonFields& part : fields.objects("parts"))
    plan.parts.push_back(read_part(part, static_cast<std::uint32_t>(plan.parts.size() + 1)));
  if (plan.parts.empty()) fields.fail("parts", "is empty");
}

std::uint64_t sum(const std::vector<PlanPart>& parts, std::uint64_t PlanPart::*member) noexcept {
  return std::accumulate(
      parts.begin(), parts.end(), std::uint64_t{0},
      [member](std::uint64_t total, const PlanPart& part) { return total + part.*member; });
}

}  // namespace

std::uint64_t Plan::clip_count() const noexcept {
  return sum(parts, &PlanPart::clip_count);
}
std::uint64_t Plan::reject_count() const noexcept {
  return sum(parts, &PlanPart::reject_count);
}
std::uint64_t Plan::shard_count() const noexcept {
  return sum(parts, &PlanPart::shard_count);
}
std::uint64_t Plan::source_bytes() const noexcept {
  return sum(parts, &PlanPart::source_bytes);
}

std::string part_file_name(std::uint32_t index) {
  const std::string number = std::to_string(index);
  return std::string(number.size() < 4 ? 4 - number.size() : 0, '0') + number;
}

std::string encode_plan(const Plan& plan) {
  json document;
  document["asked"] = plan.asked.to_hex();
  document["counts"] = {{"clips", plan.clip_count()},
                        {"rejects", plan.reject_count()},
                        {"shards", plan.shard_count()},
                        {"source_bytes", plan.source_bytes()},
                        {"clips_by_split", plan.clips_by_split}};
  document["data"] = {{"path", plan.data_path},
                      {"audio_roots", plan.audio_roots},
                      {"folders", list_of(plan.folders)}};
  document["flags"] = {{"compat", 0}, {"ro_compat", 0}, {"incompat", 0}};
  document["format"] = kFormat;
  document["has_text"] = plan.has_text;
  document["is_stream"] = plan.is_stream;
  document["layout"] = plan.layout;
  document["limits"] = {{"max_rejects", plan.limits.max_rejects},
                        {"max_dropped", plan.limits.max_dropped}};
  document["names"] = {
      {"datasets", plan.datasets}, {"languages", plan.languages}, {"speakers", plan.speakers}};
  document["numerics"] = {{"device", plan.numerics.device},
                          {"isa", plan.numerics.isa},
                          {"libraries", plan.numerics.libraries},
                          {"hash", plan.numerics.hash().to_hex()}};
  document["parts"] = list_of(plan.parts);
  document["plan"] = plan.clips.to_hex();
  document["recipe"] = recipe_to_json(plan.recipe);
  document["version"] = kFormatVersion;
  return append_manifest_trailer(dump_canonical(document));
}

Result<Plan> decode_plan(std::string_view text) {
  XTTS_TRY(verify_manifest_trailer(text));
  XTTS_ASSIGN(const json document, parse_json(text));
  Status failure;
  JsonFields fields(document, "", failure);
  XTTS_TRY(check_format(fields, failure));
  Plan plan;
  plan.asked = fields.digest("asked");
  plan.clips = fields.digest("plan");
  plan.layout = fields.text("layout");
  plan.has_text = read_switch(fields, "has_text");
  plan.is_stream = read_switch(fields, "is_stream");
  JsonFields data = fields.object("data");
  plan.data_path = data.text("path");
  plan.audio_roots = data.texts("audio_roots");
  for (const JsonFields& folder : data.objects("folders"))
    plan.folders.push_back(read_folder(folder));
  if (plan.folders.empty()) data.fail("folders", "is empty");
  read_limits(fields, plan.limits);
  read_numerics(fields.object("numerics"), plan.numerics);
  read_names(fields.object("names"), plan);
  read_counts(fields.object("counts"), plan);
  read_parts(fields, plan);
  XTTS_ASSIGN(plan.recipe, read_recipe(fields.object("recipe"), failure));
  return plan;
}

}  // namespace xtts::formats
