// upload_bench [ROUNDS]: how fast slots get to a GPU, beside a plain loop of page-locked copies of
// the same bytes (upload_batch.hpp), in one run. It prints rows of a table in Markdown.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/try.hpp"
#include "device/device.hpp"
#include "tests/gpu/upload_batch.hpp"

namespace {

using namespace xtts;
using namespace xtts::gpu_bench;

Result<double> time_slots(const std::vector<Row>& rows, std::size_t rounds) {
  XTTS_ASSIGN(const auto device, device::Device::open("cuda:0"));
  std::vector<std::unique_ptr<device::SlotMemory>> slots(kSlots);
  for (auto& slot : slots) {
    XTTS_ASSIGN(slot, device->make_slot({.staging = kStagingBytes, .host = 1024}));
  }
  const auto upload = [&](device::SlotMemory& slot) -> Status {
    XTTS_TRY(slot.begin_filling());
    for (std::size_t i = 0; i < kRows; ++i) {
      slot.fill(i * kMelBytes + rows[i].mel_bytes, kMelBytes - rows[i].mel_bytes,
                {.bits = 0xC1380000, .element_bytes = 4});
      slot.fill(kRows * kMelBytes + i * kTokenBytes + rows[i].token_bytes,
                kTokenBytes - rows[i].token_bytes, {.bits = 0, .element_bytes = 4});
    }
    XTTS_ASSIGN(const auto* const event, slot.upload());
    (void)event;
    slot.end_lease();
    return {};
  };
  for (auto& slot : slots) XTTS_TRY(upload(*slot));  // the first use of anything costs more
  for (auto& slot : slots) XTTS_TRY(slot->begin_filling());
  for (auto& slot : slots) slot->end_lease();
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < rounds; ++i) XTTS_TRY(upload(*slots[i % kSlots]));
  for (auto& slot : slots) XTTS_TRY(slot->begin_filling());  // waits for the uploads
  const double seconds = seconds_since(begin);
  for (auto& slot : slots) slot->end_lease();
  return seconds;
}

int fail(const Status& status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000;
  const std::vector<Row> rows = made_rows();
  const std::size_t bytes = true_bytes(rows);
  double plain_s = 1e9;
  double slots_s = 1e9;
  for (int i = 0; i < 5; ++i) {  // in turn, the best of five: other work on the machine only slows
    const auto plain = time_plain(bytes, rounds);
    if (!plain.ok()) return fail(plain.status());
    const auto slots = time_slots(rows, rounds);
    if (!slots.ok()) return fail(slots.status());
    plain_s = std::min(plain_s, *plain);
    slots_s = std::min(slots_s, *slots);
  }
  const double gigabytes = static_cast<double>(bytes * rounds) / 1e9;
  std::printf("| host to device, a plain loop of page-locked copies | %.1f GB/s |\n",
              gigabytes / plain_s);
  std::printf("| host to device, slots with padding made on the GPU | %.1f GB/s, %.0f %% of it |\n",
              gigabytes / slots_s, 100 * plain_s / slots_s);
  return 0;
}
