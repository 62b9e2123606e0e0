# Third parties of the library. Each is linked PRIVATE by the stage that uses it; no public header shows one.
find_package(Threads REQUIRED)
find_package(TBB CONFIG REQUIRED)
find_package(hwy CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(OpenBLASPrivate REQUIRED)
find_path(KQD_RANDOM123_INCLUDE Random123/philox.h REQUIRED)
find_path(KQD_BOOST_INCLUDE boost/math/special_functions/beta.hpp REQUIRED)
