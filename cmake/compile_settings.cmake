# Warnings, sanitizers and settings for reproducible results; for targets of this project, never exported.
add_library(kqd_compile_settings INTERFACE)
target_compile_options(kqd_compile_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # g++ 12 warns about its own std::string (GCC bug 105651)
  -ffp-contract=off            # the same rounding with and without FMA; vector code uses FMA explicitly
  -fno-semantic-interposition  # in static builds too, so that ccache finds the same objects
  $<$<BOOL:${KQD_WARNINGS_AS_ERRORS}>:-Werror>)
# kqd_sanitizing_options(variable sanitizers). Checks of alignment and null pointers would double the compile time. The fuzz
# targets, which read arbitrary bytes, check alignment; null pointers cause a fault anyway.
function(kqd_sanitizing_options variable sanitizers)
  set(${variable} -fsanitize=${sanitizers} -fno-sanitize=alignment,null -fno-omit-frame-pointer -fno-sanitize-recover=all
    PARENT_SCOPE)
endfunction()
if(KQD_SANITIZE)
  kqd_sanitizing_options(options ${KQD_SANITIZE})
  target_compile_options(kqd_compile_settings INTERFACE ${options})
  target_link_options(kqd_compile_settings INTERFACE ${options})
endif()
target_compile_definitions(kqd_compile_settings INTERFACE $<$<CONFIG:Debug>:KQD_DEBUG>)
# The same bytes wherever the sources are.
target_compile_options(kqd_compile_settings INTERFACE $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
if(KQD_COVERAGE)
  target_compile_options(kqd_compile_settings INTERFACE --coverage)
  target_link_options(kqd_compile_settings INTERFACE --coverage)
  target_compile_definitions(kqd_compile_settings INTERFACE KQD_COVERAGE)
endif()

# kqd_compile_together(target count): compiles up to `count` files of one folder as one, so that their headers are parsed
# once. Names in anonymous namespaces must then differ between files of a folder; files for which they do not are listed by
# kqd_compile_alone. To be called when the target has all its files.
function(kqd_compile_together target count)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${KQD_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_source_file_property(separate ${source} TARGET_DIRECTORY ${target} SKIP_UNITY_BUILD_INCLUSION)
    if(NOT source MATCHES "\\.cpp$" OR separate STREQUAL "ON")
      continue()
    endif()
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED members_${folder})
      set(members_${folder} 0)
    endif()
    math(EXPR group "${members_${folder}} / ${count}")
    math(EXPR members_${folder} "${members_${folder}} + 1")
    string(REGEX REPLACE "^.*_(src|tests)_" "" short "${folder}")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${short}_${group}")
  endforeach()
endfunction()
function(kqd_compile_alone target)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# kqd_compile_quickly(target): code that takes no time to run; -O3 would take a third longer to compile.
function(kqd_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

find_program(KQD_CCACHE ccache)
if(KQD_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KQD_CCACHE})
endif()
