package selection

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/htmltree"
)

const prices = `{"items":[{"name":"Bolt","price":12.50,"seen":"today"},{"name":"Nut","price":3,"tags":["a","b"]}],"a b":{"c":null},"seen":"now"}`

// blocks applies rules, "jq .x" or "ignore css p", to a document, and returns the text.
func blocks(t *testing.T, body, mediaType string, rules ...string) (string, *Part) {
	t.Helper()
	var all []Rule
	for _, rule := range rules {
		rest, ignore := strings.CutPrefix(rule, "ignore ")
		language, text, _ := strings.Cut(rest, " ")
		all = append(all, Rule{Ignore: ignore, Language: Language(language), Text: text})
	}
	s, err := Compile(all)
	if err != nil {
		t.Fatal(err)
	}
	part, err := s.Apply(t.Context(), opened(t, body, mediaType), NewBudget())
	if err != nil {
		t.Fatalf("%s: %v", rules, err)
	}
	mustBeSound(t, part.Text)
	var lines []string
	for _, b := range part.Text.Blocks {
		lines = append(lines, string(part.Text.Slice(b)))
	}
	return strings.Join(lines, "|"), part
}

func opened(t testing.TB, body, mediaType string) *Document {
	t.Helper()
	r, err := extract.Document([]byte(body), mediaType, "http://a.example/", extract.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Open("http://a.example/", []byte(body), r.MediaType, r.Charset, r.Text)
}

func TestJQSelectsValuesWithTheirPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules []string
		want  string
	}{
		{[]string{`jq .items[0].price`}, "items[0].price: 12.50"},
		{[]string{`jq .items[-1].tags`}, "items[1].tags[0]: a|items[1].tags[1]: b"},
		{[]string{`jq .items[] | select(.price > 10) | .name`}, "items[0].name: Bolt"},
		{[]string{`jq .items[1].price`, `jq .items[0].name`}, "items[0].name: Bolt|items[1].price: 3"},
		{[]string{`jq .. | .price? // empty`}, "items[0].price: 12.50|items[1].price: 3"},
		{[]string{`jq .["a b"]`}, `["a b"].c: null`},
		{[]string{`jq first(.items[] | select(.name | test("^n"; "i")))`}, "items[1].name: Nut|items[1].price: 3|items[1].tags[0]: a|items[1].tags[1]: b"},
		{[]string{`ignore jq .items`}, `["a b"].c: null|seen: now`},
		{[]string{`jq .items[0]`, `ignore jq .. | .seen? // empty`}, "items[0].name: Bolt|items[0].price: 12.50"},
		{[]string{`jq .items[]`, `regex price: .*`}, "price: 12.50|price: 3"},
		{[]string{`jq .items | length`}, "2"},
		{[]string{`jq .items[] | "\(.name) costs \(.price * 2)"`}, "Bolt costs 25|Nut costs 6"},
		{[]string{`jq .items | map({name, total: (.price + 1)})`}, "[0].name: Bolt|[0].total: 13.5|[1].name: Nut|[1].total: 4"},
		{[]string{`jq del(.items) | tojson`}, `{"a b":{"c":null},"seen":"now"}`},
		{[]string{`jq .items | to_entries[] | .value.name | ascii_upcase`}, "BOLT|NUT"},
		{[]string{`jq def up: ascii_upcase; .seen | up`}, "NOW"},
		{[]string{`jq [.items[].name] | join(", ")`}, "Bolt, Nut"},
		{[]string{`jq .items[].name | gsub("[a-m]"; "_")`}, "Bo_t|Nut"},
		{[]string{`jq reduce .items[] as {price: $p} (0; . + $p)`}, "15.5"},
		{[]string{`jq .items as [$a] | $a.name`}, "Bolt"},
		{[]string{`jq .nothing`}, ""},
		{[]string{`jq .items.nothing`}, ""}, // it is a list
		{[]string{`jq .items[7]`, `jq .seen`}, "seen: now"},
		{[]string{`css p`}, ""},
		{[]string{`css p`, `jq .seen`}, "seen: now"},
		{[]string{`ignore css p`}, "items[0].name: Bolt|items[0].price: 12.50|items[0].seen: today|items[1].name: Nut|items[1].price: 3|items[1].tags[0]: a|items[1].tags[1]: b|" + `["a b"].c: null|seen: now`},
	} {
		got, part := blocks(t, prices, "application/json", c.rules...)
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.rules, got, c.want)
		}
		if c.want == "" && len(part.Unmatched) != len(c.rules) {
			t.Errorf("%s: %s is unmatched", c.rules, part.Unmatched)
		}
	}
	if got, _ := blocks(t, "{\"a\":1}\n{\"a\":2,\"b\":3}\n", "application/x-ndjson", "jq .a, .b"); got != "[0].a: 1|[1].a: 2|[1].b: 3" {
		t.Errorf("lines: %q", got)
	}
	if got, part := blocks(t, "<p>text</p>", "text/html", "jq .a"); got != "" || len(part.Unmatched) != 1 {
		t.Errorf("a page: %q", got)
	}
	if got, _ := blocks(t, "<p>text</p><h1>x", "text/html", "jq .a", "css h1"); got != "x" {
		t.Errorf("a page: %q", got)
	}
}

func TestMarkdownIsSelectedFromAsThePageItMeans(t *testing.T) {
	t.Parallel()
	if got, _ := blocks(t, "# Storm\n\nText *of* it\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "text/markdown", "css h1, td:last-child", "xpath //em"); got != "Storm|of|2" {
		t.Errorf("%q", got)
	}
}

func TestJQThatIsNoneIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`.items[`:                        "at its end: unexpected EOF",
		`.items | | .x`:                  `at character 10: unexpected token "|"`,
		`.price = 3`:                     "= would change the document",
		`.items |= map(.x)`:              "|= would change the document",
		`.items | lenght`:                "there is no function lenght/0 (did you mean length?)",
		`split`:                          "split takes 1 or 2 arguments, not 0",
		`now`:                            "now is not to be had here",
		`$ENV.HOME`:                      "there is no variable $ENV",
		`$__budget`:                      "there is no variable $__budget",
		`env`:                            "env is not to be had here",
		`input`:                          "input is not to be had here",
		`setpath([1];2)`:                 "setpath is not to be had here",
		`_charge(1)`:                     "there is no function _charge/1",
		`import "a" as a; .`:             "modules cannot be included",
		`def tojson: 1; .x`:              `"tojson" is a function of jq already`,
		`def f(map): 1; .x`:              `"map" is a function of jq already`,
		`.a | join(.b)`:                  "join takes a text in quotes",
		`.a as $x | $y`:                  "variable not defined: $y",
		`{"a": (.b |= 1)}`:               "|= would change",
		`"\(.x = 1)"`:                    "= would change",
		`.[(.x = 1)]`:                    "= would change",
		`reduce .[] as $x (0; $x = 1)`:   "= would change",
		`try (now) catch .`:              "now is not",
		`if now then 1 else 2 end`:       "now is not",
		`.[now:]`:                        "now is not",
		`-(now)`:                         "now is not",
		`label $f | now`:                 "now is not",
		`@base32 "\(now)"`:               "now is not",
		`. as {(now|tostring): $x} | $x`: "now is not",
	} {
		if err := (Rule{Language: JQ, Text: text}).Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestHostileJQEndsWithTheBudget holds that programs without an end, and those that make much out of little, end soon,
// and that the error names them.
func TestHostileJQEndsWithTheBudget(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`def f: f; f`, `repeat(.)`, `last(range(infinite))`, `until(false; .)`, `[range(1e9)]`, `[repeat(1)]`, `def f: 1 + f; f`,
		`reduce range(60) as $i ([1]; [.,.]) | tojson`, `reduce range(60) as $i ("x"; . + .)`, `reduce range(60) as $i (["x"]; . + .)`,
		`reduce range(99) as $i (10; . * .)`, `"x" * 1e9`, `1e9 * "x"`, `reduce range(60) as $i ("x"; "\(.)\(.)")`, `reduce range(60) as $i ("x"; . * 2)`,
		`("x" * 1e6) as $b | [range(1e6)] | map($b) | add`, `("x" * 1e6) as $b | $b | gsub(""; $b)`, `reduce range(1e6) as $i (0; [.])`,
		`("x" * 1e6) as $b | [range(1e6) | $b] | flatten`, `reduce range(60) as $i ({}; {a: ., b: .}) | tostring`, `[limit(1e7; repeat("abc" | explode))]`,
		`reduce range(60) as $i ("x"; @html "<\(.)\(.)>")`, `reduce range(60) as $i ([[1]]; . as [$a] | [$a, $a]  | [., .]) | tojson`,
		`.. | tojson | .. | tojson | def f: (., .) | f; f`, `def f(g): g | f(g); f(.)`, `("x" * 1e6) | test("(x{9}){9}y")`, `("x" * 1e7) | [scan("x")]`, `[range(3e5)] | . - .`, `[range(3e5)] as $a | $a | contains($a)`, `("x" * 1e6) as $b | [range(1e5)] | sort_by($b)`,
		`("x" * 1e6) as $b | [range(1e5) | $b == $b]`, `walk([., .]) | repeat([., .])`,
	} {
		for _, ignore := range []bool{false, true} {
			s, err := Compile([]Rule{{Language: CSS, Text: "p"}, {Ignore: ignore, Language: JQ, Text: text}})
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			budget, began := &Budget{maxSteps / 8}, time.Now() // an eighth, for the time that the test takes
			_, err = s.Apply(t.Context(), opened(t, prices, "application/json"), budget)
			if ignore && err == nil {
				continue // what is computed is no part that could be ignored, and known to be computed by its beginning
			}
			if !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), text[:3]) || !strings.Contains(err.Error(), "jq") || budget.Left() >= 0 {
				t.Errorf("%s: %v, %d steps left", text, err, budget.Left())
			}
			if took := time.Since(began); took > 60*time.Second {
				t.Errorf("%s takes %v", text, took)
			}
		}
	}
}

func TestJQEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	s, err := Compile([]Rule{{Language: JQ, Text: `repeat(.)`}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(ctx, opened(t, prices, "application/json"), &Budget{1 << 40}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestJQIsNotAppliedToWhatIsTooDeep(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{300, 1_000_000} {
		d := opened(t, strings.Repeat("[", depth)+strings.Repeat("]", depth), "application/json")
		s, err := Compile([]Rule{{Language: JQ, Text: `..`}})
		if err != nil {
			t.Fatal(err)
		}
		if part, err := s.Apply(t.Context(), d, NewBudget()); !errors.Is(err, htmltree.ErrTooLarge) {
			t.Errorf("%d levels: %+v, %v", depth, part, err)
		}
	}
}

func TestJQFindsValues(t *testing.T) {
	t.Parallel()
	find := func(s *Search, text string, within Found) (values []any) {
		t.Helper()
		f, err := NewFinder(JQ, text)
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.Find(f, within)
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range found {
			v, ok := each.Value()
			if !ok {
				t.Fatal("no value")
			}
			values = append(values, v)
		}
		return values
	}
	s, err := NewSearch(t.Context(), opened(t, prices, "application/json"))
	if err != nil {
		t.Fatal(err)
	}
	if got := find(s, ".items[].price", Found{}); !slices.Equal(got, []any{json.Number("12.50"), json.Number("3")}) {
		t.Errorf("%#v", got)
	}
	rows, err := NewFinder(JQ, ".items[]")
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Find(rows, Found{})
	if err != nil || len(found) != 2 {
		t.Fatalf("%v, %v", found, err)
	}
	if got := find(s, ".name", found[1]); !slices.Equal(got, []any{"Nut"}) {
		t.Errorf("%#v", got)
	}
	if text, err := s.Text(found[1]); err != nil || text != `{"name":"Nut","price":3,"tags":["a","b"]}` {
		t.Errorf("%s, %v", text, err)
	}
	endless, err := NewFinder(JQ, "repeat(.)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(endless, Found{}); !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), "repeat") {
		t.Errorf("%v", err)
	}
}

// FuzzJQ holds that no program harms on any document: it is refused, or ends with text that is sound, the same one
// twice, or with the budget.
func FuzzJQ(f *testing.F) {
	for _, text := range []string{".items[] | select(.price > 10)", ".. | numbers", `"\(.a)" + "b" * 3`, "{a, b: [.c]}", "path(..)", `def f: .a; [f, f] | add`, "reduce .[] as [$a] (0; . + $a)",
		`.a as {b: $c} | $c // @json "x\(.)"`, ".[2:4][0]?", "to_entries | group_by(.key) | map(first.value)", "[paths] | tojson", "limit(3; repeat(.))"} {
		for _, body := range []string{prices, `[1,[2,3],{"a":{"b":1e400}}]`, "{\"a\":1}\n{\"a\":-0.0}", `[123456789012345678901234567890]`} {
			f.Add(text, body, false)
			f.Add(text, body, true)
		}
	}
	f.Fuzz(func(t *testing.T, text, body string, ignore bool) {
		s, err := Compile([]Rule{{Ignore: ignore, Language: JQ, Text: text}})
		if err != nil {
			return
		}
		apply := func() (string, error) {
			part, err := s.Apply(context.Background(), opened(t, body, "application/json"), &Budget{1 << 18})
			if err != nil {
				return "", err
			}
			mustBeSound(t, part.Text)
			return string(part.Text.Bytes), nil
		}
		first, err := apply()
		if err != nil {
			if !errors.Is(err, ErrBudget) && !errors.Is(err, htmltree.ErrTooLarge) {
				t.Fatal(err)
			}
			return
		}
		if second, err := apply(); err != nil || second != first {
			t.Fatalf("%q, then %q, %v", first, second, err)
		}
		if ignore {
			whole := opened(t, body, "application/json").text
			if !isPartOf(letters(&webrace.Text{Bytes: []byte(first)}), letters(whole)) {
				t.Fatalf("%q is no part of %q", first, whole.Bytes)
			}
		}
	})
}
