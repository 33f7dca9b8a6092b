// epoch_bench CACHE... [--shuffle window|global|none] [--rank R --world W] [--stretch SAMPLES]
//             [--stretches N] [--epochs N] [--batches N] [--pace MS] [--batch-size B]
//             [--lock 1]
// What one rank of a training run gets: takes batches, looks at a byte of every page, works for
// `pace` milliseconds (sleeping; 0: takes the next at once), and says for each epoch how long its
// first batch took and how evenly the others came. One line of JSON an epoch, on stdout. Times are
// from before the reader is opened, or before set_epoch(). hdd_window.py runs it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "xtts/batch.hpp"

namespace {

using namespace xtts;
using Clock = std::chrono::steady_clock;

template <typename T>
T must(Result<T> result) {
  if (result.ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.status().message().c_str());
  std::exit(1);
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

unsigned touch_pages(const Batch& batch) {
  unsigned sum = 0;
  for (const BatchColumn& column : batch.columns()) {
    for (std::size_t i = 0; i < column.bytes.size(); i += 4096) {
      sum += static_cast<unsigned>(column.bytes[i]);
    }
  }
  return sum;
}

struct Epoch {
  double first_batch_s = 0.0;
  double seconds = 0.0;
  std::uint64_t sample_count = 0;
  std::uint64_t bytes = 0;
  std::vector<double> batch_ms;  // from one batch handed out to the next, work included
  unsigned touched = 0;
};

Epoch take_epoch(Reader& reader, Clock::time_point begin, std::uint64_t batch_count_max,
                 double pace_ms) {
  Epoch epoch;
  Clock::time_point last;
  for (std::uint64_t i = 0; i < batch_count_max; ++i) {
    const auto batch = must(reader.next());
    if (!batch) break;
    const Clock::time_point now = Clock::now();
    if (epoch.sample_count == 0) {
      epoch.first_batch_s = seconds_since(begin);
    } else {
      epoch.batch_ms.push_back(std::chrono::duration<double, std::milli>(now - last).count());
    }
    last = now;
    epoch.touched += touch_pages(*batch);
    epoch.sample_count += batch->valid_count();
    for (const BatchColumn& column : batch->columns()) epoch.bytes += column.bytes.size();
    if (pace_ms > 0) {
      std::this_thread::sleep_until(now + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double, std::milli>(pace_ms)));
    }
  }
  epoch.seconds = seconds_since(begin);
  return epoch;
}

void print(std::uint64_t number, Epoch epoch) {
  std::ranges::sort(epoch.batch_ms);
  const auto count = static_cast<double>(std::max<std::size_t>(epoch.batch_ms.size(), 1));
  const auto at = [&](double share) {
    if (epoch.batch_ms.empty()) return 0.0;
    const auto i = static_cast<std::size_t>(share * count);
    return epoch.batch_ms[std::min(i, epoch.batch_ms.size() - 1)];
  };
  double mean = 0.0, squares = 0.0;
  for (const double ms : epoch.batch_ms) mean += ms / count;
  for (const double ms : epoch.batch_ms) squares += (ms - mean) * (ms - mean);
  std::printf(
      "{\"epoch\": %llu, \"first_batch_s\": %.4f, \"seconds\": %.4f, \"samples\": %llu, "
      "\"bytes\": %llu, \"ms_mean\": %.3f, \"ms_std\": %.3f, \"ms_p50\": %.3f, \"ms_p99\": %.3f, "
      "\"ms_max\": %.3f, \"touched\": %u}\n",
      static_cast<unsigned long long>(number), epoch.first_batch_s, epoch.seconds,
      static_cast<unsigned long long>(epoch.sample_count),
      static_cast<unsigned long long>(epoch.bytes), mean, std::sqrt(squares / count), at(0.5),
      at(0.99), at(1.0), epoch.touched);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> given{
      {"--shuffle", "window"}, {"--rank", "0"},   {"--world", "1"},   {"--stretch", "0"},
      {"--stretches", "0"},    {"--epochs", "1"}, {"--batches", "0"}, {"--pace", "0"},
      {"--batch-size", "32"},  {"--lock", "0"}};
  std::vector<std::string> caches;
  bool is_understood = true;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      caches.push_back(word);
    } else if (given.contains(word) && i + 1 < argc) {
      given[word] = argv[++i];
    } else {
      is_understood = false;
    }
  }
  if (caches.empty() || !is_understood) {
    std::fprintf(stderr, "usage: epoch_bench CACHE... [--OPTION VALUE]...\n");
    return 2;
  }
  const auto number = [&](const char* name) {
    return static_cast<std::uint64_t>(std::strtoull(given[name].c_str(), nullptr, 10));
  };
  Clock::time_point begin = Clock::now();
  const auto cache = must(Cache::open(caches));
  const std::string& shuffle = given["--shuffle"];
  auto reader =
      must(Reader::open(cache, {.batch_size = static_cast<std::uint32_t>(number("--batch-size")),
                                .shuffle = shuffle == "global" ? Shuffle::kGlobal
                                           : shuffle == "none" ? Shuffle::kNone
                                                               : Shuffle::kWindow,
                                .seed = 7,
                                .rank = static_cast<std::uint32_t>(number("--rank")),
                                .world_size = static_cast<std::uint32_t>(number("--world")),
                                .lock_memory = number("--lock") != 0,
                                .stretch_samples = number("--stretch"),
                                .stretches_per_window = number("--stretches")}));
  const std::uint64_t batch_count_max = number("--batches") != 0 ? number("--batches") : ~0ULL;
  for (std::uint64_t epoch = 0; epoch < number("--epochs"); ++epoch) {
    if (epoch > 0) begin = Clock::now();
    reader.set_epoch(epoch);
    print(epoch, take_epoch(reader, begin, batch_count_max,
                            std::strtod(given["--pace"].c_str(), nullptr)));
  }
  return 0;
}
