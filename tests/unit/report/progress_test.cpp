#include "report/progress.hpp"

#include <gtest/gtest.h>

#include "report/human.hpp"

namespace xtts::report {
namespace {

Progress half_way() {
  Progress progress;
  progress.done = 6550;
  progress.total = 13100;
  progress.rejects = 3;
  progress.per_second = 412.4;
  progress.realtime_factor = 2710.0;
  progress.bytes_per_s = 118e6;
  progress.seconds_left = 16.0;
  return progress;
}

TEST(Progress, LineForALogSaysEverything) {
  EXPECT_EQ(render_progress_line(half_way()),
            "50%, 6,550/13,100, ETA 16 s, 412 clips/s, 3 rejects, 2,710x real time, 118 MB/s");
}

TEST(Progress, BarShowsTheShareInEighthsOfACell) {
  EXPECT_EQ(
      render_progress_bar(half_way(), 96),
      " 50% ▕██████▌      ▏  6,550/13,100  ETA 16 s  412 clips/s  3 rejects  2,710x real time  "
      "118 MB/s");
}

TEST(Progress, FitsEveryWidth) {
  for (std::size_t width = 0; width < 200; ++width) {
    EXPECT_LE(display_width(render_progress_bar(half_way(), width)), width);
  }
}

TEST(Progress, NarrowTerminalKeepsCountAndTimeLeft) {
  EXPECT_EQ(render_progress_bar(half_way(), 30), " 50%  6,550/13,100  ETA 16 s");
}

TEST(Progress, HundredPerCentIsShownWhenAllIsDoneAndNotBefore) {
  Progress progress;
  progress.total = 100000;
  progress.done = 99999;
  EXPECT_EQ(render_progress_line(progress), "99%, 99,999/100,000");
  progress.done = 100000;
  EXPECT_EQ(render_progress_line(progress), "100%, 100,000/100,000");
}

TEST(Progress, NothingToDoIsDone) {
  EXPECT_EQ(render_progress_line(Progress{}), "100%, 0/0");
}

}  // namespace
}  // namespace xtts::report
