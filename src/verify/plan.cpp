#include "verify/plan.hpp"

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/clip_id.hpp"
#include "formats/enum_names.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "formats/sound_columns.hpp"

namespace xtts::verify {

using formats::SectionKind;
using reader::IndexReader;

namespace {

void expect_count(Run& run, const std::string& file, std::string what, std::uint64_t expected,
                  std::uint64_t found, const std::string& column = {}) {
  if (expected == found) return;
  run.findings.add({.file = file,
                    .column = column,
                    .check = Check::kPlan,
                    .part = std::move(what),
                    .expected = {"number_of_manifest",
                                 formatted("{}, as the manifest says", expected), expected},
                    .found = number(found),
                    .remedy = RemedyKind::kRepair});
}

Evidence place(std::string_view kind, std::uint64_t row, std::size_t slot, std::string_view what) {
  return {kind, formatted("row {}, slot {}", row, std::to_string(slot).append(" ").append(what)),
          row, slot};
}

class PlanLoader {
 public:
  PlanLoader(Run& run, IndexReader& index, const formats::Manifest& manifest)
      : run_(run), index_(index), manifest_(manifest) {
    auto recipe = formats::recipe_of(manifest);
    if (recipe) features_ = recipe->features;
  }

  [[nodiscard]] Plan load(bool sound);

 private:
  void contradiction(std::string clip, Evidence expected, Evidence found, std::string part = {},
                     std::string column = {}) {
    run_.findings.add({.file = index_.file().name(),
                       .clip = std::move(clip),
                       .column = std::move(column),
                       .check = Check::kPlan,
                       .part = std::move(part),
                       .expected = std::move(expected),
                       .found = std::move(found),
                       .remedy = RemedyKind::kRepair});
  }
  [[nodiscard]] Status load_clips(Plan& plan);
  [[nodiscard]] Status load_id_hashes(Plan& plan);
  [[nodiscard]] Status load_clip(std::uint64_t position, ClipPlan& clip);
  void check_names(const std::string& id, const formats::PlanRow& row,
                   const formats::RecordFacts& facts);
  [[nodiscard]] ColumnPlan load_blocks(const formats::ColumnEntry& entry);
  [[nodiscard]] bool number_records(ColumnPlan& column);
  [[nodiscard]] Status load_owners(ColumnPlan& column);
  [[nodiscard]] Status load_tombstones(ColumnPlan& column);
  void own(ColumnPlan& column, std::uint64_t row, std::size_t slot, std::uint32_t owner);
  void check_everybody_owned(const ColumnPlan& column);

  Run& run_;
  IndexReader& index_;
  const formats::Manifest& manifest_;
  std::optional<formats::HeldFeatures> features_;  // where this version can read them
};

Plan PlanLoader::load(bool sound) {
  Plan plan;
  plan.max_frames = manifest_.max_frames();
  for (const formats::ColumnEntry& entry : manifest_.columns) {
    plan.columns.push_back(load_blocks(entry));
  }
  if (!sound) return plan;
  Status status = load_clips(plan);
  for (ColumnPlan& column : plan.columns) {
    if (status.ok() && number_records(column)) status = load_owners(column);
  }
  // Every chunk was right. So a failure here is a row that points outside, or a disk that has just
  // died.
  if (!status.ok()) run_.add_failure(index_.file().name(), Check::kPlan, status);
  return plan;
}

Status PlanLoader::load_clips(Plan& plan) {
  plan.clips.resize(index_.clip_count());
  XTTS_TRY(load_id_hashes(plan));
  for (std::uint64_t position = 0; position < plan.clips.size(); ++position) {
    XTTS_TRY(load_clip(position, plan.clips[position]));
  }
  return {};
}

Status PlanLoader::load_id_hashes(Plan& plan) {
  std::vector<bool> seen(plan.clips.size());
  std::optional<Digest> previous;
  for (std::uint64_t rank = 0; rank < index_.row_count(SectionKind::kIdHashes); ++rank) {
    XTTS_ASSIGN(const formats::IdHashRow row, index_.id_hash_row(rank));
    if (previous && row.hash <= *previous) {
      contradiction({}, {"ascending_hashes", "ascending id hashes"},
                    {"row_not_above", formatted("row {} is not above the one before", rank), rank});
    }
    previous = row.hash;
    if (row.position >= plan.clips.size() || seen[row.position]) {
      contradiction({}, {"each_position_once", "each position once among the id hashes"},
                    {"position_in_row", formatted("position {} in row {}", row.position, rank),
                     row.position, rank});
      continue;
    }
    seen[row.position] = true;
    plan.clips[row.position].id_hash = row.hash;
  }
  return {};
}

Status PlanLoader::load_clip(std::uint64_t position, ClipPlan& clip) {
  XTTS_ASSIGN(const formats::PlanRow row, index_.plan_row(position));
  XTTS_ASSIGN(const formats::RecordFacts facts, index_.details(position));
  clip.mel_len = row.mel_len;
  clip.text_len = row.text_len;
  if (features_ && facts.trim_start_samples && facts.trim_end_samples) {
    const std::uint64_t kept = *facts.trim_end_samples - *facts.trim_start_samples;
    clip.wave_len =
        static_cast<std::uint32_t>(formats::wave_samples(**features_, kept, row.mel_len));
  }
  const std::string id = formats::full_id(facts);
  if (digest128(id) != clip.id_hash) {
    contradiction(id, {"id_hash", "id hash " + digest128(id).to_hex()},
                  {"id_hash", "id hash " + clip.id_hash.to_hex()}, "id hash");
  }
  check_names(id, row, facts);
  return {};
}

// The numbers of a plan row must be places in the manifest's lists, and agree with the details.
void PlanLoader::check_names(const std::string& id, const formats::PlanRow& row,
                             const formats::RecordFacts& facts) {
  const auto check = [&](const char* what, std::int64_t place,
                         const std::vector<std::string>& names,
                         const std::optional<std::string>& told) {
    const bool inside = place >= -1 && place < static_cast<std::int64_t>(names.size());
    if (inside && (place < 0 || !told || names[static_cast<std::size_t>(place)] == *told)) return;
    contradiction(
        id, {"name_of_details", formatted("'{}', as the details say", told.value_or(""))},
        {"place_among_names", formatted("{} of {}", place, counted(names.size(), "name", "names")),
         static_cast<std::uint64_t>(place), names.size()},
        what);
  };
  check("speaker", row.speaker, manifest_.speakers, facts.speaker);
  check("language", row.language, manifest_.languages, facts.language);
  if (facts.dataset) check("data set", row.dataset, manifest_.datasets, facts.dataset);
  if (facts.split.value_or(row.split) != row.split) {
    contradiction(
        id,
        {"number_of_details", formatted("{}, as the details say", facts.split.value_or(0)),
         facts.split.value_or(0)},
        number(row.split), "split");
  }
}

ColumnPlan PlanLoader::load_blocks(const formats::ColumnEntry& entry) {
  ColumnPlan column;
  column.entry = &entry;
  column.first_row_of_shard.push_back(0);
  for (std::uint32_t shard = 0; shard < entry.shards.size(); ++shard) {
    for (std::uint32_t i = 0; i < entry.shards[shard].block_count; ++i) {
      // We do not allocate by the manifest's count alone: the loop stops where the section ends.
      auto row = index_.block(entry.spec.id, column.rows.size());
      if (row.status().code() == StatusCode::kNotFound) break;  // check_counts has reported it
      column.rows.push_back(row.ok() && row->shard == shard ? std::optional(*row) : std::nullopt);
      if (row.ok() && row->shard != shard) {
        contradiction({},
                      {"block_row_of_shard",
                       formatted("block row {} in shard {}", column.rows.size() - 1, shard),
                       column.rows.size() - 1, shard},
                      {"shard", formatted("shard {}", row->shard), row->shard}, {},
                      entry.spec.name);
      }
    }
    column.first_row_of_shard.push_back(column.rows.size());
  }
  return column;
}

bool PlanLoader::number_records(ColumnPlan& column) {
  std::vector<std::uint64_t> first;
  std::uint64_t records = 0;
  for (const auto& row : column.rows) {
    if (!row) return false;
    first.push_back(records);
    records += row->place.record_count;
  }
  first.push_back(records);
  column.first_record_of_row = std::move(first);
  column.owners.assign(records, kNoOwner);
  return true;
}

Status PlanLoader::load_owners(ColumnPlan& column) {
  const formats::ColumnSpec& spec = column.entry->spec;
  std::uint64_t missing_count = 0;
  for (std::uint32_t position = 0; position < index_.row_count(SectionKind::kLocations, spec.id);
       ++position) {
    XTTS_ASSIGN(const formats::LocationRow row, index_.location(spec.id, position));
    if (row.block_row == formats::kNoRecord && column.entry->axis) {
      ++missing_count;
      continue;
    }
    own(column, row.block_row, row.slot, position);
  }
  expect_count(run_, index_.file().name(), "clips without a record", column.entry->missing_count,
               missing_count, spec.name);
  XTTS_TRY(load_tombstones(column));
  check_everybody_owned(column);
  return {};
}

Status PlanLoader::load_tombstones(ColumnPlan& column) {
  for (std::uint64_t i = 0; i < index_.row_count(SectionKind::kTombstones); ++i) {
    XTTS_ASSIGN(const formats::TombstoneRow row, index_.tombstone(i));
    if (row.column_id == column.entry->spec.id) own(column, row.block_row, row.slot, kTombstone);
  }
  return {};
}

void PlanLoader::own(ColumnPlan& column, std::uint64_t row, std::size_t slot, std::uint32_t owner) {
  const std::string& name = column.entry->spec.name;
  if (row >= column.rows.size() || slot >= column.rows[row]->place.record_count) {
    contradiction({}, {"record_that_is_there", "a record that is there"},
                  place("place_not_there", row, slot, "is not there"), {}, name);
    return;
  }
  std::uint32_t& held = column.owners[column.first_record_of_row[row] + slot];
  if (held != kNoOwner) {
    contradiction({}, {"each_record_once", "each record named once"},
                  place("place_twice", row, slot, "is named twice"), {}, name);
    return;
  }
  held = owner;
}

void PlanLoader::check_everybody_owned(const ColumnPlan& column) {
  for (std::uint64_t row = 0; row < column.rows.size(); ++row) {
    for (std::size_t slot = 0; slot < column.rows[row]->place.record_count; ++slot) {
      if (column.owner(row, slot) != kNoOwner) continue;
      contradiction({}, {"each_record_named", "each record named by the plan or a tombstone"},
                    place("place_of_nobody", row, slot, "is named by none"), {},
                    column.entry->spec.name);
    }
  }
}

}  // namespace

std::optional<std::uint32_t> Plan::length_of(const formats::ColumnEntry& column,
                                             std::uint32_t position) const {
  const ClipPlan& clip = clips[position];
  const std::uint32_t rows = column.spec.shape.front();
  const auto* const sound = formats::find_sound_column(column.spec.name);
  switch (axis_of(column)) {
    case formats::Axis::kTokens:
      return clip.text_len;
    case formats::Axis::kOwn:
      return std::nullopt;
    case formats::Axis::kFixed:
      return rows;
    case formats::Axis::kFrames:
      break;
  }
  if (sound != nullptr && sound->counts_samples) return clip.wave_len;
  if (sound == nullptr && !column.axis) return std::nullopt;  // not a column of ours
  return max_frames == 0 ? clip.mel_len : clip.mel_len * (rows / max_frames);
}

void check_counts(Run& run, const IndexReader& index, const formats::Manifest& manifest) {
  const std::string& file = index.file().name();
  const auto expect = [&](const char* what, std::uint64_t expected, std::uint64_t found,
                          const std::string& column = {}) {
    expect_count(run, file, what, expected, found, column);
  };
  const std::uint64_t clips = manifest.counts.records;
  expect("generation", manifest.generation, index.footer().generation);
  expect("records", clips, index.footer().record_count);
  expect("plan rows", clips, index.clip_count());
  expect("id hashes", clips, index.row_count(SectionKind::kIdHashes));
  for (const formats::ColumnEntry& column : manifest.columns) {
    std::uint64_t blocks = 0;
    for (const formats::ShardEntry& shard : column.shards) blocks += shard.block_count;
    const auto rows = [&](SectionKind kind) { return index.row_count(kind, column.spec.id); };
    expect("locations", clips, rows(SectionKind::kLocations), column.spec.name);
    expect("blocks", blocks, rows(SectionKind::kBlocks), column.spec.name);
  }
}

Plan load_plan(Run& run, IndexReader& index, const formats::Manifest& manifest, bool sound) {
  return PlanLoader(run, index, manifest).load(sound);
}

}  // namespace xtts::verify
