#include "base/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <bit>
#include <random>

namespace xtts {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

Digest from_xxh(XXH128_hash_t hash) noexcept {
  return {hash.high64, hash.low64};
}

std::optional<std::uint64_t> parse_hex64(std::string_view text) {
  std::uint64_t value = 0;
  for (const char c : text) {
    const auto digit = kHexDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value << 4U | digit;
  }
  return value;
}

}  // namespace

std::string Digest::to_hex() const {
  std::string text(32, '0');
  for (unsigned i = 0; i < 16; ++i) {
    text[15 - i] = kHexDigits[high >> (4 * i) & 15U];
    text[31 - i] = kHexDigits[low >> (4 * i) & 15U];
  }
  return text;
}

std::optional<Digest> Digest::from_hex(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  const auto high = parse_hex64(text.substr(0, 16));
  const auto low = parse_hex64(text.substr(16));
  if (!high || !low) return std::nullopt;
  return Digest{*high, *low};
}

std::uint64_t check64(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Digest digest128(std::span<const std::byte> bytes) noexcept {
  return from_xxh(XXH3_128bits(bytes.data(), bytes.size()));
}

Digest digest128(std::string_view text) noexcept {
  return from_xxh(XXH3_128bits(text.data(), text.size()));
}

Digest random_digest() {
  std::random_device random;
  std::array<std::uint32_t, 4> words{};
  for (std::uint32_t& word : words) word = random();
  return std::bit_cast<Digest>(words);
}

struct StreamHasher::State {
  XXH3_state_t xxh;
};

// The 64-bit and the 128-bit XXH3 consume bytes alike; only their final step differs.
StreamHasher::StreamHasher() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}
StreamHasher::~StreamHasher() = default;
StreamHasher::StreamHasher(StreamHasher&&) noexcept = default;
StreamHasher& StreamHasher::operator=(StreamHasher&&) noexcept = default;

void StreamHasher::update(std::span<const std::byte> bytes) noexcept {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::uint64_t Hasher64::finish() const noexcept {
  return XXH3_64bits_digest(&state_->xxh);
}

Digest Hasher128::finish() const noexcept {
  return from_xxh(XXH3_128bits_digest(&state_->xxh));
}

}  // namespace xtts
