#include "pipeline/planned_part.hpp"

#include <charconv>
#include <utility>
#include <variant>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/shell_words.hpp"
#include "base/try.hpp"
#include "formats/part_file.hpp"
#include "formats/preamble.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/part_row.hpp"

namespace xtts::pipeline {
namespace {

using corpus::Corpus;

// The row of any clip is larger. Bounds the memory that a hostile number of clips makes us reserve.
constexpr std::uint64_t kClipBytesMin = 8;

Status no_plan(const std::string& folder) {
  return {
      StatusCode::kNotFound,
      formatted("there is no plan in {}: {} makes one, and writes {} last", folder,
                command_in_text("xtts-precompute plan DATA PLAN --parts N"), formats::kPlanName)};
}

Result<std::uint32_t> number_of(const std::string& path, const formats::Plan& plan) {
  const std::string_view name = file_name(path);
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_part = parsed.ec == std::errc() && number >= 1 && number <= plan.parts.size() &&
                       name == formats::part_file_name(number);
  if (is_part) return number;
  return Status(StatusCode::kNotFound,
                formatted("{} is no part of its plan, whose parts are {} to {}", path,
                          plan.parts.front().file, plan.parts.back().file));
}

Status of_another_plan(const std::string& path) {
  return {StatusCode::kMismatch,
          formatted("{} is not the part that {} beside it tells of: copy both from one plan", path,
                    formats::kPlanName)};
}

RowNames row_names_of(const formats::Plan& plan) {
  RowNames names;
  names.datasets.assign(plan.datasets.begin(), plan.datasets.end());
  names.speakers.assign(plan.speakers.begin(), plan.speakers.end());
  names.languages.assign(plan.languages.begin(), plan.languages.end());
  return names;
}

// Reads a part file from its head to its end.
class PartFile {
 public:
  PartFile(const RandomAccessFile& file, const PlannedPart& part)
      : file_(file),
        part_(part),
        names_(row_names_of(part.plan)),
        rows_(names_, part.plan.folders.size()) {}

  Status read_into(Corpus& corpus) {
    XTTS_TRY(read_head());
    corpus.clips.reserve(part_.facts().clip_count);
    std::string waiting;  // bytes of rows that are not taken yet
    for (std::uint64_t number = 0; at_ < file_.size_bytes(); ++number) {
      XTTS_ASSIGN(const auto chunk, next(formats::kPartChunkBytes));
      XTTS_ASSIGN(const auto payload, formats::decode_part_chunk(number, chunk));
      waiting += payload;
      XTTS_TRY(take_rows(waiting, corpus));
    }
    const bool is_whole = waiting.empty() && hasher_.finish() == part_.facts().digest &&
                          corpus.clips.size() == part_.facts().clip_count &&
                          corpus.problems.size() == part_.facts().reject_count;
    return is_whole ? Status() : of_another_plan(part_.path);
  }

 private:
  Result<std::span<const std::byte>> next(std::size_t size_bytes) {
    buffer_.resize(size_bytes);
    XTTS_ASSIGN(const std::size_t size, file_.read_at(at_, buffer_));
    at_ += size;
    const auto bytes = std::span<const std::byte>(buffer_).first(size);
    hasher_.update(bytes);
    return bytes;
  }

  Status read_head() {
    if (file_.size_bytes() != part_.facts().file_bytes) return of_another_plan(part_.path);
    XTTS_ASSIGN(const auto bytes, next(formats::kPartHeadBytes));
    XTTS_ASSIGN(const auto head, formats::decode_part_head(bytes));
    const bool is_ours = head.plan == part_.plan.clips && head.index == part_.choice.index &&
                         head.count == part_.choice.count &&
                         head.clip_count == part_.facts().clip_count &&
                         head.reject_count == part_.facts().reject_count &&
                         head.clip_count <= file_.size_bytes() / kClipBytesMin;
    return is_ours ? Status() : of_another_plan(part_.path);
  }

  // Leaves the row that goes on in the next chunk.
  Status take_rows(std::string& waiting, Corpus& corpus) {
    std::string_view rows = waiting;
    while (true) {
      XTTS_ASSIGN(auto row, rows_.take(rows));
      if (!row) break;
      if (auto* const clip = std::get_if<corpus::Clip>(&*row)) {
        corpus.clips.push_back(std::move(*clip));
      } else {
        corpus.problems.push_back(std::get<formats::Reject>(std::move(*row)));
      }
    }
    waiting.erase(0, waiting.size() - rows.size());
    return {};
  }

  const RandomAccessFile& file_;
  const PlannedPart& part_;
  const RowNames names_;
  PartRowReader rows_;
  Hasher128 hasher_;
  std::uint64_t at_ = 0;
  std::vector<std::byte> buffer_;
};

// The folders and mounts of the plan, as they are on this machine.
Status place_folders(Env& env, const BuildRequest& request, Corpus& corpus) {
  const auto& folders = request.part->plan.folders;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const formats::DataFolders here =
        request.corpora.empty() ? request.data : request.corpora[i].folders(request.data);
    XTTS_ASSIGN(corpus.folders.emplace_back(), env.real_path(here.path));
    if (here.audio_roots.size() != folders[i].audio_roots.size()) {
      return {StatusCode::kInvalidArgument,
              formatted("the plan has {}: give {} as often, in the same order",
                        counted(folders[i].audio_roots.size(), "audio root", "audio roots"),
                        option("audio-root"))};
    }
    corpus::Mounts& mounts = corpus.mounts.emplace_back();
    for (const formats::PlanMount& mount : folders[i].mounts) {
      XTTS_ASSIGN(const std::string root, env.real_path(here.audio_roots[mount.root]));
      mounts.add(mount.place, mount.path.empty() ? root : join_path(root, mount.path));
    }
  }
  return {};
}

std::string describe(const formats::Numerics& numerics) {
  return formatted("{} {} ({})", numerics.device, numerics.isa, numerics.libraries);
}

}  // namespace

Result<PlannedPart> open_part(Env& env, const std::string& path) {
  const std::string folder = parent_path(path);
  const std::string plan_path = join_path(folder, formats::kPlanName);
  const auto text = read_text_file(env, plan_path, formats::kPlanBytesMax);
  if (text.status().code() == StatusCode::kNotFound) return no_plan(folder);
  if (!text) return text.status();
  auto plan = formats::decode_plan(*text);
  if (!plan) return plan.status().with_context(plan_path);
  PlannedPart part{.path = path, .choice = {}, .plan = std::move(*plan)};
  XTTS_ASSIGN(part.choice.index, number_of(path, part.plan));
  part.choice.count = static_cast<std::uint32_t>(part.plan.parts.size());
  return part;
}

Result<Corpus> read_part(Env& env, const BuildRequest& request) {
  const PlannedPart& part = *request.part;
  Corpus corpus;
  corpus.layout = part.plan.layout;
  corpus.has_text = part.plan.has_text;
  corpus.is_stream = part.plan.is_stream;
  XTTS_TRY(place_folders(env, request, corpus));
  XTTS_ASSIGN(const auto file, env.open_for_read(part.path));
  Status read = PartFile(*file, part).read_into(corpus);
  if (!read.ok()) return read.with_context(part.path);
  return corpus;
}

std::optional<std::string> look_at_sources(Env& env, Corpus& corpus) {
  std::uint64_t changed_count = 0;
  std::string first_changed;
  std::string last_path;
  std::optional<FileFacts> last_facts;
  for (corpus::Clip& clip : corpus.clips) {
    std::string path = corpus.path_of(clip);
    if (path != last_path) {
      const auto facts = env.stat(path);
      last_facts = facts ? std::optional(*facts) : std::nullopt;
      last_path = std::move(path);
    }
    if (!last_facts) continue;
    clip.source_mtime_ns = last_facts->mtime_ns;
    clip.source_ctime_ns = last_facts->ctime_ns;
    clip.source_inode = last_facts->inode;
    if (clip.range || clip.source_bytes == last_facts->size_bytes) continue;
    if (changed_count++ == 0) first_changed = clip.source;
    clip.source_bytes = last_facts->size_bytes;
  }
  if (changed_count == 0) return std::nullopt;
  return formatted(
      "{} another size than the plan says (the first: {}); they are taken as they are "
      "now",
      counted(changed_count, "source has", "sources have"), first_changed);
}

Status check_numerics_of_plan(const PlannedPart& part, const formats::Numerics& here) {
  if (part.plan.numerics.hash() == here.hash()) return {};
  return {StatusCode::kMismatch,
          formatted("{} was planned for {}, this machine has {}; results agree within the recipe's "
                    "tolerance but not bit for bit. Build it on a machine that is as planned, or "
                    "plan anew: with {} of the weakest machine, and the same libraries on all. {} "
                    "builds the part all the same",
                    part.path, describe(part.plan.numerics), describe(here), option("isa"),
                    option_on("allow-mixed"))};
}

}  // namespace xtts::pipeline
