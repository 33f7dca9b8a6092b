// The operating system's files, for RealEnv. They own their open descriptors.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/env.hpp"

namespace xtts {

// `path` is for messages, and for opening the file a second time.
[[nodiscard]] std::unique_ptr<RandomAccessFile> own_for_read(std::string path, int fd,
                                                             std::uint64_t size_bytes);
[[nodiscard]] std::unique_ptr<WritableFile> own_for_write(std::string path, int fd);

}  // namespace xtts
