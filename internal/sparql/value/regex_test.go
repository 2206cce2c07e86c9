package value_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql/value"
)

func TestRegularExpressions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, pattern, flags, want string }{ // an empty result is an error
		{"alice", "^ali", "", "true"},
		{"Alice", "^ali", "", "false"},
		{"Alice", "^ali", "i", "true"},
		{"a\nb", "a.b", "", "false"},
		{"a\nb", "a.b", "s", "true"},
		{"a\nb", "^b$", "", "false"},
		{"a\nb", "^b$", "m", "true"},
		{"a\n", "a$", "", "false"},
		{"abc", " a b\tc ", "x", "true"},
		{"a c", "a[ ]c", "x", "true"},
		{"a.b", "a.b", "q", "true"},
		{"axb", "a.b", "q", "false"},
		{"A.B", "a.b", "iq", "true"},
		{"abc", "", "", "true"},
		{"٣", `^\d$`, "", "true"}, // digits of all of Unicode
		{"é_", `^\w+$`, "", "false"},
		{"é", `^\w$`, "", "true"},
		{"$", `^\w$`, "", "true"}, // a symbol: neither punctuation, nor a separator, nor other
		{"-", `^[\w-]$`, "", "true"},
		{"é", `^[^\W]$`, "", "true"},
		{"\u00a0", `\s`, "", "false"}, // white space is that of XML
		{"\u00a0", `^[\S]$`, "", "true"},
		{":a-b.c", `^\i\c*$`, "", "true"},
		{"1a", `^\i`, "", "false"},
		{"1", `^[\I]$`, "", "true"},
		{"b", `^[a-z-[aeiou]]$`, "", "true"},
		{"e", `^[a-z-[aeiou]]$`, "", "false"},
		{"e", `^[a-z-[aeiou-[e]]]$`, "", "true"},
		{"5", `^[\w-[\d]]$`, "", "false"},
		{"x", `^[a-[a]]$`, "", "false"},
		{"ʼ", `^\p{Lm}$`, "", "true"},
		{"a", `\P{L}`, "", "false"},
		{"aaa", "^a{2}$", "", "false"},
		{"aaa", "^a{2,}$", "", "true"},
		{"aaa", "^a{1,2}?a$", "", "true"},
		{"ab", "^(?:a)(b)$", "", "true"},
		{`a\b`, `a\\b`, "", "true"},
		{"a-b^", `^[a\-b\^]+-?`, "", "true"},
		{"aa", `(a)\1`, "", ""},
		{"a", `\bа`, "", ""},
		{"a", `\x41`, "", ""},
		{"a", `\p{IsGreek}`, "", ""},
		{"a", `(?i)a`, "", ""},
		{"a", `(?<n>a)`, "", ""},
		{"a", `a{`, "", ""},
		{"a", `a{,2}`, "", ""},
		{"a", `{2}`, "", ""},
		{"a", `[a`, "", ""},
		{"a", `[]`, "", ""},
		{"a", `[[:alpha:]]`, "", ""},
		{"a", `a]`, "", ""},
		{"a", `(a`, "", ""},
		{"a", `*`, "", ""},
		{"a", `\`, "", ""},
		{"a", `a{2000}`, "", ""},
		{"a", "a", "g", ""},
	} {
		args := []webrace.Term{rdf.NewLangString(c.text, "en"), rdf.NewString(c.pattern), rdf.NewString(c.flags)}
		got, err := value.Call("REGEX", args, nil)
		if (err != nil) != (c.want == "") || got != term(c.want) {
			t.Errorf("REGEX %q matches %q with flags %q: %s, %v, want %s", c.pattern, c.text, c.flags, got, err, c.want)
		}
	}
	for pattern, want := range map[string]string{
		`(a)x\1`: `the back reference \1 is not supported`,
		`ä[b`:    "a class has no end at character 2",
		`a{x}`:   `write \{ for the character`,
	} {
		if _, err := value.Call("REGEX", []webrace.Term{`""`, rdf.NewString(pattern)}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", pattern, err, want)
		}
	}
}

// The examples of fn:replace, and the rules of replacements.
func TestReplace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, pattern, replacement, flags, want string }{
		{"abracadabra", "bra", "*", "", "a*cada*"},
		{"abracadabra", "a.*a", "*", "", "*"},
		{"abracadabra", "a.*?a", "*", "", "*c*bra"},
		{"abracadabra", "a", "", "", "brcdbr"},
		{"abracadabra", "a(.)", "a$1$1", "", "abbraccaddabbra"},
		{"abracadabra", ".*?", "$1", "", ""},
		{"AAAA", "A+", "b", "", "b"},
		{"AAAA", "A+?", "b", "", "bbbb"},
		{"darted", "^(.*?)d(.*)$", "$1c$2", "", "carted"},
		{"abcd", "(ab)|(a)", "[1=$1][2=$2]", "", "[1=ab][2=]cd"},
		{"a\nb", "^", "> ", "m", ""},
		{"a", "a", "$12", "", "2"},
		{"ab", "(a)(b)", "$2$0", "", "bab"},
		{"a", "(a)", "$12", "", "a2"},
		{"a", "a", `\$1\\`, "", `$1\`},
		{"a.a", ".", `$\`, "q", `a$\a`},
		{"a", "a", "$", "", ""},
		{"a", "a", `\n`, "", ""},
		{"a", "a", `\`, "", ""},
		{"a", "a*", "x", "", ""},
		{"Aa", "a", "x", "i", "xx"},
	} {
		args := []webrace.Term{rdf.NewLangString(c.text, "en"), rdf.NewString(c.pattern), rdf.NewString(c.replacement),
			rdf.NewString(c.flags)}
		got, err := value.Call("REPLACE", args, nil)
		want := webrace.Term("")
		if c.want != "" {
			want = rdf.NewLangString(c.want, "en")
		}
		if got != want || (err != nil) != (want == "") {
			t.Errorf("REPLACE(%q, %q, %q, %q) is %s, %v, want %s", c.text, c.pattern, c.replacement, c.flags, got, err, want)
		}
	}
}

// What a query can do to run for long or to take memory is refused by the size of what it has. A call that may take
// long asks first whether the query has ended.
func TestHostileRegularExpressions(t *testing.T) {
	t.Parallel()
	long := rdf.NewString(strings.Repeat("a", value.DefaultMaxString))
	groups := rdf.NewString(strings.Repeat("(", 50) + "a" + strings.Repeat(")", 50))
	for name, args := range map[string][]webrace.Term{
		"a program times a text":    {long, `"(a?){900}b"`},
		"a large program":           {`"a"`, `"((a{100}){100}){100}"`},
		"classes in classes":        {`"a"`, rdf.NewString(strings.Repeat("[a-", 5000))},
		"groups in groups":          {`"a"`, rdf.NewString(strings.Repeat("(", 5000) + strings.Repeat(")", 5000))},
		"a long pattern":            {`"a"`, rdf.NewString(strings.Repeat("a|", 1<<17))},
		"matches times groups":      {long, groups, `"b"`},
		"a replacement that grows":  {long, `"a"`, rdf.NewString(strings.Repeat("b", 1000))},
		"a replacement of itself":   {long, `"(a*)"`, `"$1$1"`},
		"a replacement that copies": {long, `"(a+)"`, rdf.NewString(strings.Repeat("$1", 100_000))},
	} {
		function := "REGEX"
		if len(args) == 3 {
			function = "REPLACE"
		}
		if _, err := value.Call(function, args, nil); err == nil {
			t.Errorf("%s is computed", name)
		}
	}
	ended := errors.New("the query has ended")
	env := &value.Env{Interrupted: func() error { return ended }}
	if _, err := value.Call("REGEX", []webrace.Term{long, `"b"`}, env); !errors.Is(err, ended) {
		t.Errorf("a query that has ended goes on: %v", err)
	}
}

// The translation of an expression that means the same in both languages does not change what it matches, and none
// panics.
func FuzzRegex(f *testing.F) {
	for _, s := range []string{"a[b-d]*", `\p{L}+|\d`, "[a-z-[aeiou]]", "(a|b){2,3}?", `[^\w]`, `\i\c*[\I\C-]`} {
		f.Add(s, "abcde 12", "i")
	}
	safe := regexp.MustCompile(`^[a-z0-9|()*+?.^$ ]*$`)
	f.Fuzz(func(t *testing.T, pattern, text, flags string) {
		got, err := value.Call("REGEX", []webrace.Term{rdf.NewString(text), rdf.NewString(pattern), rdf.NewString(flags)}, nil)
		if err != nil || flags != "" || !safe.MatchString(pattern) {
			return
		}
		if re, err := regexp.Compile(pattern); err != nil || value.Of(re.MatchString(text)) != got {
			t.Errorf("%q matches %q: %s, %v", pattern, text, got, err)
		}
	})
}
