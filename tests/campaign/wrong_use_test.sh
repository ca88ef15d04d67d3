#!/bin/sh
# A wrong command line of the campaign is one line and status 2; its help fits 80 columns.
# Usage: wrong_use_test.sh CAMPAIGN
set -eu
campaign=$1

fail() {
  echo "$*" >&2
  exit 1
}

for words in '--campaign' '--campaign 0' '--campaign few' '--campaign 5 --jobs 0' '--campaign 5 more' \
  '--seed 1'; do
  status=0
  # shellcheck disable=SC2086  # Words.
  said=$("$campaign" $words 2>&1) || status=$?
  [ "$status" -eq 2 ] || fail "$words: status $status"
  [ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ] || fail "$words: more than a line: $said"
  # shellcheck disable=SC2016  # Nothing in it is to be expanded.
  case $said in
    'vcm5: test: '*'(see `./vcm5 test --campaign --help`)') ;;
    *) fail "$words: $said" ;;
  esac
done
long=$("$campaign" --campaign --help | awk 'length > 80')
[ -z "$long" ] || fail "longer than 80 columns: $long"
