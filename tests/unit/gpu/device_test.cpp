// What every device promises; "cpu" is the one that this build has everywhere.
#include "gpu/device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace xtts::gpu {
namespace {

std::shared_ptr<Device> cpu() {
  auto device = Device::open("cpu");
  EXPECT_TRUE(device.ok()) << device.status().message();
  return *device;
}

TEST(Device, SlotsBeginOnAPageAndAreZero) {
  for (const std::size_t size_bytes : {std::size_t{1}, std::size_t{5000}, std::size_t{9} << 20U}) {
    const auto slot = cpu()->make_slot(size_bytes);
    ASSERT_TRUE(slot.ok()) << slot.status().message();
    const auto host = (*slot)->host();
    ASSERT_EQ(host.size(), size_bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(host.data()) % 4096, 0U);
    EXPECT_EQ(host.front(), std::byte{0});
    EXPECT_EQ(host.back(), std::byte{0});
  }
}

TEST(Device, ConsumerSeesWhatWasWrittenAndFilled) {
  const auto slot = cpu()->make_slot(64);
  ASSERT_TRUE(slot.ok());
  const std::uint32_t written = 0x01020304;
  std::memcpy((*slot)->host().data(), &written, sizeof written);
  (*slot)->fill(4, 8, {.bits = 0x11223344, .element_bytes = 4});
  (*slot)->fill(12, 4, {.bits = 0x5566, .element_bytes = 2});
  (*slot)->fill(16, 3, {.bits = 0x77, .element_bytes = 1});
  (*slot)->fill(24, 16, {.bits = 0x8899AABBCCDDEEFF, .element_bytes = 8});
  ASSERT_TRUE((*slot)->upload().ok());
  ASSERT_TRUE((*slot)->wait_for_upload().ok());
  const std::byte* seen = (*slot)->consumer_data();
  const auto u32_at = [&](std::size_t offset) {
    std::uint32_t value = 0;
    std::memcpy(&value, seen + offset, sizeof value);
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
}

TEST(Device, SlotOutlivesWhoeverMadeIt) {
  auto device = cpu();
  auto slot = device->make_slot(16);
  device.reset();
  ASSERT_TRUE(slot.ok());
  (*slot)->fill(0, 16, {.bits = 1, .element_bytes = 1});
  EXPECT_EQ((*slot)->consumer_data()[15], std::byte{1});
}

TEST(Device, LocksMemoryOrSaysWhyNot) {
  const auto device = Device::open("cpu", {.lock_memory = true});
  ASSERT_TRUE(device.ok());
  const auto small = (*device)->make_slot(4096);
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

TEST(Device, MoreMemoryThanThereIsIsAValue) {
  const auto slot = cpu()->make_slot(std::size_t{1} << 60U);
  ASSERT_FALSE(slot.ok());
  EXPECT_EQ(slot.status().code(), StatusCode::kResource);
}

}  // namespace
}  // namespace xtts::gpu
