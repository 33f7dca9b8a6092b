// ProgressView draws a progress line on stderr. On a terminal it redraws one line, ten times a
// second at most. Elsewhere it writes a whole line every ten seconds. It writes nothing with
// --quiet. Synchronised inside; a call is cheap when no line is due.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "cli/app.hpp"

namespace xtts::report {
class ProgressMeter;
}

namespace xtts::cli {

class ProgressView {
 public:
  explicit ProgressView(Context& context);
  ~ProgressView();  // erases the drawn line
  ProgressView(const ProgressView&) = delete;
  ProgressView& operator=(const ProgressView&) = delete;

  // Called only when a line is due. `bar` draws at most `width` columns, `line` is for logs.
  struct Lines {
    std::function<std::string(std::size_t width)> bar;
    std::function<std::string()> line;
  };
  void update(const Lines& lines);
  // Draws the last figures of `meter`, which counts clips.
  void update(const report::ProgressMeter& meter);
  // Uses one text for both, cut to the terminal's width.
  void update(const std::function<std::string()>& text);
  // Erases the line, so that a message can be written. The next update draws it again.
  void clear();

 private:
  void clear_locked();

  Context& context_;
  const bool is_shown_;
  std::mutex mutex_;
  std::chrono::nanoseconds next_;
  bool is_drawn_ = false;
};

}  // namespace xtts::cli
