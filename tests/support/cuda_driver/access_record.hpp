// AccessRecord: who used which bytes of a memory. It finds two uses of a byte that no event, stream
// or wait orders, where one of them is a write.
//
// Tasks are entered in the order in which the host queued them. Their clocks are known by then, so
// the finding does not depend on the time at which the work is done. The driver's mutex guards it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/cuda_driver/clock.hpp"

namespace xtts::testing::fake_cuda {

// A task, as a record keeps it.
struct Trace {
  Stamp stamp;
  std::shared_ptr<const std::string> name;  // null: no task
};

class AccessRecord {
 public:
  struct Conflicts {
    std::vector<Trace> writes;          // that the use is not ordered behind
    std::vector<Trace> reads;           // the same, where the use is a write
    std::uint64_t unwritten_bytes = 0;  // that were never written
  };
  // Returns the conflicts with a use of [begin, end) that is ordered behind all that `clock`
  // covers.
  [[nodiscard]] Conflicts find_conflicts(std::uint64_t begin, std::uint64_t end, bool is_write,
                                         const Clock& clock) const;
  void add(std::uint64_t begin, std::uint64_t end, bool is_write, const Trace& trace);
  // The tasks in [begin, end) that `clock` does not cover.
  [[nodiscard]] std::vector<Trace> find_open(std::uint64_t begin, std::uint64_t end,
                                             const Clock& clock) const;

 private:
  struct Segment {
    std::uint64_t end = 0;
    Trace write;
    std::vector<Trace> reads;  // since the write; one for each stream
  };
  using Segments = std::map<std::uint64_t, Segment>;  // by their beginning
  [[nodiscard]] Segments::const_iterator first_behind(std::uint64_t begin) const;
  void cut_at(std::uint64_t place);

  Segments segments_;
};

}  // namespace xtts::testing::fake_cuda
