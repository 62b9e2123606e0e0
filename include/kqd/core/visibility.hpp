#pragma once

// Behind `namespace kqd` of a public header: what it declares is part of libkqd.so, the rest of the library is hidden
// in it.
#if defined(__GNUC__)
#define KQD_PUBLIC __attribute__((visibility("default")))
#else
#define KQD_PUBLIC
#endif
