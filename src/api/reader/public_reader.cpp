// include/xtts/batch.hpp on top of Loader.
#include <algorithm>
#include <cstring>

#include "api/reader/public_cache.hpp"
#include "base/fork_count.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "loader/computed_source.hpp"
#include "loader/loader.hpp"
#include "loader/stored_source.hpp"
#include "xtts/batch.hpp"

namespace xtts {
namespace {

BatchColumn show_column(const loader::BatchSlot& slot, const loader::BatchLayout& layout,
                        std::size_t index) {
  const loader::ColumnLayout& column = layout.columns[index];
  const formats::ColumnSpec& spec = column.column->spec;
  BatchColumn shown;
  shown.name = spec.name;
  shown.dtype = column.dtype;
  shown.shape.push_back(layout.batch_size);
  shown.shape.push_back(column.row_count);
  shown.shape.insert(shown.shape.end(), spec.shape.begin() + 1, spec.shape.end());
  shown.is_view = slot.in_place[index].mapping != nullptr;
  shown.bytes = {slot.column_data(index), column.record_bytes * layout.batch_size};
  shown.lengths = slot.ints_at(column.lengths_offset_bytes);
  shown.device = slot.memory->device().id();
  return shown;
}

}  // namespace

// Keeps alive the memory of a batch: its slot and the source. A source of caches holds the lock
// that keeps the files, and the manifest with the columns' names. The loader and its threads may
// be gone.
struct Batch::Owner {
  loader::Lease lease;
  std::shared_ptr<const loader::RecordSource> source;
};

Status Batch::wait() const {
  return api::guarded(
      [&] { return owner_ == nullptr ? Status() : owner_->lease->finished.uploaded->wait(); });
}

Status Batch::let_wait(std::uintptr_t stream) const {
  return api::guarded([&] {
    return owner_ == nullptr ? Status() : owner_->lease->finished.uploaded->let_wait(stream);
  });
}

const std::int32_t* Batch::on_device(std::span<const std::int32_t> on_host) const noexcept {
  if (owner_ == nullptr) return nullptr;
  device::SlotMemory& memory = *owner_->lease->memory;
  const std::span<const std::byte> host = memory.host();
  const std::span<const std::byte> asked = std::as_bytes(on_host);
  const bool is_in_slot =
      std::less_equal<>()(host.data(), asked.data()) &&
      std::less_equal<>()(asked.data() + asked.size(), host.data() + host.size());
  if (!is_in_slot) return nullptr;
  return reinterpret_cast<const std::int32_t*>(memory.consumer_host_data() +
                                               (asked.data() - host.data()));
}

struct Reader::Impl {
  explicit Impl(std::unique_ptr<loader::Loader> opened) : loader(std::move(opened)) {}
  // In a forked child the loader's threads do not exist, and what they held stays held for ever.
  // So the child does not free the loader.
  ~Impl() {
    const NoCancellation no_cancellation;
    if (is_forked()) {
      (void)loader.release();
    } else {
      loader.reset();  // this thread cannot be cancelled here
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] bool is_forked() const noexcept { return fork_count() != forks_when_opened; }
  [[nodiscard]] Status check_usable() const {
    if (!is_forked()) return {};
    return {StatusCode::kUnsupported,
            "the reader was opened before this process was forked: open one in the child"};
  }

  std::unique_ptr<loader::Loader> loader;
  std::uint32_t forks_when_opened = fork_count();
};

namespace {

Status check_on_host(const BatchColumn& column) {
  if (column.device.is_host()) return {};
  return {StatusCode::kUnsupported,
          formatted("column '{}' lies on {}, whose memory the host cannot read", column.name,
                    to_string(column.device))};
}

}  // namespace

Result<std::span<const float>> BatchColumn::as_floats() const {
  XTTS_TRY(check_on_host(*this));
  return api::as_numbers<float>(bytes, dtype, DType::kFloat32);
}

Result<std::span<const std::int32_t>> BatchColumn::as_int32s() const {
  XTTS_TRY(check_on_host(*this));
  return api::as_numbers<std::int32_t>(bytes, dtype, DType::kInt32);
}

const BatchColumn* Batch::find(std::string_view name) const& noexcept {
  const auto found = std::ranges::find(columns_, name, &BatchColumn::name);
  return found == columns_.end() ? nullptr : &*found;
}

Reader::Reader(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Reader::~Reader() = default;
Reader::Reader(Reader&& other) noexcept = default;
Reader& Reader::operator=(Reader&& other) noexcept = default;

Result<Reader> Reader::open(const Cache& cache, const ReaderOptions& options,
                            std::size_t options_bytes) {
  return api::guarded([&]() -> Result<Reader> {
    XTTS_TRY(api::check_size("ReaderOptions", options_bytes, sizeof options));
    if (cache.impl_ == nullptr) return api::is_empty("Cache");
    XTTS_ASSIGN(
        auto loader,
        loader::Loader::open(std::make_shared<loader::StoredSource>(cache.impl_->caches), options));
    return Reader(std::make_unique<Impl>(std::move(loader)));
  });
}

Result<Reader> Reader::open(std::shared_ptr<const ClipSource> clips, const ReaderOptions& options,
                            std::size_t options_bytes) {
  return api::guarded([&]() -> Result<Reader> {
    XTTS_TRY(api::check_size("ReaderOptions", options_bytes, sizeof options));
    if (clips == nullptr) return Status(StatusCode::kInvalidArgument, "no clips were given");
    XTTS_ASSIGN(auto source, loader::ComputedSource::open(std::move(clips)));
    XTTS_ASSIGN(auto loader, loader::Loader::open(std::move(source), options));
    return Reader(std::make_unique<Impl>(std::move(loader)));
  });
}

std::uint64_t Reader::sample_count() const noexcept {
  if (impl_ == nullptr) return 0;
  return impl_->loader->sample_count();
}

std::uint64_t Reader::samples_per_epoch() const noexcept {
  if (impl_ == nullptr) return 0;
  return impl_->loader->samples_per_epoch();
}

std::uint64_t Reader::batches_per_epoch() const noexcept {
  if (impl_ == nullptr) return 0;
  return impl_->loader->batches_per_epoch();
}

void Reader::set_epoch(std::uint64_t epoch) {
  const NoCancellation no_cancellation;
  if (impl_ != nullptr && !impl_->is_forked()) impl_->loader->set_epoch(epoch);
}

std::uint64_t Reader::epoch() const noexcept {
  if (impl_ == nullptr) return 0;
  return impl_->loader->epoch();
}

Result<std::optional<Batch>> Reader::next() {
  return next_until({});
}

Result<std::optional<Batch>> Reader::next(std::chrono::milliseconds limit) {
  // A longer limit than a clock can express counts as this one: nobody waits so long.
  constexpr std::chrono::milliseconds kLimitMax = std::chrono::hours(24 * 365);
  return next_until(Clock::now() + std::clamp(limit, std::chrono::milliseconds(0), kLimitMax));
}

Result<std::optional<Batch>> Reader::next_until(std::optional<Clock::time_point> until) {
  return api::guarded([&]() -> Result<std::optional<Batch>> {
    if (impl_ == nullptr) return api::is_empty("Reader");
    XTTS_TRY(impl_->check_usable());
    XTTS_ASSIGN(auto lease, impl_->loader->next(until));
    if (!lease) return std::optional<Batch>();
    const loader::BatchSlot& slot = **lease;
    const loader::BatchLayout& layout = *slot.clips.layout;
    Batch batch;
    batch.size_ = layout.batch_size;
    batch.bucket_ = slot.clips.bucket;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      batch.columns_.push_back(show_column(slot, layout, i));
    }
    batch.speakers_ = slot.ints_at(layout.speakers_offset_bytes);
    batch.languages_ = slot.ints_at(layout.languages_offset_bytes);
    batch.positions_ = slot.clips.positions;
    batch.owner_ =
        std::make_shared<Batch::Owner>(Batch::Owner{std::move(*lease), impl_->loader->source()});
    return std::optional<Batch>(std::move(batch));
  });
}

void Reader::interrupt() noexcept {
  const NoCancellation no_cancellation;
  if (impl_ != nullptr && !impl_->is_forked()) impl_->loader->interrupt();
}

ReaderState Reader::state() const {
  if (impl_ == nullptr) return {};
  return impl_->loader->state();
}

Status Reader::load_state(const ReaderState& state) {
  return api::guarded([&]() -> Status {
    if (impl_ == nullptr) return api::is_empty("Reader");
    XTTS_TRY(impl_->check_usable());
    return impl_->loader->load_state(state);
  });
}

ReaderStats Reader::stats() const {
  const NoCancellation no_cancellation;
  return impl_ == nullptr || impl_->is_forked() ? ReaderStats() : impl_->loader->stats();
}

std::vector<std::uint64_t> Reader::left_out() const {
  const NoCancellation no_cancellation;
  return impl_ == nullptr || impl_->is_forked() ? std::vector<std::uint64_t>()
                                                : impl_->loader->left_out();
}

}  // namespace xtts
