# Language, warnings, code generation, sanitizers, and the tools that make builds quick.

set(VCM5_SANITIZE "" CACHE STRING "sanitizers to build with, as -fsanitize= takes them")
option(VCM5_FUZZ "build the libFuzzer targets (needs Clang)" OFF)
option(VCM5_WERROR "warnings are errors" ON)
set(VCM5_BUILD_NAME "${CMAKE_BUILD_TYPE}" CACHE STRING "what programs print as their build type")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported()

# ISO C11 and C++20 hide what Linux adds; we are a Linux program (memfd, futex, SCM_RIGHTS).
add_compile_definitions(_GNU_SOURCE)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>)
if(VCM5_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -Wno-restrict: GCC 12 warns about its own std::string operator+ (GCC bug 105651).
  # -fno-gnu-unique: a program is loaded once per node, and each copy must have its own variables,
  # also those of templates and inline functions.
  add_compile_options(-Wno-restrict $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
endif()

# SSE4.2 brings the CRC-32C instruction; elsewhere netif/wire computes it from tables.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  add_compile_options(-march=x86-64-v2)
endif()

set(CMAKE_C_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-Og -g")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g -D_GLIBCXX_ASSERTIONS")

if(VCM5_SANITIZE)
  # Traces need frame pointers; GCC's -Wmaybe-uninitialized is wrong about instrumented code.
  add_compile_options(-fsanitize=${VCM5_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -O1)
  add_link_options(-fsanitize=${VCM5_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)
    if(VCM5_SANITIZE MATCHES "thread")
      # GCC's ThreadSanitizer ignores fences and says so at each one.
      add_compile_options(-Wno-tsan)
    endif()
  endif()
endif()

if(VCM5_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "VCM5_FUZZ needs Clang (libFuzzer); use the preset `fuzz`")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# ThreadSanitizer of GCC 12 and Clang 14 cannot start where the kernel randomises more than 28 bits
# of an address; then tests run without randomisation, if this system lets us.
set(VCM5_TEST_WRAPPER "")
if(VCM5_SANITIZE MATCHES "thread" AND EXISTS /proc/sys/vm/mmap_rnd_bits)
  execute_process(COMMAND cat /proc/sys/vm/mmap_rnd_bits OUTPUT_VARIABLE random_bits ERROR_QUIET)
  execute_process(COMMAND setarch -R true RESULT_VARIABLE setarch_failed ERROR_QUIET OUTPUT_QUIET)
  # Unreadable counts as too many.
  if(NOT random_bits LESS_EQUAL 28 AND setarch_failed EQUAL 0)
    set(VCM5_TEST_WRAPPER setarch -R)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${VCM5_TEST_WRAPPER})
  endif()
endif()

find_program(VCM5_CCACHE ccache)
if(VCM5_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${VCM5_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${VCM5_CCACHE})
endif()
find_program(VCM5_MOLD mold)
if(VCM5_MOLD)
  # mold 1.10 lets RELRO begin at .tbss, which takes no room: where what follows begins on a page, that
  # is the page before, nothing is there, and the program cannot start ("cannot apply additional memory
  # protection after relocation").
  add_link_options(-fuse-ld=mold -Wl,-z,norelro)
endif()
