#include "cli/rated_progress.hpp"

#include "report/human.hpp"

namespace xtts::cli {

RatedProgress::RatedProgress(Context& context, Describe describe)
    : context_(context), describe_(describe), view_(context), rate_(context.env.now()) {}

void RatedProgress::update(std::uint64_t done, std::uint64_t total) {
  {
    const std::lock_guard lock(mutex_);
    rate_.update(context_.env.now(), static_cast<double>(done));
  }
  const auto text = [&] {
    const std::lock_guard lock(mutex_);
    const auto left = rate_.seconds_left(static_cast<double>(total));
    return describe_(done, total, rate_.per_second()) +
           (left ? "  ETA " + report::format_duration(*left) : std::string());
  };
  view_.update({[&](std::size_t width) { return report::shorten(text(), width); }, text});
}

}  // namespace xtts::cli
