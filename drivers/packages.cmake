# Debian packages out of what is installed: graze, libgraze-dev and, where it is built, python3-graze.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL program development)
if(GRAZE_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "The graze authors <graze@localhost>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME graze)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "Computes the long-term motion of mechanical systems with impacts and friction, and finds the parameter values at which it changes.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libgraze-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libeigen3-dev, libfmt-dev, libhdf5-dev, libisal-dev, libtomlplusplus-dev, pkgconf | pkg-config")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "The C++ library: header <graze/graze.hpp>, static library, CMake package and examples.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-graze)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
math(EXPR next_python "${Python_VERSION_MINOR} + 1")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${next_python}), python3-numpy, python3-xarray, python3-tqdm")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS python3-matplotlib)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION
    "The Python package: cases, motions, maps with derivatives, orbits, branches and figures.")

include(CPack)
