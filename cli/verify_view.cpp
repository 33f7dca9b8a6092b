#include "cli/verify_view.hpp"

#include "report/human.hpp"
#include "report/table.hpp"

namespace xtts::cli {
namespace {

using report::escape_controls;
using report::format_counted;
using report::format_size;

// What deep recomputed.
std::string deep_summary(const verify::Report& report) {
  const std::string recomputed = "; " + report::format_count(report.recomputed_count) + " of " +
                                 format_counted(report.sampled_of, "clip", "clips") +
                                 " computed again from the sources";
  return report.comparison.empty() ? recomputed : recomputed + " and compared " + report.comparison;
}

}  // namespace

std::string to_text(const verify::Finding& finding) {
  std::string text = escape_controls(finding.file);
  if (finding.offset_bytes) text += " at byte " + report::format_count(*finding.offset_bytes);
  text += ": " + finding.what();
  if (!finding.clip.empty()) text += " of " + escape_controls(finding.clip);
  if (!finding.column.empty()) text += " (" + escape_controls(finding.column) + ")";
  if (!finding.expected.empty()) text += ", expected " + escape_controls(finding.expected);
  if (!finding.found.empty()) text += ", found " + escape_controls(finding.found);
  return text + "\n";
}

std::string to_text(const verify::Mended& mended) {
  std::string text = escape_controls(mended.file) + ": " + mended.what;
  if (mended.recomputed_count > 0) {
    text += ", " + format_counted(mended.recomputed_count, "record", "records") + " computed again";
  }
  return text + "\n";
}

std::string to_text(const verify::Remedy& remedy) {
  const std::string note = remedy.note.empty() ? "what helps" : remedy.note;
  return escape_controls(note) + ":\n  " + escape_controls(remedy.command) + "\n";
}

std::string summary_of(const verify::Report& report) {
  const char* const verdict = !report.ok ? "damaged" : report.repaired.empty() ? "ok" : "mended";
  std::string text =
      std::string(verdict) + ": " + format_counted(report.clip_count, "clip", "clips") + ", " +
      format_counted(report.record_count, "record", "records") + " in " +
      format_counted(report.shard_count, "shard", "shards") + ", " +
      format_size(report.bytes_checked) + " checked in " + report::format_duration(report.seconds);
  if (report.level == verify::Level::kQuick)
    text += " (quick: manifest, sizes and plan; --level full checks every byte)";
  if (report.level == verify::Level::kDeep) text += deep_summary(report);
  if (report.clip_count > 0 && !report.has_sources)
    text += "; sources.bin is missing, so the next build hashes all sources";
  return text + "\n";
}

}  // namespace xtts::cli
