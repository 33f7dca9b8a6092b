#include "device/upload_plan.hpp"

#include <algorithm>

namespace xtts::device {
namespace {

struct Gap {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool may_be_bridged = false;
};

std::vector<Gap> gaps_of(const SlotBytes& size, std::size_t bridged_bytes_max,
                         const std::vector<FilledRange>& filled,
                         const std::vector<ChangedRange>& changed,
                         const std::vector<BorrowedRange>& borrowed) {
  std::vector<Gap> gaps;
  gaps.reserve(filled.size() + changed.size() + borrowed.size() + 1);
  for (const FilledRange& range : filled) {
    gaps.push_back({.begin = range.offset_bytes,
                    .end = range.offset_bytes + range.size_bytes,
                    .may_be_bridged = range.size_bytes <= bridged_bytes_max});
  }
  for (const ChangedRange& range : changed) {
    gaps.push_back({.begin = range.offset_bytes, .end = range.offset_bytes + range.size_bytes});
  }
  for (const BorrowedRange& range : borrowed) {
    gaps.push_back({.begin = range.offset_bytes, .end = range.offset_bytes + range.bytes.size()});
  }
  gaps.push_back({.begin = size.staging, .end = host_offset_bytes(size), .may_be_bridged = true});
  std::ranges::sort(gaps, {}, &Gap::begin);
  return gaps;
}

}  // namespace

std::vector<CopiedRange> plan_copies(const SlotBytes& size, std::size_t bridged_bytes_max,
                                     std::vector<FilledRange>& filled,
                                     std::vector<ChangedRange>& changed,
                                     std::vector<BorrowedRange>& borrowed) {
  std::ranges::sort(filled, {}, &FilledRange::offset_bytes);
  std::ranges::sort(changed, {}, &ChangedRange::offset_bytes);
  std::ranges::sort(borrowed, {}, &BorrowedRange::offset_bytes);
  std::vector<CopiedRange> copies;
  bool joins_last = false;  // only bridged gaps lie between the last piece and here
  const auto copy = [&](std::size_t begin, std::size_t end) {
    if (begin >= end) return;
    if (joins_last && !copies.empty()) {
      copies.back().size_bytes = end - copies.back().offset_bytes;
    } else {
      copies.push_back({.offset_bytes = begin, .size_bytes = end - begin});
    }
    joins_last = true;
  };
  std::size_t begin = 0;
  for (const Gap& gap : gaps_of(size, bridged_bytes_max, filled, changed, borrowed)) {
    copy(begin, gap.begin);
    joins_last = joins_last && gap.may_be_bridged;
    begin = std::max(begin, gap.end);
  }
  copy(begin, host_offset_bytes(size) + size.host);
  return copies;
}

}  // namespace xtts::device
