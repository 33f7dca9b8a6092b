#include "corpus/files/find_source.hpp"

#include <optional>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/column_files.hpp"
#include "corpus/files/mounts.hpp"
#include "corpus/files/names.hpp"
#include "corpus/files/tar_members.hpp"

namespace xtts::corpus {
namespace {

bool is_archive(std::string_view path) {
  return equals_ignoring_case(file_extension(path), "tar") || column_file_kind(path);
}

// "train-000.tar" for "train-000.tar/a/b.flac"; nullopt: no step of the path is an archive.
std::optional<std::string_view> archive_of(std::string_view source) {
  for (auto slash = source.find('/'); slash != std::string_view::npos;
       slash = source.find('/', slash + 1)) {
    const std::string_view path = source.substr(0, slash);
    if (is_archive(path)) return path;
  }
  return std::nullopt;
}

// The member's place in `file`, without the path, which the caller sets; nullopt: no such member.
Result<std::optional<SourcePlace>> find_in_tar(const RandomAccessFile& file,
                                               std::string_view name) {
  TarMembers members(file);
  while (true) {
    XTTS_ASSIGN(const auto member, members.next());
    if (!member) return std::optional<SourcePlace>();
    if (member->name == name && !member->fault && !member->is_folder)
      return std::optional(SourcePlace{{}, member->data});
  }
}

Result<std::optional<SourcePlace>> find_in_columns(Env& env, const std::string& path,
                                                   ColumnFileKind kind, std::string_view name) {
  const auto number = row_of_name(name);
  if (!number) return std::optional<SourcePlace>();
  XTTS_ASSIGN(const auto row, place_of_row(env, path, kind, *number));
  if (!row) return std::optional<SourcePlace>();
  return std::optional(SourcePlace{{}, row->sound, row->row});
}

}  // namespace

Result<SourcePlace> find_source(Env& env, const formats::DataFolders& data,
                                std::string_view source) {
  const std::string path = source_path(data, source);
  const auto archive = archive_of(source);
  if (!archive || env.stat(path).ok()) return SourcePlace{path};
  const std::string archive_path = source_path(data, *archive);
  XTTS_ASSIGN(const auto file, env.open_for_read(archive_path));
  const std::string_view name = source.substr(archive->size() + 1);
  const auto kind = column_file_kind(*archive);
  auto place = kind ? find_in_columns(env, archive_path, *kind, name) : find_in_tar(*file, name);
  if (!place.ok())
    return Status(place.status().code(),
                  formatted("{} {}", archive_path, place.status().message()));
  if (*place) {
    (*place)->path = archive_path;
    return std::move(**place);
  }
  return Status(StatusCode::kNotFound,
                formatted("{} has no member {} any more", archive_path, printable(name)));
}

}  // namespace xtts::corpus
