#include "decode/detail/complaints.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "base/formatted.hpp"
#include "decode/detail/libav.hpp"

namespace xtts::decode::detail {
namespace {

// The largest single allocation that libav may make. The largest honest ones are sample tables and
// cover art of a few MiB; ID3 alone lets a header ask for 256 MiB. libav has one global limit, so
// it holds for the whole process.
constexpr std::size_t kAllocationBytesMax = std::size_t{256} << 20;
constexpr std::size_t kModestBlockBytes = std::size_t{16} << 20;

thread_local Complaints* listening = nullptr;

// Makes "flac: invalid header" from libav's format and object.
std::string text_of(void* object, const char* format, va_list arguments) {
  std::array<char, 512> buffer{};
  std::vsnprintf(buffer.data(), buffer.size(), format, arguments);
  std::string text;
  if (object != nullptr) {
    const AVClass* about = *static_cast<AVClass**>(object);
    if (about != nullptr && about->item_name != nullptr)
      text = std::string(about->item_name(object)) + ": ";
  }
  text += buffer.data();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& letter : text) {
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';  // it may quote file content
  }
  return text;
}

void on_message(void* object, int level, const char* format, va_list arguments) {
  if (listening == nullptr) return av_log_default_callback(object, level, format, arguments);
  if (level > AV_LOG_ERROR) return;
  try {
    listening->add(text_of(object, format, arguments));
  } catch (...) {  // C code is above us; a lost message is not worth ending the process
  }
}

}  // namespace

Complaints::Complaints() {
  static std::once_flag once;
  std::call_once(once, [] {
    av_log_set_callback(on_message);
    av_max_alloc(kAllocationBytesMax);
  });
  listening = this;
}

Complaints::~Complaints() {
  listening = nullptr;
}

void Complaints::forget() {
  first_.clear();
  last_.clear();
  count_ = 0;
}

void Complaints::add(std::string text) {
  if (count_ == 0) first_ = text;
  last_ = std::move(text);
  ++count_;
}

Status Complaints::failure(std::string_view operation, int code) const {
  if (code == AVERROR(ENOMEM)) return allocation_failure(operation);
  std::string text(operation);
  text += ": " + error_text(code);
  if (!last_.empty()) text += formatted(" ({})", last_);
  return {StatusCode::kBadInput, std::move(text)};
}

std::string error_text(int code) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> buffer{};
  av_strerror(code, buffer.data(), buffer.size());
  return buffer.data();
}

Status allocation_failure(std::string_view operation) {
  const std::unique_ptr<void, decltype(&std::free)> probe(std::malloc(kModestBlockBytes),
                                                          &std::free);
  std::string text(operation);
  if (probe == nullptr) return {StatusCode::kResource, text + ": out of memory"};
  return {StatusCode::kBadInput, text + ": asks for more memory than any sound file needs"};
}

}  // namespace xtts::decode::detail
