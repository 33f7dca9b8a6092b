// ScratchFolder: a new folder for a doctor's own files, "xtts-doctor-XXXXXX", which goes with the
// object. Its owner holds a lock on it. A doctor that was killed leaves its folder, and the system
// releases the lock: the next doctor removes it. One thread at a time. Failures: kResource.
#pragma once

#include <memory>
#include <string>

#include "base/system_call.hpp"
#include "xtts/status.hpp"

namespace xtts::probe {

class ScratchFolder {
 public:
  // Removes what dead doctors of this user have left in `parent`, too.
  [[nodiscard]] static Result<std::unique_ptr<ScratchFolder>> make(const std::string& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  ScratchFolder(std::string path, Descriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  const std::string path_;
  const Descriptor lock_;
};

}  // namespace xtts::probe
