#!/bin/sh
# Can check_tree.sh fail? Seeds a tree with one file for each kind of fault, and with files that only
# look faulty, and compares what it says with what it should say.
set -eu

check=$(dirname "$0")/check_tree.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

put() {
  mkdir -p "$tree/$(dirname "$1")"
  cat >"$tree/$1"
}

put cmake/levels.txt <<'END'
# A small tree.
0 runtime/base
1 netif/shm
2 netif/ni      pure-shm
2 switches/data pure
6 api
END
put runtime/base/clock.cc <<'END'
#include <chrono>
#include "runtime/base/clock.h"
std::chrono::steady_clock::time_point now;  // Not a machine: may.
END
put runtime/base/up.h <<'END'
#include "netif/shm/ring.h"
END
put netif/ni/ni.h <<'END'
#include <atomic>
#include "netif/shm/ring.h"
std::atomic<int> word;
END
put netif/ni/neighbour.h <<'END'
#include "switches/data/chip.h"
END
put switches/data/chip.h <<'END'
// A clock in a comment, a thread too.
/* float
   std::mutex */ const char* name = "double \" float"; int n = 16'384; char c = '"';
int rounded_double_floats = 0;  // A longer word.
#include "switches/data/arbiter.h"
END
put switches/data/clock.cc <<'END'
#include <mutex>
int x; /* fine */ float y;
std::atomic<int> z;
auto now = std::chrono::steady_clock::now();
END
put switches/data/random.cc <<'END'
#include "daemons/config/machine.pb.h"
#include "switches/other/x.h"
std::unordered_map<int, int> m;
std::uniform_int_distribution<int> d;
END
put api/include/vcm5/ni.h <<'END'
#include "vcm5/types.h"
#include "netif/ni/ni.h"
END
put netif/shm/ring.h <<'END'
#include <vcm5/ni.h>
END
put switches/stray.h <<'END'
END

cat >"$tree/expected" <<'END'
netif/ni/neighbour.h:1: netif/ni (level 2) includes switches/data/chip.h (level 2): only lower levels may be included
netif/shm/ring.h:1: netif/shm (level 1) includes vcm5/ni.h (level 6): only lower levels may be included
runtime/base/up.h:1: runtime/base (level 0) includes netif/shm/ring.h (level 1): only lower levels may be included
switches/data/clock.cc:1: a machine may not include mutex
switches/data/clock.cc:2: a machine may not name float
switches/data/clock.cc:3: a machine may not name atomic
switches/data/clock.cc:4: a machine may not name chrono
switches/data/clock.cc:4: a machine may not name steady_clock
switches/data/random.cc:1: a machine may not include daemons/config/machine.pb.h
switches/data/random.cc:2: includes switches/other/x.h, whose folder is not in cmake/levels.txt
switches/data/random.cc:3: a machine may not name unordered_map
switches/data/random.cc:4: a machine may not name uniform_int_distribution
switches/stray.h:0: lies in no folder of cmake/levels.txt
10 files checked, 13 faults
END

status=0
sh "$check" "$tree" >"$tree/said" || status=$?
diff -u "$tree/expected" "$tree/said"
[ "$status" -eq 1 ] || { echo "exit status $status with faults, expected 1"; exit 1; }

# Without its faulty files the tree is clean.
(cd "$tree" && rm -rf runtime/base/up.h netif/ni/neighbour.h netif/shm/ring.h switches/stray.h \
  switches/data/clock.cc switches/data/random.cc)
sh "$check" "$tree" >"$tree/said" || { cat "$tree/said"; echo "a clean tree was refused"; exit 1; }
echo "check_tree.sh finds what it should"
