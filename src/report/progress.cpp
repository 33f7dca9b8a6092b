#include "report/progress.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/formatted.hpp"
#include "report/human.hpp"

namespace xtts::report {
namespace {

constexpr std::size_t kBarMin = 8;
constexpr std::size_t kBarMax = 40;

double share_done(const Progress& progress) {
  if (progress.total == 0) return 1.0;
  return std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(progress.total));
}

// Gives whole per cents, rounded down: "100%" appears only when all is done.
std::string percent_text(const Progress& progress) {
  const auto percent = static_cast<int>(std::floor(share_done(progress) * 100.0 + 1e-9));
  return formatted("{}%", progress.done < progress.total ? std::min(percent, 99) : 100);
}

// Lists the figures from the most to the least important: a narrow terminal loses the last ones
// first.
std::vector<std::string> figures(const Progress& progress) {
  std::vector<std::string> out;
  out.push_back(formatted("{}/{}", format_count(progress.done), format_count(progress.total)));
  if (progress.seconds_left && progress.done < progress.total) {
    out.push_back("ETA " + format_estimate(*progress.seconds_left));
  }
  if (progress.per_second > 0.0) out.push_back(format_short(progress.per_second) + " clips/s");
  if (progress.rejects > 0) {
    out.push_back(format_counted(progress.rejects, "reject", "rejects"));
  }
  if (progress.realtime_factor > 0.0) {
    out.push_back(format_short(progress.realtime_factor) + "x real time");
  }
  if (progress.bytes_per_s > 0.0) out.push_back(format_short(progress.bytes_per_s / 1e6) + " MB/s");
  return out;
}

std::string bar(double share, std::size_t width) {
  // The bar grows by eighths of a cell. With 40 cells a step is 0.3 %, so the bar moves visibly in
  // a run of hours.
  constexpr std::array<const char*, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(share * static_cast<double>(width) * 8.0 + 1e-9);
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  out += kEighths[eighths % 8];
  const std::size_t filled = eighths / 8 + (eighths % 8 == 0 ? 0 : 1);
  return formatted("▕{}{}▏", out, std::string(width - filled, ' '));
}

}  // namespace

std::string render_progress_bar(const Progress& progress, std::size_t width) {
  const std::string percent = percent_text(progress);
  const std::string head = std::string(4 - percent.size(), ' ') + percent;
  std::vector<std::string> parts = figures(progress);
  const auto line_width = [&] {
    std::size_t sum = head.size();
    for (const std::string& part : parts) sum += 2 + display_width(part);
    return sum;
  };
  while (parts.size() > 1 && line_width() > width) parts.pop_back();
  std::string tail;
  for (const std::string& part : parts) tail += "  " + part;
  const std::size_t used = line_width() + 3;  // a space and the two ends of the bar
  std::string line = head;
  if (used + kBarMin <= width) {
    line += " " + bar(share_done(progress), std::min(kBarMax, width - used));
  }
  return shorten(line + tail, width);
}

std::string render_progress_line(const Progress& progress) {
  std::string line = percent_text(progress);
  for (const std::string& figure : figures(progress)) line += ", " + figure;
  return line;
}

}  // namespace xtts::report
