// How the tests of the codecs damage bytes and say what the refusal must be.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "formats/bytes.hpp"
#include "formats/preamble.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// Both the code and words that name the field: a refusal for another reason is a failure of the
// test.
inline void expect_refused(const Status& status, StatusCode code, const std::string& words) {
  EXPECT_EQ(to_string(status.code()), to_string(code)) << status.message();
  EXPECT_THAT(status.message(), testing::HasSubstr(words));
}

// A value written into a sealed structure, and the check made right again: what a defective or
// hostile writer makes.
template <typename T>
[[nodiscard]] std::string patched(std::string bytes, std::size_t offset, T value) {
  const auto view = std::as_writable_bytes(std::span(bytes));
  store(view, offset, value);
  seal(view);
  return bytes;
}

// One bit turned, the check left alone: what a disk makes.
[[nodiscard]] inline std::string flipped(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) ^ (1U << bit % 8));
  return bytes;
}

}  // namespace xtts::formats
