#include "plan/plan_folder.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/confined_env.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/part_file.hpp"
#include "store/cache_folder.hpp"
#include "store/durable.hpp"
#include "store/ownership.hpp"

namespace xtts::plan {
namespace {

constexpr std::string_view kBuildFolder = ".build";

// Of four digits and more, whatever plan it was of.
bool is_part_name(std::string_view name) {
  return name.size() >= 4 && name.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string plan_path(const std::string& folder) {
  return join_path(folder, formats::kPlanName);
}

// Users name files by digits, too (20231105): the first bytes tell those from parts.
Result<bool> is_part(Env& env, const std::string& folder, const DirectoryEntry& entry) {
  if (!is_part_name(entry.name) || entry.kind != FileKind::kRegular || entry.is_symlink)
    return false;
  XTTS_ASSIGN(const auto file, env.open_for_read(join_path(folder, entry.name)));
  std::vector<std::byte> begin(formats::kPartHeadBytes);
  XTTS_ASSIGN(const std::size_t size_bytes, file->read_at(0, begin));
  return formats::may_begin_part(std::span(begin).first(size_bytes));
}

// Without any of the two no planner has left parts here.
bool has_plan_or_mark(Env& env, const std::string& path) {
  return env.stat(plan_path(path)).ok() ||
         env.stat(join_path(store::build_folder(path), store::kBuildMark)).ok();
}

// A folder of other things must not become a plan by a typing mistake.
Status check_may_be_plan(Env& env, const std::string& path) {
  const auto entries = env.list(path);
  if (entries.status().code() == StatusCode::kNotFound) return {};
  if (!entries) return entries.status();
  const bool may_hold_parts = has_plan_or_mark(env, path);
  for (const DirectoryEntry& entry : *entries) {
    if (entry.name == kBuildFolder || entry.name == formats::kPlanName) continue;
    XTTS_ASSIGN(const bool is_of_plan, is_part(env, path, entry));
    if (is_of_plan && may_hold_parts) continue;
    return {StatusCode::kInvalidArgument,
            formatted("{} holds something else than a plan ({}): name a new folder for PLAN", path,
                      entry.name)};
  }
  // A cache that was begun and has no shard yet holds nothing else.
  if (!env.stat(join_path(store::build_folder(path), "journal")).ok()) return {};
  return {StatusCode::kInvalidArgument,
          formatted("{} holds an unfinished build: name a new folder for PLAN", path)};
}

}  // namespace

Result<std::unique_ptr<PlanFolder>> PlanFolder::open(Env& env, const std::string& path,
                                                     const store::LeaseCallbacks& callbacks) {
  XTTS_TRY(check_may_be_plan(env, path));
  const bool is_new = env.stat(path).status().code() == StatusCode::kNotFound;
  XTTS_TRY(store::make_durable_folder(env, path));
  auto confined = confined_to(env, path, Links::kNone);
  auto lock = store::BuilderLock::take(*confined, path, callbacks);
  if (!lock) {
    if (is_new) (void)env.remove_directory(path);
    return lock.status();
  }
  std::unique_ptr<PlanFolder> folder(
      new PlanFolder(env, std::move(confined), path, std::move(*lock), is_new));
  XTTS_TRY(folder->remove_scratch());
  return folder;
}

PlanFolder::PlanFolder(Env& whole_env, std::shared_ptr<Env> env, std::string path,
                       std::unique_ptr<store::BuilderLock> lock, bool is_new)
    : whole_env_(whole_env),
      confined_(std::move(env)),
      env_(*confined_),
      path_(std::move(path)),
      lock_(std::move(lock)),
      is_new_(is_new) {}

std::string PlanFolder::scratch_path(std::string_view name) const {
  return join_path(store::build_folder(path_), formatted("{}.tmp", name));
}

Result<std::optional<formats::Plan>> PlanFolder::plan() {
  const auto text = read_text_file(env_, plan_path(path_), formats::kPlanBytesMax);
  if (text.status().code() == StatusCode::kNotFound) return std::optional<formats::Plan>();
  if (!text) return text.status();
  auto plan = formats::decode_plan(*text);
  if (!plan) return plan.status().with_context(plan_path(path_));
  return std::optional(std::move(*plan));
}

Status PlanFolder::withdraw() {
  XTTS_TRY(lock_->check());
  // Listing takes long: files may have come meanwhile that a part would overwrite.
  XTTS_TRY(check_may_be_plan(env_, path_));
  XTTS_TRY(store::remove_if_there(env_, plan_path(path_)));
  is_withdrawn_ = true;
  return env_.sync_directory(path_);
}

Status PlanFolder::remove_parts_but(const std::set<std::string>& files) {
  XTTS_ASSIGN(const auto entries, env_.list(path_));
  for (const DirectoryEntry& entry : entries) {
    if (files.contains(entry.name)) continue;
    XTTS_ASSIGN(const bool is_ours, is_part(env_, path_, entry));
    if (is_ours) XTTS_TRY(store::remove_if_there(env_, join_path(path_, entry.name)));
  }
  // Parts are gone for good before the mark that makes them ours.
  return env_.sync_directory(path_);
}

Status PlanFolder::publish(const formats::Plan& plan) {
  std::set<std::string> files;
  for (const formats::PlanPart& part : plan.parts) files.insert(part.file);
  XTTS_TRY(remove_parts_but(files));
  XTTS_TRY(lock_->check());
  const std::string temporary = scratch_path(formats::kPlanName);
  XTTS_TRY(store::write_synced_file(env_, temporary, as_bytes(formats::encode_plan(plan))));
  XTTS_TRY(store::rename_durably(env_, temporary, plan_path(path_)));
  is_withdrawn_ = false;
  return {};
}

Status PlanFolder::remove_scratch() {
  const std::string folder = store::build_folder(path_);
  XTTS_ASSIGN(const auto entries, env_.list(folder));
  for (const DirectoryEntry& entry : entries) {
    const bool is_kept =
        entry.name == "lock" || entry.name == "lease" || entry.name == store::kBuildMark;
    if (!is_kept && store::is_name_of_build(entry.name))
      XTTS_TRY(store::remove_if_there(env_, join_path(folder, entry.name)));
  }
  return {};
}

Status PlanFolder::finish() {
  XTTS_TRY(lock_->check());
  if (is_withdrawn_ && !env_.stat(plan_path(path_)).ok()) XTTS_TRY(remove_parts_but({}));
  XTTS_TRY(remove_scratch());
  const std::string folder = store::build_folder(path_);
  // Without its mark .build/ must hold nothing else, also after a power cut.
  XTTS_TRY(env_.sync_directory(folder));
  XTTS_TRY(store::remove_if_there(env_, join_path(folder, store::kBuildMark)));
  XTTS_TRY(lock_->remove());
  (void)env_.remove_directory(folder);  // another planner may have begun already
  if (is_new_) (void)whole_env_.remove_directory(path_);
  return {};
}

}  // namespace xtts::plan
