// The arithmetic of the hash kernel, written once: CUDA compiles it for devices, C++ for the host.
// It is XXH3-64 with a seed, for inputs of kHashedBytesMin bytes and more: check64() of
// base/hash.hpp, in every bit. Formulas and numbers are those of xxHash's specification.
//
// The input is cut into stripes of 64 bytes; 16 stripes are a block, of which the last one may have
// fewer. Eight lanes of 64 bits each run over all of them:
//
//   lane = scrambled(lane + lane_sum(block))    for each whole block that has a byte behind it
//   lane = lane + lane_sum(stripes that remain) + the part of the input's last 64 bytes
//   hash = finish_hash(all lanes, size)
//
// lane_sum() does not depend on the lane's value. So threads compute the sums of many blocks at
// once, and only additions and scrambles are left to be done in the order of the blocks.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "cuda/kernels/range_tables.hpp"

namespace xtts::cuda {

inline constexpr std::uint32_t kHashLanes = 8;
inline constexpr std::uint32_t kHashStripeWords = 8;
inline constexpr std::uint32_t kHashStripeBytes = 64;
inline constexpr std::uint32_t kHashBlockStripes = 16;
inline constexpr std::uint32_t kHashBlockBytes = kHashBlockStripes * kHashStripeBytes;

// XXH3's factors. Single numbers, because device code sees no arrays of the host's.
inline constexpr std::uint64_t kHashShort1 = 0x9E3779B1U;
inline constexpr std::uint64_t kHashShort2 = 0x85EBCA77U;
inline constexpr std::uint64_t kHashShort3 = 0xC2B2AE3DU;
inline constexpr std::uint64_t kHashLong1 = 0x9E3779B185EBCA87U;
inline constexpr std::uint64_t kHashLong2 = 0xC2B2AE3D27D4EB4FU;
inline constexpr std::uint64_t kHashLong3 = 0x165667B19E3779F9U;
inline constexpr std::uint64_t kHashLong4 = 0x85EBCA77C2B2AE63U;
inline constexpr std::uint64_t kHashLong5 = 0x27D4EB2F165667C5U;
inline constexpr std::uint64_t kHashFinal = 0x165667919E3779F9U;

// Where the secret's keys begin: for scrambling, for the last 64 bytes, for the end.
inline constexpr std::uint32_t kScrambleSecretWord = 16;
inline constexpr std::uint32_t kLastSecretBytes = 121;
inline constexpr std::uint32_t kFinishSecretBytes = 11;

struct HashState {
  std::uint64_t secret[24];  // the secret's 192 bytes, changed by the seed
  std::uint64_t lanes[kHashLanes];
};

struct HashPlan {
  std::uint64_t whole_blocks;  // which end in a scramble
  std::uint32_t stripes_behind;
};

// Each stripe that is counted here has at least one byte behind it. The input's last 64 bytes are
// added apart (last_part()).
XTTS_ON_BOTH inline HashPlan plan_hash(std::uint64_t size_bytes) {
  const std::uint64_t before_last = size_bytes - 1;
  return {before_last / kHashBlockBytes,
          static_cast<std::uint32_t>(before_last % kHashBlockBytes) / kHashStripeBytes};
}

XTTS_ON_BOTH inline std::uint32_t stripes_of_block(const HashPlan& plan, std::uint64_t block) {
  return block < plan.whole_blocks ? kHashBlockStripes : plan.stripes_behind;
}

XTTS_ON_BOTH inline void set_secret_pair(std::uint64_t* pair, std::uint64_t first,
                                         std::uint64_t second, std::uint64_t seed) {
  pair[0] = first + seed;
  pair[1] = second - seed;
}

// XXH3's default secret, changed by the seed, and the lanes' first values. No loop over an array
// of constants: a GPU would read that from memory.
XTTS_ON_BOTH inline void begin_hash(HashState& state, std::uint64_t seed) {
  set_secret_pair(state.secret + 0, 0xBE4BA423396CFEB8U, 0x1CAD21F72C81017CU, seed);
  set_secret_pair(state.secret + 2, 0xDB979083E96DD4DEU, 0x1F67B3B7A4A44072U, seed);
  set_secret_pair(state.secret + 4, 0x78E5C0CC4EE679CBU, 0x2172FFCC7DD05A82U, seed);
  set_secret_pair(state.secret + 6, 0x8E2443F7744608B8U, 0x4C263A81E69035E0U, seed);
  set_secret_pair(state.secret + 8, 0xCB00C391BB52283CU, 0xA32E531B8B65D088U, seed);
  set_secret_pair(state.secret + 10, 0x4EF90DA297486471U, 0xD8ACDEA946EF1938U, seed);
  set_secret_pair(state.secret + 12, 0x3F349CE33F76FAA8U, 0x1D4F0BC7C7BBDCF9U, seed);
  set_secret_pair(state.secret + 14, 0x3159B4CD4BE0518AU, 0x647378D9C97E9FC8U, seed);
  set_secret_pair(state.secret + 16, 0xC3EBD33483ACC5EAU, 0xEB6313FAFFA081C5U, seed);
  set_secret_pair(state.secret + 18, 0x49DAF0B751DD0D17U, 0x9E68D429265516D3U, seed);
  set_secret_pair(state.secret + 20, 0xFCA1477D58BE162BU, 0xCE31D07AD1B8F88FU, seed);
  set_secret_pair(state.secret + 22, 0x280416958F3ACB45U, 0x7E404BBBCAFBD7AFU, seed);
  state.lanes[0] = kHashShort3;
  state.lanes[1] = kHashLong1;
  state.lanes[2] = kHashLong2;
  state.lanes[3] = kHashLong3;
  state.lanes[4] = kHashLong4;
  state.lanes[5] = kHashShort2;
  state.lanes[6] = kHashLong5;
  state.lanes[7] = kHashShort1;
}

// The secret's 8 bytes at an offset that is no multiple of 8.
XTTS_ON_BOTH inline std::uint64_t secret_at(const HashState& state, std::uint32_t offset_bytes) {
  const std::uint32_t word = offset_bytes / 8;
  const std::uint32_t shift = 8 * (offset_bytes % 8);
  return state.secret[word] >> shift | state.secret[word + 1] << (64 - shift);
}

XTTS_ON_BOTH inline std::uint64_t lower_half(std::uint64_t value) {
  return value & 0xFFFFFFFFU;
}

// What a stripe adds to a lane: the word of the lane beside it, and a product of its own word.
XTTS_ON_BOTH inline std::uint64_t stripe_part(std::uint64_t own, std::uint64_t beside,
                                              std::uint64_t secret) {
  const std::uint64_t key = own ^ secret;
  return beside + lower_half(key) * (key >> 32U);
}

// Words of a memory at any address. A GPU loads words from multiples of 8 alone. So the two such
// words are loaded in which a word lies; nothing else is read.
struct HashedWords {
  const std::uint64_t* words;  // the first one holds the memory's first byte
  std::uint32_t shift;         // the bits before it
};

XTTS_ON_BOTH inline HashedWords words_of(const unsigned char* memory) {
  const auto skew = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(memory) % 8);
  return {reinterpret_cast<const std::uint64_t*>(memory - skew), 8 * skew};
}

XTTS_ON_BOTH inline std::uint64_t word_at(const HashedWords& from, std::uint64_t index) {
  const std::uint64_t word = from.words[index];
  if (from.shift == 0) return word;
  return word >> from.shift | from.words[index + 1] << (64 - from.shift);
}

// What the first `stripe_count` stripes of a block add to the lane.
XTTS_ON_BOTH inline std::uint64_t lane_sum(const HashState& state, const HashedWords& from,
                                           std::uint64_t block, std::uint32_t stripe_count,
                                           std::uint32_t lane) {
  std::uint64_t sum = 0;
  const std::uint64_t first = block * (kHashBlockStripes * kHashStripeWords);
  for (std::uint32_t stripe = 0; stripe < stripe_count; ++stripe) {
    const std::uint64_t word = first + stripe * kHashStripeWords;
    sum += stripe_part(word_at(from, word + lane), word_at(from, word + (lane ^ 1U)),
                       state.secret[stripe + lane]);
  }
  return sum;
}

// The lane's value behind the block whose sum this is.
XTTS_ON_BOTH inline std::uint64_t lane_behind_block(const HashState& state, const HashPlan& plan,
                                                    std::uint64_t block, std::uint32_t lane,
                                                    std::uint64_t value, std::uint64_t sum) {
  value += sum;
  if (block >= plan.whole_blocks) return value;
  return (value ^ value >> 47U ^ state.secret[kScrambleSecretWord + lane]) * kHashShort1;
}

// The input's last 64 bytes lie at another skew, so their words are read byte by byte.
XTTS_ON_BOTH inline std::uint64_t load_word(const unsigned char* bytes) {
  std::uint64_t word = 0;
  for (std::uint32_t i = 0; i < 8; ++i) word |= std::uint64_t{bytes[i]} << (8 * i);
  return word;
}

// What the input's last 64 bytes add to the lane.
XTTS_ON_BOTH inline std::uint64_t last_part(const HashState& state, const unsigned char* memory,
                                            std::uint64_t size_bytes, std::uint32_t lane) {
  const unsigned char* const stripe = memory + size_bytes - kHashStripeBytes;
  return stripe_part(load_word(stripe + std::uint64_t{8} * lane),
                     load_word(stripe + std::uint64_t{8} * (lane ^ 1U)),
                     secret_at(state, kLastSecretBytes + 8 * lane));
}

// The two halves of the 128-bit product, one combined with the other.
XTTS_ON_BOTH inline std::uint64_t folded_product(std::uint64_t x, std::uint64_t y) {
  const std::uint64_t low = lower_half(x) * lower_half(y);
  const std::uint64_t first = (x >> 32U) * lower_half(y);
  const std::uint64_t second = lower_half(x) * (y >> 32U);
  const std::uint64_t middle = (low >> 32U) + lower_half(first) + second;
  const std::uint64_t high = (x >> 32U) * (y >> 32U) + (first >> 32U) + (middle >> 32U);
  return high ^ (middle << 32U | lower_half(low));
}

XTTS_ON_BOTH inline std::uint64_t finish_hash(const HashState& state, std::uint64_t size_bytes) {
  std::uint64_t value = size_bytes * kHashLong1;
  for (std::uint32_t lane = 0; lane < kHashLanes; lane += 2) {
    const std::uint32_t offset_bytes = kFinishSecretBytes + 8 * lane;
    value += folded_product(state.lanes[lane] ^ secret_at(state, offset_bytes),
                            state.lanes[lane + 1] ^ secret_at(state, offset_bytes + 8));
  }
  value = (value ^ value >> 37U) * kHashFinal;
  return value ^ value >> 32U;
}

}  // namespace xtts::cuda
