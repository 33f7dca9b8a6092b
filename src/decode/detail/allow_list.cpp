#include "decode/detail/allow_list.hpp"

#include <string>

#include "decode/detail/libav.hpp"

extern "C" {
#include <libavutil/avstring.h>
}

namespace xtts::decode::detail {

const char* allowed_demuxers() noexcept {
  return "aac,ac3,aiff,amr,ape,asf,ast,au,avi,avr,caf,dsf,dss,dts,dtshd,eac3,flac,flv,iff,ilbc,"
         "ircam,loas,"
         "matroska,mlp,mov,mp3,mpc,mpc8,mpeg,mpegts,mxf,nistsphere,nut,ogg,oma,paf,pvf,qcp,rm,sds,"
         "shn,sox,tak,"
         "truehd,tta,voc,vqf,w64,wav,wsd,wv,xwma";
}

bool is_allowed_demuxer(const char* name) noexcept {
  return av_match_list(name, allowed_demuxers(), ',') > 0;
}

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
