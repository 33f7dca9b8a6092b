// include/xtts/reader.hpp on top of CacheView.
#include "api/reader/public_cache.hpp"

#include <algorithm>
#include <bit>

#include "base/formatted.hpp"
#include "base/guarded_read.hpp"
#include "base/memory_reserve.hpp"
#include "base/try.hpp"
#include "formats/clip_id.hpp"
#include "formats/enum_names.hpp"
#include "formats/fill_number.hpp"
#include "formats/normalization.hpp"
#include "formats/split.hpp"
#include "query/fields.hpp"
#include "reader/block_map.hpp"
#include "reader/index_reader.hpp"
#include "reader/repair_advice.hpp"
#include "xtts/reader.hpp"

namespace xtts {
static_assert(std::endian::native == std::endian::little, "records are handed out as they lie");

using api::guarded;

namespace {

const std::string kNoText;
const std::vector<std::string> kNoNames;

// Keeps alive the mapped memory of a record: it holds the files, and keeps builders from removing
// them.
struct ViewOwner {
  std::shared_ptr<const reader::CacheSet> caches;
  std::shared_ptr<const FileMapping> mapping;
};

}  // namespace

Result<std::span<const float>> Record::as_floats() const& {
  return api::as_numbers<float>(bytes_, dtype_, DType::kFloat32);
}

Result<std::span<const std::int32_t>> Record::as_int32s() const& {
  return api::as_numbers<std::int32_t>(bytes_, dtype_, DType::kInt32);
}

Cache::Cache(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Cache::~Cache() = default;
Cache::Cache(Cache&& other) noexcept = default;
Cache& Cache::operator=(Cache&& other) noexcept = default;

Result<Cache> Cache::open(std::string_view path) {
  return guarded([&] {
    const std::string one(path);
    return open(std::span(&one, 1));
  });
}

Result<Cache> Cache::open(std::span<const std::string> paths) {
  return guarded([&]() -> Result<Cache> {
    const MemoryReserve reserve;
    for (const std::string& path : paths) XTTS_TRY(check_path("the cache's path", path));
    XTTS_ASSIGN(auto caches, reader::CacheSet::open(Env::real(), paths));
    return Cache(std::make_unique<Impl>(Impl{std::move(caches)}));
  });
}

const std::string& Cache::path() const& noexcept {
  if (impl_ == nullptr) return kNoText;
  return impl_->caches->path();
}

std::vector<std::string> Cache::paths() const {
  if (impl_ == nullptr) return {};
  return impl_->caches->paths();
}

const std::string& Cache::recipe_name() const& noexcept {
  if (impl_ == nullptr) return kNoText;
  return impl_->whole().recipe_name;
}

std::string Cache::features_fingerprint() const {
  if (impl_ == nullptr) return {};
  return impl_->whole().features_fingerprint.to_hex();
}

std::string Cache::text_fingerprint() const {
  if (impl_ == nullptr) return {};
  return impl_->whole().text_fingerprint.to_hex();
}

std::uint64_t Cache::generation() const noexcept {
  if (impl_ == nullptr) return 0;
  return impl_->whole().generation;
}

std::string Cache::digest() const {
  if (impl_ == nullptr) return {};
  return impl_->caches->digest();
}

std::vector<ColumnInfo> Cache::columns() const {
  std::vector<ColumnInfo> columns;
  if (impl_ == nullptr) return columns;
  for (const reader::SharedColumn& column : impl_->caches->columns()) {
    const formats::ColumnSpec& spec = column.entry->spec;
    columns.push_back({.name = spec.name,
                       .dtype = spec.dtype,
                       .shape = spec.shape,
                       .axis = std::string(formats::name_of(axis_of(*column.entry))),
                       .rows_per_frame = impl_->caches->rows_per_frame(*column.entry),
                       .is_added = column.entry->axis.has_value(),
                       .version = column.entry->version,
                       .missing_count = column.entry->missing_count});
  }
  return columns;
}

Result<ColumnStatistics> Cache::statistics(std::string_view column) const {
  return guarded([&]() -> Result<ColumnStatistics> {
    if (impl_ == nullptr) return api::is_empty("Cache");
    const reader::SharedColumn* const found = impl_->caches->find_column(column);
    if (found != nullptr) return impl_->caches->statistics(*found);
    return Status(StatusCode::kNotFound, formatted("the cache has no column '{}'", column));
  });
}

Result<std::optional<Normalization>> Cache::normalization() const {
  return guarded([&]() -> Result<std::optional<Normalization>> {
    if (impl_ == nullptr) return api::is_empty("Cache");
    return formats::normalization_of(impl_->whole());
  });
}

const std::vector<std::string>& Cache::speakers() const& noexcept {
  if (impl_ == nullptr) return kNoNames;
  return impl_->whole().speakers;
}

const std::vector<std::string>& Cache::languages() const& noexcept {
  if (impl_ == nullptr) return kNoNames;
  return impl_->whole().languages;
}

std::vector<std::string> Cache::datasets() const {
  if (impl_ == nullptr) return {};
  std::vector<std::string> names = impl_->whole().datasets;
  std::erase(names, "");  // the data set of a corpus that was built alone
  std::sort(names.begin(), names.end());
  return names;
}

std::uint64_t Cache::size() const noexcept {
  if (impl_ == nullptr) return 0;
  return impl_->caches->size();
}

Result<std::string> Cache::id(std::uint64_t position) const {
  return guarded([&]() -> Result<std::string> {
    if (impl_ == nullptr) return api::is_empty("Cache");
    XTTS_ASSIGN(const auto facts, impl_->caches->details(position));
    return formats::full_id(facts);
  });
}

Result<ClipInfo> Cache::clip(std::uint64_t position) const {
  return guarded([&]() -> Result<ClipInfo> {
    if (impl_ == nullptr) return api::is_empty("Cache");
    XTTS_ASSIGN(const auto row, impl_->caches->plan_row(position));
    XTTS_ASSIGN(const auto facts, impl_->caches->details(position));
    const auto tables = query::Tables::of(impl_->whole());
    return ClipInfo{.id = formats::full_id(facts),
                    .dataset = facts.dataset.value_or(""),
                    .split = std::string(formats::split_name(row.split)),
                    .speaker = facts.speaker.value_or(""),
                    .language = facts.language.value_or(""),
                    .text = facts.text_raw.value_or(""),
                    .text_normalized = facts.text_normalized.value_or(""),
                    .duration_s = row.mel_len * tables.frame_s,
                    .frame_count = row.mel_len,
                    .token_count = row.text_len};
  });
}

Result<std::optional<std::uint64_t>> Cache::find(std::string_view id) const {
  return guarded([&]() -> Result<std::optional<std::uint64_t>> {
    if (impl_ == nullptr) return api::is_empty("Cache");
    return impl_->caches->find(id);
  });
}

Result<Record> Cache::read(std::string_view column, std::uint64_t position) const {
  return guarded([&]() -> Result<Record> {
    if (impl_ == nullptr) return api::is_empty("Cache");
    const auto place = impl_->caches->locate(position);
    XTTS_ASSIGN(reader::CacheView* const cache, impl_->caches->cache(place.table));
    XTTS_ASSIGN(auto data,
                reader::with_repair(cache->read_record(column, place.position), cache->path()));
    Record record;
    record.dtype_ = data.dtype;
    record.shape_ = std::move(data.shape);
    record.padding_ = formats::fill_number(data.dtype, data.fill_bits);
    const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(data.bytes));
    record.bytes_ = *owner;
    record.owner_ = owner;
    return record;
  });
}

Result<Record> Cache::read(std::string_view column, std::string_view id) const {
  XTTS_ASSIGN(const auto position, find(id));
  if (!position) {
    return Status(StatusCode::kNotFound, formatted("the cache has no clip '{}'", id));
  }
  return read(column, *position);
}

Result<Record> Cache::view(std::string_view column, std::uint64_t position) const {
  return guarded([&]() -> Result<Record> {
    if (impl_ == nullptr) return api::is_empty("Cache");
    guard_reads();
    const reader::SharedColumn* const found = impl_->caches->find_column(column);
    // read() reports the fault of the name.
    if (found == nullptr) return read(column, position);
    XTTS_ASSIGN(const auto place, impl_->caches->locate_record(*found, position));
    XTTS_TRY(place.map->verify(place));
    // An unverified record here was right only in an ordinary read, so we return such a read.
    if (!place.is_mapped() || !place.map->is_verified(place)) return read(column, position);
    const formats::ColumnSpec& spec = found->entry->spec;
    Record record;
    record.dtype_ = spec.dtype;
    record.shape_ = spec.shape;
    record.shape_[0] = place.record().length;
    record.padding_ = formats::fill_number(spec.dtype, place.record().fill_bits);
    record.bytes_ = place.region().first(place.record().length * spec.row_bytes());
    record.owner_ = std::make_shared<ViewOwner>(ViewOwner{impl_->caches, place.block->mapping});
    record.is_view_ = true;
    return record;
  });
}

}  // namespace xtts
