// upload_parts_bench [ROUNDS]: what each part of a slot's upload costs. Uploads of one batch
// (upload_batch.hpp) are put together of the same calls as a slot's, with and without a part,
// beside a plain loop of page-locked copies. It prints a table in Markdown.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "cuda/copy_list.hpp"
#include "cuda/device_pool.hpp"
#include "cuda/kernel_module.hpp"
#include "cuda/stream.hpp"
#include "device/host_memory.hpp"
#include "device/upload_plan.hpp"
#include "tests/gpu/upload_batch.hpp"

namespace {

using namespace xtts;
using namespace xtts::gpu_bench;

constexpr std::size_t kHostBytes = 1024;
constexpr std::size_t kSlotBytes =
    device::host_offset_bytes({.staging = kStagingBytes}) + kHostBytes;

enum class Padding { kNone, kBefore, kAfter };

struct Variant {
  const char* name = nullptr;
  bool has_tokens = true;
  bool has_host_piece = true;
  bool is_one_copy = false;  // of as many bytes, in place of a list
  Padding padding = Padding::kAfter;
  bool copies_on_one_stream = false;  // of all slots; padding stays on the slot's own
  bool waits_for_readers = true;      // for an event of another stream, as after a step
};

constexpr std::array<Variant, 10> kVariants = {{
    {.name = "as a slot does it"},
    {.name = "one copy of as many bytes", .is_one_copy = true},
    {.name = "without the host's numbers", .has_host_piece = false},
    {.name = "without tokens and the host's numbers", .has_tokens = false, .has_host_piece = false},
    {.name = "padding before the copies", .padding = Padding::kBefore},
    {.name = "without padding", .padding = Padding::kNone},
    {.name = "without waiting for readers", .waits_for_readers = false},
    {.name = "copies of all slots on one stream", .copies_on_one_stream = true},
    {.name = "the same without padding", .padding = Padding::kNone, .copies_on_one_stream = true},
    {.name = "one list of mels alone, on one stream",
     .has_tokens = false,
     .has_host_piece = false,
     .padding = Padding::kNone,
     .copies_on_one_stream = true,
     .waits_for_readers = false},
}};

// The parts of a slot.
struct Parts {
  device::HostMemory memory;
  cuda::HostLock locked;
  cuda::DeviceMemory data;
  cuda::Stream stream;
  cuda::Event read;    // stands for a consumer's last kernel
  cuda::Event copied;  // between two streams
  cuda::Event uploaded;
  bool is_used = false;
};

class Uploads {
 public:
  static Result<std::unique_ptr<Uploads>> open() {
    auto made = std::unique_ptr<Uploads>(new Uploads);
    XTTS_ASSIGN(made->context_, cuda::Context::open(0));
    XTTS_ASSIGN(made->kernels_, cuda::Kernels::load(made->context_));
    XTTS_ASSIGN(auto one, cuda::Stream::create(made->context_));
    made->one_stream_ = std::make_unique<cuda::Stream>(std::move(one));
    XTTS_ASSIGN(auto step, cuda::Stream::create(made->context_));
    made->step_ = std::make_unique<cuda::Stream>(std::move(step));
    while (made->slots_.size() < kSlots) XTTS_TRY(made->add_slot());
    return made;
  }

  Result<double> time(const Variant& variant, std::size_t rounds) {
    for (std::size_t i = 0; i < kSlots; ++i) XTTS_TRY(upload(variant, slots_[i]));
    for (Parts& slot : slots_) XTTS_TRY(slot.uploaded.wait());
    const Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < rounds; ++i) XTTS_TRY(upload(variant, slots_[i % kSlots]));
    for (Parts& slot : slots_) XTTS_TRY(slot.uploaded.wait());
    return seconds_since(begin);
  }

 private:
  Status add_slot() {
    XTTS_ASSIGN(auto memory,
                device::HostMemory::allocate(kSlotBytes, {.numa_node = context_->numa_node(),
                                                          .is_kept_from_children = true}));
    XTTS_ASSIGN(auto locked, cuda::HostLock::lock(context_, memory.bytes()));
    XTTS_ASSIGN(auto data, cuda::DevicePool::of(context_)->allocate(kSlotBytes));
    XTTS_ASSIGN(auto stream, cuda::Stream::create(context_));
    XTTS_ASSIGN(auto read, cuda::Event::create(context_));
    XTTS_ASSIGN(auto copied, cuda::Event::create(context_));
    XTTS_ASSIGN(auto uploaded, cuda::Event::create(context_));
    slots_.push_back({std::move(memory), std::move(locked), std::move(data), std::move(stream),
                      std::move(read), std::move(copied), std::move(uploaded)});
    return {};
  }

  Status upload(const Variant& variant, Parts& slot) {
    if (slot.is_used) XTTS_TRY(slot.uploaded.wait());
    slot.is_used = true;
    const cuda::Stream& copying = variant.copies_on_one_stream ? *one_stream_ : slot.stream;
    if (variant.waits_for_readers) {
      XTTS_TRY(slot.read.record(step_->handle()));
      XTTS_TRY(slot.read.let_wait(copying.handle(), *context_));
    }
    if (variant.padding == Padding::kBefore) XTTS_TRY(pad(variant, slot, copying));
    XTTS_TRY(copy(variant, slot, copying));
    if (&copying != &slot.stream) {
      XTTS_TRY(slot.copied.record(copying.handle()));
      XTTS_TRY(slot.copied.let_wait(slot.stream.handle(), *context_));
    }
    if (variant.padding == Padding::kAfter) XTTS_TRY(pad(variant, slot, slot.stream));
    return slot.uploaded.record(slot.stream.handle());
  }

  Status copy(const Variant& variant, Parts& slot, const cuda::Stream& stream) {
    if (variant.is_one_copy) {
      list_.add(slot.data.address(), slot.memory.bytes().data(), true_bytes(rows_));
      return list_.enqueue(*context_, stream.handle());
    }
    const device::SlotBytes size{.staging = variant.has_tokens ? kStagingBytes : kRows * kMelBytes,
                                 .host = variant.has_host_piece ? kHostBytes : 0};
    std::vector<device::FilledRange> filled = padding_of(variant);
    std::vector<device::ChangedRange> changed;
    std::vector<device::BorrowedRange> borrowed;
    const std::size_t bridged_bytes_max =
        context_->copies_lists() ? device::kBridgedInOneCallMax : device::kBridgedByCallsMax;
    for (const device::CopiedRange& range :
         device::plan_copies(size, bridged_bytes_max, filled, changed, borrowed)) {
      list_.add(slot.data.address() + range.offset_bytes,
                slot.memory.bytes().data() + range.offset_bytes, range.size_bytes);
    }
    return list_.enqueue(*context_, stream.handle());
  }

  Status pad(const Variant& variant, const Parts& slot, const cuda::Stream& stream) const {
    cuda::FillTable table{};
    static_assert(2 * kRows <= cuda::kFillRangesMax);
    for (const device::FilledRange& range : padding_of(variant)) {
      table.ranges[table.range_count++] = {.address = slot.data.address() + range.offset_bytes,
                                           .size_bytes = range.size_bytes,
                                           .bits = range.pattern.bits,
                                           .element_bytes = range.pattern.element_bytes};
    }
    return kernels_->fill(table, stream.handle());
  }

  [[nodiscard]] std::vector<device::FilledRange> padding_of(const Variant& variant) const {
    std::vector<device::FilledRange> filled;
    const auto add = [&](std::size_t row_begin, std::size_t used_bytes, std::size_t row_bytes) {
      if (used_bytes == row_bytes) return;
      filled.push_back({.offset_bytes = row_begin + used_bytes,
                        .size_bytes = row_bytes - used_bytes,
                        .pattern = {.bits = 0xC1380000, .element_bytes = 4}});
    };
    for (std::size_t i = 0; i < kRows; ++i) {
      add(i * kMelBytes, rows_[i].mel_bytes, kMelBytes);
      if (!variant.has_tokens) continue;
      add(kRows * kMelBytes + i * kTokenBytes, rows_[i].token_bytes, kTokenBytes);
    }
    return filled;
  }

  const std::vector<Row> rows_ = made_rows();
  std::shared_ptr<const cuda::Context> context_;
  std::unique_ptr<cuda::Kernels> kernels_;
  std::unique_ptr<cuda::Stream> one_stream_, step_;
  std::vector<Parts> slots_;
  cuda::CopyList list_;
};

int fail(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  auto uploads = Uploads::open();
  if (!uploads.ok()) return fail(uploads.status());
  double plain_s = 1e9;
  std::array<double, kVariants.size()> seconds{};
  seconds.fill(1e9);
  for (int turn = 0; turn < 5; ++turn) {  // the best of five: other work on the machine only slows
    const auto plain = time_plain(true_bytes(made_rows()), rounds);
    if (!plain.ok()) return fail(plain.status());
    plain_s = std::min(plain_s, *plain);
    for (std::size_t i = 0; i < kVariants.size(); ++i) {
      const auto time = (*uploads)->time(kVariants[i], rounds);
      if (!time.ok()) return fail(time.status());
      seconds[i] = std::min(seconds[i], *time);
    }
  }
  const double to_us = 1e6 / static_cast<double>(rounds);
  std::printf("| upload of a batch | us | of a plain loop |\n|---|---|---|\n");
  std::printf("| a plain loop | %.0f | |\n", plain_s * to_us);
  for (std::size_t i = 0; i < kVariants.size(); ++i) {
    std::printf("| %s | %.0f | %.0f %% |\n", kVariants[i].name, seconds[i] * to_us,
                100 * plain_s / seconds[i]);
  }
  return 0;
}
