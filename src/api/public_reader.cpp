// include/xtts/batch.hpp on top of Loader.
#include <algorithm>
#include <cstring>

#include "api/public_cache.hpp"
#include "base/try.hpp"
#include "loader/loader.hpp"
#include "xtts/batch.hpp"

namespace xtts {
namespace {

std::span<const std::int32_t> ints_at(const std::byte* memory, std::size_t offset_bytes,
                                      std::uint32_t count) {
  return {reinterpret_cast<const std::int32_t*>(memory + offset_bytes), count};
}

// What a batch shows: its slot, and the cache, whose lock keeps the files and whose manifest the
// columns' names. The loader and its threads may be gone.
struct BatchOwner {
  loader::Lease lease;
  std::shared_ptr<const reader::CacheView> cache;
};

BatchColumn show_column(const loader::BatchSlot& slot, const loader::BatchLayout& layout,
                        std::size_t index) {
  const loader::ColumnLayout& column = layout.columns[index];
  const loader::ColumnInPlace& in_place = slot.in_place[index];
  const std::byte* const memory = slot.memory->consumer_data();
  const formats::ColumnSpec& spec = column.column->spec;
  BatchColumn shown;
  shown.name = spec.name;
  shown.dtype = column.dtype;
  shown.shape.push_back(layout.batch_size);
  shown.shape.insert(shown.shape.end(), spec.shape.begin(), spec.shape.end());
  shown.is_view = in_place.mapping != nullptr;
  shown.bytes = {shown.is_view ? in_place.data : memory + column.offset_bytes,
                 column.record_bytes * layout.batch_size};
  shown.lengths = ints_at(memory, column.lengths_offset_bytes, layout.batch_size);
  return shown;
}

}  // namespace

struct Reader::Impl {
  std::unique_ptr<loader::Loader> loader;
};

Result<std::span<const float>> BatchColumn::as_floats() const {
  return api::as_numbers<float>(bytes, dtype, DType::kFloat32);
}

Result<std::span<const std::int32_t>> BatchColumn::as_int32s() const {
  return api::as_numbers<std::int32_t>(bytes, dtype, DType::kInt32);
}

const BatchColumn* Batch::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(columns_, name, &BatchColumn::name);
  return found == columns_.end() ? nullptr : &*found;
}

Reader::Reader(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Reader::~Reader() = default;
Reader::Reader(Reader&& other) noexcept = default;
Reader& Reader::operator=(Reader&& other) noexcept = default;

Result<Reader> Reader::open(const Cache& cache, const ReaderOptions& options) {
  return api::guarded([&]() -> Result<Reader> {
    XTTS_ASSIGN(auto loader, loader::Loader::open(cache.impl_->view, options));
    return Reader(std::make_unique<Impl>(Impl{std::move(loader)}));
  });
}

std::uint64_t Reader::sample_count() const noexcept {
  return impl_->loader->sample_count();
}

std::uint64_t Reader::batches_per_epoch() const noexcept {
  return impl_->loader->batches_per_epoch();
}

void Reader::set_epoch(std::uint64_t epoch) {
  impl_->loader->set_epoch(epoch);
}

std::uint64_t Reader::epoch() const noexcept {
  return impl_->loader->epoch();
}

Result<std::optional<Batch>> Reader::next() {
  return api::guarded([&]() -> Result<std::optional<Batch>> {
    XTTS_ASSIGN(auto lease, impl_->loader->next());
    if (!lease) return std::optional<Batch>();
    const loader::BatchSlot& slot = **lease;
    const loader::BatchLayout& layout = impl_->loader->layout();
    const std::byte* const memory = slot.memory->consumer_data();
    Batch batch;
    batch.size_ = layout.batch_size;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      batch.columns_.push_back(show_column(slot, layout, i));
    }
    batch.speakers_ = ints_at(memory, layout.speakers_offset_bytes, layout.batch_size);
    batch.languages_ = ints_at(memory, layout.languages_offset_bytes, layout.batch_size);
    batch.positions_ = slot.positions;
    batch.owner_ =
        std::make_shared<BatchOwner>(BatchOwner{std::move(*lease), impl_->loader->cache()});
    return std::optional<Batch>(std::move(batch));
  });
}

ReaderState Reader::state() const {
  return impl_->loader->state();
}

Status Reader::load_state(const ReaderState& state) {
  return api::guarded([&] { return impl_->loader->load_state(state); });
}

ReaderStats Reader::stats() const {
  return impl_->loader->stats();
}

}  // namespace xtts
