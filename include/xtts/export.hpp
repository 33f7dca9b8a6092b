// XTTS_API marks what libxtts_reader.so exports. Everything else in it is hidden.
#pragma once

#if defined(__GNUC__)
#define XTTS_API __attribute__((visibility("default")))
#else
#define XTTS_API
#endif
