// The promises of every device, on the CPU and on CUDA over an adversarial driver; then what each
// promises by itself.
#include "device/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "support/device_under_test.hpp"

namespace xtts::device {
namespace {

using testing::DeviceChoice;
using testing::DeviceUnderTest;

class AnyDevice : public ::testing::TestWithParam<DeviceChoice> {
 protected:
  [[nodiscard]] std::unique_ptr<SlotMemory> slot_of(const SlotBytes& size) const {
    auto slot = under_test_.device()->make_slot(size);
    EXPECT_TRUE(slot.ok()) << slot.status().message();
    return std::move(*slot);
  }
  [[nodiscard]] std::vector<std::byte> seen(const SlotMemory& slot, std::size_t size_bytes) const {
    return under_test_.read({slot.consumer_data(), size_bytes});
  }

  DeviceUnderTest under_test_{GetParam()};
};

const Event& must(const Result<const Event*>& uploaded) {
  EXPECT_TRUE(uploaded.ok()) << uploaded.status().message();
  return **uploaded;
}

TEST_P(AnyDevice, SlotsBeginOnAPageAndAreZero) {
  for (const std::size_t size_bytes : {std::size_t{1}, std::size_t{5000}, std::size_t{9} << 20U}) {
    const auto slot = slot_of({.staging = size_bytes, .host = size_bytes});
    ASSERT_TRUE(slot->begin_filling().ok());
    for (const auto bytes : {slot->staging(), slot->host().first(size_bytes)}) {
      ASSERT_EQ(bytes.size(), size_bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 4096, 0U);
      EXPECT_EQ(bytes.front(), std::byte{0});
      EXPECT_EQ(bytes.back(), std::byte{0});
    }
  }
}

TEST_P(AnyDevice, ConsumerSeesWhatWasWrittenAndFilled) {
  const auto slot = slot_of({.staging = 64, .host = 8});
  ASSERT_TRUE(slot->begin_filling().ok());
  const std::uint32_t written = 0x01020304;
  std::memset(slot->staging().data(), 0, 64);
  std::memcpy(slot->staging().data(), &written, sizeof written);
  std::memcpy(slot->host().data(), &written, sizeof written);
  slot->fill(4, 8, {.bits = 0x11223344, .element_bytes = 4});
  slot->fill(12, 4, {.bits = 0x5566, .element_bytes = 2});
  slot->fill(16, 3, {.bits = 0x77, .element_bytes = 1});
  slot->fill(24, 16, {.bits = 0x8899AABBCCDDEEFF, .element_bytes = 8});
  ASSERT_TRUE(must(slot->upload()).wait().ok());
  const auto bytes = seen(*slot, 64);
  const auto u32_at = [&](std::size_t offset) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  };
  EXPECT_EQ(u32_at(0), written);
  EXPECT_EQ(u32_at(4), 0x11223344U);
  EXPECT_EQ(u32_at(8), 0x11223344U);
  EXPECT_EQ(u32_at(12), 0x55665566U);
  EXPECT_EQ(u32_at(16), 0x00777777U);
  EXPECT_EQ(u32_at(20), 0U);
  EXPECT_EQ(u32_at(24), 0xCCDDEEFFU);
  EXPECT_EQ(u32_at(36), 0x8899AABBU);
  EXPECT_EQ(u32_at(40), 0U);
  EXPECT_EQ(std::memcmp(slot->host().data(), &written, sizeof written), 0);
  slot->end_lease();
}

TEST_P(AnyDevice, WhatIsDiscardedIsNotSeen) {
  const auto slot = slot_of({.staging = 4096});
  ASSERT_TRUE(slot->begin_filling().ok());
  slot->fill(0, 4096, {.bits = 9, .element_bytes = 1});
  slot->discard();
  std::memset(slot->staging().data(), 3, 4000);
  slot->fill(4000, 96, {.bits = 4, .element_bytes = 1});
  ASSERT_TRUE(must(slot->upload()).wait().ok());
  const auto bytes = seen(*slot, 4096);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{3}), 4000);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{4}), 96);
  slot->end_lease();
}

TEST_P(AnyDevice, SlotGoesRound) {
  const auto slot = slot_of({.staging = 10'000, .host = 4});
  for (std::uint32_t round = 1; round < 50; ++round) {
    ASSERT_TRUE(slot->begin_filling().ok());
    ASSERT_TRUE(slot->begin_filling().ok());  // of another filler
    std::memset(slot->staging().data(), static_cast<int>(round), 9'000);
    slot->fill(9'000, 1'000, {.bits = round + 100, .element_bytes = 1});
    std::memcpy(slot->host().data(), &round, sizeof round);
    const auto uploaded = slot->upload();
    ASSERT_TRUE(uploaded.ok());
    if (round % 3 != 0) {  // else nobody looked at it
      ASSERT_TRUE((*uploaded)->wait().ok());
      const auto bytes = seen(*slot, 10'000);
      EXPECT_EQ(std::count(bytes.begin(), bytes.end(), static_cast<std::byte>(round)), 9'000);
      EXPECT_EQ(std::count(bytes.begin(), bytes.end(), static_cast<std::byte>(round + 100)), 1'000);
      EXPECT_EQ(std::memcmp(slot->host().data(), &round, sizeof round), 0);
    }
    slot->end_lease();
  }
}

// Several wait at once until the last upload is done; none undoes what another has done since.
TEST_P(AnyDevice, FillersThatBeginTogetherKeepWhatTheOthersFill) {
  constexpr std::size_t kFillers = 3;
  const auto slot = slot_of({.staging = 300});
  for (int round = 0; round < 100; ++round) {
    std::barrier together(kFillers);
    {
      std::vector<std::jthread> fillers;
      for (std::size_t filler = 0; filler < kFillers; ++filler) {
        fillers.emplace_back([&, filler] {
          together.arrive_and_wait();
          EXPECT_TRUE(slot->begin_filling().ok());
          slot->fill(100 * filler, 100, {.bits = filler + 1, .element_bytes = 1});
        });
      }
    }
    const auto uploaded = slot->upload();
    ASSERT_TRUE(uploaded.ok());
    if (round % 2 == 1) {
      ASSERT_TRUE((*uploaded)->wait().ok());
      const auto bytes = seen(*slot, 300);
      for (std::size_t filler = 0; filler < kFillers; ++filler)
        EXPECT_EQ(bytes[100 * filler], static_cast<std::byte>(filler + 1)) << round;
    }
    slot->end_lease();
  }
}

// Writes bytes that a batch borrows, in memory of the device: `letter`, from `first` on.
std::span<std::byte> write(BorrowableMemory& memory, std::size_t first, std::size_t size,
                           char letter) {
  const auto bytes = memory.bytes().subspan(first, size);
  std::ranges::fill(bytes, static_cast<std::byte>(letter));
  return bytes;
}

TEST_P(AnyDevice, BorrowedBytesAreSeenAndMayChangeOnceTheyAreCopied) {
  auto memory = under_test_.device()->make_borrowable(8192);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  const auto slot = slot_of({.staging = 64, .host = 8, .has_changes = true});
  ASSERT_TRUE(slot->begin_filling().ok());
  ASSERT_EQ(memory->has_value(), !under_test_.device()->reads_host_memory());
  if (!memory->has_value()) {
    EXPECT_FALSE(slot->borrow(0, slot->host()));
    EXPECT_EQ(slot->borrowed_until(), nullptr);
    return;
  }
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(slot->begin_filling().ok());
    std::memset(slot->staging().data(), 'w', 64);
    ASSERT_TRUE(slot->borrow(8, write(**memory, 4000, 16, 'b')));
    slot->fill(24, 8, {.bits = 'f', .element_bytes = 1});
    // Half floats of which each is 1, widened: 0x3C00 and 0x3F800000.
    ASSERT_TRUE(slot->change(32, 16, {.from = DType::kFloat16, .to = DType::kFloat32}));
    const auto halves = (*memory)->bytes().first(8);
    for (std::size_t i = 0; i < 8; ++i) halves[i] = std::byte(i % 2 == 0 ? 0x00 : 0x3C);
    ASSERT_TRUE(slot->borrow(32, halves));
    const Event& uploaded = must(slot->upload());
    const auto until = slot->borrowed_until();
    ASSERT_NE(until, nullptr);
    ASSERT_TRUE(until->wait().ok());
    EXPECT_TRUE(until->has_happened());
    write(**memory, 0, 8192, 'x');
    ASSERT_TRUE(uploaded.wait().ok());
    const auto bytes = seen(*slot, 64);
    const std::string text(reinterpret_cast<const char*>(bytes.data()), 64);
    EXPECT_EQ(text, std::string(8, 'w') + std::string(16, 'b') + std::string(8, 'f') +
                        std::string("\0\0\x80?\0\0\x80?\0\0\x80?\0\0\x80?", 16) +
                        std::string(16, 'w'));
    slot->end_lease();
  }
  ASSERT_TRUE(slot->begin_filling().ok());
  ASSERT_TRUE(slot->borrow(0, write(**memory, 0, 16, 'x')));
  slot->discard();
  std::memset(slot->staging().data(), 'w', 64);
  ASSERT_TRUE(must(slot->upload()).wait().ok());
  EXPECT_EQ(seen(*slot, 16), std::vector<std::byte>(16, std::byte{'w'}));
  slot->end_lease();
}

TEST_P(AnyDevice, TheEndOfBorrowingOutlivesItsSlot) {
  auto memory = under_test_.device()->make_borrowable(4096);
  ASSERT_TRUE(memory.ok());
  if (!memory->has_value()) GTEST_SKIP() << "the CPU borrows nothing";
  auto slot = slot_of({.staging = 64});
  ASSERT_TRUE(slot->begin_filling().ok());
  ASSERT_TRUE(slot->borrow(0, write(**memory, 0, 64, 'b')));
  ASSERT_TRUE(slot->upload().ok());
  const auto until = slot->borrowed_until();
  slot->end_lease();
  slot.reset();
  EXPECT_TRUE(until->wait().ok());
  EXPECT_TRUE(until->has_happened());
}

TEST_P(AnyDevice, WhatNoBatchCameOfIsFilledAgain) {
  const auto slot = slot_of({.staging = 100});
  ASSERT_TRUE(slot->begin_filling().ok());
  slot->end_lease();
  EXPECT_TRUE(slot->is_idle());
  ASSERT_TRUE(slot->begin_filling().ok());
}

TEST_P(AnyDevice, SlotOutlivesWhoeverMadeIt) {
  auto device = under_test_.device();
  auto slot = device->make_slot({.staging = 16});
  device.reset();
  ASSERT_TRUE(slot.ok());
  ASSERT_TRUE((*slot)->begin_filling().ok());
  (*slot)->fill(0, 16, {.bits = 1, .element_bytes = 1});
  ASSERT_TRUE(must((*slot)->upload()).wait().ok());
  EXPECT_EQ(seen(**slot, 16)[15], std::byte{1});
  (*slot)->end_lease();
}

INSTANTIATE_TEST_SUITE_P(Devices, AnyDevice, testing::all_devices(),
                         [](const auto& choice) { return testing::name_of(choice.param); });

std::shared_ptr<Device> cpu() {
  auto device = Device::open("cpu");
  EXPECT_TRUE(device.ok()) << device.status().message();
  return *device;
}

TEST(Device, CpuReadsTheMemoryOfTheHost) {
  EXPECT_TRUE(cpu()->reads_host_memory());
  EXPECT_EQ(cpu()->id(), (DeviceId{DeviceKind::kCpu, 0}));
  EXPECT_TRUE(cpu()->id().is_host());
  EXPECT_EQ(to_string(cpu()->id()), "cpu");
  EXPECT_EQ(to_string(DeviceId{DeviceKind::kCuda, 1}), "cuda:1");
  EXPECT_FALSE((DeviceId{DeviceKind::kCuda, 0}).is_host());
}

TEST(Device, AddedOneIsFoundByItsNameWhileItIsAdded) {
  {
    const AddedDevice added(
        "mine", [](const DeviceOptions& options) { return Device::open("cpu", options); });
    EXPECT_TRUE(Device::open("mine").ok());
  }
  EXPECT_FALSE(Device::open("mine").ok());
}

TEST(Device, LocksMemoryOrSaysWhyNot) {
  const auto device = Device::open("cpu", {.lock_memory = true});
  ASSERT_TRUE(device.ok());
  const auto small = (*device)->make_slot({.staging = 4096});
  ASSERT_TRUE(small.ok());
  // Either is right; which depends on the machine's limit.
  EXPECT_TRUE((*device)->shortfall().empty() ||
              (*device)->shortfall().find("ulimit -l") != std::string::npos);
  EXPECT_EQ(cpu()->shortfall(), "");
}

TEST(Device, UnknownOnesAreRefusedByName) {
  const auto device = Device::open("tpu:0");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.status().code(), StatusCode::kUnsupported);
  EXPECT_NE(device.status().message().find("tpu:0"), std::string::npos);
}

// The CPU would hide the mistake.
TEST(Device, AutoRefusesADataDeviceThatIsNotThere) {
  const DeviceUnderTest gpu(DeviceChoice::kCuda);
  const auto misnamed = Device::open("auto", {.data_device = "gpu0"});
  ASSERT_FALSE(misnamed.ok());
  EXPECT_EQ(misnamed.status().code(), StatusCode::kInvalidArgument);
  const auto missing = Device::open("auto", {.data_device = "cuda:77"});
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message().find("there is no GPU cuda:77"), std::string::npos)
      << missing.status().message();
}

TEST(Device, MoreMemoryThanThereIsIsAValue) {
  const auto slot = cpu()->make_slot({.staging = std::size_t{1} << 60U});
  ASSERT_FALSE(slot.ok());
  EXPECT_EQ(slot.status().code(), StatusCode::kResource);
}

}  // namespace
}  // namespace xtts::device
