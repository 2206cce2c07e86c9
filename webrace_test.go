package webrace

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDigestSurvivesBeingWritten(t *testing.T) {
	t.Parallel()
	for _, want := range []Digest{{}, {1, 2, 31: 255}} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := Digest{9}
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("%s is read as %v: %v", text, got, err)
		}
	}
	for _, wrong := range []string{"x", "sha256:", "sha256:" + strings.Repeat("0", 63), "sha256:" + strings.Repeat("0", 66), "md5:" + strings.Repeat("0", 64), "sha256:" + strings.Repeat("g", 64)} {
		if err := new(Digest).UnmarshalText([]byte(wrong)); err == nil {
			t.Errorf("%q is read as a digest", wrong)
		}
	}
}

func TestVisitKnowsWhatACrawlWasShown(t *testing.T) {
	t.Parallel()
	v := Visit{Shown: []Shown{{Crawl: "a", Version: 1}, {Crawl: "c", Version: 3}}}
	for crawl, want := range map[string]int{"a": 1, "b": 0, "c": 3, "d": 0} {
		if shown, ok := v.ShownTo(crawl); shown.Version != want || ok != (want > 0) {
			t.Errorf("%s was shown version %d, %v, want %d", crawl, shown.Version, ok, want)
		}
	}
}

func TestLevelOneIsTheStartAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		distance, levels int
		within           bool
	}{{0, 1, true}, {1, 1, false}, {1, 2, true}, {2, 2, false}, {1000, 0, true}} {
		if got := (Reach{Distance: c.distance}).Within(c.levels); got != c.within {
			t.Errorf("distance %d within %d levels: %v", c.distance, c.levels, got)
		}
	}
}
