#include "loader/stats_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <system_error>
#include <utility>

#include "base/fork_count.hpp"
#include "base/formatted.hpp"
#include "base/system_call.hpp"

namespace xtts::loader {
namespace {

constexpr std::chrono::seconds kInterval{1};

// Not printf's %f: it writes the decimal point of the program's locale.
std::string text_of(double value) {
  std::array<char, 64> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                          std::chars_format::fixed, 6);
  return error == std::errc() ? std::string(digits.data(), end) : std::string("0");
}

std::string json_of(double at_s, const StatsFile::Counts& counts) {
  return "{\"format\": 1, \"at_s\": " + text_of(at_s) +
         ", \"batches\": " + std::to_string(counts.batches) +
         ", \"samples\": " + std::to_string(counts.samples) +
         ", \"bytes\": " + std::to_string(counts.bytes) +
         ", \"consumer_wait_s\": " + text_of(counts.consumer_wait_s) + "}\n";
}

}  // namespace

std::unique_ptr<StatsFile> StatsFile::open_if_asked() {
  static std::atomic<unsigned> count{0};
  const char* const folder = std::getenv("XTTS_READER_STATS");
  if (folder == nullptr || *folder == '\0') return nullptr;
  return std::unique_ptr<StatsFile>(new StatsFile(
      formatted("{}/reader-{}-{}.json", std::string(folder), ::getpid(), count.fetch_add(1))));
}

StatsFile::StatsFile(std::string path) : path_(std::move(path)), forks_(fork_count()) {}

StatsFile::~StatsFile() {
  if (fork_count() == forks_) ::unlink(path_.c_str());
}

void StatsFile::write(std::chrono::steady_clock::time_point now, const Counts& counts) {
  if (fork_count() != forks_) return;
  next_ = now + kInterval;
  const std::string text =
      json_of(std::chrono::duration<double>(now.time_since_epoch()).count(), counts);
  const std::string draft = path_ + ".new";
  // A folder for all may hold anything under this name. Only a new file is written to: a FIFO would
  // stop the training, and a link would lead elsewhere.
  ::unlink(draft.c_str());
  {
    const Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file.is_open()) return;
    if (!write_fully(file.get(), draft, std::as_bytes(std::span(text))).ok()) return;
  }
  if (std::rename(draft.c_str(), path_.c_str()) != 0) ::unlink(draft.c_str());
}

}  // namespace xtts::loader
