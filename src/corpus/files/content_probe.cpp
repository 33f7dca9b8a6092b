#include "corpus/files/content_probe.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "formats/rules.hpp"

namespace xtts::corpus {
namespace {

// Headers of sound that are text (NIST SPHERE) end within 1 KiB, and samples follow.
constexpr std::size_t kTextBytes = std::size_t{4} << 10U;
constexpr std::size_t kUtf8BytesMax = 4;
constexpr std::size_t kSuffixesNamed = 8;

// A look costs 0.05 ms for sound and 0.2 ms for other bytes.
constexpr std::size_t kAlikeCount = 500;

// Sorted. Files beside sound in published corpora, and files that training tools leave there.
constexpr auto kNoSound = std::to_array<std::string_view>(
    {"7z",      "ali",   "arrow",    "ass",      "avif", "bib",    "bmp",  "bz2",  "c",
     "cfg",     "ckpt",  "conf",     "cpp",      "csv",  "ctm",    "cue",  "db",   "dict",
     "doc",     "docx",  "dtd",      "eaf",      "gif",  "gz",     "h",    "h5",   "hdf5",
     "heic",    "hpp",   "htm",      "html",     "ini",  "ipynb",  "jpeg", "jpg",  "js",
     "json",    "jsonl", "lab",      "license",  "lock", "log",    "lrc",  "m3u",  "m3u8",
     "mat",     "md",    "md5",      "mlf",      "nfo",  "npy",    "npz",  "odt",  "onnx",
     "parquet", "pb",    "pdf",      "phn",      "pkl",  "pls",    "png",  "ppt",  "pptx",
     "pt",      "pth",   "py",       "pyc",      "rar",  "rst",    "rtf",  "rttm", "safetensors",
     "scp",     "sh",    "sha1",     "sha256",   "smi",  "sqlite", "srt",  "stm",  "svg",
     "tar",     "tex",   "textgrid", "tfrecord", "tgz",  "tif",    "tiff", "toml", "torrent",
     "trn",     "trs",   "tsv",      "ttml",     "txt",  "url",    "vtt",  "webp", "wrd",
     "xls",     "xlsx",  "xml",      "xz",       "yaml", "yml",    "zip",  "zst"});

// True where `bytes` are text as an editor shows it: UTF-8 without control characters except white
// space. `is_whole`: no character is cut at the end.
bool is_text(std::string_view bytes, bool is_whole) {
  const bool has_control = std::ranges::any_of(bytes, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f') || byte == 0x7F;
  });
  if (has_control) return false;
  return bytes.size() - utf8_valid_bytes(bytes) < (is_whole ? 1 : kUtf8BytesMax);
}

std::string lower_suffix_of(std::string_view path) {
  std::string suffix(suffix_of(path));
  std::ranges::transform(suffix, suffix.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return suffix;
}

class ContentProbe {
 public:
  ContentProbe(Env& env, const ProbeContent& probe, DataTree& tree)
      : env_(env), probe_(probe), tree_(tree) {}

  Status run() {
    std::map<std::string, std::vector<std::size_t>> unknown;  // by suffix, in the order of the tree
    for (std::size_t i = 0; i < tree_.files.size(); ++i) {
      if (is_unknown(tree_.files[i])) unknown[lower_suffix_of(tree_.files[i].path)].push_back(i);
    }
    if (unknown.empty()) return {};
    for (const auto& [suffix, files] : unknown) XTTS_TRY(look_into_all(suffix, files));
    std::erase_if(tree_.files, [](const TreeFile& file) { return file.path.empty(); });
    std::sort(tree_.refusals.begin(), tree_.refusals.end(),
              [](const Refusal& a, const Refusal& b) { return a.path < b.path; });
    return {};
  }

 private:
  static bool is_unknown(const TreeFile& file) {
    const std::string_view suffix = file_extension(file.path);
    return file.audio_rank ? is_ambiguous_suffix(suffix) : !is_non_audio_suffix(suffix);
  }

  // A suffix may have very many files: a spread sample of them is then looked into. If the sample
  // agrees, it decides for all; else all are looked into. Decoding finds a file that is wrongly
  // taken for sound. Nothing would find one that is wrongly passed over.
  Status look_into_all(const std::string& suffix, const std::vector<std::size_t>& files) {
    const std::size_t step = files.size() <= kAlikeCount ? 1 : files.size() / kAlikeCount;
    std::optional<ProbeResult::Kind> common;
    bool are_alike = step > 1;
    for (std::size_t i = 0; i < files.size(); i += step) {
      XTTS_ASSIGN(const ProbeResult::Kind kind, look_into(tree_.files[files[i]]));
      are_alike = are_alike && kind == common.value_or(kind) && kind != ProbeResult::Kind::kRefused;
      common = kind;
    }
    if (suffix.empty() && common == ProbeResult::Kind::kNotSound) are_alike = false;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (i % step == 0) continue;
      TreeFile& file = tree_.files[files[i]];
      if (!are_alike) {
        XTTS_TRY(look_into(file).status());
      } else if (common == ProbeResult::Kind::kSound) {
        take_for_sound(file);
      } else {
        file.audio_rank.reset();
      }
    }
    return {};
  }

  static void take_for_sound(TreeFile& file) {
    if (file.audio_rank) return;
    file.audio_rank = kRankOfUnknownSuffix;
    file.is_named_otherwise = true;
  }

  // A refused file keeps an empty path in the tree's list.
  Result<ProbeResult::Kind> look_into(TreeFile& file) {
    const auto refuse = [&](std::string reason, RejectClass kind) {
      tree_.refusals.push_back({std::exchange(file.path, {}), std::move(reason), kind, false, true,
                                formats::Rule::kNotRead});
      return ProbeResult::Kind::kRefused;
    };
    auto seen = probe(file);
    if (seen.ok() && seen->kind == ProbeResult::Kind::kSound) {
      take_for_sound(file);
      return seen->kind;
    }
    file.audio_rank.reset();
    if (seen.ok() && seen->kind == ProbeResult::Kind::kNotSound) return seen->kind;
    if (seen.ok()) return refuse(std::move(seen->reason), RejectClass::kInput);
    switch (seen.status().code()) {
      case StatusCode::kCrashed:
        return refuse(seen.status().message(), RejectClass::kCrash);
      case StatusCode::kBadInput:
        return refuse(seen.status().message(), RejectClass::kInput);
      case StatusCode::kSourceIo:
        return refuse("cannot be looked into: " + seen.status().message(),
                      RejectClass::kEnvironment);
      default:
        return seen.status().with_context("looking into " + printable(file.path));
    }
  }

  Result<ProbeResult> probe(const TreeFile& file) {
    const auto source_failure = [](const Status& status) {
      return Status(StatusCode::kSourceIo, status.message());
    };
    auto source = env_.open_for_read(tree_.full_path(file.path));
    if (!source.ok()) return source_failure(source.status());
    const auto got = (*source)->read_at(0, std::as_writable_bytes(std::span(head_)));
    if (!got.ok()) return source_failure(got.status());
    if (is_text({head_.data(), *got}, *got < head_.size())) return ProbeResult{};
    return probe_(**source, file_extension(file.path));
  }

  Env& env_;
  const ProbeContent& probe_;
  DataTree& tree_;
  std::array<char, kTextBytes> head_{};
};

}  // namespace

bool is_non_audio_suffix(std::string_view suffix) {
  constexpr std::size_t kBytesMax = 11;  // safetensors
  if (suffix.empty() || suffix.size() > kBytesMax) return false;
  std::array<char, kBytesMax> lower{};
  std::ranges::transform(suffix, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  static_assert(std::ranges::is_sorted(kNoSound));
  return std::ranges::binary_search(kNoSound, std::string_view(lower.data(), suffix.size()));
}

Status probe_unknown_files(Env& env, const ProbeContent& probe, DataTree& tree) {
  if (!probe) return {};
  return ContentProbe(env, probe, tree).run();
}

std::string not_audio_note(const std::map<std::string, std::uint64_t>& counts) {
  if (counts.empty()) return {};
  std::vector<std::pair<std::string, std::uint64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = "not audio: ";
  for (std::size_t i = 0; i < std::min(sorted.size(), kSuffixesNamed); ++i) {
    const auto& [suffix, count] = sorted[i];
    if (i > 0) text += ", ";
    text += counted(count, suffix.empty() ? "without a suffix" : "." + suffix,
                    suffix.empty() ? "without a suffix" : "." + suffix);
  }
  if (sorted.size() <= kSuffixesNamed) return text;
  std::uint64_t rest = 0;
  for (std::size_t i = kSuffixesNamed; i < sorted.size(); ++i) rest += sorted[i].second;
  return formatted("{}, {}", text, counted(rest, "with another", "with others"));
}

std::map<std::string, std::uint64_t> not_audio_by_suffix(
    const DataTree& tree, const std::unordered_set<std::string>& read) {
  std::map<std::string, std::uint64_t> counts;
  for (const TreeFile& file : tree.files) {
    if (file.audio_rank || read.contains(file.path)) continue;
    ++counts[lower_suffix_of(file.path)];
  }
  return counts;
}

}  // namespace xtts::corpus
