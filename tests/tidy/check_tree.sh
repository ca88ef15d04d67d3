#!/bin/sh
# check_tree.sh ROOT: does every source file keep to cmake/levels.txt?
#  - A folder includes headers of itself and of folders of a lower level.
#  - A machine (rule pure or pure-shm) names nothing that would make it depend on the outside world
#    or differ between two runs: that is what exact replay stands on.
# Prints `file:line: what is wrong` for each fault. Exit status: 0 clean, 1 faults, 2 wrong use.
# CMake refuses the same faults among links (cmake/Vcm5Library.cmake).
set -eu

if [ $# -ne 1 ] || [ ! -r "$1/cmake/levels.txt" ]; then
  echo "usage: check_tree.sh ROOT, where ROOT/cmake/levels.txt exists" >&2
  exit 2
fi
cd "$1"

folders=$(awk '/^[0-9]/ { sub("/.*", "", $2); print $2 }' cmake/levels.txt | sort -u)
existing=
for folder in $folders; do
  [ ! -d "$folder" ] || existing="$existing $folder"
done

# shellcheck disable=SC2086  # The list is to be split.
find $existing -type f \( -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cc' \) -print |
  sort | awk '
BEGIN {
  while ((getline line < "cmake/levels.txt") > 0) {
    if (line !~ /^[0-9]/) continue
    split(line, field)
    level[field[2]] = field[1]
    rule[field[2]] = field[3]
    top = field[2]
    sub("/.*", "", top)
    is_top[top] = 1
  }
  # Matched against whole identifiers, outside comments and strings.
  banned = "^(chrono|clock|clock_gettime|gettimeofday|nanosleep|usleep|timespec|timeval|[a-z_]+_clock"
  banned = banned "|thread|jthread|this_thread|thread_local|pthread_.*|[a-z_]*mutex|lock_guard"
  banned = banned "|unique_lock|scoped_lock|shared_lock|condition_variable.*|volatile"
  banned = banned "|socket|sendmsg|recvmsg|epoll_.*|fi_.*|asio|protobuf|getenv|secure_getenv"
  banned = banned "|rand|srand|drand48|getrandom|random_device|mt19937.*|.*_distribution"
  banned = banned "|float|double|unordered_.*|flat_hash_.*|node_hash_.*"
  banned = banned "|fopen|fstream|ifstream|ofstream)$"
  banned_atomic = "^atomic(_.*)?$"
  banned_header = "^(chrono|ctime|time[.]h|thread|[a-z_]*mutex|condition_variable|future|semaphore"
  banned_header = banned_header "|latch|barrier|stop_token|pthread[.]h|threads[.]h|random|cmath|cfenv"
  banned_header = banned_header "|unordered_.*|fstream|unistd[.]h|sys/.*|linux/.*|netinet/.*|boost/.*"
  banned_header = banned_header "|rdma/.*|google/.*|spdlog/.*|absl/(random|time|synchronization)/.*"
  banned_header = banned_header "|absl/container/.*_hash_.*|.*[.]pb[.]h)$"
  banned_header_atomic = "^(atomic|stdatomic[.]h)$"
}

function fault(message) {
  print file ":" number ": " message
  faults++
}

# The longest folder of the table that the path lies in; "" when there is none.
function folder_of(path) {
  if (path ~ /^(vcm5|cm)\//) return "api"
  while (sub("/[^/]*$", "", path))
    if (path in level) return path
  return ""
}

function check_include(header, here, top, target) {
  target = folder_of(header)
  top = header
  sub("/.*", "", top)
  if (target == "" && index(header, "/") && top in is_top)
    fault("includes " header ", whose folder is not in cmake/levels.txt")
  else if (target != "" && target != here && level[target] >= level[here])
    fault(here " (level " level[here] ") includes " header " (level " level[target] \
          "): only lower levels may be included")
  if (rule[here] ~ /^pure/ &&
      (header ~ banned_header || (rule[here] == "pure" && header ~ banned_header_atomic)))
    fault("a machine may not include " header)
}

# Blanks comments and the insides of strings; in_comment carries over to the next line.
function strip(text, out, rest) {
  out = ""
  while (text != "") {
    if (in_comment) {
      if (!match(text, /\*\//)) return out
      in_comment = 0
    } else if (match(text, /\/\/|\/\*|"|\047/)) {
      out = out substr(text, 1, RSTART - 1) " "
      rest = substr(text, RSTART)
      if (rest ~ /^\/\//) return out
      if (rest ~ /^\/\*/) {
        in_comment = 1
      } else if (rest ~ /^\047/ && out ~ /[0-9a-fA-F] $/) {
        # A digit separator, as in 16\0474096.
      } else if (!match(rest, /^"(\\.|[^"\\])*"|^\047(\\.|[^\047\\])*\047/)) {
        return out
      } else {
        text = substr(rest, RLENGTH + 1)
        continue
      }
      text = substr(rest, in_comment ? 3 : 2)
      continue
    } else {
      return out text
    }
    text = substr(text, RSTART + RLENGTH)
  }
  return out
}

function check_file(here, line, header, words, count, i) {
  here = folder_of(file)
  number = 0
  if (here == "") {
    fault("lies in no folder of cmake/levels.txt")
    return
  }
  in_comment = 0
  while ((getline line < file) > 0) {
    number++
    if (!in_comment && line ~ /^[ \t]*#[ \t]*include[ \t]*["<]/) {
      header = line
      sub(/^[^"<]*["<]/, "", header)
      sub(/[">].*$/, "", header)
      check_include(header, here)
      continue
    }
    if (rule[here] !~ /^pure/) continue
    count = split(strip(line), words, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= count; i++)
      if (words[i] ~ banned || (rule[here] == "pure" && words[i] ~ banned_atomic))
        fault("a machine may not name " words[i])
  }
  close(file)
}

{
  file = $0
  files++
  check_file()
}

END {
  printf "%d files checked, %d faults\n", files, faults
  exit faults > 0
}'
