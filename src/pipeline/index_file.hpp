// IndexFile: writes an index to the disk, section by section. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/env.hpp"
#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "pipeline/column_rows.hpp"
#include "store/cache_folder.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

class IndexFile {
 public:
  [[nodiscard]] static Result<std::unique_ptr<IndexFile>> begin(store::CacheFolder& folder,
                                                                std::uint64_t generation,
                                                                std::uint64_t record_count);

  // For sections that grow piece by piece: the details grow clip by clip.
  [[nodiscard]] formats::IndexEncoder& encoder() noexcept { return encoder_; }
  [[nodiscard]] Status write_section(formats::SectionKind kind, std::uint32_t column,
                                     std::string_view bytes, std::uint64_t rows);
  [[nodiscard]] Status write_column(std::uint32_t id, const ColumnRows& rows,
                                    std::uint64_t clip_count);

  // Writes the copy of `manifest`, which then names the index.
  [[nodiscard]] Status finish(formats::Manifest& manifest);

 private:
  IndexFile(store::CacheFolder& folder, std::unique_ptr<WritableFile> file,
            std::uint64_t generation, std::uint64_t record_count);

  store::CacheFolder& folder_;
  std::unique_ptr<WritableFile> file_;
  formats::IndexEncoder encoder_;
};

}  // namespace xtts::pipeline
