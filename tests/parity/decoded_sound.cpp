// decoded_sound XTTS-DECODE: decodes the files that it reads from its input, a path a line, as a
// build does. It writes PATH.mean and PATH.first, float32 at the source's rate, and prints for
// each: path, container, codec, rate, channels, warnings or why it is refused; separated by tabs.

#include <fstream>
#include <iostream>
#include <iterator>

#include "base/env.hpp"
#include "decode_worker/contained_decoder.hpp"

namespace {

using namespace xtts;  // NOLINT(google-build-using-namespace): a program of one page

Result<audio::SourceFacts> decode(audio::AudioDecoder& decoder, const std::string& path,
                                  audio::Mix mix, const std::string& out_path) {
  const auto source = Env::real().open_for_read(path);
  if (!source.ok()) return source.status();
  audio::DecodeRequest request;
  request.target_rate_hz = 0;
  request.mix = mix;
  request.suffix = path.substr(path.rfind('.') + 1);
  std::vector<float> samples;
  auto facts = audio::decode_whole(decoder, **source, request, samples);
  std::ofstream(out_path, std::ios::binary)
      .write(reinterpret_cast<const char*>(samples.data()),
             static_cast<std::streamsize>(samples.size() * sizeof(float)));
  return facts;
}

std::string words_of(const audio::SourceFacts& facts) {
  constexpr const char* kKinds[] = {"rate changes", "packets skipped", "complaint",
                                    "reading stopped", "ends early"};
  std::string text;
  for (const audio::Warning& warning : facts.warnings) {
    const auto kind = static_cast<std::size_t>(warning.kind);
    text += text.empty() ? "" : "; ";
    text += kind < std::size(kKinds) ? kKinds[kind] : "warning " + std::to_string(kind);
    if (!warning.text.empty()) text += ": " + warning.text;
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: decoded_sound XTTS-DECODE < PATHS\n";
    return 2;
  }
  const auto decoder = decode_worker::contained_in(argv[1])({});
  std::string path;
  while (std::getline(std::cin, path)) {
    const auto mean = decode(*decoder, path, audio::Mix::kMean, path + ".mean");
    const auto first = decode(*decoder, path, audio::Mix::kFirst, path + ".first");
    std::cout << path << '\t';
    if (mean.ok()) {
      std::cout << mean->container << '\t' << mean->codec << '\t' << mean->sample_rate_hz << '\t'
                << mean->channel_count << '\t' << words_of(*mean) << '\n';
    } else {
      std::cout << "\t\t\t\t" << mean.status().message() << '\n';
    }
  }
  return 0;
}
