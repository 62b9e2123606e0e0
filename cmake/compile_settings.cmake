# Warnings, sanitizers and the settings that keep results reproducible; for our own targets, never exported.
add_library(kqd_compile_settings INTERFACE)
target_compile_options(kqd_compile_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Wno-restrict                # g++ 12 warns of its own std::string (GCC bug 105651)
  -ffp-contract=off            # the same rounding with and without FMA; vector code asks for FMA by name
  -fno-semantic-interposition  # given to static builds too: the same objects, so ccache compiles them once
  $<$<BOOL:${KQD_WARNINGS_AS_ERRORS}>:-Werror>)
if(KQD_SANITIZE)
  target_compile_options(kqd_compile_settings INTERFACE -fsanitize=${KQD_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(kqd_compile_settings INTERFACE -fsanitize=${KQD_SANITIZE})
endif()
target_compile_definitions(kqd_compile_settings INTERFACE $<$<CONFIG:Debug>:KQD_DEBUG>)

# Headers that most files read. Files still name what they use: the lint preset and KQD_PRECOMPILE=OFF compile them alone.
set(KQD_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <functional> <memory> <optional> <span> <string> <string_view>
  <vector> <fmt/format.h>)
function(kqd_precompile target)
  if(KQD_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

find_program(KQD_CCACHE ccache)
if(KQD_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache asks for before it keeps files that use precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${KQD_CCACHE})
  add_compile_options($<$<BOOL:${KQD_PRECOMPILE}>:-fpch-preprocess>)
endif()
