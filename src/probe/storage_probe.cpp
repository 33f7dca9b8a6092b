#include "probe/storage_probe.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "base/direct_reads.hpp"
#include "base/file_mapping.hpp"
#include "base/formatted.hpp"
#include "base/run_on_threads.hpp"
#include "base/system_call.hpp"

namespace xtts::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20U;
constexpr std::uint64_t kSequentialBytesMax = std::uint64_t{256} << 20U;
constexpr std::size_t kSyncCount = 5;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Page-aligned memory for direct reads.
class Buffer {
 public:
  explicit Buffer(std::size_t size_bytes)
      : memory_(
            ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            size_bytes) {}
  [[nodiscard]] std::span<std::byte> bytes() const { return memory_.bytes(); }

 private:
  Mapping memory_;
};

// A file opened to be read past the page cache.
struct OpenFile {
  std::unique_ptr<RandomAccessFile> file;
  std::shared_ptr<const DirectFile> direct;
};

std::optional<OpenFile> open(Env& env, const std::string& path, std::string* missing) {
  auto file = env.open_for_read(path);
  if (!file.ok()) {
    if (missing != nullptr) *missing = file.status().message();
    return std::nullopt;
  }
  auto direct = (*file)->open_direct();
  if (!direct.ok()) {
    if (missing != nullptr) *missing = direct.status().message();
    return std::nullopt;
  }
  return OpenFile{std::move(*file), std::move(*direct)};
}

// Reads a range, widened to whole pages, in pieces. Returns the bytes read; 0 on failure.
std::uint64_t read_range(const OpenFile& file, std::uint64_t offset, std::uint64_t size,
                         std::span<std::byte> buffer) {
  const std::uint64_t begin = offset / kPage * kPage;
  const std::uint64_t end = (offset + size + kPage - 1) / kPage * kPage;
  std::uint64_t done = begin;
  while (done < end) {
    const std::size_t piece = std::min<std::uint64_t>(buffer.size(), end - done);
    const ssize_t got = retry_interrupted([&] {
      return ::pread(file.direct->descriptor(), buffer.data(), piece, static_cast<off_t>(done));
    });
    if (got <= 0) break;
    done += static_cast<std::uint64_t>(got);
    if (static_cast<std::size_t>(got) < piece) break;  // the file's end
  }
  return done - begin;
}

class Prober {
 public:
  Prober(Env& env, const StorageProbe& probe) : env_(env), probe_(probe) {}

  StorageMeasurement measure() {
    StorageMeasurement found;
    if (auto system = env_.storage(probe_.folder); system.ok()) found.system = *system;
    found.extent_count = probe_.extents.size();
    found.sync_ms = time_of_sync();
    if (probe_.extents.empty()) {
      found.missing = "there is no file to read";
      return found;
    }
    std::uint64_t bytes = 0;
    for (const Extent& one : probe_.extents) bytes += one.size_bytes;
    found.extent_bytes = static_cast<double>(bytes) / static_cast<double>(found.extent_count);
    found.cached_share = share_in_page_cache(env_, probe_.extents);
    if (!open(env_, probe_.extents.front().path, &found.missing)) return found;
    measure_extents(found);
    measure_random(found);
    measure_sequential(found);
    return found;
  }

 private:
  [[nodiscard]] bool is_over(Clock::time_point begin, double share) const {
    if (probe_.cancelled && probe_.cancelled()) return true;
    return seconds_since(begin) > share * std::chrono::duration<double>(probe_.budget).count();
  }

  std::optional<double> time_of_sync() {
    if (probe_.writable_folder.empty()) return std::nullopt;
    const std::string path =
        join_path(probe_.writable_folder, formatted(".xtts-doctor-{}.tmp", ::getpid()));
    auto file = env_.open_for_write(path, WriteMode::kTruncate);
    if (!file.ok()) return std::nullopt;
    const std::vector<std::byte> page(kPage);
    std::vector<double> times;
    const auto begin = Clock::now();
    while (times.size() < kSyncCount && !is_over(begin, 0.2)) {
      const auto before = Clock::now();
      if (!(*file)->append(page).ok() || !(*file)->sync().ok()) break;
      times.push_back(1e3 * seconds_since(before));
    }
    (void)(*file)->close();
    (void)env_.remove_file(path);
    if (times.empty()) return std::nullopt;
    std::ranges::sort(times);
    return times[times.size() / 2];
  }

  // Runs `work` for indexes 0, 1, ... on threads until the share of the budget is over or all
  // extents have had a turn. Returns how many were done a second.
  template <typename Work>
  double rate_of(std::uint32_t threads, double share, std::size_t count_max, Work work) {
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> done{0};
    const auto begin = Clock::now();
    run_on_threads(threads, [&] {
      const Buffer buffer(kPieceBytes);
      if (buffer.bytes().empty()) return;
      while (!is_over(begin, share)) {
        const std::size_t index = next.fetch_add(1);
        if (index >= count_max || !work(index, buffer.bytes())) return;
        done.fetch_add(1);
      }
    });
    const double seconds = seconds_since(begin);
    return done.load() == 0 || seconds <= 0.0 ? 0.0 : static_cast<double>(done.load()) / seconds;
  }

  // Each extent is opened and read as a loader does. The second half of the list is read deep, so
  // that nothing is read twice: a disk's own cache would answer.
  void measure_extents(StorageMeasurement& found) {
    const std::size_t half = std::max<std::size_t>(probe_.extents.size() / 2, 1);
    const auto read = [&](std::size_t index, std::span<std::byte> buffer) {
      const Extent& one = probe_.extents[index % probe_.extents.size()];
      const auto file = open(env_, one.path, nullptr);
      return file && read_range(*file, one.offset_bytes, one.size_bytes, buffer) > 0;
    };
    if (const double rate = rate_of(1, 0.3, half, read); rate > 0.0) found.extent_ms = 1e3 / rate;
    const double deep = rate_of(kDeep, 0.2, half, [&](std::size_t index, auto buffer) {
      return read(half + index, buffer);
    });
    if (deep > 0.0) found.extents_per_s_deep = deep;
  }

  // Single pages at places of the largest files that a fixed sequence chooses.
  void measure_random(StorageMeasurement& found) {
    std::vector<OpenFile> files;
    std::vector<std::uint64_t> sizes;
    std::map<std::string, std::uint64_t> by_path;
    for (const Extent& one : probe_.extents)
      by_path[one.path] = std::max(by_path[one.path], one.offset_bytes + one.size_bytes);
    std::vector<std::pair<std::uint64_t, std::string>> largest;
    for (const auto& [path, size] : by_path) largest.emplace_back(size, path);
    std::ranges::sort(largest, std::greater{});
    for (const auto& [size, path] : largest) {
      if (files.size() == 32) break;
      if (size < kPage) continue;
      if (auto file = open(env_, path, nullptr)) {
        files.push_back(std::move(*file));
        sizes.push_back(size);
      }
    }
    if (files.empty()) return;
    const auto read = [&](std::size_t index, std::span<std::byte> buffer) {
      std::uint64_t mixed = (index + 1) * 0x9e3779b97f4a7c15U;
      mixed ^= mixed >> 29U;
      mixed *= 0xbf58476d1ce4e5b9U;
      mixed ^= mixed >> 32U;
      const std::size_t which = mixed % files.size();
      const std::uint64_t page = mixed / files.size() % (sizes[which] / kPage);
      return read_range(files[which], page * kPage, kPage, buffer) > 0;
    };
    constexpr std::size_t kReadsMax = 20'000;
    if (const double rate = rate_of(1, 0.1, kReadsMax, read); rate > 0.0)
      found.random_4k_ms = 1e3 / rate;
    const double deep = rate_of(kDeep, 0.1, kReadsMax, [&](std::size_t index, auto buffer) {
      return read(kReadsMax + index, buffer);
    });
    if (deep > 0.0) found.random_4k_per_s_deep = deep;
  }

  // Files one after another in the order of their names, which is most often that of the disk.
  void measure_sequential(StorageMeasurement& found) {
    std::vector<Extent> ordered = probe_.in_order.empty() ? probe_.extents : probe_.in_order;
    std::ranges::sort(ordered, {},
                      [](const Extent& one) { return std::pair(one.path, one.offset_bytes); });
    std::atomic<std::uint64_t> bytes{0};
    const auto begin = Clock::now();
    (void)rate_of(1, 0.3, ordered.size(), [&](std::size_t index, std::span<std::byte> buffer) {
      const auto file = open(env_, ordered[index].path, nullptr);
      if (!file) return false;
      bytes += read_range(*file, ordered[index].offset_bytes, ordered[index].size_bytes, buffer);
      return bytes < kSequentialBytesMax;
    });
    const double seconds = seconds_since(begin);
    if (bytes > 0 && seconds > 0.0)
      found.sequential_bytes_per_s = static_cast<double>(bytes.load()) / seconds;
  }

  Env& env_;
  const StorageProbe& probe_;
};

}  // namespace

std::optional<double> share_in_page_cache(Env& env, const std::vector<Extent>& extents) {
  std::uint64_t resident = 0;
  std::uint64_t all = 0;
  std::map<std::string, std::shared_ptr<const FileMapping>> mapped;
  for (const Extent& one : extents) {
    auto& mapping = mapped[one.path];
    if (mapping == nullptr) {
      auto file = env.open_for_read(one.path);
      if (!file.ok()) continue;
      auto made = (*file)->map();
      if (!made.ok() || !(*made)->tells_what_is_resident()) return std::nullopt;
      mapping = std::move(*made);
    }
    resident += mapping->resident_bytes(one.offset_bytes, one.size_bytes);
    all += one.size_bytes;
  }
  if (all == 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(resident) / static_cast<double>(all));
}

StorageMeasurement measure_storage(Env& env, const StorageProbe& probe) {
  return Prober(env, probe).measure();
}

}  // namespace xtts::probe
