#include "support/cuda_driver/access_record.hpp"

#include <algorithm>

namespace xtts::testing::fake_cuda {
namespace {

// One entry for each task.
void add_once(std::vector<Trace>& traces, const Trace& trace) {
  const bool is_known =
      std::ranges::any_of(traces, [&](const Trace& known) { return known.name == trace.name; });
  if (!is_known) traces.push_back(trace);
}

}  // namespace

// The first segment that ends behind `begin`.
AccessRecord::Segments::const_iterator AccessRecord::first_behind(std::uint64_t begin) const {
  auto found = segments_.upper_bound(begin);
  if (found != segments_.begin() && std::prev(found)->second.end > begin) --found;
  return found;
}

AccessRecord::Conflicts AccessRecord::find_conflicts(std::uint64_t begin, std::uint64_t end,
                                                     bool is_write, const Clock& clock) const {
  Conflicts conflicts;
  std::uint64_t written_bytes = 0;
  for (auto it = first_behind(begin); it != segments_.end() && it->first < end; ++it) {
    const Segment& segment = it->second;
    if (segment.write.name != nullptr) {
      written_bytes += std::min(end, segment.end) - std::max(begin, it->first);
      if (!clock.covers(segment.write.stamp)) add_once(conflicts.writes, segment.write);
    }
    if (!is_write) continue;
    for (const Trace& read : segment.reads) {
      if (!clock.covers(read.stamp)) add_once(conflicts.reads, read);
    }
  }
  conflicts.unwritten_bytes = end - begin - written_bytes;
  return conflicts;
}

std::vector<Trace> AccessRecord::find_open(std::uint64_t begin, std::uint64_t end,
                                           const Clock& clock) const {
  Conflicts conflicts = find_conflicts(begin, end, true, clock);
  for (const Trace& read : conflicts.reads) add_once(conflicts.writes, read);
  return std::move(conflicts.writes);
}

void AccessRecord::cut_at(std::uint64_t place) {
  auto found = segments_.upper_bound(place);
  if (found == segments_.begin()) return;
  --found;
  if (found->first == place || found->second.end <= place) return;
  Segment behind = found->second;
  found->second.end = place;
  segments_.emplace(place, std::move(behind));
}

void AccessRecord::add(std::uint64_t begin, std::uint64_t end, bool is_write, const Trace& trace) {
  if (begin >= end) return;
  cut_at(begin);
  cut_at(end);
  auto it = segments_.lower_bound(begin);
  if (is_write) {
    while (it != segments_.end() && it->first < end) it = segments_.erase(it);
    segments_[begin] = {.end = end, .write = trace, .reads = {}};
    return;
  }
  std::uint64_t place = begin;
  while (place < end) {
    if (it == segments_.end() || it->first > place) {  // bytes that nobody has used yet
      const std::uint64_t gap_end = it == segments_.end() ? end : std::min(end, it->first);
      it = segments_.emplace(place, Segment{.end = gap_end, .write = {}, .reads = {}}).first;
    }
    auto& reads = it->second.reads;
    std::erase_if(reads,
                  [&](const Trace& read) { return read.stamp.stream == trace.stamp.stream; });
    reads.push_back(trace);
    place = it->second.end;
    ++it;
  }
}

}  // namespace xtts::testing::fake_cuda
