#include "base/scratch_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/hash.hpp"
#include "base/system_call.hpp"
#include "base/try.hpp"

namespace xtts {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr std::string_view kNamePrefix = ".xtts-scratch-";

class RealScratchFile final : public ScratchFile {
 public:
  RealScratchFile(const std::string& folder, int fd) : name_("scratch in " + folder), fd_(fd) {}

  [[nodiscard]] Status append(std::span<const std::byte> bytes) override {
    return write_fully(fd_.get(), name_, bytes);
  }

  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    return read_fully(fd_.get(), name_, offset_bytes, out);
  }

 private:
  std::string name_;  // for messages
  Descriptor fd_;
};

std::unique_ptr<ScratchFile> own(const std::string& folder, int fd) {
  return std::make_unique<RealScratchFile>(folder, fd);
}

// A file with such a name was either left by a killed process, or its owner is about to remove the
// name. Both may be removed. Files of other users are left alone.
void remove_leftovers(int folder_fd) {
  const int listed = ::openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (listed < 0) return;
  DIR* const entries = ::fdopendir(listed);
  if (entries == nullptr) {
    ::close(listed);
    return;
  }
  while (const dirent* entry = ::readdir(entries)) {
    if (!std::string_view(entry->d_name).starts_with(kNamePrefix)) continue;
    struct stat facts {};
    if (::fstatat(folder_fd, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISREG(facts.st_mode) && facts.st_uid == ::geteuid())
      (void)::unlinkat(folder_fd, entry->d_name, 0);
  }
  ::closedir(entries);
}

}  // namespace

Result<std::unique_ptr<ScratchFile>> open_scratch(Env& env, const std::string& folder) {
  if (auto* const place = dynamic_cast<ScratchPlace*>(&env)) return place->open_scratch(folder);
  return Status(StatusCode::kUnsupported, "this Env keeps no scratch files");
}

Result<std::unique_ptr<ScratchFile>> open_real_scratch(const std::string& folder) {
  // O_EXCL: nobody can give the file a name later.
  const int fd = retry_interrupted(
      [&] { return ::open(folder.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, kOwnerOnly); });
  if (fd >= 0) return own(folder, fd);
  // EISDIR: a kernel or file system that does not know the flag.
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
    return system_failure("making a scratch file in", folder, errno);
  return open_scratch_by_name(folder);
}

Result<std::unique_ptr<ScratchFile>> open_scratch_by_name(const std::string& folder) {
  const Descriptor place(retry_interrupted(
      [&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (place.get() < 0) return system_failure("making a scratch file in", folder, errno);
  remove_leftovers(place.get());
  const std::string name = std::string(kNamePrefix) + random_digest().to_hex();
  const int fd = retry_interrupted([&] {
    return ::openat(place.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    kOwnerOnly);
  });
  if (fd < 0) return system_failure("making a scratch file in", folder, errno);
  Descriptor owner(fd);
  // Another process may have removed the name as a leftover meanwhile; that is as good.
  if (::unlinkat(place.get(), name.c_str(), 0) != 0 && errno != ENOENT)
    return system_failure("making a scratch file in", folder, errno);
  return own(folder, owner.release());
}

}  // namespace xtts
