#include "maintain/diff.hpp"

#include <algorithm>

#include "base/check_cancelled.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/clip_id.hpp"
#include "formats/split.hpp"
#include "maintain/manifest_diff.hpp"
#include "reader/cache_set.hpp"
#include "reader/index_reader.hpp"
#include "reader/repair_advice.hpp"

namespace xtts::maintain {
namespace {

using reader::CacheSet;
using reader::RecordData;

constexpr std::size_t kFieldBytesMax = 4096;

// Cuts a long text at the end of a character.
std::string cut(std::string text) {
  if (text.size() <= kFieldBytesMax) return text;
  std::size_t end = kFieldBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text + "…";
}

// One clip of one cache, without its numeric values.
struct Clip {
  std::uint64_t position = 0;
  formats::PlanRow row;
  formats::RecordFacts facts;
  std::string speaker, language;  // by their numbers; empty if unknown
};

Result<std::string> name_at(const std::vector<std::string>& names, std::int64_t number,
                            const std::string& what) {
  if (number < 0) return std::string();
  if (static_cast<std::uint64_t>(number) < names.size())
    return names[static_cast<std::size_t>(number)];
  return Status(StatusCode::kCorrupt,
                formatted("the plan names {} {}, which the manifest does not have", what, number));
}

Result<Clip> load_clip(const CacheSet& cache, std::uint64_t position) {
  Clip clip;
  clip.position = position;
  XTTS_ASSIGN(clip.row, cache.plan_row(position));
  XTTS_ASSIGN(clip.facts, cache.details(position));
  XTTS_ASSIGN(clip.speaker,
              reader::with_repair(name_at(cache.whole().speakers, clip.row.speaker, "speaker"),
                                  cache.path()));
  XTTS_ASSIGN(clip.language,
              reader::with_repair(name_at(cache.whole().languages, clip.row.language, "language"),
                                  cache.path()));
  return clip;
}

void compare_field(const char* field, const std::string& a, const std::string& b,
                   ClipDifference& out) {
  if (a != b) out.fields.push_back({.field = field, .in_a = cut(a), .in_b = cut(b)});
}

void compare_facts(const Clip& a, const Clip& b, ClipDifference& out) {
  compare_field("text", a.facts.text_raw.value_or(""), b.facts.text_raw.value_or(""), out);
  compare_field("normalized_text", a.facts.text_normalized.value_or(""),
                b.facts.text_normalized.value_or(""), out);
  compare_field("speaker", a.speaker, b.speaker, out);
  compare_field("language", a.language, b.language, out);
  compare_field("split", std::string(formats::split_name(a.row.split)),
                std::string(formats::split_name(b.row.split)), out);
  if (a.speaker == b.speaker) {
    compare_field("speaker_number", std::to_string(a.row.speaker), std::to_string(b.row.speaker),
                  out);
  }
  if (a.language == b.language) {
    compare_field("language_number", std::to_string(a.row.language), std::to_string(b.row.language),
                  out);
  }
  out.sources_differ = a.facts.content_digest && b.facts.content_digest &&
                       *a.facts.content_digest != *b.facts.content_digest;
}

class Comparison {
 public:
  Comparison(const CacheSet& a, const CacheSet& b, const DiffOptions& options)
      : a_(a), b_(b), options_(options) {}

  Result<DiffReport> run() {
    describe();
    XTTS_TRY(walk_a());
    if (report_.common_count < b_.size()) XTTS_TRY(walk_b());
    report_.equal = all_comparable_ && report_.only_in_a_count == 0 &&
                    report_.only_in_b_count == 0 && report_.differing_count == 0 &&
                    report_.unreadable_count == 0;
    return std::move(report_);
  }

 private:
  void describe() {
    ManifestDifference said = compare_manifests(a_.whole(), b_.whole());
    report_.recipe = std::move(said.recipe);
    report_.numerics = std::move(said.numerics);
    report_.columns = std::move(said.columns);
    all_comparable_ = said.all_comparable;
    for (std::string& column : said.comparable_columns) {
      report_.compared.emplace_back().column = std::move(column);
    }
    report_.generation_a = a_.whole().generation;
    report_.generation_b = b_.whole().generation;
    report_.clip_count_a = a_.size();
    report_.clip_count_b = b_.size();
  }

  // Compares every clip of A with its twin in B, if there is one.
  Status walk_a() {
    for (std::uint64_t position = 0; position < a_.size(); ++position) {
      XTTS_TRY(advance());
      auto clip = load_clip(a_, position);
      if (!clip) return clip.status();
      const std::string id = formats::full_id(clip->facts);
      const auto twin = b_.find(id);
      if (!twin) return twin.status();
      if (*twin) {
        ++report_.common_count;
        XTTS_TRY(compare(id, *clip, **twin));
      } else {
        ++report_.only_in_a_count;
        keep(report_.only_in_a, id);
      }
    }
    return {};
  }

  Status walk_b() {
    for (std::uint64_t position = 0; position < b_.size(); ++position) {
      XTTS_TRY(advance());
      const auto facts = b_.details(position);
      if (!facts) return facts.status();
      const std::string id = formats::full_id(*facts);
      const auto twin = a_.find(id);
      if (!twin) return twin.status();
      if (*twin) continue;
      ++report_.only_in_b_count;
      keep(report_.only_in_b, id);
    }
    return {};
  }

  Status compare(const std::string& id, const Clip& a, std::uint64_t position_in_b) {
    auto b = load_clip(b_, position_in_b);
    if (!b) return b.status();
    ClipDifference difference;
    difference.id = id;
    compare_facts(a, *b, difference);
    const std::uint64_t unreadable_before = report_.unreadable_count;
    for (ColumnSummary& column : report_.compared) {
      XTTS_ASSIGN(const auto in_a, read(a_, id, column.column, a.position));
      XTTS_ASSIGN(const auto in_b, read(b_, id, column.column, position_in_b));
      if (in_a && in_b) compare_column(*in_a, *in_b, column, difference);
    }
    if (!difference.fields.empty() || !difference.columns.empty()) {
      ++report_.differing_count;
      keep(report_.differing, std::move(difference));
    } else if (report_.unreadable_count == unreadable_before) {
      ++report_.same_count;
    }
    return {};
  }

  // Returns nothing for a damaged record: this is a finding and does not end the diff.
  Result<std::optional<RecordData>> read(const CacheSet& cache, const std::string& id,
                                         const std::string& column, std::uint64_t position) {
    auto record = cache.read_record(column, position);
    if (record) return std::optional<RecordData>(std::move(*record));
    if (record.status().code() != StatusCode::kCorrupt)
      return record.status().with_context(cache.path());
    ++report_.unreadable_count;
    keep(report_.unreadable, UnreadableRecord{.id = id,
                                              .cache = cache.path(),
                                              .column = column,
                                              .problem = record.status().message()});
    return std::optional<RecordData>();
  }

  void compare_column(const RecordData& in_a, const RecordData& in_b, ColumnSummary& column,
                      ClipDifference& out) {
    ++column.compared_count;
    column.value_count += std::min(value_count(in_a), value_count(in_b));
    const auto values = compare_records(in_a, in_b);
    if (!values) return;
    column.sum_abs += values->sum_abs;
    if (values->differing_count > 0 &&
        (column.max_id.empty() || values->max_abs > column.max_abs)) {
      column.max_abs = values->max_abs;
      column.max_id = out.id;
      column.max_row = values->row;
      column.max_channel = values->channel;
    }
    if (options_.tolerance && values->is_within(*options_.tolerance)) {
      ++column.tolerated_count;
      return;
    }
    ++column.differing_count;
    out.columns.push_back({.column = column.column, .values = *values});
  }

  template <typename Item>
  void keep(std::vector<Item>& items, Item item) const {
    if (items.size() < options_.kept_max) items.push_back(std::move(item));
  }

  Status advance() {
    XTTS_TRY(check_cancelled(options_.cancelled));
    if (options_.progress) options_.progress(done_, a_.size() + b_.size());
    ++done_;
    return {};
  }

  const CacheSet& a_;
  const CacheSet& b_;
  const DiffOptions& options_;
  bool all_comparable_ = true;
  std::uint64_t done_ = 0;
  DiffReport report_;
};

}  // namespace

Result<DiffReport> diff_caches(Env& env, const std::string& a, const std::string& b,
                               const DiffOptions& options) {
  XTTS_ASSIGN(const auto set_a, CacheSet::open(env, a));
  XTTS_ASSIGN(const auto set_b, CacheSet::open(env, b));
  return Comparison(*set_a, *set_b, options).run();
}

}  // namespace xtts::maintain
