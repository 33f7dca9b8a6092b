#include "base/system_call.hpp"

#include <atomic>
#include <system_error>

#include "base/shortage.hpp"

namespace xtts {
namespace {

std::atomic<std::uint64_t> shortages = 0;

}  // namespace

std::uint64_t shortage_count() noexcept {
  return shortages.load(std::memory_order_relaxed);
}

void note_shortage(int error) noexcept {
  const bool is_one = error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
  if (is_one) shortages.fetch_add(1, std::memory_order_relaxed);
}

std::string error_words(int error) {
  std::string text = std::generic_category().message(error);
  if (error == EMFILE) text += " (ulimit -n sets the limit)";
  if (error == EFBIG) text += " (ulimit -f sets a limit)";
  return text;
}

Status system_failure(std::string_view operation, const std::string& path, int error) {
  note_shortage(error);
  const StatusCode code =
      error == ENOENT || error == ENOTDIR ? StatusCode::kNotFound : StatusCode::kResource;
  return {code, std::string(operation) + " " + path + ": " + error_words(error)};
}

}  // namespace xtts
