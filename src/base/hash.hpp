// The project has two hashes of the XXH3 family: 64 bits to detect damage, 128 bits to identify
// content. Neither resists an attacker, and we do not promise that. Shown as text, values have
// xxHash's canonical (big-endian) form; binary structures hold them little-endian. Digest and the
// free functions are pure; a StreamHasher belongs to one thread at a time.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace xtts {

struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend auto operator<=>(const Digest&, const Digest&) = default;

  // 32 lower-case hexadecimal digits.
  [[nodiscard]] std::string to_hex() const;
  [[nodiscard]] static std::optional<Digest> from_hex(std::string_view text);
};

[[nodiscard]] std::uint64_t check64(std::span<const std::byte> bytes,
                                    std::uint64_t seed = 0) noexcept;
[[nodiscard]] Digest digest128(std::span<const std::byte> bytes) noexcept;
[[nodiscard]] Digest digest128(std::string_view text) noexcept;

// Random: practically unique.
[[nodiscard]] Digest random_digest();

// Streaming forms, equal to the one-shot functions (seed 0) over the concatenation.
class StreamHasher {
 public:
  void update(std::span<const std::byte> bytes) noexcept;

 protected:
  StreamHasher();
  ~StreamHasher();
  StreamHasher(StreamHasher&&) noexcept;
  StreamHasher& operator=(StreamHasher&&) noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

class Hasher64 : public StreamHasher {
 public:
  [[nodiscard]] std::uint64_t finish() const noexcept;
};

class Hasher128 : public StreamHasher {
 public:
  [[nodiscard]] Digest finish() const noexcept;
};

}  // namespace xtts
