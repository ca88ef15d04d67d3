#!/bin/sh
# Can check_paper_map.sh fail? Seeds a tree with a map that has one row for each kind of fault, and
# compares what it says with what it should say.
set -eu

check=$(dirname "$0")/check_paper_map.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

put() {
  mkdir -p "$tree/$(dirname "$1")"
  cat >"$tree/$1"
}

put switches/chip.h <<'END'
class Chip {
  void Route();  // and Nothing
};
END
put tests/chip_test.cc <<'END'
TEST(Chip, Routes) {}
TEST_F(ChipTest,
       HasALongName) {}
TEST_P(EveryChip, Routes) {}
TYPED_TEST(TypedChip, Routes) {}
// TEST(Chip, IsGone) {}
END
put tests/check.sh <<'END'
exit 0
END
put docs/paper-map.md <<'END'
# A map

### 3.1 Good rows

| where | what the paper says | code | test |
|---|---|---|---|
| 3.1 s1 | routes | `switches/chip.h` `Chip::Route`, `Chip` | `tests/chip_test.cc` `Chip.Routes`, `ChipTest.HasALongName` |
| 3.1 s2-4, 6 | routes | `switches/chip.h` | `tests/chip_test.cc` `EveryChip.Routes` `TypedChip.Routes`; `tests/check.sh` |
| figure 2 | looks | not built (would be switches/other) | |
| 3.1 s5 | does more | `switches/chip.h`; the rest is not built | `tests/chip_test.cc` `Chip.Routes` |

### 3.2 Faults

| where | what the paper says | code | test |
|---|---|---|---|
| 3.2 s1 | no file | `switches/gone.h` | `tests/gone_test.cc` `Chip.Routes` |
| 3.2 s2 | no name | `switches/chip.h` `Chip::Nothing`, `Rout` | `tests/chip_test.cc` `Chip.IsGone` |
| 3.2 s3 | other suite | `switches/chip.h` `a b` | `tests/chip_test.cc` `ChipTest.Routes`, `Routes` |
| 3.2 s4 | empty | | |
| 3.2 s5 | no code | in the chip | `tests/chip_test.cc` `Chip.Routes` |
| 3.2 s6 | no test | `switches/chip.h` | somewhere |
| 3.2 s7 | a file alone | `switches/chip.h` | `tests/chip_test.cc`, `tests/check.sh` |
| 3.2 s8 | no test's folder | `switches/chip.h` | `switches/chip.h` |
| 3.1 s9 | elsewhere | `switches/chip.h` | `tests/check.sh` |
| 3.2 s10 | cells | `switches/chip.h` |
| 3.2 s11 | | `switches/chip.h | `tests/check.sh` |
| 3.2 s12 | not built, but wrong | `switches/gone.h` | `tests/chip_test.cc` `Chip.Flies` |
END

cat >"$tree/expected" <<'END'
16: there is no file switches/gone.h
16: there is no file tests/gone_test.cc
17: none of the files of its cell has Chip::Nothing
17: none of the files of its cell has Rout
17: tests/chip_test.cc has no test Chip.IsGone
18: not a name: a b
18: tests/chip_test.cc has no test ChipTest.Routes
18: not a test behind its file: Routes
19: the code cell names no file and does not say "not built"
19: the test cell names no file and the row does not say "not built"
20: the code cell names no file and does not say "not built"
21: the test cell names no file and the row does not say "not built"
22: no test of tests/chip_test.cc is named
23: switches/chip.h is not below tests/
24: "3.1 s9" is no place in paragraph 3.2
25: a row has four cells
26: what does the paper say?
26: a backquote without its other one
26: the code cell names no file and does not say "not built"
27: there is no file switches/gone.h
27: tests/chip_test.cc has no test Chip.Flies
END
sed -i 's|^|docs/paper-map.md:|' "$tree/expected"
echo '15 rows, 3 of them say "not built", 21 faults' >>"$tree/expected"

status=0
sh "$check" "$tree" >"$tree/said" || status=$?
diff -u "$tree/expected" "$tree/said"
[ "$status" -eq 1 ] || { echo "exit status $status with faults, expected 1"; exit 1; }

# Without its faulty rows the map is clean; without any it is none.
sed -i '/^### 3.2/,$d' "$tree/docs/paper-map.md"
sh "$check" "$tree" >"$tree/said" || { cat "$tree/said"; echo "a clean map was refused"; exit 1; }
sed -i '/^|/d' "$tree/docs/paper-map.md"
! sh "$check" "$tree" >"$tree/said" || { echo "a map without rows was accepted"; exit 1; }
echo "check_paper_map.sh finds what it should"
