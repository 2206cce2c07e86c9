package xpath

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// document is one whose names and texts are written beside its nodes.
type document struct {
	Tree
	names      []string
	texts      []string
	attributes [][]string // of each, "key=value"
}

func (d *document) Name(number, attribute int32) (prefix, local string) {
	name := d.names[number]
	if attribute >= 0 {
		name, _, _ = strings.Cut(d.attributes[number][attribute], "=")
	}
	if prefix, local, ok := strings.Cut(name, ":"); ok {
		return prefix, local
	}
	return "", name
}

func (d *document) Space(_, _ int32) string { return "" }

func (d *document) Text(number, attribute int32) string {
	if attribute >= 0 {
		_, value, _ := strings.Cut(d.attributes[number][attribute], "=")
		return value
	}
	return d.texts[number]
}

func (d *document) Attributes(number int32) int32 { return int32(len(d.attributes[number])) }

// open makes a document of words: "a[k=v]" is an element, ")" its end, "'x" a text and "!x" a comment.
func open(list string) *document {
	d := &document{names: []string{""}, texts: []string{""}, attributes: [][]string{nil}}
	d.Source = d
	d.Reset(1)
	above := []int32{0}
	for word := range strings.FieldsSeq(list) {
		kind, name, text, attributes := Element, word, "", []string(nil)
		switch word[0] {
		case ')':
			above = above[:len(above)-1]
			continue
		case '\'':
			kind, name, text = Text, "", word[1:]
		case '!':
			kind, name, text = Comment, "", word[1:]
		default:
			if before, inside, ok := strings.Cut(strings.TrimSuffix(word, "]"), "["); ok {
				name, attributes = before, strings.Split(inside, ",")
			}
		}
		n := d.Add(kind, above[len(above)-1])
		d.names, d.texts, d.attributes = append(d.names, name), append(d.texts, text), append(d.attributes, attributes)
		if kind == Element {
			above = append(above, n)
		}
	}
	d.Done()
	return d
}

func values(t *testing.T, d *document, expression string) []string {
	t.Helper()
	x, err := Compile(expression)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return x.Values(&d.Tree, 0, &Budget{Context: t.Context(), Left: 1 << 20})
}

func TestValuesAreThoseOfTheStandard(t *testing.T) {
	t.Parallel()
	d := open("r p[n=1] 'one ) div p[n=2] 'two ) p[n=3] 'three b 'x ) ) div p[n=4] 'four ) ) ) !c x:p[x:k=v] 'five ) )")
	for expression, want := range map[string]string{
		"//p[1]/@n":                            "1|2|4",
		"(//p)[1]/@n":                          "1",
		"//p[last()]/@n":                       "1|3|4",
		"//p[@n > 1][1]/@n":                    "2|4",
		"//p[@n > 1][position() = 2]/@n":       "3",
		"//b/ancestor::*[1]/@n":                "3",
		"//div//p/@n":                          "2|3|4",
		"//p[@n = true()]/@n":                  "1|2|3|4",
		"//p[@m = true()]/@n":                  "",
		"//p[@m = false()]/@n":                 "1|2|3|4",
		"//b/preceding::p[1]/@n":               "2",
		"//b/preceding::p/@n":                  "1|2",
		"//p[@n=2]/following::p[2]/@n":         "4",
		"//p[@n=2]/@n/following::text()[1]":    "two",
		"//p/@n/..[. = 'two']/@n":              "2",
		"//x:p":                                "five",
		"//x:*/@x:k":                           "v",
		"name(//x:p)":                          "x:p",
		"//comment() | //b":                    "x|c",
		"count(//node())":                      "16",
		"string(//p[@n=3])":                    "threex",
		"//div/p[2]/node()[last()]":            "x",
		"count(//p[.//b or @n < 2])":           "2",
		"sum(//p/@n) div 4":                    "2.5",
		"round(-0.5)":                          "0",
		"round(2.5)":                           "3",
		"round(0.49999999999999994)":           "0",
		"-7 mod 3":                             "-1",
		"1 div 0":                              "Infinity",
		"number('1e3')":                        "NaN",
		"number('+1')":                         "NaN",
		"number('inf')":                        "NaN",
		"number(' -.5 ')":                      "-0.5",
		"number('.')":                          "NaN",
		"substring('12345', 1.5, 2.6)":         "234",
		"substring('12345', 0, 3)":             "12",
		"substring('12345', 0 div 0, 3)":       "",
		"substring('12345', -1 div 0)":         "12345",
		"substring('12345', 1 div 0)":          "",
		"substring('é𝄞x', 2, 1)":               "𝄞",
		"translate('bar', 'abc', 'AB')":        "BAr",
		"translate('caca', 'c', '')":           "aa",
		"normalize-space(' \t a \n b ')":       "a b",
		"normalize-space('\u00a0')":            "\u00a0",
		"substring-after('a', 'b')":            "",
		"'a' < 'b'":                            "false",
		"'2' > '10'":                           "false",
		"//@n = //@n and //@n != //@n":         "true",
		"//@n < //@n and not(//@n[.=1] < 1)":   "true",
		"//@m != //@n":                         "false",
		"//@n >= //p[@n=4]/@n":                 "true",
		"--3":                                  "3",
		"2 + 3 * 2 - 1":                        "7",
		"8 div 2 div 2":                        "2",
		"1 < 2 = true()":                       "true",
		"string-length(concat('é', '𝄞', 1))":   "3",
		"boolean('false') and not(boolean(0))": "true",
	} {
		if got := strings.Join(values(t, d, expression), "|"); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
}

// TestWorkIsCounted evaluates what takes long to do and little to write.
func TestWorkIsCounted(t *testing.T) {
	t.Parallel()
	d := open("r " + strings.Repeat("p 'words ) ", 2000) + ")")
	for _, expression := range []string{
		"//p[contains(string(/), 'x')]", "//p[count(//p) = 1]", "//p/following-sibling::p", "//p[//p = 'x']", "//p[.. = 'x']",
		"//p[concat(/, /, /) = 'x']", "//p/preceding::p/following::p[1]",
	} {
		x, err := Compile(expression)
		if err != nil {
			t.Fatal(err)
		}
		err = Evaluate(func() { x.Nodes(&d.Tree, 0, &Budget{Context: t.Context(), Left: 1 << 18}) })
		if !errors.Is(err, ErrBudget) {
			t.Errorf("%s: %v", expression, err)
		}
	}
	b := &Budget{Context: t.Context(), Left: math.MaxInt}
	for expression, most := range map[string]int{"//p": 3 * 4002, "//p//text()": 6 * 4002, "//p[1]": 8 * 4002, "//*//*//*//*": 8 * 4002, "//p = //p": 8 * 4002} {
		x, err := Compile(expression)
		if err != nil {
			t.Fatal(err)
		}
		before := b.Left
		x.True(&d.Tree, 0, b)
		if x.Type() == NodeSet {
			x.Nodes(&d.Tree, 0, b)
		}
		if steps := before - b.Left; steps > most {
			t.Errorf("%s takes %d steps, %d are the most", expression, steps, most)
		}
	}
}

// FuzzExpression asks that nodes come in order, each once, that a path is true of what it selects, and that an
// expression in parentheses is the same.
func FuzzExpression(f *testing.F) {
	for _, s := range []string{"//p[1]", "(//p | //@n)[last()]/..", "count(//p) > 1 and 'a' != //b", "substring(., 2) * -1", "//x:*[following::node()]", "concat('a', //p, position())"} {
		f.Add(s)
	}
	d := open("r p[n=1] 'one ) div p[n=2] 'two ) p[n=3] 'three b 'x ) ) ) !c x:p[x:k=v] 'five ) )")
	f.Fuzz(func(t *testing.T, s string) {
		x, err := Compile(s)
		if err != nil {
			return
		}
		again, err := Compile("(" + s + ")")
		if err != nil {
			if len(s) > MaxExpression-2 || strings.Contains(err.Error(), "nested") {
				return
			}
			t.Fatalf("%q: in parentheses %v", s, err)
		}
		budget := func() *Budget { return &Budget{Context: t.Context(), Left: 1 << 20} }
		var got, same []string
		err = Evaluate(func() {
			got, same = x.Values(&d.Tree, 0, budget()), again.Values(&d.Tree, 0, budget())
			if x.Type() != NodeSet {
				return
			}
			nodes := x.Nodes(&d.Tree, 0, budget())
			if !slices.IsSorted(nodes) || len(slices.Compact(slices.Clone(nodes))) != len(nodes) {
				t.Errorf("%q gives %v", s, nodes)
			}
			if x.True(&d.Tree, 0, budget()) != (len(nodes) > 0) {
				t.Errorf("%q gives %d nodes, and is not as true", s, len(nodes))
			}
		})
		if err != nil && !errors.Is(err, ErrBudget) {
			t.Fatalf("%q: %v", s, err)
		}
		if !slices.Equal(got, same) {
			t.Errorf("%q gives %q, and %q in parentheses", s, got, same)
		}
	})
}
