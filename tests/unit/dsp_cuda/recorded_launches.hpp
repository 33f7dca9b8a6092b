// LaunchRecorder: notes each launch of the frame kernels that an engine makes over the fake driver,
// with its memory before and behind the host's kernels. So a test has tables as our code makes
// them. replay() runs such a launch in the interpreter of PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dsp_cuda/kernels/frame_tables.hpp"
#include "support/ptx/ptx_machine.hpp"

namespace xtts::testing {

struct RecordedRange {
  std::string name;  // of the table's member
  bool is_written = false;
  std::vector<std::byte> before;
  std::vector<std::byte> after;
};

struct RecordedLaunch {
  std::string kernel;
  std::uint32_t grid_x = 0;
  std::uint32_t grid_y = 0;
  std::uint32_t block_x = 0;
  dsp_cuda::FrameTable table = {};  // addresses are numbers of ranges, or of no memory
  std::vector<RecordedRange> ranges = {};
};

// One at a time. Kernels are themselves again when it goes.
class LaunchRecorder {
 public:
  LaunchRecorder();
  ~LaunchRecorder();
  LaunchRecorder(const LaunchRecorder&) = delete;
  LaunchRecorder& operator=(const LaunchRecorder&) = delete;

  // Those since the last call. The work of the driver is done.
  [[nodiscard]] std::vector<RecordedLaunch> take();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

struct Replayed {
  Status status;
  std::vector<std::vector<std::byte>> after;  // by range
};

// `grid_x` and `block_x` are free: threads take pieces in turn. Rows of the grid are frames.
[[nodiscard]] Replayed replay(const ptx::Program& program, const RecordedLaunch& launch,
                              std::uint32_t grid_x, std::uint32_t block_x,
                              std::uint64_t steps_max = 1'000'000);

// Where the two differ in a bit, in words; empty: nowhere. Two NaN count as equal: their payload is
// the processor's.
[[nodiscard]] std::string difference(const RecordedLaunch& launch, const Replayed& replayed);

}  // namespace xtts::testing
