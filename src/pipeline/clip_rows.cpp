#include "pipeline/clip_rows.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "formats/clip_id.hpp"
#include "formats/split.hpp"

namespace xtts::pipeline {

using corpus::Clip;
using formats::SectionKind;

ClipRows::ClipRows(const Names& known, const std::vector<Clip>& clips, std::uint32_t max_frames)
    : speakers_(known.speakers, names_of(clips, &Clip::speaker)),
      languages_(known.languages, names_of(clips, &Clip::language)),
      datasets_(known.datasets, names_of(clips, &Clip::dataset)),
      max_frames_(max_frames) {}

Status ClipRows::add(const Clip& clip, formats::PlanRow row, const formats::RecordFacts& facts,
                     IndexFile& file) {
  row.speaker = speakers_.number_of(clip.speaker);
  row.language = static_cast<std::int16_t>(languages_.number_of(clip.language));
  row.dataset = static_cast<std::uint16_t>(std::max(datasets_.number_of(clip.dataset), 0));
  row.split = static_cast<std::uint8_t>(clip.split);
  row.flags &= static_cast<std::uint8_t>(~(formats::kPlanAudioCut | formats::kPlanWarnings));
  if (facts.frame_count_before_cut.value_or(0) > max_frames_) {
    row.flags |= formats::kPlanAudioCut;
    ++cut_count_;
  }
  if (!facts.warnings.empty()) {
    row.flags |= formats::kPlanWarnings;
    ++warned_count_;
    warnings_.add(full_id(clip), facts.warnings);
  }
  std::string details;
  append_facts(facts, details);
  row.details_offset = file.encoder().section_bytes();
  row.details_bytes = static_cast<std::uint32_t>(details.size());
  append_row(row, plan_rows_);
  id_hashes_.push_back(
      {formats::id_hash(clip.dataset, clip.id), static_cast<std::uint32_t>(counts_.records)});
  ++counts_.records;
  counts_.frames += row.mel_len;
  ++counts_.records_by_split[std::string(to_string(clip.split))];
  return file.encoder().append(as_bytes(details));
}

Status ClipRows::end(IndexFile& file) {
  std::ranges::sort(id_hashes_, {}, &formats::IdHashRow::hash);
  return file.encoder().end_section(count());
}

Status ClipRows::write(IndexFile& file) const {
  XTTS_TRY(file.write_section(SectionKind::kPlan, 0, plan_rows_, count()));
  std::string id_rows;
  for (const formats::IdHashRow& row : id_hashes_) append_row(row, id_rows);
  return file.write_section(SectionKind::kIdHashes, 0, id_rows, count());
}

void ClipRows::describe(formats::Manifest& manifest) const {
  manifest.datasets = datasets_.names();
  manifest.speakers = speakers_.names();
  manifest.languages = languages_.names();
  manifest.counts = counts_;
}

}  // namespace xtts::pipeline
