package flow

import (
	"errors"
	"reflect"
	"testing"
)

func TestFlowFollowsTheGrammar(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a > b":                 "a > b",
		" a>b.c >d\t,\r\ne":     "a > b.c > d, e",
		"a.x, b-1, _c > 4":      "a.x, b-1, _c > 4",
		"keyword-filter > acis": "keyword-filter > acis",
	} {
		chain, err := Parse(text)
		if err != nil || chain.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, chain, err, want)
		}
	}
	for text, want := range map[string]Error{
		"":           {0, 1, "expected the name of a stage here"},
		"a":          {0, 1, "a flow leads from one stage to another: a > b"},
		"a >":        {2, 1, "expected the name of a stage here"},
		"a > -b":     {4, 1, "expected the name of a stage here"},
		"a b > c":    {2, 1, "expected > or , here"},
		"a.> b":      {2, 1, "expected the name of an output port here"},
		"a . x > b":  {2, 1, "expected > or , here"},
		"a > b.port": {6, 4, `output port "port" leads nowhere at the end of a flow`},
		"a -> b":     {2, 1, "expected > or , here"},
	} {
		var got *Error
		if _, err := Parse(text); !errors.As(err, &got) || *got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func FuzzFlow(f *testing.F) {
	for _, text := range []string{"a > b", "a.x, b > c > d", "a >", "", "a..b > c", "é > b", "a\n> b\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		chain, err := Parse(text)
		var wrong *Error
		if errors.As(err, &wrong) {
			if wrong.At < 0 || wrong.At > len(text) || wrong.At == len(text) && text != "" || wrong.Width < 1 || wrong.Message == "" {
				t.Fatalf("%q: error at %d, %d wide: %q", text, wrong.At, wrong.Width, wrong.Message)
			}
			return
		}
		for _, group := range chain {
			for _, ref := range group {
				if text[ref.At:ref.At+len(ref.Stage)] != ref.Stage || text[ref.PortAt:ref.PortAt+len(ref.Port)] != ref.Port {
					t.Fatalf("%q: %v is not at %d and %d", text, ref, ref.At, ref.PortAt)
				}
			}
		}
		again, err := Parse(chain.String())
		if err != nil || !reflect.DeepEqual(names(again), names(chain)) {
			t.Fatalf("%q is printed as %q, which is %v, %v", text, chain, again, err)
		}
	})
}

// names returns a chain without its places.
func names(c Chain) [][]string {
	var all [][]string
	for _, group := range c {
		var refs []string
		for _, ref := range group {
			refs = append(refs, ref.Stage+"\x00"+ref.Port)
		}
		all = append(all, refs)
	}
	return all
}
