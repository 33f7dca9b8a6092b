#include <bit>
#include <limits>
#include <set>
#include <string_view>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/enum_names.hpp"
#include "formats/json_fields.hpp"
#include "formats/manifest.hpp"
#include "formats/manifest_members.hpp"
#include "formats/manifest_trailer.hpp"
#include "formats/preamble.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

constexpr std::string_view kWhat = "manifest";

constexpr std::string_view kRemedy = "a build with --overwrite makes the cache anew";

ShardEntry read_shard(JsonFields fields, std::uint64_t generation) {
  ShardEntry shard;
  shard.file_bytes = fields.integer<std::uint64_t>("bytes", 1);
  shard.block_count = fields.integer<std::uint32_t>("blocks", 1);
  shard.digest = fields.digest("digest");
  shard.generation = fields.integer<std::uint64_t>("generation", 1, generation);
  shard.record_count = fields.integer<std::uint64_t>(
      "records", 1, std::uint64_t{shard.block_count} * kBlockRecordsMax);
  shard.structure_check = fields.check("structure");
  return shard;
}

template <typename Enum>
Enum read_enum(JsonFields& fields, const char* key) {
  const std::string name = fields.text(key);
  const auto value = parse_enum<Enum>(name);
  if (!value) fields.fail(key, formatted("'{}' is not known", name.substr(0, 40)));
  return value.value_or(Enum{});
}

// The fill of a float column is a float32, written as the equal double.
std::uint32_t read_fill(JsonFields& fields, DType dtype) {
  if (dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16) {
    const double value = fields.number("fill");
    const double limit = static_cast<double>(std::numeric_limits<float>::max());
    const float narrow = value >= -limit && value <= limit ? static_cast<float>(value) : 0.0F;
    if (static_cast<double>(narrow) != value) fields.fail("fill", "is not a float32");
    return std::bit_cast<std::uint32_t>(narrow);
  }
  const json* const member = fields.find("fill");
  if (member == nullptr || !member->is_number_integer()) {
    fields.fail("fill", "is not a whole number");
    return 0;
  }
  // An unsigned value of 2^63 or more turns negative here. It is then below the lowest int32, or
  // equals no value that was written.
  const auto value = member->get<std::int64_t>();
  const bool fits = value >= std::numeric_limits<std::int32_t>::min() &&
                    value <= std::numeric_limits<std::int32_t>::max();
  if (!fits || (member->is_number_unsigned() && value < 0)) fields.fail("fill", "is not an int32");
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(value));
}

// Columns that were computed together share the shard size of the column with the fewest clips a
// shard.
void read_geometry(JsonFields& fields, ColumnEntry& column) {
  const Geometry geometry = column.spec.geometry();
  if (fields.integer<std::uint32_t>("records_per_block") != geometry.records_per_block) {
    fields.fail("records_per_block", formatted("is not {}", geometry.records_per_block));
  }
  column.records_per_shard = fields.integer<std::uint64_t>("records_per_shard");
  if (column.records_per_shard == 0 || column.records_per_shard > geometry.clips_per_shard()) {
    fields.fail("records_per_shard", formatted("is not 1 to {}", geometry.clips_per_shard()));
  }
}

ColumnEntry read_column(JsonFields fields, std::uint32_t id, std::uint64_t generation) {
  ColumnEntry column;
  column.spec.name = fields.text("name");
  column.spec.id = id;
  const std::string dtype = fields.text("dtype");
  if (!parse_dtype(dtype))
    fields.fail("dtype", formatted("'{}' is not known", dtype.substr(0, 40)));
  column.spec.dtype = parse_dtype(dtype).value_or(DType::kFloat32);
  column.spec.shape = fields.integers("shape");
  column.spec.layout = read_enum<Layout>(fields, "layout");
  column.spec.fingerprint = fields.digest("fingerprint");
  column.spec.numerics = fields.digest("numerics");
  if (fields.find("axis") != nullptr) {
    column.axis = read_enum<Axis>(fields, "axis");
    column.version = fields.text("version");
    column.missing_count = fields.integer<std::uint64_t>("missing");
  }
  column.fill_bits = read_fill(fields, column.spec.dtype);
  if (Status status = column.spec.validate(); !status.ok()) fields.fail("", status.message());
  if (!fields.ok()) return column;  // past here the shape is safe to compute with
  read_geometry(fields, column);
  for (const JsonFields& shard : fields.objects("shards")) {
    column.shards.push_back(read_shard(shard, generation));
    if (!fields.ok()) break;
  }
  return column;
}

// Sections older than the HDF5 store may lack this member.
StoreKind read_store(JsonFields fields) {
  JsonFields storage = fields.object("storage");
  if (storage.find("store") == nullptr) return StoreKind::kLmdb;
  return read_enum<StoreKind>(storage, "store");
}

void read_columns(JsonFields& fields, StoreKind store, Manifest& manifest) {
  std::set<std::string> names;
  for (const JsonFields& column : fields.objects("columns")) {
    const auto id = static_cast<std::uint32_t>(manifest.columns.size());
    manifest.columns.push_back(read_column(column, id, manifest.generation));
    manifest.columns.back().store = store;
    if (!names.insert(manifest.columns.back().spec.name).second) {
      fields.fail("columns", "two have the same name");
    }
    if (!fields.ok()) return;
  }
}

std::map<std::string, std::uint64_t> read_tally(JsonFields& fields, const char* key) {
  std::map<std::string, std::uint64_t> tally;
  for (const auto& [name, count] : fields.any_object(key).items()) {
    if (!count.is_number_unsigned()) {
      fields.fail(key, "holds something that is not a whole number from 0 up");
      return {};
    }
    tally.emplace(name, count.get<std::uint64_t>());
  }
  return tally;
}

Counts read_counts(JsonFields fields) {
  Counts counts;
  counts.planned = fields.integer<std::uint64_t>("planned");
  counts.records = fields.integer<std::uint64_t>("records");
  counts.frames = fields.integer<std::uint64_t>("frames");
  counts.seconds = fields.number("seconds");
  counts.rejects_by_class = read_tally(fields, "rejects_by_class");
  counts.records_by_split = read_tally(fields, "records_by_split");
  return counts;
}

Numerics read_numerics(JsonFields fields) {
  Numerics numerics;
  numerics.device = fields.text("device");
  numerics.isa = fields.text("isa");
  numerics.libraries = fields.text("libraries");
  if (fields.digest("hash") != numerics.hash())
    fields.fail("hash", "is not that of the other members");
  return numerics;
}

std::optional<Statistics> read_statistics(JsonFields fields) {
  if (fields.find("mel") == nullptr) return std::nullopt;
  JsonFields mel = fields.object("mel");
  Statistics statistics;
  statistics.frame_count = mel.integer<std::uint64_t>("frames");
  statistics.mean = mel.numbers("mean");
  statistics.std_deviation = mel.numbers("std");
  if (statistics.mean.size() != statistics.std_deviation.size()) {
    mel.fail("std", "has not as many channels as mean");
  }
  if (mel.find("sums") == nullptr) return statistics;
  statistics.sums = mel.texts("sums");
  if (statistics.sums.size() != 2 * statistics.mean.size())
    mel.fail("sums", "has not two sums a channel");
  return statistics;
}

std::optional<Partition> read_partition(JsonFields& fields) {
  const json* const member = fields.find("partition");
  if (member == nullptr || member->is_null()) return std::nullopt;
  JsonFields part = fields.object("partition");
  Partition partition;
  partition.count = part.integer<std::uint32_t>("count", 1);
  partition.index = part.integer<std::uint32_t>("index", 1, std::max(partition.count, 1U));
  partition.plan = part.digest("plan");
  return partition;
}

void read_recipe(JsonFields fields, Manifest& manifest) {
  manifest.recipe_name = fields.text("name");
  manifest.features = fields.any_object("features");
  manifest.text = fields.any_object("text");
  manifest.corpus = fields.any_object("corpus");
  manifest.storage = fields.any_object("storage");
}

void read_fingerprints(JsonFields fields, Manifest& manifest) {
  manifest.features_fingerprint = fields.digest("features");
  manifest.text_fingerprint = fields.digest("text");
  manifest.corpus_fingerprint = fields.digest("corpus");
  manifest.storage_fingerprint = fields.digest("storage");
}

}  // namespace

Status read_identity(JsonFields& fields, std::string_view format, std::string_view what,
                     Manifest& manifest) {
  const std::string found = fields.text("format");
  if (found != format)
    fields.fail("format", formatted("'{}' is not {}", found.substr(0, 40), format));
  const auto version = fields.integer<std::uint64_t>("version");
  if (!fields.ok()) return {};
  XTTS_TRY(check_version(version, what));
  JsonFields flags = fields.object("flags");
  const auto incompat = flags.integer<std::uint32_t>("incompat");
  manifest.ro_compat_flags = flags.integer<std::uint32_t>("ro_compat");
  return check_incompat(incompat, what);
}

std::vector<std::string> read_names(JsonFields& fields, const char* key, std::size_t count_max,
                                    std::string_view remedy) {
  std::vector<std::string> names = fields.texts(key);
  if (names.size() > count_max) fields.fail(key, "holds more names than a plan row can number");
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (seen.insert(name).second) continue;
    fields.fail(key, formatted("holds '{}' twice, so clips may have the numbers of others: {}",
                               name, remedy));
    break;
  }
  return names;
}

void read_members(JsonFields& fields, Manifest& manifest) {
  manifest.generation = fields.integer<std::uint64_t>("generation", 1);
  read_recipe(fields.object("recipe"), manifest);
  read_fingerprints(fields.object("fingerprints"), manifest);
  manifest.numerics = read_numerics(fields.object("numerics"));
  read_columns(fields, read_store(fields.object("recipe")), manifest);
  manifest.datasets = read_names(fields, "datasets", kDatasetsMax, kRemedy);
  manifest.speakers = read_names(fields, "speakers", kSpeakersMax, kRemedy);
  manifest.languages = read_names(fields, "languages", kLanguagesMax, kRemedy);
  manifest.counts = read_counts(fields.object("counts"));
  manifest.mel_statistics = read_statistics(fields.object("statistics"));
  manifest.partition = read_partition(fields);
  manifest.data_layout = fields.object("notes").text("layout");
}

Result<Manifest> decode_manifest(std::string_view text) {
  if (text.size() > kManifestBytesMax) return corrupt("manifest: larger than 256 MiB");
  XTTS_TRY(verify_manifest_trailer(text));
  auto document = parse_json(text);
  if (!document) return document.status().with_context(kWhat);
  Status failure;
  Manifest manifest;
  JsonFields fields(*document, "", failure);
  XTTS_TRY(read_identity(fields, "xtts-cache", kWhat, manifest));
  if (failure.ok()) read_members(fields, manifest);
  if (failure.ok()) {
    JsonFields index = fields.object("index");
    manifest.index_bytes = index.integer<std::uint64_t>("bytes", kPageBytes);
    manifest.index_digest = index.digest("digest");
  }
  if (!failure.ok()) return failure.with_context(kWhat);
  return manifest;
}

}  // namespace xtts::formats
