#include "decode/detail/allow_list.hpp"

#include <string>

#include "decode/detail/libav.hpp"

namespace xtts::decode::detail {

const char* allowed_codecs() {
  static const std::string names = [] {
    std::string list;
    void* position = nullptr;
    while (const AVCodec* codec = av_codec_iterate(&position)) {
      if (codec->type != AVMEDIA_TYPE_AUDIO || av_codec_is_decoder(codec) == 0) continue;
      if (!list.empty()) list += ',';
      list += codec->name;
    }
    return list;
  }();
  return names.c_str();
}

}  // namespace xtts::decode::detail
