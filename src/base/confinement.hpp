// Confinement resolves a path under the rules of confined_env.hpp. The result is a folder's
// descriptor and a name in it, for the system calls that end in "at". Below a folder of
// Links::kNone every step is opened from the one before and may not be a link. So the file that
// was checked is the file that is used, whatever happens in the folder meanwhile. Immutable, share
// freely. Failures: kNotFound, kResource, kCorrupt (a link or a non-folder on the way), and for
// files under Links::kInside kInvalidArgument.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/confined_env.hpp"
#include "base/system_call.hpp"

namespace xtts {

struct ConfinedName {
  Descriptor folder;  // AT_FDCWD where no rule holds
  std::string name;
  bool is_confined = false;  // then the name may be no link either

  [[nodiscard]] int open_flags() const noexcept;  // O_NOFOLLOW where it is confined
  // Like stat(); false where that fails. For a confined link it describes the link itself.
  [[nodiscard]] bool look_at(struct stat& info) const noexcept;
};

class Confinement {
 public:
  Confinement() = default;
  [[nodiscard]] Confinement with(const std::string& folder, Links links) const;

  [[nodiscard]] bool confines(const std::string& path) const;  // under Links::kNone

  // For all calls except opening for reading. Follows links where no rule forbids them.
  [[nodiscard]] Result<ConfinedName> find(const std::string& path) const;
  // Opens a regular file without waiting. `flags`: of open().
  [[nodiscard]] Result<Descriptor> open_file(const std::string& path, int flags,
                                             struct stat& info) const;
  // Creates `path` and all folders above it.
  [[nodiscard]] Status create_folders(const std::string& path) const;

 private:
  struct Rule {
    std::string folder;  // without a slash at its end; "" is /
    Links links = Links::kNone;
  };
  [[nodiscard]] const Rule* rule_of(std::string_view path) const;
  [[nodiscard]] Result<Descriptor> open_inside(const std::string& path, int flags,
                                               struct stat& info) const;

  std::vector<Rule> rules_;
};

// The reason why `name` did not open as a folder (links not followed). kCorrupt: it is none.
[[nodiscard]] Status why_no_folder(int folder, const std::string& name, const std::string& path,
                                   int error);

// "a FIFO", "a symbolic link": for messages.
[[nodiscard]] const char* describe_kind(mode_t mode) noexcept;

}  // namespace xtts
