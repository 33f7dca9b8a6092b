// PlanFolder manages the folder of a plan: who may write there, and what counts. plan.json is
// removed before any part file changes and is written last, so no plan tells of half its parts.
// Only files that begin as parts do, beside a plan.json or under the mark of a dead planner, are
// ever removed or replaced: users name files by digits, too.
// One planner at a time: open() takes the lock that builders take in a cache. One thread at a time.
// Failures: kBusy (names the holder), kInvalidArgument (a folder of other things), kResource.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/env.hpp"
#include "formats/plan.hpp"
#include "store/builder_lock.hpp"
#include "xtts/status.hpp"

namespace xtts::plan {

class PlanFolder {
 public:
  // Creates the folder if absent, and removes the scratch of a dead planner. `callbacks`: for
  // network file systems.
  [[nodiscard]] static Result<std::unique_ptr<PlanFolder>> open(
      Env& env, const std::string& path, const store::LeaseCallbacks& callbacks);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // Of the scratch that a planner may use, in .build/; finish() and the next planner remove it.
  [[nodiscard]] std::string scratch_path(std::string_view name) const;

  // The plan that is there; nullopt: none. kCorrupt, kInvalidArgument (too large): it is damaged.
  [[nodiscard]] Result<std::optional<formats::Plan>> plan();
  // Removes plan.json. From here on the folder holds no plan, and part files may change.
  // kInvalidArgument: there are other files by now.
  [[nodiscard]] Status withdraw();
  // Makes the part files durable, removes others, and writes plan.json.
  [[nodiscard]] Status publish(const formats::Plan& plan);
  // Removes .build/, and the folder if it is empty and open() made it. If a plan was withdrawn and
  // none was published, removes the part files, too.
  [[nodiscard]] Status finish();

 private:
  PlanFolder(Env& whole_env, std::shared_ptr<Env> env, std::string path,
             std::unique_ptr<store::BuilderLock> lock, bool is_new);
  [[nodiscard]] Status remove_scratch();
  [[nodiscard]] Status remove_parts_but(const std::set<std::string>& files);

  Env& whole_env_;
  const std::shared_ptr<Env> confined_;  // to path_
  Env& env_;
  const std::string path_;
  const std::unique_ptr<store::BuilderLock> lock_;
  const bool is_new_;
  bool is_withdrawn_ = false;  // and no plan was published since
};

}  // namespace xtts::plan
