// TarMembers: the members of a tar, one after the other, from their headers alone. Their data is
// skipped, so a shard of a gigabyte costs one read a member. One thread at a time.
//
// It reads v7, ustar, GNU (long names, base-256 sizes) and pax (path, size) headers, each with its
// checksum. Nothing is unpacked, so no name and no link can write anywhere. Names with ".." and
// absolute names are still refused, since names become ids. Memory: one header and one long name,
// whatever the archive says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/env.hpp"
#include "corpus/files/source_place.hpp"

namespace xtts::corpus {

struct TarMember {
  std::string name;  // relative, without "./"; the archive's bytes
  ByteRange data;
  // Set: no regular file that can be read in place (a link, a device, a sparse file), or an
  // unusable name. Continues a sentence.
  std::optional<std::string> fault;
  bool is_folder = false;  // folders are ignored
};

class TarMembers {
 public:
  // `file` must outlive it.
  explicit TarMembers(const RandomAccessFile& file) : file_(file) {}

  // The next member; nullopt at the end. kBadInput: the archive is damaged or cut short from here
  // on; the message continues a sentence that begins with the archive. Earlier members are sound.
  // Other failures are those of reading.
  [[nodiscard]] Result<std::optional<TarMember>> next();
  // After the last member: whether blocks of zeros mark the end. Without them, the archive may
  // have been cut short between two members.
  [[nodiscard]] bool has_end_mark() const noexcept { return has_end_mark_; }

 private:
  struct Extended {  // from the headers before a member
    std::optional<std::string> name;
    std::optional<std::uint64_t> size_bytes;
    bool is_sparse = false;
  };
  [[nodiscard]] Result<std::string> read_extension(std::uint64_t size_bytes);
  [[nodiscard]] Status take_pax(std::string_view records, Extended& extended);

  const RandomAccessFile& file_;
  std::uint64_t offset_bytes_ = 0;
  bool has_end_mark_ = false;
};

}  // namespace xtts::corpus
