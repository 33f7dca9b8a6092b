#include "plan/row_sorter.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/preamble.hpp"
#include "plan/scratch_rows.hpp"

namespace xtts::plan {
namespace {

constexpr std::uint64_t kMemoryMin = std::uint64_t{1} << 20U;
// Runs are read through windows of this size at least, so that a disk reads long pieces. Where the
// memory has not room for as many, runs are merged to fewer first.
constexpr std::uint64_t kWindowMin = std::uint64_t{64} << 10U;
constexpr std::uint64_t kWindowMax = std::uint64_t{4} << 20U;
constexpr std::size_t kWriteBytes = std::size_t{1} << 20U;

// The first eight bytes, so that numbers compare as the texts do.
std::uint64_t prefix_of(std::string_view key) {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < sizeof(prefix); ++i) {
    prefix <<= 8U;
    if (i < key.size()) prefix |= static_cast<unsigned char>(key[i]);
  }
  return prefix;
}

}  // namespace

// The rows of a sorter that never spilled.
class RowsInMemory final : public SortedRows {
 public:
  explicit RowsInMemory(const RowSorter& sorter) : sorter_(sorter) {}
  Result<bool> next() override { return ++at_ <= sorter_.entries_.size(); }
  [[nodiscard]] std::string_view key() const override {
    return sorter_.key_of(sorter_.entries_[at_ - 1]);
  }
  [[nodiscard]] std::string_view row() const override {
    return sorter_.row_of(sorter_.entries_[at_ - 1]);
  }

 private:
  const RowSorter& sorter_;
  std::size_t at_ = 0;  // rows that were handed out
};

namespace {

// Merges runs: a heap holds the run whose next row is the lowest.
class MergedRuns final : public SortedRows {
 public:
  Status add_run(ScratchRows rows) {
    runs_.push_back(std::make_unique<ScratchRows>(std::move(rows)));
    return advance(static_cast<std::uint32_t>(runs_.size() - 1));
  }

  Result<bool> next() override {
    if (has_row_) {
      std::ranges::pop_heap(heap_, Later());
      const std::uint32_t run = heap_.back().run;
      heap_.pop_back();
      XTTS_TRY(advance(run));
    }
    has_row_ = !heap_.empty();
    return has_row_;
  }
  [[nodiscard]] std::string_view key() const override { return first().key(); }
  [[nodiscard]] std::string_view row() const override { return first().row(); }

 private:
  struct Place {
    std::uint64_t prefix = 0;
    std::string_view key;
    std::uint32_t run = 0;
  };
  // Of equal keys, the row of the earlier run was added first.
  struct Later {
    bool operator()(const Place& a, const Place& b) const {
      if (a.prefix != b.prefix) return a.prefix > b.prefix;
      const int order = a.key.compare(b.key);
      return order != 0 ? order > 0 : a.run > b.run;
    }
  };

  [[nodiscard]] const ScratchRows& first() const { return *runs_[heap_.front().run]; }

  Status advance(std::uint32_t run) {
    XTTS_ASSIGN(const bool has_more, runs_[run]->next());
    if (!has_more) return {};
    const std::string_view key = runs_[run]->key();
    heap_.push_back({prefix_of(key), key, run});
    std::ranges::push_heap(heap_, Later());
    return {};
  }

  std::vector<std::unique_ptr<ScratchRows>> runs_;
  std::vector<Place> heap_;
  bool has_row_ = false;
};

}  // namespace

RowSorter::RowSorter(Env& env, std::string scratch_path, std::uint64_t memory_bytes)
    : env_(env),
      scratch_path_(std::move(scratch_path)),
      memory_bytes_(std::max(memory_bytes, kMemoryMin)) {}

RowSorter::~RowSorter() = default;

std::string_view RowSorter::key_of(const Entry& entry) const {
  return std::string_view(gathered_).substr(entry.offset, entry.key_bytes);
}

std::string_view RowSorter::row_of(const Entry& entry) const {
  return std::string_view(gathered_).substr(entry.offset + entry.key_bytes, entry.row_bytes);
}

Status RowSorter::add(std::string_view key, std::string_view row) {
  const bool is_full = entries_.size() == entries_.capacity() ||
                       gathered_.size() + key.size() + row.size() > gathered_.capacity();
  if (is_full && !entries_.empty()) XTTS_TRY(spill());
  // All of the room at once: a growing string would need it twice. Pages are taken as they fill.
  if (entries_.capacity() == 0) {
    entries_.reserve(memory_bytes_ / 4 / sizeof(Entry));
    gathered_.reserve(memory_bytes_ / 4 * 3);
  }
  entries_.push_back({.prefix = prefix_of(key),
                      .offset = gathered_.size(),
                      .key_bytes = static_cast<std::uint32_t>(key.size()),
                      .row_bytes = static_cast<std::uint32_t>(row.size())});
  gathered_ += key;
  gathered_ += row;
  ++row_count_;
  return {};
}

void RowSorter::sort_entries() {
  std::ranges::sort(entries_, [this](const Entry& a, const Entry& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = key_of(a).compare(key_of(b));
    return order != 0 ? order < 0 : a.offset < b.offset;
  });
}

Status RowSorter::write_run(SortedRows& rows) {
  const std::uint64_t begin = file_bytes_;
  std::string waiting;
  const auto write = [&]() -> Status {
    XTTS_TRY(file_->append(as_bytes(waiting)));
    file_bytes_ += waiting.size();
    waiting.clear();
    return {};
  };
  while (true) {
    XTTS_ASSIGN(const bool has_more, rows.next());
    if (!has_more) break;
    append_scratch_row(rows.key(), rows.row(), waiting);
    if (waiting.size() >= kWriteBytes) XTTS_TRY(write());
  }
  XTTS_TRY(write());
  runs_.push_back({begin, file_bytes_ - begin});
  return {};
}

Status RowSorter::spill() {
  if (file_ == nullptr) {
    XTTS_ASSIGN(file_, env_.open_for_write(scratch_path_, WriteMode::kTruncate));
  }
  sort_entries();
  RowsInMemory rows(*this);
  XTTS_TRY(write_run(rows));
  entries_.clear();
  gathered_.clear();
  return {};
}

Status RowSorter::finish() {
  if (file_ == nullptr) {
    sort_entries();
    return {};
  }
  if (!entries_.empty()) XTTS_TRY(spill());
  entries_ = {};
  gathered_ = {};
  XTTS_TRY(std::exchange(file_, nullptr)->close());
  while (runs_.size() > runs_at_once()) XTTS_TRY(merge_neighbours());
  return {};
}

std::size_t RowSorter::runs_at_once() const {
  return memory_bytes_ / kWindowMin;
}

// Equal keys stay in their order, as only neighbours become one run.
Status RowSorter::merge_neighbours() {
  const std::string merged_path = scratch_path_ + ".tmp";
  XTTS_ASSIGN(file_, env_.open_for_write(merged_path, WriteMode::kTruncate));
  file_bytes_ = 0;
  const std::vector<Run> runs = std::exchange(runs_, {});
  for (std::size_t begin = 0; begin < runs.size(); begin += runs_at_once()) {
    const std::size_t count = std::min(runs_at_once(), runs.size() - begin);
    XTTS_ASSIGN(const auto rows, merge(std::span(runs).subspan(begin, count)));
    XTTS_TRY(write_run(*rows));
  }
  XTTS_TRY(std::exchange(file_, nullptr)->close());
  return env_.rename(merged_path, scratch_path_);
}

Result<std::unique_ptr<SortedRows>> RowSorter::merge(std::span<const Run> runs) const {
  XTTS_ASSIGN(std::shared_ptr<const RandomAccessFile> file, env_.open_for_read(scratch_path_));
  const std::uint64_t window = std::clamp(memory_bytes_ / runs.size(), kWindowMin, kWindowMax);
  auto merged = std::make_unique<MergedRuns>();
  for (const Run& run : runs)
    XTTS_TRY(merged->add_run(ScratchRows(file, run.offset_bytes, run.size_bytes, window)));
  return std::unique_ptr<SortedRows>(std::move(merged));
}

Result<std::unique_ptr<SortedRows>> RowSorter::read() const {
  if (runs_.empty()) return std::unique_ptr<SortedRows>(std::make_unique<RowsInMemory>(*this));
  return merge(runs_);
}

}  // namespace xtts::plan
