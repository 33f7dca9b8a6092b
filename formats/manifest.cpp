#include "formats/manifest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/enum_names.hpp"
#include "formats/json_fields.hpp"
#include "formats/manifest_members.hpp"
#include "formats/manifest_trailer.hpp"
#include "formats/preamble.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

json fill_to_json(const ColumnEntry& column) {
  if (is_float(column.spec.dtype))
    return static_cast<double>(std::bit_cast<float>(column.fill_bits));
  return static_cast<std::int32_t>(column.fill_bits);
}

json to_json(const ShardEntry& shard) {
  return {{"bytes", shard.file_bytes},       {"blocks", shard.block_count},
          {"digest", shard.digest.to_hex()}, {"generation", shard.generation},
          {"records", shard.record_count},   {"structure", check_to_hex(shard.structure_check)}};
}

json to_json(const ColumnEntry& column) {
  const ColumnSpec& spec = column.spec;
  json shards = json::array();
  for (const ShardEntry& shard : column.shards) shards.push_back(to_json(shard));
  json object = {
      {"name", spec.name},
      {"dtype", std::string(to_string(spec.dtype))},
      {"shape", spec.shape},
      {"layout", std::string(name_of(spec.layout))},
      {"fill", fill_to_json(column)},
      {"records_per_block", spec.geometry().records_per_block},
      {"records_per_shard", column.records_per_shard != 0 ? column.records_per_shard
                                                          : spec.geometry().clips_per_shard()},
      {"fingerprint", spec.fingerprint.to_hex()},
      {"numerics", spec.numerics.to_hex()},
      {"shards", std::move(shards)}};
  if (column.axis) {
    object["axis"] = std::string(name_of(*column.axis));
    object["version"] = column.version;
    object["missing"] = column.missing_count;
  }
  return object;
}

json to_json(const Counts& counts) {
  return {{"planned", counts.planned},
          {"records", counts.records},
          {"frames", counts.frames},
          {"seconds", counts.seconds},
          {"rejects_by_class", counts.rejects_by_class},
          {"records_by_split", counts.records_by_split}};
}

// The hash of the numerics covers this object.
json numerics_to_json(const Numerics& numerics) {
  return {{"device", numerics.device}, {"isa", numerics.isa}, {"libraries", numerics.libraries}};
}

json statistics_to_json(const std::optional<Statistics>& statistics) {
  if (!statistics) return {{"mel", nullptr}};
  json mel{{"frames", statistics->frame_count},
           {"mean", statistics->mean},
           {"std", statistics->std_deviation}};
  if (!statistics->sums.empty()) mel["sums"] = statistics->sums;
  return {{"mel", std::move(mel)}};
}

json partition_to_json(const std::optional<Partition>& partition) {
  if (!partition) return nullptr;
  return {
      {"index", partition->index}, {"count", partition->count}, {"plan", partition->plan.to_hex()}};
}

json index_to_json(std::uint64_t size_bytes, const Digest& digest) {
  return {{"bytes", size_bytes}, {"digest", digest.to_hex()}};
}

// Gives the manifest without the member `index`.
json to_json(const Manifest& manifest) {
  json columns = json::array();
  for (const ColumnEntry& column : manifest.columns) columns.push_back(to_json(column));
  json numerics = numerics_to_json(manifest.numerics);
  numerics["hash"] = manifest.numerics.hash().to_hex();
  json document;
  document["columns"] = std::move(columns);
  document["counts"] = to_json(manifest.counts);
  document["datasets"] = manifest.datasets;
  document["fingerprints"] = {{"features", manifest.features_fingerprint.to_hex()},
                              {"text", manifest.text_fingerprint.to_hex()},
                              {"corpus", manifest.corpus_fingerprint.to_hex()},
                              {"storage", manifest.storage_fingerprint.to_hex()}};
  document["flags"] = {{"compat", 0}, {"ro_compat", 0}, {"incompat", 0}};
  document["format"] = "xtts-cache";
  document["generation"] = manifest.generation;
  document["languages"] = manifest.languages;
  document["notes"] = {{"layout", manifest.data_layout}};
  document["numerics"] = std::move(numerics);
  document["partition"] = partition_to_json(manifest.partition);
  document["recipe"] = {{"name", manifest.recipe_name},
                        {"features", manifest.features},
                        {"text", manifest.text},
                        {"corpus", manifest.corpus},
                        {"storage", manifest.storage}};
  document["speakers"] = manifest.speakers;
  document["statistics"] = statistics_to_json(manifest.mel_statistics);
  document["version"] = kFormatVersion;
  return document;
}

// Returns the path of the first number that JSON cannot hold; empty where there is none.
std::string find_nonfinite(const json& value, const std::string& path) {
  if (value.is_number_float()) return std::isfinite(value.get<double>()) ? "" : path;
  if (!value.is_structured()) return {};
  for (const auto& [key, member] : value.items()) {
    std::string found = find_nonfinite(member, path.empty() ? key : formatted("{}.{}", path, key));
    if (!found.empty()) return found;
  }
  return {};
}

// Decoding takes the store of all columns from the storage section, so every column must have it.
Status check_stores(const Manifest& manifest) {
  const json name = manifest.storage.value("store", json(std::string(name_of(StoreKind::kLmdb))));
  for (const ColumnEntry& column : manifest.columns) {
    if (name == std::string(name_of(column.store))) continue;
    return {StatusCode::kInternal,
            formatted("manifest: column {} has another store than the storage section",
                      column.spec.name)};
  }
  return {};
}

}  // namespace

Result<json> to_checked_json(const Manifest& manifest) {
  XTTS_TRY(check_stores(manifest));
  json document = to_json(manifest);
  if (const std::string path = find_nonfinite(document, ""); !path.empty()) {
    return Status(StatusCode::kInternal, formatted("manifest: {} is not a finite number", path));
  }
  return document;
}

Digest Numerics::hash() const {
  return digest128(dump_canonical(numerics_to_json(*this)));
}

std::uint32_t Manifest::max_frames() const {
  if (const ColumnEntry* const mel = find_column("mel")) return mel->spec.shape[0];
  const auto found = features.is_object() ? features.find("max_frames") : features.end();
  const bool is_known =
      found != features.end() && found->is_number_unsigned() && *found <= UINT32_MAX;
  return is_known ? found->get<std::uint32_t>() : 0;
}

Axis axis_of(const ColumnEntry& column) {
  return column.axis.value_or(column.spec.name == "tokens" ? Axis::kTokens : Axis::kFrames);
}

const ColumnEntry* Manifest::find_column(std::string_view name) const noexcept {
  const auto found = std::ranges::find_if(
      columns, [name](const ColumnEntry& column) { return column.spec.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

Status Manifest::allows_changes() const {
  if (ro_compat_flags == 0) return {};
  return {StatusCode::kUnsupported,
          formatted("manifest: ro_compat bit {} is set, which this version does not know: it can "
                    "read this cache, but a newer version has to change it",
                    std::countr_zero(ro_compat_flags))};
}

std::string Partition::name() const {
  return formatted("{}/{}", index, count);
}

Result<std::string> encode_manifest(const Manifest& manifest) {
  XTTS_ASSIGN(json document, to_checked_json(manifest));
  document["index"] = index_to_json(manifest.index_bytes, manifest.index_digest);
  return append_manifest_trailer(dump_canonical(document));
}

Result<std::string> encode_manifest_copy(const Manifest& manifest) {
  XTTS_ASSIGN(const json document, to_checked_json(manifest));
  return dump_canonical(document);
}

Result<Manifest> decode_manifest_copy(std::string_view copy, std::uint64_t index_bytes,
                                      const Digest& index_digest) {
  auto document = parse_json(copy);
  if (!document) return document.status().with_context("copy of the manifest");
  if (!document->is_object()) return corrupt("copy of the manifest: it is no object");
  (*document)["index"] = index_to_json(index_bytes, index_digest);
  return decode_manifest(append_manifest_trailer(dump_canonical(*document)));
}

std::string_view file_extension_of(StoreKind store) {
  return store == StoreKind::kHdf5 ? ".h5" : ".lmdb";
}

std::string shard_file_name(std::uint64_t ordinal, const Digest& digest, StoreKind store) {
  const std::string number = std::to_string(ordinal);
  const std::size_t zeros = number.size() < 5 ? 5 - number.size() : 0;
  return formatted("{}{}-{}{}", std::string(zeros, '0'), number, digest.to_hex(),
                   file_extension_of(store));
}

std::string index_file_name(const Digest& digest) {
  return formatted("index-{}.bin", digest.to_hex());
}

}  // namespace xtts::formats
