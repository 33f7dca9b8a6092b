// The progress line of a long command. Pure: the caller decides when and where it is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace xtts::report {

// The lines below call what is counted clips.
struct Progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  std::uint64_t rejects = 0;
  double per_second = 0.0;       // of `done`
  double realtime_factor = 0.0;  // seconds of sound a second; 0 where no sound is read
  double bytes_per_s = 0.0;
  std::optional<double> seconds_left;
};

// Returns one line of at most `width` columns for a terminal: a bar, then the figures. A narrow
// terminal loses the bar first, then the figures from the last. The line never wraps, because a
// wrapped line cannot be drawn over.
[[nodiscard]] std::string render_progress_bar(const Progress& progress, std::size_t width);
// Returns one whole line for a log: no bar, no control characters, nothing cut.
[[nodiscard]] std::string render_progress_line(const Progress& progress);

}  // namespace xtts::report
