# Reads what `go test -v` printed for any number of packages, each whole up to its line "ok" or "FAIL". Prints, of the
# packages that failed, all but the logs of the tests that passed; then, last, the name of each test that failed.

BEGIN { FS = "\t" }

# The line by which a package ends.
/^ok  \t/ || /^\?   \t/ { forget(); next }
/^FAIL\t/ { tell(); forget(); next }

{ lines[++n] = $0 }

/^ *--- / {
  split($0, word, / +/)
  at = (word[1] == "") ? 3 : 2 # a subtest's line is indented
  ended[word[at + 1]] = word[at] # PASS:, FAIL: or SKIP:
  if (word[at] == "FAIL:") failed[++failures] = word[at + 1]
}

# What stands after the last package: go test's own "FAIL", or what was under way when go test itself was ended.
END {
  for (i = 1; i <= n; i++) if (lines[i] != "FAIL") print lines[i]
  if (list != "") printf "\nfailed:\n%s", list
}

function forget() {
  n = failures = 0
  delete ended
  delete failed
}

# Prints the package that ends here, and adds what failed to the list. A line belongs to the test that the last "=== "
# before it names. Logs are indented; where a line is not, it is a panic, a race or other output of the program, which
# may be another test's.
function tell(    i, word, test) {
  printf "\n"
  for (i = 1; i <= n; i++) {
    if (lines[i] ~ /^=== /) {
      split(lines[i], word, / +/)
      if (word[3] != test && ended[word[3]] == "FAIL:") print lines[i]
      test = word[3]
    } else if (lines[i] ~ /^ *--- (PASS|SKIP)/ || lines[i] == "PASS" || lines[i] == "FAIL") {
      test = ""
    } else {
      if (lines[i] !~ /^    /) test = ""
      if (ended[test] != "PASS:" && ended[test] != "SKIP:") print lines[i]
    }
  }
  print $0
  for (i = 1; i <= failures; i++) list = list "  " $2 " " failed[i] "\n"
  if (failures == 0) list = list "  " $2 ": no test, but the package: see above\n"
}
