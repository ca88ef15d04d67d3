# How a folder becomes a library, and a source file a program, an example, a test or a fuzzer.
#
#   vcm5_library(NAME netif_wire LEVEL 1 [SOURCES x.cc] [HEADERS x.h] [PROTOS x.proto]
#                [DEPS runtime_base] [LIBS absl::status])   one static library for this folder
#   vcm5_program(NAME vcm5-datad SOURCES main.cc [DEPS ...] [LIBS ...] [LIBEXEC])
#   vcm5_example(NAME life SOURCES life.cc [DEPS ...] [LIBS ...])      -> examples/life
#   vcm5_test(NAME packet_test SOURCES packet_test.cc [DEPS ...] [LIBS ...] [LABELS ...]
#             [TIMEOUT s] [PER_CASE] [RUN_SERIAL])
#   vcm5_fuzzer(NAME packet_fuzz SOURCES packet_fuzz.cc [DEPS ...] [CORPUS folder] [SECONDS s])
#   vcm5_protobuf(target file.proto)
#
# DEPS are folders of ours by library name (netif_wire for netif/wire), LIBS are targets from outside.
# Includes are written from the top of the tree: #include "netif/wire/packet.h".

set(VCM5_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
set(VCM5_PROGRAM_DIR ${PROJECT_BINARY_DIR}/bin)
set(VCM5_EXAMPLE_DIR ${PROJECT_BINARY_DIR}/examples)

# Read levels.txt: VCM5_FOLDERS in order, and for each library name its level and rule.
set(VCM5_FOLDERS "")
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/levels.txt lines REGEX "^[0-9]")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([0-9]+) +([a-z/]+) *([a-z-]*)$" matched "${line}")
  if(NOT matched)
    message(FATAL_ERROR "cmake/levels.txt: cannot read `${line}`; expected <level> <folder> [rule]")
  endif()
  string(REPLACE "/" "_" name ${CMAKE_MATCH_2})
  list(APPEND VCM5_FOLDERS ${CMAKE_MATCH_2})
  set(VCM5_LEVEL_${name} ${CMAKE_MATCH_1})
  set(VCM5_RULE_${name} "${CMAKE_MATCH_3}")
endforeach()

# Adds every folder of levels.txt, in its order.
function(vcm5_add_folders)
  foreach(folder IN LISTS VCM5_FOLDERS)
    # Not <build>/<folder>: <build>/examples/life is the program of examples/life.
    add_subdirectory(${folder} obj/${folder})
  endforeach()
endfunction()

# Adds every folder below this one that has a CMakeLists.txt, at any depth; a folder that has one
# adds its own children.
function(vcm5_add_subdirectories)
  file(GLOB_RECURSE lists CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
    ${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt)
  list(SORT lists)
  set(added "")
  foreach(list_file IN LISTS lists)
    string(REGEX REPLACE "/?CMakeLists.txt$" "" folder ${list_file})
    set(covered FALSE)
    foreach(above IN LISTS added)
      string(FIND "${folder}/" "${above}/" at)
      if(at EQUAL 0)
        set(covered TRUE)
      endif()
    endforeach()
    if(folder AND NOT covered)
      list(APPEND added ${folder})
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()

# The generated folder is a system one, so that our warnings leave protoc's headers alone.
function(vcm5_include_root target visibility)
  target_include_directories(${target} ${visibility} ${PROJECT_SOURCE_DIR})
  target_include_directories(${target} SYSTEM ${visibility} ${VCM5_GENERATED_DIR})
endfunction()

# Dependencies of ours must be libraries of levels.txt.
function(vcm5_check_deps target)
  foreach(dep IN LISTS ARGN)
    if(NOT DEFINED VCM5_LEVEL_${dep})
      message(FATAL_ERROR "${target}: DEPS names `${dep}`, which is no folder of cmake/levels.txt")
    elseif(NOT TARGET ${dep})
      message(FATAL_ERROR "${target}: DEPS names `${dep}`, but that folder makes no library")
    endif()
  endforeach()
endfunction()

function(vcm5_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;LEVEL" "SOURCES;HEADERS;PROTOS;DEPS;LIBS")
  vcm5_no_leftovers(vcm5_library "${arg_NAME}" "${arg_UNPARSED_ARGUMENTS}")
  set(name ${arg_NAME})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "_" expected ${folder})
  if(NOT name STREQUAL expected OR NOT DEFINED VCM5_LEVEL_${name})
    message(FATAL_ERROR "${folder}: the library must be named ${expected} and stand in cmake/levels.txt")
  endif()
  set(level ${VCM5_LEVEL_${name}})
  if(DEFINED arg_LEVEL AND NOT arg_LEVEL EQUAL level)
    message(FATAL_ERROR "${name}: LEVEL ${arg_LEVEL}, but cmake/levels.txt says ${level}")
  endif()
  foreach(dep IN LISTS arg_DEPS)
    if(DEFINED VCM5_LEVEL_${dep} AND NOT VCM5_LEVEL_${dep} LESS level)
      message(FATAL_ERROR "${name} (level ${level}) may not link ${dep} (level ${VCM5_LEVEL_${dep}}): "
        "a library links libraries of a lower level only")
    endif()
  endforeach()
  if(VCM5_RULE_${name} MATCHES "^pure")
    # What a machine needs for errors and text; nothing that brings time, threads or sockets.
    set(foreign ${arg_LIBS})
    list(REMOVE_ITEM foreign absl::status absl::statusor absl::strings absl::str_format absl::span)
    if(foreign)
      message(FATAL_ERROR "${name} is a machine (rule ${VCM5_RULE_${name}}) and may not link ${foreign}")
    endif()
  endif()

  if(arg_SOURCES OR arg_PROTOS)
    add_library(${name} STATIC ${arg_SOURCES} ${arg_HEADERS})
    set(visibility PUBLIC)
  else()
    add_library(${name} INTERFACE ${arg_HEADERS})
    set(visibility INTERFACE)
  endif()
  vcm5_include_root(${name} ${visibility})
  set_target_properties(${name} PROPERTIES VCM5_DEPS "${arg_DEPS}")
  vcm5_check_deps(${name} ${arg_DEPS})
  target_link_libraries(${name} ${visibility} ${arg_DEPS} ${arg_LIBS})
  foreach(proto IN LISTS arg_PROTOS)
    vcm5_protobuf(${name} ${proto})
  endforeach()
endfunction()

# Compiles a .proto of this folder into a target; it is included by its path in the tree:
# #include "daemons/config/machine.pb.h".
function(vcm5_protobuf target proto)
  file(RELATIVE_PATH stem ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${proto})
  string(REGEX REPLACE "\\.proto$" "" stem ${stem})
  set(out ${VCM5_GENERATED_DIR}/${stem}.pb)
  add_custom_command(OUTPUT ${out}.cc ${out}.h
    COMMAND protobuf::protoc --cpp_out=${VCM5_GENERATED_DIR} -I ${PROJECT_SOURCE_DIR}
      ${PROJECT_SOURCE_DIR}/${stem}.proto
    DEPENDS ${PROJECT_SOURCE_DIR}/${stem}.proto
    COMMENT "protoc ${stem}.proto" VERBATIM)
  set_source_files_properties(${out}.cc PROPERTIES COMPILE_OPTIONS -w)
  target_sources(${target} PRIVATE ${out}.cc ${out}.h)
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
endfunction()

function(vcm5_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS;LIBS")
  vcm5_check_deps(${target} ${arg_DEPS})
  add_executable(${target} ${arg_SOURCES})
  vcm5_include_root(${target} PRIVATE)
  target_link_libraries(${target} PRIVATE ${arg_DEPS} ${arg_LIBS})
endfunction()

function(vcm5_program)
  cmake_parse_arguments(PARSE_ARGV 0 arg "LIBEXEC" "NAME" "SOURCES;DEPS;LIBS")
  vcm5_no_leftovers(vcm5_program "${arg_NAME}" "${arg_UNPARSED_ARGUMENTS}")
  # A name of its own: the program vcm5 and the library libvcm5.a are different things.
  set(target program-${arg_NAME})
  vcm5_executable(${target} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS} LIBS ${arg_LIBS})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_NAME}
    RUNTIME_OUTPUT_DIRECTORY ${VCM5_PROGRAM_DIR})
  add_dependencies(programs ${target})
  if(arg_LIBEXEC)
    install(TARGETS ${target} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/vcm5)
  else()
    install(TARGETS ${target} DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

# An SPMD program. The engine `embedded` loads it once per node, like a library, so it is compiled
# as code of a library (-fPIC: no copy relocations, which would tie every copy to one variable),
# linked as an executable, and exports its symbols.
function(vcm5_example)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;DEPS;LIBS")
  vcm5_no_leftovers(vcm5_example "${arg_NAME}" "${arg_UNPARSED_ARGUMENTS}")
  set(target example-${arg_NAME})
  vcm5_executable(${target} SOURCES ${arg_SOURCES} DEPS api ${arg_DEPS} LIBS ${arg_LIBS})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_NAME}
    RUNTIME_OUTPUT_DIRECTORY ${VCM5_EXAMPLE_DIR} ENABLE_EXPORTS ON)
  # Unset, for ON would mean -fPIE and OFF -no-pie.
  set_property(TARGET ${target} PROPERTY POSITION_INDEPENDENT_CODE)
  target_compile_options(${target} PRIVATE -fPIC)
  target_link_options(${target} PRIVATE -pie)
  add_dependencies(programs ${target})
endfunction()

function(vcm5_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PER_CASE;RUN_SERIAL" "NAME;TIMEOUT"
    "SOURCES;DEPS;LIBS;LABELS")
  vcm5_no_leftovers(vcm5_test "${arg_NAME}" "${arg_UNPARSED_ARGUMENTS}")
  vcm5_executable(${arg_NAME} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS}
    LIBS ${arg_LIBS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${arg_NAME} PRIVATE
    VCM5_SOURCE_DIR="${PROJECT_SOURCE_DIR}" VCM5_BINARY_DIR="${PROJECT_BINARY_DIR}")
  vcm5_test_properties(properties "${arg_TIMEOUT}" "${arg_LABELS}" "${arg_RUN_SERIAL}")
  if(arg_PER_CASE)
    include(GoogleTest)
    gtest_discover_tests(${arg_NAME} TEST_PREFIX ${arg_NAME}. DISCOVERY_MODE PRE_TEST
      PROPERTIES ${properties})
  else()
    # CMake itself puts CMAKE_CROSSCOMPILING_EMULATOR (Vcm5Compiler.cmake) before the program.
    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME})
    set_tests_properties(${arg_NAME} PROPERTIES ${properties})
  endif()
endfunction()

# A libFuzzer target, and a test that lets it run for a few seconds.
function(vcm5_fuzzer)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;CORPUS;SECONDS" "SOURCES;DEPS;LIBS")
  vcm5_no_leftovers(vcm5_fuzzer "${arg_NAME}" "${arg_UNPARSED_ARGUMENTS}")
  if(NOT VCM5_FUZZ)
    return()
  endif()
  vcm5_executable(${arg_NAME} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS} LIBS ${arg_LIBS})
  target_link_options(${arg_NAME} PRIVATE -fsanitize=fuzzer)
  if(NOT arg_SECONDS)
    set(arg_SECONDS 5)
  endif()
  # libFuzzer adds what it finds to its first folder, so that one is not in the source tree.
  set(corpus ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.corpus)
  file(MAKE_DIRECTORY ${corpus})
  if(arg_CORPUS)
    list(APPEND corpus ${CMAKE_CURRENT_SOURCE_DIR}/${arg_CORPUS})
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${arg_NAME} -max_total_time=${arg_SECONDS} -timeout=10
    -print_final_stats=1 ${corpus})
  vcm5_test_properties(properties "" fuzz FALSE)
  set_tests_properties(${arg_NAME} PROPERTIES ${properties})
endfunction()

# Sanitized programs are slower: their tests get four times the time. Tests are labelled with the
# first folder below tests/ (unit, property, ...).
function(vcm5_test_properties out timeout labels run_serial)
  if(NOT timeout)
    set(timeout 120)
  endif()
  if(VCM5_SANITIZE)
    math(EXPR timeout "${timeout} * 4")
  endif()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT labels AND folder MATCHES "^tests/([a-z_]+)")
    set(labels ${CMAKE_MATCH_1})
  endif()
  set(properties TIMEOUT ${timeout})
  if(labels)
    list(APPEND properties LABELS "${labels}")
  endif()
  if(VCM5_SANITIZE AND labels MATCHES "process|examples")
    # A node that calls exit() under `embedded` leaves what its frames own; and a process that is
    # killed while it looks for leaks says so. The libraries' tests look for leaks.
    list(APPEND properties ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
  endif()
  if(run_serial)
    list(APPEND properties RUN_SERIAL ON)
  endif()
  set(${out} "${properties}" PARENT_SCOPE)
endfunction()

function(vcm5_no_leftovers function name leftovers)
  if(leftovers)
    message(FATAL_ERROR "${function}(NAME ${name}): cannot place `${leftovers}`")
  endif()
endfunction()

# Installs what a program outside this tree needs: libvcm5.a with api/ and everything below it in
# one archive, and the headers of api/include with those of ours that they include, under one folder
# to be named with -I.
function(vcm5_install_library)
  if(NOT TARGET api)
    return()
  endif()
  set(objects "")
  set(seen "")
  set(todo api)
  while(todo)
    list(POP_FRONT todo name)
    if(NOT name IN_LIST seen AND TARGET ${name})
      list(APPEND seen ${name})
      get_target_property(type ${name} TYPE)
      if(type STREQUAL "STATIC_LIBRARY")
        list(APPEND objects $<TARGET_OBJECTS:${name}>)
      endif()
      get_target_property(deps ${name} VCM5_DEPS)
      list(APPEND todo ${deps})
    endif()
  endwhile()
  add_library(vcm5-static STATIC ${objects})
  set_target_properties(vcm5-static PROPERTIES OUTPUT_NAME vcm5 LINKER_LANGUAGE CXX
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  install(TARGETS vcm5-static DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(CODE "
    set(source_dir \"${PROJECT_SOURCE_DIR}\")
    set(generated_dir \"${VCM5_GENERATED_DIR}\")
    set(include_dir \"${CMAKE_INSTALL_INCLUDEDIR}/vcm5\")
    include(\"${PROJECT_SOURCE_DIR}/cmake/Vcm5InstallHeaders.cmake\")")
endfunction()
