// xtts-decode: the only program that links FFmpeg. xtts-precompute and libxtts_builder.so start it,
// one for each thread, and give it a socket and memory.
#include <unistd.h>

#include <string_view>

#include "decode/libav_decoder.hpp"
#include "decode_worker/decode_worker.hpp"

int main(int argc, char**) {
  using namespace xtts::decode_worker;
  const auto decoder = xtts::decode::make_libav_decoder();
  const int code = argc == 1 ? run_decode_worker(kWorkerSocket, kWorkerMemory, *decoder) : 1;
  if (code == 0) return 0;
  constexpr std::string_view kSaid =
      "xtts-decode is a part of xtts-precompute, which starts it to decode audio. It is of no use "
      "by itself.\n";
  (void)!::write(STDERR_FILENO, kSaid.data(), kSaid.size());
  return code;
}
