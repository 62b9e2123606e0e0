# Warnings, sanitizers and the settings that keep results reproducible; for our own targets, never exported.
add_library(kqd_compile_settings INTERFACE)
target_compile_options(kqd_compile_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Wno-restrict                # g++ 12 warns of its own std::string (GCC bug 105651)
  -ffp-contract=off            # the same rounding with and without FMA; vector code asks for FMA by name
  -fno-semantic-interposition  # given to static builds too: the same objects, so ccache compiles them once
  $<$<BOOL:${KQD_WARNINGS_AS_ERRORS}>:-Werror>)
# kqd_sanitizing_options(variable sanitizers). Checks of alignment and of null pointers cost half of the compile time. The
# first is left to the fuzz targets, which read foreign bytes; the second to the processor, which refuses.
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
# The same bytes wherever the sources lie.
target_compile_options(kqd_compile_settings INTERFACE $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
if(KQD_COVERAGE)
  target_compile_options(kqd_compile_settings INTERFACE --coverage)
  target_link_options(kqd_compile_settings INTERFACE --coverage)
  target_compile_definitions(kqd_compile_settings INTERFACE KQD_COVERAGE)
endif()

# kqd_compile_together(target count): up to so many files of one folder are one to the compiler, which parses their
# headers once. Names of anonymous namespaces then meet; files that share them by convention are named to
# kqd_compile_alone. Call it when the target has all its files.
function(kqd_compile_together target count)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${KQD_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_source_file_property(alone ${source} TARGET_DIRECTORY ${target} SKIP_UNITY_BUILD_INCLUSION)
    if(NOT source MATCHES "\\.cpp$" OR alone STREQUAL "ON")
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

find_program(KQD_CCACHE ccache)
if(KQD_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KQD_CCACHE})
endif()
