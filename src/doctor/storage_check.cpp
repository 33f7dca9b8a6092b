#include "doctor/storage_check.hpp"

#include <utility>

#include "base/storage_facts.hpp"
#include "report/human.hpp"

namespace xtts::doctor {
namespace {

using report::format_short;
using report::format_size;

// The users' own limit: reads that take longer than this for a batch are slow.
constexpr double kSlowBatchMs = 50.0;
// A page of a rotating disk or of a far server takes this long. An SSD takes a tenth of it.
constexpr double kSeekMs = 2.0;

std::string behaviour(const StorageMeasurement& storage) {
  if (!storage.random_4k_ms) return "was not measured";
  return *storage.random_4k_ms >= kSeekMs ? "seeks like a rotating disk or a far server"
                                          : "answers like an SSD";
}

void add_evidence(const StorageMeasurement& storage, const StorageQuestion& question,
                  Check& check) {
  const std::string past = "read past the page cache";
  const auto add = [&](std::string what, std::string value, std::string source,
                       std::optional<double> number = {}, std::string unit = {}) {
    check.evidence.push_back({.what = std::move(what),
                              .value = std::move(value),
                              .source = std::move(source),
                              .number = number,
                              .unit = std::move(unit)});
  };
  const auto ms = [&](std::string what, const std::optional<double>& value, std::string source) {
    if (value) add(std::move(what), format_short(*value) + " ms", std::move(source), value, "ms");
  };
  const auto rate = [&](std::string what, const std::optional<double>& value, std::string source) {
    if (value)
      add(std::move(what), format_short(*value) + " a second", std::move(source), value, "1/s");
  };
  add("kind",
      std::string(words_of(storage.system.kind)) +
          (storage.system.file_system.empty() ? "" : ", " + storage.system.file_system),
      "/sys and /proc");
  if (storage.sequential_bytes_per_s)
    add("sequential",
        format_size(static_cast<std::uint64_t>(*storage.sequential_bytes_per_s)) + "/s", past,
        storage.sequential_bytes_per_s, "bytes/s");
  ms("a random 4 KiB", storage.random_4k_ms, past + ", one at a time");
  rate("random 4 KiB, 32 at a time", storage.random_4k_per_s_deep, past);
  const std::string clip = question.is_cache ? "a record" : "a clip's file";
  ms(clip + " of " + format_size(static_cast<std::uint64_t>(storage.extent_bytes)),
     storage.extent_ms, past + ", one at a time, in random order");
  rate(clip + ", 32 at a time", storage.extents_per_s_deep, past);
  ms("a batch, one read at a time", batch_ms(storage, question.batch_size),
     std::to_string(question.batch_size) + " times the above");
  ms("a batch, 32 reads at a time", batch_ms_deep(storage, question.batch_size),
     std::to_string(question.batch_size) + " by the rate above");
  ms("a sync to the disk", storage.sync_ms, "4 KiB, the median of five");
  if (storage.cached_share)
    add("in the page cache already", report::format_percent(*storage.cached_share), "mincore",
        storage.cached_share, "share");
}

// What a cache would need of the same storage.
void add_cache_forms(const StorageMeasurement& storage, const StorageQuestion& question,
                     Check& check) {
  if (question.is_cache || !storage.sequential_bytes_per_s) return;
  const auto add = [&](const std::string& what, std::uint64_t record_bytes) {
    if (record_bytes == 0) return;
    const double ms = 1e3 * static_cast<double>(record_bytes) * question.batch_size /
                      *storage.sequential_bytes_per_s;
    check.evidence.push_back({.what = what,
                              .value = format_short(ms) + " ms",
                              .source = "computed: bytes of a batch by the sequential rate",
                              .number = ms,
                              .unit = "ms"});
  };
  add("a batch of a padded float32 cache, --shuffle window", question.padded_record_bytes);
  add("a batch of a packed float16 cache, --shuffle window", question.packed_half_record_bytes);
}

std::string remedy_of(const StorageMeasurement& storage, const StorageQuestion& question) {
  const bool seeks = storage.random_4k_ms && *storage.random_4k_ms >= kSeekMs;
  if (question.is_cache)
    return seeks ? "Read it with shuffle=\"window\", which reads in long runs, or convert it with "
                   "--layout packed --dtype float16."
                 : "Convert it with --layout packed --dtype float16, which halves the bytes.";
  return seeks ? "Build a cache, packed and float16, and read it with shuffle=\"window\": it reads "
                 "in long runs instead of seeking for each clip."
               : "Build a cache, packed and float16, or move the data to a faster disk.";
}

}  // namespace

std::optional<double> batch_ms(const StorageMeasurement& storage, std::uint32_t batch_size) {
  if (!storage.extent_ms) return std::nullopt;
  return *storage.extent_ms * batch_size;
}

std::optional<double> batch_ms_deep(const StorageMeasurement& storage, std::uint32_t batch_size) {
  if (!storage.extents_per_s_deep) return std::nullopt;
  return 1e3 * batch_size / *storage.extents_per_s_deep;
}

Check check_storage(const StorageMeasurement& storage, const StorageQuestion& question) {
  Check check{.name = question.is_cache ? "storage_of_cache" : "storage",
              .title = question.is_cache ? "Storage of the cache" : "Storage"};
  add_evidence(storage, question, check);
  add_cache_forms(storage, question, check);
  const auto one = batch_ms(storage, question.batch_size);
  if (!one) {
    check.summary = "The storage of " + question.folder + " could not be measured: " +
                    (storage.missing.empty() ? "no file was read" : storage.missing) + ".";
    return check;
  }
  const double best = std::min(*one, batch_ms_deep(storage, question.batch_size).value_or(*one));
  const std::string said = "The storage of " + question.folder + " " + behaviour(storage) +
                           ": the clips of a batch of " + std::to_string(question.batch_size) +
                           " take " + format_short(*one) + " ms one at a time" +
                           (best < *one ? ", and " + format_short(best) + " ms" : " and") +
                           " with many reads at once.";
  check.status = CheckStatus::kPass;
  check.summary = said;
  if (*one < kSlowBatchMs) return check;
  const bool fits = question.whole_bytes < question.memory_available_bytes / 2;
  const bool is_slow_even_deep = best >= kSlowBatchMs;
  Finding finding{.status = is_slow_even_deep && !fits ? CheckStatus::kFail : CheckStatus::kWarn,
                  .text = said,
                  .remedy = remedy_of(storage, question)};
  if (fits)
    finding.text += " All of it (" + format_size(question.whole_bytes) +
                    ") fits into memory, so this concerns the first epoch.";
  check.findings.push_back(std::move(finding));
  check.status = worst_of(check.findings);
  return check;
}

}  // namespace xtts::doctor
