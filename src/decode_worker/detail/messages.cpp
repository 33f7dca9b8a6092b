#include "decode_worker/detail/messages.hpp"

#include <algorithm>
#include <concepts>
#include <cstring>

namespace xtts::decode_worker::detail {
namespace {

template <typename T>
concept Number = std::integral<T> || std::floating_point<T>;

template <typename T>
concept Enum = std::is_enum_v<T>;

// A byte beyond the last enumerator is invalid.
constexpr audio::Mix last_of(audio::Mix) {
  return audio::Mix::kFirst;
}
constexpr audio::ContentKind last_of(audio::ContentKind) {
  return audio::ContentKind::kRefused;
}
constexpr audio::FormatUse last_of(audio::FormatUse) {
  return audio::FormatUse::kNotAudio;
}
constexpr audio::Warning::Kind last_of(audio::Warning::Kind) {
  return audio::Warning::Kind::kEndMissing;
}

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& bytes) : bytes_(bytes) {}

  void operator()(const auto&... fields) { (put(fields), ...); }

 private:
  void put(Number auto value) {
    const auto raw = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  void put(Enum auto value) { put(static_cast<std::uint8_t>(value)); }
  void put(const std::string& text) {
    const auto raw = std::as_bytes(std::span(text)).first(std::min(text.size(), kTextBytesMax));
    put(static_cast<std::uint32_t>(raw.size()));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  void put(const std::vector<audio::Warning>& warnings) {
    const std::size_t count = std::min(warnings.size(), kWarningCountMax);
    put(static_cast<std::uint32_t>(count));
    for (const audio::Warning& one : std::span(warnings).first(count)) {
      put(one.kind);
      for (const double number : one.numbers) put(number);
      put(one.text);
    }
  }

  std::vector<std::byte>& bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  void operator()(auto&... fields) { (get(fields), ...); }
  [[nodiscard]] bool is_whole() const noexcept { return !failed_ && rest_.empty(); }

 private:
  [[nodiscard]] std::span<const std::byte> take(std::size_t count) {
    if (failed_ || count > rest_.size()) {
      failed_ = true;
      return {};
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  void get(bool& value) {
    const auto raw = take(1);
    if (raw.empty()) return;
    failed_ = raw[0] > std::byte{1};  // any other byte, read as a bool, is undefined
    value = raw[0] == std::byte{1};
  }
  void get(Number auto& value) {
    const auto raw = take(sizeof(value));
    if (!raw.empty()) std::memcpy(&value, raw.data(), sizeof(value));
  }
  template <Enum Value>
  void get(Value& value) {
    std::uint8_t number = 0;
    get(number);
    failed_ = failed_ || number > static_cast<std::uint8_t>(last_of(value));
    if (!failed_) value = static_cast<Value>(number);
  }
  void get(std::string& text) {
    const std::size_t size = length(kTextBytesMax);
    const auto raw = take(size);
    text.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
  }
  void get(std::vector<audio::Warning>& warnings) {
    warnings.resize(length(kWarningCountMax));
    for (audio::Warning& one : warnings) {
      get(one.kind);
      for (double& number : one.numbers) get(number);
      get(one.text);
    }
  }
  [[nodiscard]] std::size_t length(std::size_t length_max) {
    std::uint32_t value = 0;
    get(value);
    failed_ = failed_ || value > length_max;
    return failed_ ? 0 : value;
  }

  std::span<const std::byte> rest_;
  bool failed_ = false;
};

template <std::size_t kIndex = 0>
std::optional<Message> decode_alternative(std::size_t index, std::span<const std::byte> body) {
  if constexpr (kIndex == std::variant_size_v<Message>) {
    return std::nullopt;
  } else {
    if (index != kIndex) return decode_alternative<kIndex + 1>(index, body);
    using Alternative = std::variant_alternative_t<kIndex, Message>;
    Alternative message;
    Reader reader(body);
    Alternative::each(message, reader);
    if (!reader.is_whole()) return std::nullopt;
    return message;
  }
}

}  // namespace

std::vector<std::byte> encode_message(const Message& message) {
  std::vector<std::byte> bytes;
  Writer writer(bytes);
  writer(static_cast<std::uint8_t>(message.index()));
  std::visit(
      [&](const auto& alternative) {
        std::remove_cvref_t<decltype(alternative)>::each(alternative, writer);
      },
      message);
  return bytes;
}

std::optional<Message> decode_message(std::span<const std::byte> bytes) {
  if (bytes.empty()) return std::nullopt;
  return decode_alternative(static_cast<std::size_t>(bytes[0]), bytes.subspan(1));
}

Failed failed_of(const Status& status) {
  return {.code = static_cast<std::uint32_t>(status.code()), .text = status.message()};
}

std::optional<Status> status_of(const Failed& failed) {
  if (failed.code == 0 || failed.code > static_cast<std::uint32_t>(StatusCode::kCrashed))
    return std::nullopt;
  return Status(static_cast<StatusCode>(failed.code), failed.text);
}

}  // namespace xtts::decode_worker::detail
