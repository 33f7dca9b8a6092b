#include "pipeline/disk_read_ahead.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace xtts::pipeline {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20U;
constexpr std::chrono::milliseconds kLook{100};  // how often to check for cancelling

}  // namespace

ReadAhead::ReadAhead(Env& env, const BuildPlan& plan, std::size_t first,
                     std::function<bool()> is_cancelled, std::uint64_t window_bytes)
    : env_(env),
      plan_(plan),
      is_cancelled_(std::move(is_cancelled)),
      window_bytes_(window_bytes),
      buffer_(kReadBytes),
      wanted_(first),
      ready_(first) {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // no thread available: sources are read on demand
    ready_ = plan_.to_compute.size();
  }
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ReadAhead::wait_for(std::size_t place) {
  std::unique_lock lock(mutex_);
  if (place > wanted_) {
    wanted_ = place;
    changed_.notify_all();
  }
  while (place >= ready_ && !is_cancelled_()) changed_.wait_for(lock, kLook);
}

void ReadAhead::run() {
  try {
    read_windows();
  } catch (...) {  // sources are read on demand then
  }
  const std::lock_guard lock(mutex_);
  ready_ = plan_.to_compute.size();
  changed_.notify_all();
}

void ReadAhead::read_windows() {
  std::vector<corpus::SourcePlace> places;
  std::size_t window_begin = ready_;
  while (window_begin < plan_.to_compute.size()) {
    const std::size_t window_end = list_window(window_begin, places);
    for (const corpus::SourcePlace& place : places) {
      if (is_stopped()) break;
      read(place);
    }
    std::unique_lock lock(mutex_);
    ready_ = window_end;
    changed_.notify_all();
    changed_.wait(lock, [&] { return stopped_ || wanted_ >= window_begin; });
    if (stopped_) return;
    window_begin = window_end;
  }
}

std::size_t ReadAhead::list_window(std::size_t first, std::vector<corpus::SourcePlace>& places) {
  places.clear();
  std::uint64_t bytes = 0;
  std::size_t end = first;
  for (; end < plan_.to_compute.size() && (end == first || bytes < window_bytes_); ++end) {
    const corpus::Clip& clip = plan_.corpus.clips[plan_.to_compute[end]];
    corpus::SourcePlace place = plan_.corpus.place_of(clip);
    if (clip.segment && !shared_.insert(place.key()).second) continue;
    bytes += clip.source_bytes;
    places.push_back(std::move(place));
  }
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
    const auto key = [](const corpus::SourcePlace& place) {
      return std::tuple(std::string_view(place.path), place.row,
                        place.range ? place.range->offset_bytes : 0);
    };
    return key(a) < key(b);
  });
  return end;
}

void ReadAhead::read(const corpus::SourcePlace& place) {
  const auto file = corpus::open_source(env_, place);
  if (!file) return;
  for (std::uint64_t offset = 0; offset < (*file)->size_bytes();) {
    const auto got = (*file)->read_at(offset, buffer_);
    if (!got || *got == 0 || is_stopped()) return;
    offset += *got;
  }
}

bool ReadAhead::is_stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_ || is_cancelled_();
}

}  // namespace xtts::pipeline
