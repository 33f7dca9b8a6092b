// Mutations: kernels with one wrong instruction each. A test that compares a kernel's results is
// good if it notices them.
//
// Pure. Takes text that parse() accepts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace xtts::testing::ptx {

enum class MutationKind : std::uint8_t {
  kArithmetic,  // another operation: add for sub, mul for add
  kCondition,   // the opposite comparison or guard
  kBoundary,    // "less" for "at most": some loops are as good with either
  kTable,       // reads the table 8 bytes further
};

struct Mutation {
  MutationKind kind = MutationKind::kArithmetic;
  std::string kernel;
  std::uint32_t line = 0;  // of the whole text
  std::string before;
  std::string after;
  std::string program = {};  // text of this kernel alone
};

[[nodiscard]] std::vector<Mutation> mutations_of(std::string_view text);

// How many mutations a test has noticed. Some change no result: a loop may end by "less" or by "at
// most", and a choice between two ways to divide is a matter of speed. So shares are asked for.
class MutationCount {
 public:
  void add(const Mutation& mutation, bool is_noticed);
  // The kinds of which too few were noticed, with those that were not; empty: none.
  [[nodiscard]] std::string shortfall() const;

 private:
  struct Count {
    std::size_t made = 0;
    std::vector<Mutation> missed = {};
  };
  std::map<MutationKind, Count> counts_;
};

}  // namespace xtts::testing::ptx
