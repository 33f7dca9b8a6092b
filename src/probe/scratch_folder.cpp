#include "probe/scratch_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/formatted.hpp"

namespace xtts::probe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "xtts-doctor-";
// Doctors that collect at the same moment may take a new folder for a dead one's.
constexpr int kTriesMax = 100;

enum class Lock : std::uint8_t { kTaken, kBusy, kGone, kNone };

// Locks a folder while `folder` is open. kNone: its file system has no such locks.
Lock lock_folder(const std::string& path, Descriptor& folder) {
  folder = Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) return errno == ENOENT ? Lock::kGone : Lock::kNone;
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK ? Lock::kBusy : Lock::kNone;
  struct stat facts = {};
  return ::fstat(folder.get(), &facts) == 0 && facts.st_nlink > 0 ? Lock::kTaken : Lock::kGone;
}

bool is_folder_of_ours(const std::string& path) {
  struct stat facts = {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == ::geteuid();
}

void remove_left_behind(const std::string& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const std::string path = entry.path().string();
    Descriptor lock;
    if (is_folder_of_ours(path) && lock_folder(path, lock) == Lock::kTaken)
      fs::remove_all(path, ignored);
  }
}

}  // namespace

Result<std::unique_ptr<ScratchFolder>> ScratchFolder::make(const std::string& parent) {
  remove_left_behind(parent);
  for (int tries = 0; tries < kTriesMax; ++tries) {
    std::string path = (fs::path(parent) / (std::string(kPrefix) + "XXXXXX")).string();
    if (::mkdtemp(path.data()) == nullptr)
      return Status(StatusCode::kResource, formatted("no folder for the doctor's files: {} ({})",
                                                     error_words(errno), path));
    Descriptor lock;
    const Lock taken = lock_folder(path, lock);
    if (taken == Lock::kBusy || taken == Lock::kGone) continue;
    // Without locks, a killed doctor's folder stays.
    return std::unique_ptr<ScratchFolder>(new ScratchFolder(std::move(path), std::move(lock)));
  }
  return Status(StatusCode::kResource,
                "no folder for the doctor's files: others remove each new one in " + parent);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace xtts::probe
