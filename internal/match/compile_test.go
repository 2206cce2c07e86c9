package match

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	deep := keys(Any, "a1")
	for range deepestGroup + 1 {
		deep = Group{Groups: []Group{deep}}
	}
	many := Group{}
	for i := range mostKeywords + 1 {
		many.Keywords = append(many.Keywords, Keyword{Key: fmt.Sprint("k", i), Weight: 1})
	}
	one := func(k Keyword) Profile { return Profile{ID: "p", Group: Group{Keywords: []Keyword{k}}} }
	for _, c := range []struct {
		profile Profile
		want    string
	}{
		{Profile{ID: "p", Threshold: 101}, `compile profile "p": threshold 101 is not between 0 and 100`},
		{Profile{ID: "p", Threshold: -2}, "threshold -2 is not"},
		{Profile{ID: "p", Group: deep}, "beyond a depth of 16"},
		{Profile{ID: "p", Group: many}, "more than the 10000"},
		{Profile{ID: "p", Group: Group{Match: 7}}, "unknown kind of group"},
		{Profile{ID: "p", Group: keys(Any, "!!!", "—")}, "none of its keywords has a word"},
		{one(Keyword{Key: "ibm"}), `keyword "ibm" has the weight 0, which is not`},
		{one(Keyword{Key: "ibm", Weight: 6}), "weight 6"},
		{one(Keyword{Key: "ibm", Weight: 5, Field: "footer"}), `unknown field "footer"`},
		{one(Keyword{Key: "title:ibm", Weight: 5, Field: "body"}), "two fields at once"},
		{one(Keyword{Key: "near:0 big blue", Weight: 5}), "between 1 and 29"},
		{one(Keyword{Key: "near:99999999999999999999 big blue", Weight: 5}), "between 1 and 29"},
		{one(Keyword{Key: "near:3 blue", Weight: 5}), "one alone"},
		{one(Keyword{Key: "near:3 crawler crawlers", Weight: 5}), "one alone"},
		{one(Keyword{Key: "c*", Weight: 5}), "single letter before *"},
		{one(Keyword{Key: "ai", Weight: 5, Substring: true}), "too short"},
		{one(Keyword{Key: strings.Repeat("ab ", 31), Weight: 5}), "more than 30 words"},
		{one(Keyword{Key: strings.Repeat("a", 1025), Weight: 5}), "longer than 1024 bytes"},
		{one(Keyword{Key: "a\xffb", Weight: 5}), "not valid UTF-8"},
	} {
		if compiled, _, err := Compile(c.profile); err == nil || compiled != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error with %q", err, c.want)
		} else if !strings.Contains(err.Error(), "compile profile") {
			t.Errorf("%v does not say what was being done", err)
		}
	}
}

func TestCompileWarns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile Profile
		want    string
	}{
		{Profile{Group: keys(Any, "java", "because")}, `keyword "because" is a word of nearly every page`},
		{Profile{Group: keys(Any, "title:the", "java")}, `keyword "title:the" is a word of nearly every page`},
		{Profile{Group: keys(Any, "java", "και")}, `keyword "και" is a word of nearly every page`},
		{Profile{Group: keys(Any, "java", "!!!")}, `keyword "!!!" has no word in it and is left out`},
		{Profile{Group: keys(Any, "東")}, "found only where it stands alone; 東* also finds"},
		{Profile{Group: keys(Any, "crawler 2", "Crawlers 3")}, `keyword "Crawlers" says the same as "crawler"`},
		{Profile{Group: keys(Any, "ibm 1")}, "can never alert: with these weights no page has a relevance above 20, and the threshold is 20"},
		{Profile{Threshold: 100, Group: keys(Any, "a1", "b1")}, "above 100"},
		{Profile{Group: keys(None, "sport")}, "above 0"},
	} {
		_, warnings, err := Compile(c.profile)
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].String(), c.want) {
			t.Errorf("%+v: %v, %v; want a warning of %q", c.profile, warnings, err, c.want)
		}
	}
	for _, g := range []Group{{}, keys(Any, "the who", "東京", "ibm 2"), keys(Any, "ibm 1", "java 1"), keys(Any, "the*", "@the")} {
		if _, warnings, err := Compile(Profile{Group: g}); err != nil || len(warnings) > 0 {
			t.Errorf("%+v: %v, %v; want no warning", g, warnings, err)
		}
	}
}

func TestEqualKeywordsCountOnceWithTheHigherWeight(t *testing.T) {
	t.Parallel()
	e := explained(t, Profile{Group: keys(Any, "crawler 2", "Crawlers 3", "crawler 1")}, page800("crawler"), Options{})
	if e.Relevance != 30 || len(e.Keywords) != 1 {
		t.Errorf("%+v", e)
	}
}

// FuzzCompile holds that any keyword is either refused or found in a page that consists of itself, unless
// it was warned of, and that it never breaks matching.
func FuzzCompile(f *testing.F) {
	for _, key := range []string{
		"ibm", `"sample rate"`, "title:java", "near:5 audio device", "near:x", "comput*", "C++", ".net", "node.js", "AT&T", "C++/CLI",
		"東京都", "サーバー 東", "ΈΡΕΥΝΑ", "a\u0301b\u00adc", "heading: title: x", "..a#", "a.東", "+", "\xff", "x *y*",
	} {
		f.Add(key, "a page about C++ and 東京, node.js and sample rates", uint8(0))
	}
	f.Fuzz(func(t *testing.T, key, page string, flags uint8) {
		k := Keyword{Key: key, Weight: 5, Exact: flags&1 != 0, Substring: flags&2 != 0}
		c, warnings, err := Compile(Profile{ID: "p", Group: Group{Keywords: []Keyword{k}}})
		if err != nil {
			return
		}
		var x Index
		x.Add(c)
		o := Options{Everyone: true, Summary: int(flags)}
		for a := range x.Match(textOf(page, key, page), o) {
			if len(a.Summary) > o.Summary || !utf8.ValidString(a.Summary) {
				t.Fatalf("summary %q in %d bytes", a.Summary, o.Summary)
			}
		}
		a, _, err := parse(k)
		if err != nil || len(warnings) > 0 {
			return
		}
		rest, _ := (&atom{within: anyField}).readPrefixes(a.written, new(phrase))
		text := textOf("title: "+rest, "heading: "+rest, "body: "+rest, "navigation: "+rest)
		if x.View().Count(text, o) != 1 {
			t.Fatalf("%q is not found in itself:\n%s", key, Explain(c, text, o))
		}
	})
}
