#include "base/system_call.hpp"

#include <fcntl.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "base/formatted.hpp"
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
  return {code, formatted("{} {}: {}", operation, path, error_words(error))};
}

Result<std::size_t> read_fully(int fd, const std::string& path, std::uint64_t offset_bytes,
                               std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = retry_interrupted([&] {
      return ::pread(fd, out.data() + done, out.size() - done,
                     static_cast<off_t>(offset_bytes + done));
    });
    if (got < 0) return system_failure("reading", path, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Status write_fully(int fd, const std::string& path, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = retry_interrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (put < 0) return system_failure("writing", path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

std::string read_kernel_text(const std::string& path) {
  constexpr std::size_t kTextBytesMax = std::size_t{1} << 20U;
  std::string text;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> piece;
  while (file.is_open() && text.size() < kTextBytesMax) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::optional<std::string> resolved_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

}  // namespace xtts
