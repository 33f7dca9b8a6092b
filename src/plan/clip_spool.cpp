#include "plan/clip_spool.hpp"

#include <span>
#include <utility>
#include <variant>

#include "base/try.hpp"
#include "formats/preamble.hpp"

namespace xtts::plan {
namespace {

constexpr std::size_t kWindowBytes = std::size_t{1} << 20U;

// Clips in a range of a file.
class SpooledClips {
 public:
  SpooledClips(const RandomAccessFile& file, std::uint64_t begin, std::uint64_t end,
               const pipeline::RowNames& names, std::size_t folder_count)
      : file_(file), at_(begin), end_(end), rows_(names, folder_count) {}

  Status for_each(const ClipSpool::Use& use) {
    std::string waiting;  // bytes of rows that are not taken yet
    while (at_ < end_) {
      XTTS_TRY(read_window(waiting));
      std::string_view rest = waiting;
      while (true) {
        XTTS_ASSIGN(const auto row, rows_.take(rest));
        if (!row) break;
        XTTS_TRY(use(std::get<corpus::Clip>(*row)));
      }
      waiting.erase(0, waiting.size() - rest.size());
    }
    return waiting.empty() ? Status() : was_cut();
  }

 private:
  static Status was_cut() { return formats::corrupt("a scratch file of the plan was cut"); }

  Status read_window(std::string& waiting) {
    const std::size_t begin = waiting.size();
    const std::uint64_t wanted = std::min<std::uint64_t>(kWindowBytes, end_ - at_);
    waiting.resize(begin + wanted);
    const auto into = std::as_writable_bytes(std::span(waiting)).subspan(begin);
    XTTS_ASSIGN(const std::size_t size, file_.read_at(at_, into));
    at_ += size;
    return size < wanted ? was_cut() : Status();
  }

  const RandomAccessFile& file_;
  std::uint64_t at_;
  const std::uint64_t end_;
  pipeline::PartRowReader rows_;
};

}  // namespace

void ClipSpool::begin_dataset() {
  ++dataset_count_;
  for (SplitFile& split : files_) {
    split.begins.push_back(split.bytes);
    split.rows = {};  // each range is read by itself
  }
}

Status ClipSpool::add(const corpus::Clip& clip, const pipeline::RowNumbers& numbers) {
  if (dataset_count_ == 0 || numbers.dataset != last_dataset_) begin_dataset();
  last_dataset_ = numbers.dataset;
  SplitFile& split = files_[static_cast<std::size_t>(clip.split)];
  const std::size_t before = split.waiting.size();
  split.rows.append(clip, numbers, split.waiting);
  split.bytes += split.waiting.size() - before;
  return split.waiting.size() < kWindowBytes ? Status() : write(split);
}

Status ClipSpool::write(SplitFile& split) {
  if (split.file == nullptr) {
    XTTS_ASSIGN(split.file, env_.open_for_write(split.path, WriteMode::kTruncate));
  }
  XTTS_TRY(split.file->append(as_bytes(split.waiting)));
  split.waiting.clear();
  return {};
}

Status ClipSpool::finish() {
  for (SplitFile& split : files_) {
    if (split.bytes == 0) continue;
    XTTS_TRY(write(split));
    XTTS_TRY(std::exchange(split.file, nullptr)->close());
  }
  return {};
}

Status ClipSpool::for_each(const pipeline::RowNames& names, std::size_t folder_count,
                           const Use& use) const {
  std::array<std::unique_ptr<RandomAccessFile>, 3> opened;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].bytes == 0) continue;
    XTTS_ASSIGN(opened[i], env_.open_for_read(files_[i].path));
  }
  for (std::size_t dataset = 0; dataset < dataset_count_; ++dataset) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const SplitFile& split = files_[i];
      const bool is_last = dataset + 1 == dataset_count_;
      const std::uint64_t end = is_last ? split.bytes : split.begins[dataset + 1];
      if (split.begins[dataset] == end) continue;
      XTTS_TRY(
          SpooledClips(*opened[i], split.begins[dataset], end, names, folder_count).for_each(use));
    }
  }
  return {};
}

}  // namespace xtts::plan
