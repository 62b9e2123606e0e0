"""Recipe for Conan 2: `conan create .` builds a package from a clone."""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class KqdRecipe(ConanFile):
    name = "kqd"
    license = "Apache-2.0"
    description = "Two-sample tests by kernel quantile discrepancies"
    topics = ("statistics", "two-sample test", "kernel methods", "permutation test")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    exports_sources = "CMakeLists.txt", "cmake/*", "include/*", "src/*", "third_party/*", "web/dist/*", "LICENSE"

    def set_version(self):
        text = load(self, Path(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"project\(kqd VERSION ([0-9.]+)", text).group(1)

    def config_options(self):
        if self.settings.os == "Windows":
            del self.options.fPIC

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("highway/1.0.3")
        self.requires("fmt/9.1.0")
        self.requires("nlohmann_json/3.11.2")
        self.requires("zlib/[>=1.2.11 <2]")
        self.requires("eigen/3.4.0")
        self.requires("boost/1.81.0", options={"header_only": True})
        self.requires("coin-lemon/1.3.1")
        self.requires("random123/1.14.0")

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for name in ("PROGRAM", "PYTHON", "TESTS"):
            toolchain.cache_variables[f"KQD_BUILD_{name}"] = False
        toolchain.cache_variables["KQD_INSTALL"] = True
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["kqd"]
        self.cpp_info.set_property("cmake_file_name", "kqd")
        self.cpp_info.set_property("cmake_target_name", "kqd::kqd")
        self.cpp_info.set_property("pkg_config_name", "kqd")
        if self.settings.os == "Linux":
            self.cpp_info.system_libs = ["pthread", "dl"]
