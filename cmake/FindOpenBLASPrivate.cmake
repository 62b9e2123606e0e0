# OpenBLASPrivate::OpenBLASPrivate: the static pthread build of OpenBLAS, linked into libkqd with its symbols hidden.
#
# Why static: our copy runs one thread per call (docs/design/0002-numerics.md) and must not change the thread count of
# a BLAS that NumPy uses in the same process. Why pthread and not serial: Debian's serial build has no locks and
# returns wrong products when two threads call it at once (measured: 13 of 24000 calls).
find_path(OpenBLASPrivate_INCLUDE_DIR cblas.h
  PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread NO_DEFAULT_PATH)
find_library(OpenBLASPrivate_LIBRARY NAMES libopenblas.a
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLASPrivate
  REQUIRED_VARS OpenBLASPrivate_LIBRARY OpenBLASPrivate_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libopenblas-pthread-dev (./dev does it)")
if(OpenBLASPrivate_FOUND AND NOT TARGET OpenBLASPrivate::OpenBLASPrivate)
  add_library(OpenBLASPrivate::OpenBLASPrivate STATIC IMPORTED)
  set_target_properties(OpenBLASPrivate::OpenBLASPrivate PROPERTIES
    IMPORTED_LOCATION ${OpenBLASPrivate_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${OpenBLASPrivate_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
