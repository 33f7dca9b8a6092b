#include "corpus/lists/list_candidates.hpp"

#include <algorithm>
#include <optional>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "corpus/files/names.hpp"
#include "corpus/files/walked_files.hpp"
#include "corpus/lists/line_reader.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace {

constexpr std::size_t kBeginningBytesMax = 64 * 1024;

// The name of a file directly in `folder`; nullopt: it lies elsewhere.
std::optional<std::string_view> name_in(std::string_view folder, std::string_view path) {
  if (!folder.empty()) {
    if (path.size() <= folder.size() || !path.starts_with(folder) || path[folder.size()] != '/') {
      return std::nullopt;
    }
    path.remove_prefix(folder.size() + 1);
  }
  if (path.find('/') != std::string_view::npos) return std::nullopt;
  return path;
}

bool ends_in(std::string_view name, std::span<const std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) {
    if (name.size() <= ending.size() + 1 || name[name.size() - ending.size() - 1] != '.') {
      return false;
    }
    return equals_ignoring_case(name.substr(name.size() - ending.size()), ending);
  });
}

Result<std::string> read_beginning(const LayoutInput& input, std::string_view list) {
  if (const Refusal* refusal = input.tree.refusal_of(list)) return status_of(*refusal);
  XTTS_ASSIGN(const auto file, input.env.open_for_read(input.tree.full_path(list)));
  std::string bytes(std::min<std::uint64_t>(kBeginningBytesMax, file->size_bytes()), '\0');
  const auto out = std::as_writable_bytes(std::span<char>(bytes.data(), bytes.size()));
  XTTS_ASSIGN(const std::size_t size, file->read_at(0, out));
  bytes.resize(size);
  auto text = as_utf8(std::move(bytes), input.config.encoding);
  if (!text.ok() || file->size_bytes() == size) return text;
  const auto end = text->find_last_of("\r\n");
  text->resize(end == std::string::npos ? 0 : end);
  return text;
}

}  // namespace

std::vector<std::string> lists_in(const DataTree& tree, std::string_view folder,
                                  std::span<const std::string_view> endings) {
  std::vector<std::string> lists;
  const bool are_too_many = any_file(tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
    const auto name = name_in(folder, file.path);
    if (name && ends_in(*name, endings)) lists.emplace_back(file.path);
    return lists.size() > kListCandidatesMax;
  });
  if (are_too_many) lists.clear();
  return lists;
}

Result<std::string> beginning_of(const LayoutInput& input, std::string_view list) {
  auto bytes = read_beginning(input, list);
  if (!bytes.ok()) {
    return Status(bytes.status().code(),
                  formatted("whether {} is a list of the clips cannot be seen: {}; mend it, take "
                            "it out of DATA, or name the layout ({})",
                            printable(list), bytes.status().message(), option("layout-of-data")));
  }
  if (bytes->starts_with(kUtf8Mark)) bytes->erase(0, kUtf8Mark.size());
  return bytes;
}

std::string_view take_line(std::string_view& text) {
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty()) return line;
  }
  return {};
}

std::string_view first_line(std::string_view text) {
  return take_line(text);
}

std::string names_of(std::span<const std::string> lists) {
  std::string text;
  for (const std::string& list : lists) {
    if (!text.empty()) text += ", ";
    text += printable(list);
  }
  return text;
}

Status refuse_list_keys(const formats::CorpusConfig& config, std::string_view name) {
  if (config.metadata_train_file.empty() && config.metadata_eval_file.empty() &&
      config.wavs_train_folder.empty() && config.wavs_eval_folder.empty()) {
    return {};
  }
  return {StatusCode::kInvalidArgument,
          formatted("layout {} finds its lists itself and reads no lists that are named to it: "
                    "leave metadata_train_file, metadata_eval_file, wavs_train_folder and "
                    "wavs_eval_folder empty, or choose layout ljspeech, table or list",
                    name)};
}

Status not_this_layout(const LayoutInput& input, std::string_view expected) {
  return {StatusCode::kInvalidArgument,
          formatted(
              "there is no {} in {}; give the folder that holds the corpus, or choose layout auto",
              expected, input.tree.root)};
}

}  // namespace xtts::corpus
