// write_pages FOLDER: writes HTML reports of invented checks for check_pages.py: a usual one, an
// empty one, and one of hostile texts and extreme values.
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>

#include "doctor/doctor_page.hpp"

namespace {

using namespace xtts::doctor;

// Batches of 40 ms, with a stall of 190 ms at each tenth.
std::vector<double> stalling_times(std::size_t count) {
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i)
    times.push_back((i % 10 == 7 ? 190.0 : 40.0) + 6.0 * std::sin(static_cast<double>(i * i)));
  return times;
}

Check check_of_help() {
  Check check{.name = "will_it_help", .title = "Will a cache help?", .status = CheckStatus::kFail};
  check.summary =
      "Yes: training waits for data 54 to 61 % of each step. From a cache it becomes 2.1 to 2.6 "
      "times as fast, and building the cache has paid after 2 epochs.";
  check.evidence = {
      {"clips a second, librosa, 8 workers", "190 to 210 1/s", "measured, files in memory", 200.0,
       "1/s"},
      {"the step without a wait for data", "84 ms", "--step-ms", 84.0, "ms"},
      {"the step now", "184 to 196 ms", "predicted by the model of docs/doctor.md", 190.0, "ms"},
      {"the step from a cache", "84 to 92 ms", "predicted by the model of docs/doctor.md", 88.0,
       "ms"}};
  check.findings = {
      {.status = CheckStatus::kFail,
       .text = check.summary,
       .remedy = "Build a cache and set data.preprocessing_mode to precompute.",
       .changes = {{"data.preprocessing_mode", "runtime", "precompute",
                    "Batches come from a cache."},
                   {"data.cache_verification", "", "true",
                    "A damaged cache is found at the start."}},
       .gain = Gain{2.1, 2.6, "measured on 512 clips, within the range of three rounds"}}};
  check.charts = {{.title = "A training step",
                   .note = "predicted from measured rates",
                   .content = BarsChart{.unit = "ms",
                                        .bars = {{"now", 190.0, 184.0, 196.0},
                                                 {"from a cache", 88.0, 84.0, 92.0}},
                                        .levels = {}}},
                  {.title = "Split of a step now",
                   .note = "a profile of 40 steps",
                   .content = StackChart{.unit = "ms",
                                         .parts = {{"waiting for data", 99.2},
                                                   {"forward", 31.0},
                                                   {"backward", 44.0},
                                                   {"optimizer", 9.0},
                                                   {"other", 0.34}}}}};
  return check;
}

Check check_of_times() {
  Check check{.name = "pipeline", .title = "A run of the pipeline", .status = CheckStatus::kWarn};
  check.summary = "One batch in 10 takes 190 ms instead of 40 ms.";
  check.findings = {{.status = CheckStatus::kWarn,
                     .text = "One batch in 10 takes 190 ms instead of 40 ms.",
                     .remedy = "Set data.prefetch_buffer_size to 16.",
                     .changes = {{"data.prefetch_buffer_size", "2", "16",
                                  "A stall of 150 ms is covered by 4 batches."}},
                     .gain = Gain{1.1, 1.4, "computed from the times of 120 batches"},
                     .place = "config.yaml:31"}};
  check.evidence = {{"batches", "120", "measured", 120.0, ""}};
  check.charts = {{.title = "Times of 120 batches",
                   .note = "measured, after 5 that do not count",
                   .content = SeriesChart{.x_name = "batches",
                                          .unit = "ms",
                                          .values = stalling_times(120),
                                          .period = ChartPeriod{10.0, 3.0},
                                          .levels = {{"acceptable to 100 ms", 100.0}}}},
                  {.title = "How often which time",
                   .note = {},
                   .content = HistogramChart{
                       .unit = "ms",
                       .values = stalling_times(600),
                       .levels = {{"acceptable to 100 ms", 100.0}, {"bad from 200 ms", 200.0}}}}};
  return check;
}

std::vector<Check> usual_checks() {
  return {check_of_help(),
          check_of_times(),
          {.name = "storage",
           .title = "Storage",
           .status = CheckStatus::kPass,
           .summary = "The storage of ./data answers like an SSD: the clips of a batch of 32 take "
                      "12 ms one at a time.",
           .evidence = {{"kind", "SSD, ext4", "/sys and /proc", {}, ""},
                        {"sequential", "512 MiB/s", "read past the page cache", 5.4e8, "bytes/s"}}},
          {.name = "gpu",
           .title = "GPU hardware",
           .status = CheckStatus::kCannotTell,
           .summary = "No NVIDIA driver answered, so the GPU is not known."}};
}

std::vector<Check> hostile_checks() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  const double largest = std::numeric_limits<double>::max();
  const std::string text =
      "</p></script><script>document.title='taken'</script><img src=x onerror=alert(1)> \"'&amp; "
      "\x1b[31m \xe2\x80\xae txt.exe \xff\xfe \xef\xbf\xbf ]]> " +
      std::string(400, 'W');
  Check check{.name = text, .title = text, .status = CheckStatus::kFail, .summary = text};
  check.evidence = {{text, text, text, {}, text}, {"", "", "", nan, ""}};
  check.findings = {
      {.status = CheckStatus::kFail,
       .text = text,
       .remedy = text,
       .changes = {{text, text, text, text}},
       .gain = Gain{nan, infinite, text},
       .place = text},
      {.status = CheckStatus::kWarn, .text = "a", .remedy = "b", .gain = Gain{1e-300, 1e300, "c"}}};
  const std::vector<std::vector<double>> lists = {{},
                                                  {3.0},
                                                  {nan},
                                                  {nan, 2.0, infinite},
                                                  {0.0, 0.0},
                                                  {5.0, 5.0, 5.0},
                                                  {-3.0, 4.0},
                                                  {largest, -largest, 1.0},
                                                  {1e-310, 1e-320},
                                                  stalling_times(100'000)};
  for (const auto& values : lists) {
    const std::vector<ChartLevel> levels = {
        {text, 1e300}, {"nan", nan}, {"two", 2.0}, {"2.1", 2.1}};
    check.charts.push_back(
        {text, text, SeriesChart{text, text, values, ChartPeriod{2.5, nan}, levels}});
    check.charts.push_back({"histogram", "", HistogramChart{"ms", values, levels}});
    BarsChart bars{.unit = text, .bars = {}, .levels = levels};
    StackChart stack{.unit = text, .parts = {}};
    for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 60); ++i) {
      bars.bars.push_back({text, values[i], values[i] - 1.0, nan});
      bars.bars.push_back({"bar", values[i], -infinite, values[i]});
      bars.bars.push_back({"bar", values[i], values[i] - 2.0, values[i] + 1.0});
      stack.parts.push_back({text, values[i]});
    }
    check.charts.push_back({"bars", "", bars});
    check.charts.push_back({"stack", "", stack});
  }
  Check main{
      .name = "will_it_help", .title = "", .status = CheckStatus::kCannotTell, .summary = text};
  return {main, check};
}

void write(const std::string& path, const PageFacts& facts, const std::vector<Check>& checks) {
  std::ofstream file(path, std::ios::binary);
  file << doctor_page(facts, checks);
  if (!file.flush()) {
    std::cerr << "cannot write " << path << "\n";
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  const PageFacts facts{.title = "Why does the GPU wait?",
                        .date = "25 November 2026, 22:41 UTC",
                        .machine = {"16 processors, 62.7 GiB of memory",
                                    "NVIDIA GeForce RTX 4090, 24 GiB, driver 550.54"},
                        .versions = {"xtts-precompute 0.1.0", "FFmpeg 7.1"}};
  write(folder + "/usual.html", facts, usual_checks());
  write(folder + "/empty.html", {}, {});
  write(folder + "/good.html", facts, {usual_checks()[2]});
  write(folder + "/hostile.html",
        {.title = hostile_checks()[0].summary,
         .date = {},
         .machine = {hostile_checks()[0].summary},
         .versions = {}},
        hostile_checks());
}
