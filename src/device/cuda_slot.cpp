#include "device/cuda_slot.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/checked.hpp"
#include "base/current_exception.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "device/has_ended.hpp"

namespace xtts::device {
namespace {

// DLPack's number for "the default stream of the calling thread".
constexpr std::uintptr_t kPerThreadStream = 2;

// The place behind an upload's copies, behind which borrowed memory is not read.
class Borrowed final : public BorrowingEnd {
 public:
  explicit Borrowed(cuda::Event copied) : copied_(std::move(copied)) {}
  [[nodiscard]] Status wait() const override { return copied_.wait(); }
  [[nodiscard]] bool has_happened() const noexcept override { return copied_.has_happened(); }

 private:
  cuda::Event copied_;
};

// Stands for an upload that failed in the middle and cannot be waited for.
class Never final : public BorrowingEnd {
 public:
  [[nodiscard]] Status wait() const override {
    return {StatusCode::kResource, "a GPU may still read memory after a failed upload"};
  }
  [[nodiscard]] bool has_happened() const noexcept override { return false; }
};

}  // namespace

Result<std::unique_ptr<SlotMemory>> CudaSlot::make(std::shared_ptr<const Device> device,
                                                   std::shared_ptr<CudaParts> parts,
                                                   const SlotBytes& size) {
  const CudaGpu& gpu = parts->data;
  const std::size_t slot_bytes =
      align_up(std::max<std::size_t>(host_offset_bytes(size) + size.host, 1), kPageBytes);
  XTTS_ASSIGN(HostMemory memory,
              HostMemory::allocate(slot_bytes, {.numa_node = gpu.context->numa_node(),
                                                .is_kept_from_children = true}));
  XTTS_ASSIGN(cuda::HostLock locked, cuda::HostLock::lock(gpu.context, memory.bytes()));
  XTTS_ASSIGN(cuda::DeviceMemory data, gpu.pool->allocate(slot_bytes, gpu.limit));
  cuda::DeviceMemory arrivals;
  if (size.has_changes) {
    XTTS_ASSIGN(arrivals, gpu.pool->allocate(size.staging, gpu.limit));
  }
  cuda::DeviceMemory shown;
  if (parts->has_two_gpus()) {
    const CudaGpu& consumer = parts->consumer;
    XTTS_ASSIGN(shown, consumer.pool->allocate(slot_bytes, consumer.limit));
  }
  XTTS_ASSIGN(cuda::Stream stream, cuda::Stream::create(gpu.context));
  XTTS_ASSIGN(cuda::Event uploaded, cuda::Event::create(gpu.context));
  return std::unique_ptr<SlotMemory>(
      new CudaSlot(std::move(device), std::move(parts), size, std::move(memory), std::move(locked),
                   std::move(data), std::move(shown), std::move(arrivals), std::move(stream),
                   std::move(uploaded)));
}

CudaSlot::CudaSlot(std::shared_ptr<const Device> device, std::shared_ptr<CudaParts> parts,
                   const SlotBytes& size, HostMemory memory, cuda::HostLock locked,
                   cuda::DeviceMemory data, cuda::DeviceMemory shown, cuda::DeviceMemory arrivals,
                   cuda::Stream stream, cuda::Event uploaded_event)
    : device_(std::move(device)),
      parts_(std::move(parts)),
      size_(size),
      memory_(std::move(memory)),
      locked_(std::move(locked)),
      data_(std::move(data)),
      shown_(std::move(shown)),
      arrivals_(std::move(arrivals)),
      stream_(std::move(stream)),
      uploaded_event_(std::move(uploaded_event)) {}

CudaSlot::~CudaSlot() {
  if (wait_for_all().ok()) return;
  // The GPU may still use the memory, or this process is a forked child, which has none of it.
  locked_.abandon();
  memory_.abandon();
  data_.abandon();
  shown_.abandon();
  arrivals_.abandon();
}

Status CudaSlot::begin_filling() {
  const std::scoped_lock lock(filling_mutex_);
  if (is_filling_) return {};
  XTTS_TRY(wait_for_upload());
  is_enqueued_ = false;
  is_filling_ = true;
  discard();
  return {};
}

// An upload that failed in the middle has no event.
Status CudaSlot::wait_for_upload() const {
  if (!is_enqueued_) return {};
  return is_recorded_ ? uploaded_event_.wait() : stream_.wait();
}

bool CudaSlot::is_idle() const noexcept {
  if (is_enqueued_ && !(is_recorded_ && uploaded_event_.has_happened())) return false;
  const std::scoped_lock lock(readers_mutex_);
  return std::ranges::all_of(readers_, [](const Reader& reader) {
    return reader.has_ended && reader.done.has_happened();
  });
}

std::span<std::byte> CudaSlot::staging() noexcept {
  return memory_.bytes().first(size_.staging);
}

std::span<std::byte> CudaSlot::host() noexcept {
  return memory_.bytes().subspan(host_offset_bytes(size_), size_.host);
}

void CudaSlot::fill(std::size_t offset_bytes, std::size_t size_bytes,
                    const Pattern& pattern) noexcept {
  if (size_bytes == 0) return;
  const std::scoped_lock lock(ranges_mutex_);
  try {
    filled_.push_back({.offset_bytes = offset_bytes, .size_bytes = size_bytes, .pattern = pattern});
  } catch (...) {
    lost_range_ = true;  // upload() tells it
  }
}

bool CudaSlot::change(std::size_t offset_bytes, std::size_t size_bytes, const Change& change) {
  if (!size_.has_changes) return false;
  const std::scoped_lock lock(ranges_mutex_);
  changed_.push_back({.offset_bytes = offset_bytes, .size_bytes = size_bytes, .change = change});
  return true;
}

bool CudaSlot::borrow(std::size_t offset_bytes, std::span<const std::byte> bytes) {
  const std::scoped_lock lock(ranges_mutex_);
  borrowed_.push_back({.offset_bytes = offset_bytes, .bytes = bytes});
  return true;
}

void CudaSlot::discard() noexcept {
  const std::scoped_lock lock(ranges_mutex_);
  filled_.clear();
  changed_.clear();
  borrowed_.clear();
  borrowed_until_.reset();
  lost_range_ = false;
}

const std::byte* CudaSlot::consumer_data() const noexcept {
  const cuda::DeviceMemory& seen = parts_->has_two_gpus() ? shown_ : data_;
  return reinterpret_cast<const std::byte*>(seen.address());  // NOLINT(performance-no-int-to-ptr)
}

const std::byte* CudaSlot::consumer_host_data() const noexcept {
  return consumer_data() + host_offset_bytes(size_);
}

Result<const Event*> CudaSlot::upload() {
  if (lost_range_) return Status(StatusCode::kResource, "no memory to note the padding of a batch");
  is_filling_ = false;
  is_enqueued_ = true;
  is_recorded_ = false;
  if (const Status status = enqueue_whole_or_wait(); !status.ok()) return status;
  is_recorded_ = true;
  return &uploaded_;
}

// Where it fails in the middle, the stream may have copies of borrowed memory.
Status CudaSlot::enqueue_whole_or_wait() {
  Status status;
  try {
    status = enqueue();
  } catch (...) {
    status = status_of_current_exception();
  }
  if (!status.ok() && !borrowed_.empty()) borrowed_until_ = end_of_failed_borrowing();
  return status;
}

Status CudaSlot::enqueue() {
  // With two GPUs, the last batch's consumers read other memory than is written first.
  if (!parts_->has_two_gpus()) XTTS_TRY(wait_for_readers_on_stream());
  XTTS_TRY(enqueue_copies());
  if (!borrowed_.empty()) XTTS_TRY(mark_end_of_borrowing());
  XTTS_TRY(enqueue_changes());
  XTTS_TRY(enqueue_fills());
  if (parts_->has_two_gpus()) XTTS_TRY(copy_to_consumer());
  return uploaded_event_.record(stream_.handle());
}

// The GPU waits for the last batch's consumers, and the host does not: staging is a copy of its
// own.
Status CudaSlot::wait_for_readers_on_stream() {
  const std::scoped_lock lock(readers_mutex_);
  for (Reader& reader : readers_) {
    XTTS_TRY(reader.mark_end());
    XTTS_TRY(reader.done.let_wait(stream_.handle(), *parts_->data.context));
  }
  for (Reader& reader : readers_) spare_events_.push_back(std::move(reader.done));
  readers_.clear();
  return {};
}

Status CudaSlot::enqueue_copies() {
  const cuda::Context& gpu = *parts_->data.context;
  const std::size_t bridged_bytes_max =
      gpu.copies_lists() ? kBridgedInOneCallMax : kBridgedByCallsMax;
  const auto add = [&](cuda::DeviceAddress to, std::size_t offset_bytes, std::size_t size_bytes) {
    copies_.add(to + offset_bytes, memory_.bytes().data() + offset_bytes, size_bytes);
  };
  copies_.clear();
  for (const CopiedRange& range :
       plan_copies(size_, bridged_bytes_max, filled_, changed_, borrowed_)) {
    add(data_.address(), range.offset_bytes, range.size_bytes);
  }
  // Changed values arrive beside their place, and may be borrowed. Both lists are sorted now.
  for (const BorrowedRange& range : borrowed_) {
    const bool is_changed =
        std::ranges::binary_search(changed_, range.offset_bytes, {}, &ChangedRange::offset_bytes);
    const cuda::DeviceAddress to = (is_changed ? arrivals_ : data_).address();
    copies_.add(to + range.offset_bytes, range.bytes.data(), range.bytes.size());
  }
  for (const ChangedRange& range : changed_) {
    const bool is_borrowed =
        std::ranges::binary_search(borrowed_, range.offset_bytes, {}, &BorrowedRange::offset_bytes);
    if (!is_borrowed) add(arrivals_.address(), range.offset_bytes, range.stored_bytes());
  }
  return copies_.enqueue(gpu, stream_.handle());
}

Status CudaSlot::mark_end_of_borrowing() {
  XTTS_ASSIGN(cuda::Event copied, cuda::Event::create(parts_->data.context));
  XTTS_TRY(copied.record(stream_.handle()));
  borrowed_until_ = std::make_shared<Borrowed>(std::move(copied));
  return {};
}

// Null: the stream's copies are done.
std::shared_ptr<const BorrowingEnd> CudaSlot::end_of_failed_borrowing() const noexcept {
  static const Never never;
  if (has_ended(stream_)) return nullptr;
  return {std::shared_ptr<const BorrowingEnd>(), &never};  // without an allocation
}

// One launch for as many ranges of one kind as a table holds.
Status CudaSlot::enqueue_changes() {
  cuda::ChangeTable table{};
  Change kind;
  const auto launch = [&]() -> Status {
    XTTS_TRY(parts_->kernels->change(table, stream_.handle()));
    table.range_count = 0;
    return {};
  };
  for (const ChangedRange& range : changed_) {
    const bool is_same = range.change.from == kind.from && range.change.to == kind.to &&
                         range.change.norm == kind.norm;
    if (!is_same || table.range_count == cuda::kChangeRangesMax) XTTS_TRY(launch());
    if (table.range_count == 0) {
      kind = range.change;
      table.from_type = static_cast<std::uint64_t>(kind.from);
      table.to_type = static_cast<std::uint64_t>(kind.to);
      table.channel_count = table.means = table.divisors = 0;
      if (kind.norm != nullptr) {
        XTTS_ASSIGN(const auto tables, parts_->norms.find(*kind.norm, *parts_->data.pool, stream_));
        table.channel_count = kind.norm->channel_count();
        table.means = tables.means;
        table.divisors = tables.divisors;
      }
    }
    table.ranges[table.range_count++] = {
        .from = arrivals_.address() + range.offset_bytes,
        .to = data_.address() + range.offset_bytes,
        .value_count = range.size_bytes / size_bytes(range.change.to)};
  }
  return launch();
}

Status CudaSlot::enqueue_fills() {
  cuda::FillTable table{};
  for (const FilledRange& range : filled_) {
    if (table.range_count == cuda::kFillRangesMax) {
      XTTS_TRY(parts_->kernels->fill(table, stream_.handle()));
      table.range_count = 0;
    }
    table.ranges[table.range_count++] = {.address = data_.address() + range.offset_bytes,
                                         .size_bytes = range.size_bytes,
                                         .bits = range.pattern.bits,
                                         .element_bytes = range.pattern.element_bytes};
  }
  return parts_->kernels->fill(table, stream_.handle());
}

Status CudaSlot::copy_to_consumer() {
  XTTS_TRY(wait_for_readers_on_stream());
  const cuda::Context& from = *parts_->data.context;
  const cuda::Context& to = *parts_->consumer.context;
  const auto copy_part = [&](std::size_t offset_bytes, std::size_t size_bytes) -> Status {
    if (size_bytes == 0) return {};
    return from.run(formatted("copying a batch from {} to {}", from.label(), to.label()),
                    [&](const cuda::DriverCalls& calls) {
                      return calls.copy_to_peer(shown_.address() + offset_bytes, to.handle(),
                                                data_.address() + offset_bytes, from.handle(),
                                                size_bytes, stream_.handle());
                    });
  };
  XTTS_TRY(copy_part(0, size_.staging));
  return copy_part(host_offset_bytes(size_), size_.host);
}

Status CudaSlot::let_wait(std::uintptr_t stream) {
  if (stream == kPerThreadStream) {
    return {StatusCode::kUnsupported,
            "a batch cannot be given to the per-thread default stream, because another thread may "
            "release the batch: use a stream of your own, or the legacy default stream (1)"};
  }
  // DLPack hands streams over as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr)
  const auto handle = reinterpret_cast<cuda::StreamHandle>(stream);
  const std::scoped_lock lock(readers_mutex_);
  XTTS_TRY(uploaded_event_.let_wait(handle, *parts_->consumer.context));
  const bool is_known = std::ranges::any_of(
      readers_, [handle](const Reader& reader) { return reader.stream == handle; });
  if (is_known) return {};
  if (spare_events_.empty()) {
    XTTS_ASSIGN(cuda::Event made, cuda::Event::create(parts_->consumer.context));
    spare_events_.push_back(std::move(made));
  }
  readers_.push_back({.stream = handle, .done = std::move(spare_events_.back())});
  spare_events_.pop_back();
  return {};
}

void CudaSlot::end_lease() noexcept {
  is_filling_ = false;
  const std::scoped_lock lock(readers_mutex_);
  // Where it fails, the next upload tries again.
  for (Reader& reader : readers_) (void)reader.mark_end();
}

Status CudaSlot::Reader::mark_end() {
  if (!has_ended) XTTS_TRY(done.record(stream));
  has_ended = true;
  return {};
}

// Waits for uploads, and for the consumers of the last batch. A wait that fails says nothing about
// the work, so there is a second one.
Status CudaSlot::wait_for_all() noexcept {
  try {
    if (!wait_for_upload().ok()) XTTS_TRY(stream_.wait());
    const std::scoped_lock lock(readers_mutex_);
    for (Reader& reader : readers_) {
      XTTS_TRY(reader.mark_end());
      if (!reader.done.wait().ok()) XTTS_TRY(reader.done.wait());
    }
    return {};
  } catch (...) {
    return {StatusCode::kResource, "waiting for a GPU failed"};
  }
}

}  // namespace xtts::device
