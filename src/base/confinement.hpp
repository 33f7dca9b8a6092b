// Confinement: where a path leads under the rules of confined_env.hpp, as a folder's descriptor
// and a name in it, for the calls of the system that end in "at". Below a folder of Links::kNone
// every step is opened from the one before and may be no link, so that what is found is what is
// used, whatever is put into the folder meanwhile. Immutable, share freely. Failures: kNotFound,
// kResource, kCorrupt (a link or no folder on the way), for files under Links::kInside
// kInvalidArgument.
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
  // As stat(), false where that fails. Of a confined link itself.
  [[nodiscard]] bool look_at(struct stat& info) const noexcept;
};

class Confinement {
 public:
  Confinement() = default;
  [[nodiscard]] Confinement with(const std::string& folder, Links links) const;

  [[nodiscard]] bool confines(const std::string& path) const;  // under Links::kNone

  // For every call but those that open for reading: links are followed where no rule forbids any.
  [[nodiscard]] Result<ConfinedName> find(const std::string& path) const;
  // A regular file, opened. `flags`: of open(); nothing is waited for.
  [[nodiscard]] Result<Descriptor> open_file(const std::string& path, int flags,
                                             struct stat& info) const;
  // Makes all folders on the way, `path` among them.
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

// Why `name` did not open as a folder without following links: kCorrupt where it is none.
[[nodiscard]] Status why_no_folder(int folder, const std::string& name, const std::string& path,
                                   int error);

// "a FIFO", "a symbolic link": for messages.
[[nodiscard]] const char* describe_kind(mode_t mode) noexcept;

}  // namespace xtts
