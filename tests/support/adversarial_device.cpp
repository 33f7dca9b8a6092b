#include "support/adversarial_device.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <span>
#include <thread>
#include <utility>

#include "base/checked.hpp"
#include "base/convert_floats.hpp"
#include "base/hash.hpp"
#include "base/try.hpp"
#include "device/host_memory.hpp"

namespace xtts::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPiecesMax = 7;
// An upload that nobody waits for is done after this time.
constexpr std::chrono::milliseconds kLazyFor{2};
constexpr int kUnfilled = 0xEE;
constexpr int kCopied = 0xA5;

// ClosedMemory maps the same pages twice. The consumer sees one mapping, which nobody may touch.
// The device itself uses the other one.
class ClosedMemory {
 public:
  explicit ClosedMemory(std::size_t size_bytes)
      : size_bytes_(align_up(std::max<std::size_t>(size_bytes, 1), device::kPageBytes)) {
    const int fd = ::memfd_create("adversarial", MFD_CLOEXEC);
    if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(size_bytes_)) != 0) return;
    shown_ = ::mmap(nullptr, size_bytes_, PROT_NONE, MAP_SHARED, fd, 0);
    own_ = ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
  }
  ~ClosedMemory() {
    ::munmap(shown_, size_bytes_);
    ::munmap(own_, size_bytes_);
  }
  ClosedMemory(const ClosedMemory&) = delete;
  ClosedMemory& operator=(const ClosedMemory&) = delete;

  [[nodiscard]] bool is_there() const { return shown_ != MAP_FAILED && own_ != MAP_FAILED; }
  [[nodiscard]] const std::byte* shown() const { return static_cast<const std::byte*>(shown_); }
  [[nodiscard]] std::span<std::byte> own() const {
    return {static_cast<std::byte*>(own_), size_bytes_};
  }
  [[nodiscard]] bool shows(const std::byte* address) const {
    return address >= shown() && address < shown() + size_bytes_;
  }

 private:
  std::size_t size_bytes_;
  void* shown_ = MAP_FAILED;
  void* own_ = MAP_FAILED;
};

struct Piece {
  std::size_t offset_bytes = 0;
  std::size_t size_bytes = 0;
  std::optional<device::Pattern> pattern = {};  // nothing: the piece is copied, or changed
  std::optional<device::Change> change = {};    // size_bytes are those at the consumer's side
  std::span<const std::byte> borrowed = {};     // where they lie, if not in the slot
  std::uint64_t hash = 0;                       // of the bytes to be copied
};

void fill_range(std::span<std::byte> out, const device::Pattern& pattern) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t byte = i % pattern.element_bytes;
    out[i] = static_cast<std::byte>(pattern.bits >> (8 * byte));
  }
}

[[nodiscard]] std::size_t stored_bytes(const Piece& piece) {
  return piece.size_bytes / size_bytes(piece.change->to) * size_bytes(piece.change->from);
}

}  // namespace

class AdversarialSlot;

// The device's mutex guards all of this.
struct AdversarialDevice::State {
  enum class Phase : std::uint8_t { kFree, kFilling, kUploaded };
  struct Slot {
    std::size_t number = 0;
    std::unique_ptr<ClosedMemory> memory;
    std::span<std::byte> staging;
    Phase phase = Phase::kFree;
    std::vector<Piece> filled;   // pieces of fill(), change() and borrow() since begin_filling()
    std::vector<Piece> pending;  // pieces of the upload that are not done
    std::uint64_t upload = 0;    // the upload's number among all; 0: there was none
    bool is_wanted = false;      // somebody waits for the upload
    Clock::time_point lazy_until;
    bool is_lent = false;
    bool is_refused = false;     // begin_filling() has failed
    bool is_waited_for = false;  // the host has waited
    // Streams that wait for the event, and how many tasks each had at the end of the lease.
    std::map<std::uintptr_t, std::uint64_t> readers;
  };
  struct Task {
    Slot* slot = nullptr;  // null: the slot was destroyed meanwhile
    std::uint64_t upload = 0;
    bool is_wait = false;  // the task waits for that upload; else it is work
    const std::byte* address = nullptr;
    std::size_t size_bytes = 0;
    Work work = {};
    Clock::time_point not_before = {};
  };
  struct Stream {
    std::deque<Task> tasks;
    std::uint64_t given_count = 0;
    std::uint64_t done_count = 0;
    std::map<const Slot*, std::uint64_t> waited;  // by slot: the upload that it has waited for
  };

  mutable std::mutex mutex;
  std::condition_variable changed;
  AdversaryOptions options;
  std::mt19937_64 random;
  std::vector<std::unique_ptr<Slot>> slots;
  std::map<std::uintptr_t, Stream> streams;
  std::vector<std::string> faults;
  std::uint64_t slots_made = 0, fillings = 0, uploads = 0;
  bool is_ending = false;
  std::thread thread;

  void fault(const Slot& slot, const std::string& what) {
    faults.push_back("slot " + std::to_string(slot.number) + " " + what);
  }
  [[nodiscard]] std::uint64_t below(std::uint64_t end) { return random() % end; }

  [[nodiscard]] bool is_read(const Slot& slot) const {
    return std::ranges::any_of(slot.readers, [&](const auto& reader) {
      return streams.at(reader.first).done_count < reader.second;
    });
  }
  [[nodiscard]] bool is_idle(const Slot& slot) const {
    return slot.phase != Phase::kUploaded ||
           (!slot.is_lent && slot.pending.empty() && !is_read(slot));
  }
  [[nodiscard]] Slot* find(const std::byte* address) const {
    const auto found =
        std::ranges::find_if(slots, [&](const auto& slot) { return slot->memory->shows(address); });
    return found == slots.end() ? nullptr : found->get();
  }
  [[nodiscard]] std::vector<std::byte> bytes_at(const Slot& slot, const std::byte* address,
                                                std::size_t size_bytes) const {
    const auto offset = static_cast<std::size_t>(address - slot.memory->shown());
    const auto some = slot.memory->own().subspan(offset, size_bytes);
    return {some.begin(), some.end()};
  }

  // The bytes of a piece that is copied or changed, wherever they lie.
  [[nodiscard]] static std::span<const std::byte> bytes_of(const Slot& slot, const Piece& piece) {
    if (!piece.borrowed.empty()) return piece.borrowed;
    const std::size_t size = piece.change ? stored_bytes(piece) : piece.size_bytes;
    return slot.staging.subspan(piece.offset_bytes, size);
  }
  [[nodiscard]] bool has_borrowed(std::uint64_t upload) const {
    return std::ranges::any_of(slots, [&](const auto& slot) {
      return slot->upload == upload && std::ranges::any_of(slot->pending, [](const Piece& piece) {
               return !piece.borrowed.empty();
             });
    });
  }

  [[nodiscard]] bool is_due(const Slot& slot) const {
    return !slot.pending.empty() &&
           (slot.is_wanted || is_ending || Clock::now() >= slot.lazy_until);
  }
  [[nodiscard]] bool is_due(const Stream& stream) const {
    if (stream.tasks.empty()) return false;
    const Task& first = stream.tasks.front();
    if (first.is_wait && first.slot != nullptr)
      return first.slot->upload != first.upload || first.slot->pending.empty();
    return is_ending || Clock::now() >= first.not_before;
  }

  // The pieces of an upload: the filled ranges, and all bytes between them, cut anywhere.
  [[nodiscard]] std::vector<Piece> cut(const Slot& slot) {
    std::vector<Piece> pieces = slot.filled;
    for (Piece& piece : pieces) {
      if (!piece.pattern) piece.hash = check64(bytes_of(slot, piece));
    }
    std::ranges::sort(pieces, {}, &Piece::offset_bytes);
    std::vector<Piece> copied;
    std::size_t begin = 0;
    const std::size_t piece_bytes = slot.staging.size() / (1 + below(kPiecesMax)) + 1;
    const auto copy_until = [&](std::size_t end) {
      while (begin < end) {
        const std::size_t size = std::min(end - begin, 1 + below(2 * piece_bytes));
        copied.push_back({.offset_bytes = begin,
                          .size_bytes = size,
                          .hash = check64(slot.staging.subspan(begin, size))});
        begin += size;
      }
    };
    for (const Piece& piece : pieces) {
      copy_until(piece.offset_bytes);
      begin = std::max(begin, piece.offset_bytes + piece.size_bytes);
    }
    copy_until(slot.staging.size());
    pieces.insert(pieces.end(), copied.begin(), copied.end());
    return pieces;
  }

  void change_range(const Slot& slot, const Piece& piece, std::span<std::byte> out) {
    const auto in = bytes_of(slot, piece);
    if (check64(in) != piece.hash) fault(slot, "was written to before its upload was done");
    const auto& [from, to, norm] = *piece.change;
    if (norm != nullptr) {
      norm->apply(in, from, out, to);
    } else {
      convert_floats(in, from, out, to);
    }
  }

  void copy_one(Slot& slot) {
    const auto chosen =
        slot.pending.begin() + static_cast<std::ptrdiff_t>(below(slot.pending.size()));
    const Piece piece = *chosen;
    slot.pending.erase(chosen);
    const auto out = slot.memory->own().subspan(piece.offset_bytes, piece.size_bytes);
    if (piece.pattern) {
      fill_range(out, *piece.pattern);
    } else if (piece.change) {
      change_range(slot, piece, out);
    } else {
      const auto in = bytes_of(slot, piece);
      if (check64(in) != piece.hash) fault(slot, "was written to before its upload was done");
      std::ranges::copy(in, out.begin());
    }
    if (slot.pending.empty()) std::memset(slot.staging.data(), kCopied, slot.staging.size());
  }

  void run_one(std::unique_lock<std::mutex>& lock, std::uintptr_t handle) {
    Task task = std::move(streams[handle].tasks.front());
    streams[handle].tasks.pop_front();
    Stream& stream = streams[handle];
    if (task.slot == nullptr) {
      faults.emplace_back("a slot was destroyed under a stream that reads it");
    } else if (task.is_wait) {
      stream.waited[task.slot] = task.upload;
    } else {
      if (task.slot->upload != task.upload || task.slot->phase != Phase::kUploaded) {
        fault(*task.slot, "was filled again under a stream that reads it");
      } else if (stream.waited[task.slot] != task.upload) {
        fault(*task.slot, "is read by a stream that was not let wait for its event");
      }
      auto bytes = bytes_at(*task.slot, task.address, task.size_bytes);
      lock.unlock();
      task.work(std::move(bytes));
      lock.lock();
    }
    ++streams[handle].done_count;
  }

  // Does one thing that is due, chosen at random. Returns false where nothing is due.
  bool step(std::unique_lock<std::mutex>& lock) {
    std::vector<Slot*> due_slots;
    std::vector<std::uintptr_t> due_streams;
    for (const auto& slot : slots) {
      if (is_due(*slot)) due_slots.push_back(slot.get());
    }
    for (const auto& [handle, stream] : streams) {
      if (is_due(stream)) due_streams.push_back(handle);
    }
    if (due_slots.empty() && due_streams.empty()) return false;
    const std::size_t chosen = below(due_slots.size() + due_streams.size());
    if (chosen < due_slots.size()) {
      copy_one(*due_slots[chosen]);
    } else {
      run_one(lock, due_streams[chosen - due_slots.size()]);
    }
    changed.notify_all();
    return true;
  }

  void run() {
    std::unique_lock lock(mutex);
    while (!is_ending) {
      if (!step(lock)) {
        changed.wait_for(lock, std::chrono::microseconds(200));
      } else if (below(8) == 0) {
        const std::chrono::microseconds pause(below(100));
        lock.unlock();
        std::this_thread::sleep_for(pause);
        lock.lock();
      }
    }
    while (step(lock)) {
    }
  }
};

class AdversarialSlot final : public device::SlotMemory {
 public:
  using Slot = AdversarialDevice::State::Slot;
  using Phase = AdversarialDevice::State::Phase;

  AdversarialSlot(std::shared_ptr<AdversarialDevice> device, device::HostMemory memory,
                  std::size_t staging_bytes, Slot& slot)
      : device_(std::move(device)),
        memory_(std::move(memory)),
        staging_bytes_(staging_bytes),
        slot_(slot),
        uploaded_(*this) {
    slot_.staging = memory_.bytes().first(staging_bytes_);
  }
  ~AdversarialSlot() override {
    std::unique_lock lock(state().mutex);
    if (slot_.is_lent) state().fault(slot_, "was destroyed while it was lent");
    slot_.is_lent = false;
    wait_until(lock, [&] { return state().is_idle(slot_); });
    for (auto& [handle, stream] : state().streams) {
      for (auto& task : stream.tasks) {
        if (task.slot == &slot_) task.slot = nullptr;
      }
    }
    std::erase_if(state().slots, [&](const auto& slot) { return slot.get() == &slot_; });
  }
  AdversarialSlot(const AdversarialSlot&) = delete;
  AdversarialSlot& operator=(const AdversarialSlot&) = delete;

  [[nodiscard]] const device::Device& device() const noexcept override { return *device_; }

  [[nodiscard]] Status begin_filling() override {
    std::unique_lock lock(state().mutex);
    if (slot_.phase == Phase::kFilling) return {};
    if (++state().fillings == state().options.failing_filling) {
      slot_.is_refused = true;
      return {StatusCode::kResource, "the adversarial device lost its stream"};
    }
    if (slot_.is_lent) {
      state().fault(slot_, "was filled again while it was lent");
      slot_.is_lent = false;
    }
    wait_until(lock, [&] { return state().is_idle(slot_); });
    if (slot_.phase == Phase::kFilling) return {};  // another filler came first meanwhile
    slot_.phase = Phase::kFilling;
    slot_.is_refused = false;
    slot_.filled.clear();
    slot_.readers.clear();
    return {};
  }
  [[nodiscard]] bool is_idle() const noexcept override {
    const std::scoped_lock lock(state().mutex);
    return state().is_idle(slot_);
  }
  [[nodiscard]] std::span<std::byte> staging() noexcept override {
    const std::scoped_lock lock(state().mutex);
    check_is_filling();
    return memory_.bytes().first(staging_bytes_);
  }
  void fill(std::size_t offset_bytes, std::size_t size_bytes,
            const device::Pattern& pattern) noexcept override {
    const std::scoped_lock lock(state().mutex);
    check_is_filling();
    if (size_bytes == 0) return;
    slot_.filled.push_back(
        {.offset_bytes = offset_bytes, .size_bytes = size_bytes, .pattern = pattern});
  }
  [[nodiscard]] bool change(std::size_t offset_bytes, std::size_t size_bytes,
                            const device::Change& change) override {
    const std::scoped_lock lock(state().mutex);
    check_is_filling();
    slot_.filled.push_back(
        {.offset_bytes = offset_bytes, .size_bytes = size_bytes, .change = change});
    return true;
  }
  [[nodiscard]] bool borrow(std::size_t offset_bytes, std::span<const std::byte> bytes) override {
    const std::scoped_lock lock(state().mutex);
    check_is_filling();
    const auto changed = std::ranges::find_if(slot_.filled, [&](const Piece& piece) {
      return piece.change && piece.offset_bytes == offset_bytes;
    });
    if (changed == slot_.filled.end()) {
      slot_.filled.push_back(
          {.offset_bytes = offset_bytes, .size_bytes = bytes.size(), .borrowed = bytes});
    } else {
      changed->borrowed = bytes;
    }
    return true;
  }
  [[nodiscard]] std::shared_ptr<const device::BorrowingEnd> borrowed_until() const override {
    const std::scoped_lock lock(state().mutex);
    if (slot_.phase != Phase::kUploaded) return nullptr;
    return std::make_shared<Borrowed>(device_, slot_.upload);
  }
  void discard() noexcept override {
    const std::scoped_lock lock(state().mutex);
    check_is_filling();
    slot_.filled.clear();
    std::memset(slot_.staging.data(), kCopied, slot_.staging.size());
  }
  [[nodiscard]] std::span<std::byte> host() noexcept override {
    return memory_.bytes().subspan(align_up(staging_bytes_, device::kPageBytes));
  }
  [[nodiscard]] Result<const device::Event*> upload() override {
    const std::scoped_lock lock(state().mutex);
    check_is_filling();
    const std::uint64_t number = ++state().uploads;
    if (number == state().options.failing_upload) {
      return Status(StatusCode::kResource, "the adversarial device takes no copies");
    }
    slot_.phase = Phase::kUploaded;
    slot_.upload = number;
    slot_.is_lent = true;
    slot_.is_waited_for = slot_.is_wanted = false;
    slot_.lazy_until = Clock::now();
    if (state().below(2) == 0) slot_.lazy_until += kLazyFor;
    slot_.pending = state().cut(slot_);
    std::memset(slot_.memory->own().data(), kUnfilled, slot_.memory->own().size());
    state().changed.notify_all();
    return &uploaded_;
  }
  [[nodiscard]] const std::byte* consumer_data() const noexcept override {
    return slot_.memory->shown();
  }
  // The host's numbers stay on the host here: this device copies staging memory alone.
  [[nodiscard]] const std::byte* consumer_host_data() const noexcept override {
    return memory_.bytes().data() +
           device::host_offset_bytes({.staging = staging_bytes_, .host = 0});
  }
  void end_lease() noexcept override {
    const std::scoped_lock lock(state().mutex);
    if (slot_.phase == Phase::kFilling) {
      slot_.phase = Phase::kFree;  // the filling never became a batch
    } else if (!slot_.is_lent && !slot_.is_refused) {
      state().fault(slot_, "was given back twice");
    }
    slot_.is_lent = slot_.is_refused = false;
    for (auto& [stream, count] : slot_.readers) count = state().streams.at(stream).given_count;
  }

 private:
  class Uploaded final : public device::Event {
   public:
    explicit Uploaded(AdversarialSlot& slot) : owner_(slot) {}
    [[nodiscard]] Status wait() const override { return owner_.wait_for_upload(); }
    [[nodiscard]] Status let_wait(std::uintptr_t stream) const override {
      return owner_.let_wait(stream);
    }

   private:
    AdversarialSlot& owner_;
  };
  // The end of an upload's borrowing, also when the slot has gone.
  class Borrowed final : public device::BorrowingEnd {
   public:
    Borrowed(std::shared_ptr<AdversarialDevice> device, std::uint64_t upload)
        : device_(std::move(device)), upload_(upload) {}
    [[nodiscard]] Status wait() const override {
      AdversarialDevice::State& state = *device_->state_;
      std::unique_lock lock(state.mutex);
      for (const auto& slot : state.slots) {
        if (slot->upload == upload_) slot->is_wanted = true;
      }
      state.changed.notify_all();
      state.changed.wait(lock, [&] { return !state.has_borrowed(upload_); });
      return {};
    }
    [[nodiscard]] bool has_happened() const noexcept override {
      const std::scoped_lock lock(device_->state_->mutex);
      return !device_->state_->has_borrowed(upload_);
    }

   private:
    std::shared_ptr<AdversarialDevice> device_;
    std::uint64_t upload_;
  };

  [[nodiscard]] AdversarialDevice::State& state() const { return *device_->state_; }
  void check_is_filling() {
    if (slot_.phase != Phase::kFilling) {
      state().fault(slot_, "was written to outside of begin_filling() and upload()");
    }
  }
  template <typename IsSo>
  void wait_until(std::unique_lock<std::mutex>& lock, IsSo is_so) {
    slot_.is_wanted = true;
    state().changed.notify_all();
    state().changed.wait(lock, is_so);
  }
  [[nodiscard]] Status check_event() {
    if (slot_.phase != Phase::kUploaded) state().fault(slot_, "was waited for without an upload");
    if (slot_.upload == state().options.failing_event) {
      return {StatusCode::kResource, "the adversarial device lost a copy"};
    }
    return {};
  }
  [[nodiscard]] Status wait_for_upload() {
    std::unique_lock lock(state().mutex);
    XTTS_TRY(check_event());
    wait_until(lock, [&] { return slot_.pending.empty(); });
    slot_.is_waited_for = true;
    return {};
  }
  [[nodiscard]] Status let_wait(std::uintptr_t stream) {
    const std::scoped_lock lock(state().mutex);
    XTTS_TRY(check_event());
    const auto found = state().streams.find(stream);
    if (found == state().streams.end()) {
      return {StatusCode::kInvalidArgument, "the adversarial device has no such stream"};
    }
    ++found->second.given_count;
    found->second.tasks.push_back({.slot = &slot_, .upload = slot_.upload, .is_wait = true});
    slot_.readers[stream] = UINT64_MAX;  // until the lease ends
    state().changed.notify_all();
    return {};
  }

  std::shared_ptr<AdversarialDevice> device_;
  device::HostMemory memory_;
  std::size_t staging_bytes_;
  Slot& slot_;
  Uploaded uploaded_;
};

std::shared_ptr<AdversarialDevice> AdversarialDevice::make(const AdversaryOptions& options) {
  return std::shared_ptr<AdversarialDevice>(new AdversarialDevice(options));
}

AdversarialDevice::AdversarialDevice(const AdversaryOptions& options)
    : state_(std::make_unique<State>()) {
  state_->options = options;
  state_->random.seed(options.seed);
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

AdversarialDevice::~AdversarialDevice() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->is_ending = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

Result<std::unique_ptr<device::SlotMemory>> AdversarialDevice::make_slot(
    const device::SlotBytes& size) {
  XTTS_ASSIGN(auto memory, device::HostMemory::allocate(align_up(size.staging, device::kPageBytes) +
                                                        std::max<std::size_t>(size.host, 1)));
  auto slot = std::make_unique<State::Slot>();
  slot->memory = std::make_unique<ClosedMemory>(size.staging);
  const std::scoped_lock lock(state_->mutex);
  if (!slot->memory->is_there() || ++state_->slots_made == state_->options.failing_slot) {
    return Status(StatusCode::kResource, "the adversarial device has no more memory");
  }
  slot->number = state_->slots_made;
  state_->slots.push_back(std::move(slot));
  return std::unique_ptr<device::SlotMemory>(std::make_unique<AdversarialSlot>(
      shared_from_this(), std::move(memory), size.staging, *state_->slots.back()));
}

std::vector<std::byte> AdversarialDevice::copy_to_host(const std::byte* address,
                                                       std::size_t size_bytes) const {
  const std::scoped_lock lock(state_->mutex);
  const State::Slot* const slot = state_->find(address);
  if (slot == nullptr) {
    state_->faults.emplace_back("an address is read that is none of the device's");
    return std::vector<std::byte>(size_bytes);
  }
  if (!slot->is_lent) {
    state_->fault(*slot, "is read after its lease");
  } else if (!slot->is_waited_for) {
    state_->fault(*slot, "is read before its event was waited for");
  }
  return state_->bytes_at(*slot, address, size_bytes);
}

Result<std::optional<device::BorrowableMemory>> AdversarialDevice::make_borrowable(
    std::size_t size_bytes) const {
  XTTS_ASSIGN(auto memory,
              device::HostMemory::allocate(size_bytes, {.is_kept_from_children = true}));
  return std::optional<device::BorrowableMemory>(std::in_place, std::move(memory));
}

std::uintptr_t AdversarialDevice::make_stream() {
  const std::scoped_lock lock(state_->mutex);
  const std::uintptr_t handle = state_->streams.size() + 1;
  state_->streams[handle];
  return handle;
}

void AdversarialDevice::launch(std::uintptr_t stream, const std::byte* address,
                               std::size_t size_bytes, Work work) {
  const std::scoped_lock lock(state_->mutex);
  State::Slot* const slot = state_->find(address);
  if (slot == nullptr || !slot->is_lent) {
    state_->faults.emplace_back("work is queued that reads what nobody holds");
    return;
  }
  State::Stream& queue = state_->streams.at(stream);
  ++queue.given_count;
  queue.tasks.push_back(
      {.slot = slot,
       .upload = slot->upload,
       .address = address,
       .size_bytes = size_bytes,
       .work = std::move(work),
       .not_before = Clock::now() + std::chrono::microseconds(state_->below(1500))});
  state_->changed.notify_all();
}

void AdversarialDevice::finish(std::uintptr_t stream) {
  std::unique_lock lock(state_->mutex);
  const State::Stream& queue = state_->streams.at(stream);
  state_->changed.wait(lock, [&] { return queue.done_count == queue.given_count; });
}

std::vector<std::string> AdversarialDevice::faults() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->faults;
}

std::size_t AdversarialDevice::slot_count() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->slots.size();
}

}  // namespace xtts::testing
