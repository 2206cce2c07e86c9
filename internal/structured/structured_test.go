package structured

import (
	"errors"
	"strings"
	"testing"
)

// serialize writes a dictionary (RFC 9651, section 4.1.2).
func (d Dictionary) serialize() string {
	var all []string
	for _, name := range d.Names {
		v := d.Values[name]
		if text := v.Serialize(); !v.IsList && v.Text == "?1" {
			all = append(all, name+strings.TrimPrefix(text, "?1"))
		} else {
			all = append(all, name+"="+text)
		}
	}
	return strings.Join(all, ", ")
}

// The examples of RFC 9651, sections 3.1 to 3.3 and 4.2, and what is at the edges of its grammar.
func TestDictionariesAreReadAndWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                          "",
		`en="Applepie", da=:w4ZibGV0w6ZydGU=:`:      `en="Applepie", da=:w4ZibGV0w6ZydGU=:`,
		"a=?0, b, c; foo=bar":                       "a=?0, b, c;foo=bar",
		"a=(1 2), b=3, c=4;aa=bb, d=(5 6);valid":    "a=(1 2), b=3, c=4;aa=bb, d=(5 6);valid",
		"rating=1.5, feelings=(joy sadness)":        "rating=1.5, feelings=(joy sadness)",
		`a=("foo" "bar");baz;x=1 ,	b=("q";p "r");y`: `a=("foo" "bar");baz;x=1, b=("q";p "r");y`,
		"a=1, b=2, a=3":                             "a=3, b=2",
		"a;x=1;y=2;x=3":                             "a;x=3;y=2",
		"a=()":                                      "a=()",
		"a=(   1   2   )":                           "a=(1 2)",
		`a="\"\\"`:                                  `a="\"\\"`,
		"a=-0, b=007, c=-007.10, d=0.0, e=-0.0":     "a=0, b=7, c=-7.1, d=0.0, e=0.0",
		"a=999999999999999, b=-999999999999.999":    "a=999999999999999, b=-999999999999.999",
		"a=@1659578233":                             "a=@1659578233",
		"a=:YWJj:, b=:YQ:, c=::":                    "a=:YWJj:, b=:YQ==:, c=::",
		"*a=*b/c:d":                                 "*a=*b/c:d",
		"  a=1  ":                                   "a=1",
	} {
		d, err := ParseDictionary(text)
		if got := d.serialize(); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"A=1": errName, "=1": errName, "1=1": errName, "a;B": errName, ",": errName, "a=1,,b": errName, `a;"x"`: errName,
		"a=": errItem, "a=(": errItem, "a=%\"x\"": errItem, "a=%00000": errItem, "a=?2": errItem, "a=?": errItem, "a=#": errItem, "a={": errItem,
		"a=1000000000000000": errNumber, "a=-": errNumber, "a=1.": errNumber, "a=1.0001": errNumber, "a=1000000000000.1": errNumber, "a=--1": errNumber,
		"a=@1.5": errNumber, "a=@": errNumber,
		`a="`: errString, `a="\x"`: errString, `a="\`: errString, "a=\"\t\"": errString, "a=\"é\"": errString, "a=\"\x00\"": errString,
		"a=:": errBytes, "a=:*:": errBytes, "a=:Y\nWJj:": errBytes, "a=:A:": errBytes, "a=:A=A:": errBytes,
		"a=(1": errList, "a=(1,2)": errList, "a=(1;x\"\")": errList,
		"a=1 b=2": errMembers, "a=1,": errMembers, "a=1, ": errMembers, "a=1;x=1.5\"": errMembers, "a\t=1": errMembers, "a=(1)2": errMembers,
	} {
		if d, err := ParseDictionary(text); !errors.Is(err, want) {
			t.Errorf("%q: %q, %v; want %v", text, d.serialize(), err, want)
		}
	}
}

// A dictionary that is read is the same when it is written and read again.
func FuzzDictionary(f *testing.F) {
	for _, text := range []string{`a=("x" "y";k=1);p, b=:AA==:, c;q=?0`, "a=1.50, b=@1, *c=tok/en", "a=%00000", `a="\"", a=2`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDictionary(text)
		if err != nil {
			return
		}
		written := d.serialize()
		again, err := ParseDictionary(written)
		if err != nil || again.serialize() != written {
			t.Errorf("%q is %q, and then %q, %v", text, written, again.serialize(), err)
		}
	})
}
