// include/xtts/reader.hpp on top of CacheView.
#include "api/public_cache.hpp"

#include <bit>

#include "base/try.hpp"
#include "reader/index_reader.hpp"
#include "xtts/reader.hpp"

namespace xtts {
static_assert(std::endian::native == std::endian::little, "records are handed out as they lie");

using api::guarded;

Result<std::span<const float>> Record::as_floats() const {
  return api::as_numbers<float>(bytes_, dtype_, DType::kFloat32);
}

Result<std::span<const std::int32_t>> Record::as_int32s() const {
  return api::as_numbers<std::int32_t>(bytes_, dtype_, DType::kInt32);
}

Cache::Cache(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Cache::~Cache() = default;
Cache::Cache(Cache&& other) noexcept = default;
Cache& Cache::operator=(Cache&& other) noexcept = default;

Result<Cache> Cache::open(std::string_view path) {
  return guarded([&]() -> Result<Cache> {
    XTTS_ASSIGN(auto view, reader::CacheView::open(Env::real(), std::string(path)));
    return Cache(std::make_unique<Impl>(Impl{std::move(view)}));
  });
}

const std::string& Cache::path() const noexcept {
  return impl_->view->path();
}

const std::string& Cache::recipe_name() const noexcept {
  return impl_->view->manifest().recipe_name;
}

std::string Cache::features_fingerprint() const {
  return impl_->view->manifest().features_fingerprint.to_hex();
}

std::string Cache::text_fingerprint() const {
  return impl_->view->manifest().text_fingerprint.to_hex();
}

std::uint64_t Cache::generation() const noexcept {
  return impl_->view->manifest().generation;
}

std::vector<ColumnInfo> Cache::columns() const {
  std::vector<ColumnInfo> columns;
  for (const formats::ColumnEntry& column : impl_->view->manifest().columns) {
    columns.push_back({column.spec.name, column.spec.dtype, column.spec.shape});
  }
  return columns;
}

std::uint64_t Cache::size() const noexcept {
  return impl_->view->size();
}

Result<std::string> Cache::id(std::uint64_t position) const {
  return guarded([&]() -> Result<std::string> {
    XTTS_ASSIGN(const auto facts, impl_->view->details(position));
    return reader::full_id(facts);
  });
}

Result<std::optional<std::uint64_t>> Cache::find(std::string_view id) const {
  return guarded([&] { return impl_->view->find(id); });
}

Result<Record> Cache::read(std::string_view column, std::uint64_t position) const {
  return guarded([&]() -> Result<Record> {
    XTTS_ASSIGN(auto data, impl_->view->read_record(column, position));
    Record record;
    record.dtype_ = data.dtype;
    record.shape_ = std::move(data.shape);
    const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(data.bytes));
    record.bytes_ = *owner;
    record.owner_ = owner;
    return record;
  });
}

Result<Record> Cache::read(std::string_view column, std::string_view id) const {
  XTTS_ASSIGN(const auto position, find(id));
  if (!position) {
    return Status(StatusCode::kNotFound, "the cache has no clip '" + std::string(id) + "'");
  }
  return read(column, *position);
}

}  // namespace xtts
