// Memory: what the threads of a launch may read and write, and what each has done there.
//
// One thread at a time. A use that is not allowed throws a Fault, in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace xtts::testing::ptx {

// A range of memory that a test allows. Addresses are those of the host.
struct MemoryRange {
  enum class Use : std::uint8_t {
    kRead,
    kWrite,
    kReadAndWrite,
    kFlag,    // written by any number of threads, all with the same value
    kShared,  // of the threads of a block; has no value before one of them writes
  };
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  Use use = Use::kRead;
};

class Memory {
 public:
  // The ranges lie apart from each other.
  explicit Memory(const std::vector<MemoryRange>& ranges);

  // `thread` is a number from 1. `size_bytes` is at most 8.
  [[nodiscard]] std::uint64_t load(std::uint32_t thread, std::uint64_t address,
                                   std::uint32_t size_bytes);
  void store(std::uint32_t thread, std::uint64_t address, std::uint32_t size_bytes,
             std::uint64_t bits);
  // A barrier of all threads that use this memory: what follows is ordered behind what was before.
  void pass_barrier();

 private:
  // Who used a byte: 0 is nobody.
  struct Byte {
    std::uint32_t writer = 0;
    std::uint32_t reader = 0;
    bool is_set = false;  // by a thread, before the barrier or behind it
  };
  struct Watched {
    MemoryRange range;
    std::vector<Byte> bytes;  // empty where nobody may write
  };
  [[nodiscard]] Watched& find(std::uint64_t address, std::uint32_t size_bytes, bool is_write);

  std::vector<Watched> watched_;  // by address
};

}  // namespace xtts::testing::ptx
