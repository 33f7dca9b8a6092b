// Which symbolic links an Env follows below a folder, and new files: a side of Env that those have
// who know links. RealEnv and the Envs of tests/support do; others have none to follow.
//
// Every Env opens regular files alone, and waits for no other process: a FIFO, socket, device or
// folder in a file's place is refused by name, at once (kInvalidArgument; kCorrupt below a folder
// of Links::kNone).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/env.hpp"

namespace xtts {

enum class Links : std::uint8_t {
  kNone,    // a cache: a link there is refused by name, like all that is no file or folder
  kInside,  // DATA: those that end below a folder that is confined in this way
};

class RuledEnv {
 public:
  virtual ~RuledEnv() = default;

  // confined_to() and open_new_file() below.
  [[nodiscard]] virtual std::shared_ptr<Env> with_rule(const std::string& folder, Links links) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<WritableFile>> open_new(const std::string& path) = 0;
};

// The same files and clocks with a rule for all paths below `folder`, which are those that begin
// with its text; `folder` itself may be a link. Rules add up, and the innermost folder's counts.
// Below a folder of kNone each call goes from folder to folder by descriptor, so that a link put
// there at any moment is not followed: nothing outside is opened, changed or removed. stat() and
// list() call a link kOther there, and a file that is to be changed may have one name only. The
// result may outlive others of this kind that it came from, but not the Env that they all came
// from.
[[nodiscard]] std::shared_ptr<Env> confined_to(Env& env, const std::string& folder, Links links);

// A file that is not there yet; kResource where anything stands at the path.
[[nodiscard]] Result<std::unique_ptr<WritableFile>> open_new_file(Env& env,
                                                                  const std::string& path);

}  // namespace xtts
