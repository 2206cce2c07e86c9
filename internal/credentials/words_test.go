package credentials

import (
	"slices"
	"testing"
)

func TestSplitWordsReadsACommandLineAsAShellDoes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"":                         nil,
		" pass  show\tapi/token ":  {"pass", "show", "api/token"},
		`sh -c 'echo "a b" | tr'`:  {"sh", "-c", `echo "a b" | tr`},
		`a "b 'c' \"d\" \n" ''`:    {"a", `b 'c' "d" \n`, ""},
		`a\ b \\ x'y'"z"`:          {"a b", `\`, "xyz"},
		`'C:\Program Files\a.exe'`: {`C:\Program Files\a.exe`},
		`é $HOME *`:                {"é", "$HOME", "*"},
	} {
		if got, err := SplitWords(line); !slices.Equal(got, want) || err != nil {
			t.Errorf("%q is %q, %v; want %q", line, got, err, want)
		}
	}
	for _, line := range []string{`a 'b`, `a "b`, `a\`, `"a\`} {
		if got, err := SplitWords(line); err == nil {
			t.Errorf("%q is %q", line, got)
		}
	}
}

// What was read is written so that it is read as the same.
func FuzzSplitWords(f *testing.F) {
	for _, seed := range []string{"", "a b", `a 'b c' "d"`, `\`, `''`, "'\\''", "\"\\\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := SplitWords(line)
		if err != nil {
			return
		}
		if again, err := SplitWords(JoinWords(words)); err != nil || !slices.Equal(again, words) {
			t.Fatalf("%q is %q, written as %q, and read as %q, %v", line, words, JoinWords(words), again, err)
		}
	})
}
