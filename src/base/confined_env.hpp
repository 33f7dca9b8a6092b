// RuledEnv is a second interface of an Env: rules for symbolic links below a folder, and new
// files. RealEnv and the Envs of tests/support have it; other Envs have no links to follow.
//
// Every Env opens only regular files and never waits for another process. It refuses a FIFO,
// socket, device or folder in a file's place at once, by name (kInvalidArgument; kCorrupt below a
// folder of Links::kNone).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/env.hpp"

namespace xtts {

enum class Links : std::uint8_t {
  kNone,    // for a cache: every link is refused by name, like everything that is no file or folder
  kInside,  // for DATA: links are followed if they end below a folder with this rule
};

class RuledEnv {
 public:
  virtual ~RuledEnv() = default;

  // confined_to() and open_new_file() below.
  [[nodiscard]] virtual std::shared_ptr<Env> with_rule(const std::string& folder, Links links) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<WritableFile>> open_new(const std::string& path) = 0;
};

// Returns an Env of the same files and clocks with a rule for all paths that begin with the text
// of `folder`; `folder` itself may be a link. Rules add up, and the innermost folder's counts.
//
// Below a folder of kNone each call goes from folder to folder by descriptor. So it never follows
// a link, whenever that is put there, and opens, changes or removes nothing outside. stat() and
// list() report a link as kOther there. A file that is to be changed may have one name only.
//
// The result may outlive Envs that confined_to() returned before, but not the original Env.
[[nodiscard]] std::shared_ptr<Env> confined_to(Env& env, const std::string& folder, Links links);

// Creates a file. kResource: something is at the path already.
[[nodiscard]] Result<std::unique_ptr<WritableFile>> open_new_file(Env& env,
                                                                  const std::string& path);

}  // namespace xtts
