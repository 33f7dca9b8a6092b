// Which of libav's demuxers may see a corpus. Pure functions and constants: share freely.
//
// Containers that carry sound, each found by its content. Left out on purpose: playlists and
// scripts that name other files (hls, dash, concat, imf, sdp, webm_dash_manifest), text and
// subtitles, pictures, devices, network protocols, game formats, and raw streams without a header:
// bare AMR or G.722 matches nearly any bytes (an MP3 behind 100 KB of junk came out of FFmpeg 5.1
// as 70 seconds of AMR noise).
#pragma once

namespace xtts::decode::detail {

// Comma separated, as libav takes it.
[[nodiscard]] const char* allowed_demuxers() noexcept;

// `name` is libav's, which may itself be a list of names ("mov,mp4,m4a,3gp,3g2,mj2").
[[nodiscard]] bool is_allowed_demuxer(const char* name) noexcept;

// Every audio decoder libav was built with, comma separated: nothing else is ever opened, not even
// to guess the parameters of a video track that stands beside the sound.
[[nodiscard]] const char* allowed_codecs();

}  // namespace xtts::decode::detail
