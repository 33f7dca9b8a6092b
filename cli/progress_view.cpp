#include "cli/progress_view.hpp"

#include "base/formatted.hpp"
#include "report/human.hpp"
#include "report/progress_meter.hpp"

namespace xtts::cli {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kLogLine{10};

}  // namespace

ProgressView::ProgressView(Context& context)
    : context_(context),
      is_shown_(context.shows_progress()),
      // The first line comes after one interval: shorter work needs no progress line.
      next_(context.env.now() + (context.err.is_terminal() ? std::chrono::nanoseconds(kRedraw)
                                                           : std::chrono::nanoseconds(kLogLine))) {}

ProgressView::~ProgressView() {
  clear();
}

void ProgressView::update(const Lines& lines) {
  if (!is_shown_) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // another thread is drawing a line
  const std::chrono::nanoseconds now = context_.env.now();
  if (now < next_) return;
  if (context_.err.is_terminal()) {
    next_ = now + kRedraw;
    // One column is left free: terminals wrap when the last one is written.
    const std::size_t width = context_.err.width();
    context_.err.write(formatted("\r{}\x1b[K", lines.bar(width > 1 ? width - 1 : 1)));
    is_drawn_ = true;
  } else {
    next_ = now + kLogLine;
    context_.err.write(lines.line() + "\n");
  }
}

void ProgressView::update(const report::ProgressMeter& meter) {
  update({.bar = [&](std::size_t width) { return render_progress_bar(meter.shown(), width); },
          .line = [&] { return render_progress_line(meter.shown()); }});
}

void ProgressView::update(const std::function<std::string()>& text) {
  update({.bar = [&](std::size_t width) { return report::shorten(text(), width); }, .line = text});
}

void ProgressView::clear() {
  const std::lock_guard lock(mutex_);
  clear_locked();
}

void ProgressView::clear_locked() {
  if (is_drawn_) context_.err.write("\r\x1b[K");
  is_drawn_ = false;
}

}  // namespace xtts::cli
