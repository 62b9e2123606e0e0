# KQD_SELF_CONTAINED: the compiled parts of fmt and Highway are compiled here, from the headers that are installed, and
# zlib is linked statically. What is built needs only the C library of the system. The definitions are those of the
# shared libraries, so that ccache finds the objects of an ordinary build.
function(kqd_add_bundled target definition include)
  add_library(${target} STATIC ${ARGN})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON CXX_STANDARD 20 CXX_EXTENSIONS OFF)
  target_compile_definitions(${target} PUBLIC ${definition})
  target_include_directories(${target} SYSTEM PUBLIC ${include})
endfunction()
set(sort hwy/contrib/sort/vqsort)
list(TRANSFORM sort PREPEND ${PROJECT_SOURCE_DIR}/third_party/highway/)
kqd_add_bundled(kqd_highway HWY_SHARED_DEFINE ${KQD_HWY_INCLUDE} ${PROJECT_SOURCE_DIR}/third_party/highway/hwy/targets.cc
  ${sort}.cc ${sort}_f64a.cc ${sort}_u64a.cc)
target_include_directories(kqd_highway PRIVATE ${PROJECT_SOURCE_DIR}/third_party/highway)  # its files include themselves
# As Highway's own build has it: without it each partition copies tables to the stack, and sorting takes four times as long.
target_compile_options(kqd_highway PRIVATE -fmerge-all-constants)
kqd_add_bundled(kqd_fmt FMT_SHARED ${KQD_FMT_INCLUDE} ${PROJECT_SOURCE_DIR}/third_party/fmt/format.cpp)
add_library(hwy::hwy ALIAS kqd_highway)
add_library(hwy::hwy_contrib ALIAS kqd_highway)
add_library(fmt::fmt ALIAS kqd_fmt)
