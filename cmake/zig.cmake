# Toolchain file for wheels that run with an old C library: zig as the compiler, which brings headers and stubs of every
# glibc. Variables of the environment: KQD_ZIG, the path of the program zig, and KQD_GLIBC, such as 2.28.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
if(NOT KQD_ZIG_FOLDER)
  set(KQD_ZIG_FOLDER ${CMAKE_BINARY_DIR}/zig CACHE INTERNAL "")
endif()
if(NOT EXISTS ${KQD_ZIG_FOLDER}/zig-c++)
  foreach(language IN ITEMS cc c++)
    file(CONFIGURE OUTPUT ${KQD_ZIG_FOLDER}/zig-${language} @ONLY CONTENT
"#!/bin/sh
exec '$ENV{KQD_ZIG}' ${language} -target x86_64-linux-gnu.$ENV{KQD_GLIBC} \"$@\"
")
    file(CHMOD ${KQD_ZIG_FOLDER}/zig-${language} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endforeach()
  # The headers of third parties only: the system's C library is not the one that is built for.
  file(MAKE_DIRECTORY ${KQD_ZIG_FOLDER}/include)
  foreach(header IN ITEMS hwy fmt nlohmann lemon Random123 boost CLI zlib.h zconf.h x86_64-linux-gnu/zconf.h)
    if(EXISTS /usr/include/${header})
      get_filename_component(name ${header} NAME)
      file(CREATE_LINK /usr/include/${header} ${KQD_ZIG_FOLDER}/include/${name} SYMBOLIC)
    endif()
  endforeach()
endif()
set(CMAKE_C_COMPILER ${KQD_ZIG_FOLDER}/zig-cc)
set(CMAKE_CXX_COMPILER ${KQD_ZIG_FOLDER}/zig-c++)
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${KQD_ZIG_FOLDER}/include)
set(CMAKE_PROJECT_INCLUDE ${CMAKE_CURRENT_LIST_DIR}/zig_includes.cmake)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KQD_ZIG_FOLDER)
