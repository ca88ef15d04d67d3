#!/bin/sh
# check_paper_map.sh ROOT: does docs/paper-map.md speak of what is there?
#  - A row of a table has four cells: where, what the paper says, code, test. It stands below the
#    heading of its paragraph ("### 3.6 ..." for "3.6 s2"; figures anywhere).
#  - A name in backquotes that has a slash is a file of the tree. In the code cell any other name
#    occurs in one of the cell's files (of A::b, b does). In the test cell any other name is a test,
#    Suite.Name, of the file before it; a test file of C++ has at least one such name behind it.
#  - Code and test cells name a file, unless the row says "not built".
# Prints `file:line: what is wrong` for each fault. Exit status: 0 clean, 1 faults, 2 wrong use.
set -eu

if [ $# -ne 1 ] || [ ! -r "$1/docs/paper-map.md" ]; then
  echo "usage: check_paper_map.sh ROOT, where ROOT/docs/paper-map.md exists" >&2
  exit 2
fi
cd "$1"

awk '
function fault(message) {
  print FILENAME ":" FNR ": " message
  faults++
}

# The text of a file in one line, without comments to the end of a line; "" if there is no such file.
function text_of(file, line, text) {
  if (file in texts) return texts[file]
  text = ""
  while ((getline line < file) > 0) {
    sub(/\/\/.*/, "", line)
    text = text " " line
  }
  close(file)
  gsub(/[ \t]+/, " ", text)
  return texts[file] = text
}

function is_there(file) {
  if (text_of(file) != "") return 1
  fault("there is no file " file)
  return 0
}

function has_word(text, word) {
  return text ~ ("(^|[^A-Za-z0-9_])" word "([^A-Za-z0-9_]|$)")
}

# Names in backquotes of a cell into names[1] to names[the result].
function names_of(cell, names, parts, count, i) {
  if (cell == "") return 0
  count = split(cell, parts, "`")
  if (count % 2 == 0) {
    fault("a backquote without its other one")
    return 0
  }
  for (i = 2; i <= count; i += 2) names[i / 2] = parts[i]
  return (count - 1) / 2
}

function check_code(cell, built, names, count, files, text, word, i) {
  count = names_of(cell, names)
  files = 0
  text = ""
  for (i = 1; i <= count; i++) {
    if (names[i] !~ /\//) continue
    files++
    if (is_there(names[i])) text = text text_of(names[i])
  }
  if (files == 0 && built) fault("the code cell names no file and does not say \"not built\"")
  for (i = 1; i <= count; i++) {
    word = names[i]
    if (word ~ /\//) continue
    sub(/.*::/, "", word)
    if (word !~ /^[A-Za-z0-9_]+$/) fault("not a name: " names[i])
    else if (!has_word(text, word)) fault("none of the files of its cell has " names[i])
  }
}

function check_test(cell, built, names, count, files, file, named, part, i) {
  count = names_of(cell, names)
  files = 0
  file = ""
  named = 1
  for (i = 1; i <= count; i++) {
    if (names[i] ~ /\//) {
      if (!named) fault("no test of " file " is named")
      file = names[i]
      files++
      if (file !~ /^tests\//) fault(file " is not below tests/")
      named = !is_there(file) || file !~ /\.cc$/
    } else if (file == "" || split(names[i], part, ".") != 2 || names[i] !~ /^[A-Za-z0-9_.]+$/) {
      fault("not a test behind its file: " names[i])
    } else {
      named = 1
      if (text_of(file) != "" && \
          text_of(file) !~ ("TEST(_F|_P)?\\( ?" part[1] ", ?" part[2] " ?\\)"))
        fault(file " has no test " names[i])
    }
  }
  if (!named) fault("no test of " file " is named")
  if (files == 0 && built) fault("the test cell names no file and the row does not say \"not built\"")
}

/^### / { paragraph = $2 }

/^\|/ {
  if ($0 ~ /^\|[-| ]*$/) next
  cells = split($0, cell, "|")
  if (cells != 6) {
    fault("a row has four cells")
    next
  }
  for (i = 2; i <= 5; i++) gsub(/^ +| +$/, "", cell[i])
  if (cell[2] == "where") next
  rows++
  if (cell[2] !~ /^figure [0-9]$/ && cell[2] !~ ("^" paragraph " s[0-9][-0-9, ]*$"))
    fault("\"" cell[2] "\" is no place in paragraph " paragraph)
  if (cell[3] == "") fault("what does the paper say?")
  built = ($0 !~ /not built/)
  if (!built) open++
  check_code(cell[4], built)
  check_test(cell[5], built)
}

END {
  if (rows == 0) {
    print FILENAME ": no rows"
    faults++
  }
  printf "%d rows, %d of them say \"not built\", %d faults\n", rows, open, faults
  exit faults > 0
}' docs/paper-map.md
