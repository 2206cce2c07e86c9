package match

import (
	"fmt"
	"slices"
	"testing"

	"github.com/webrace/webrace"
)

func TestMarksSayWhereTheKeywordsStand(t *testing.T) {
	t.Parallel()
	text := &webrace.Text{Bytes: []byte("C++ boats\nThe boat, a Βάρκα and C. Rowing boats")}
	text.Blocks = []webrace.Block{{Start: 0, End: 9, Field: webrace.FieldTitle}, {Start: 10, End: int32(len(text.Bytes))}}
	c, _, err := Compile(Profile{Group: Group{
		Keywords: []Keyword{{Key: "boat", Weight: 3}, {Key: "c++", Weight: 3}, {Key: "βαρκα", Weight: 1}, {Key: "rowing boat", Weight: 2}},
		Groups:   []Group{{Match: None, Keywords: []Keyword{{Key: "the"}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range Marks(c, text) {
		got = append(got, fmt.Sprintf("%s: %s", m.Keyword, text.Bytes[m.Start:m.End]))
	}
	want := []string{"c++: C++", "boat: boats", "boat: boat", "βαρκα: Βάρκα", "rowing boat: Rowing boats", "boat: boats"}
	if !slices.Equal(got, want) {
		t.Errorf("marks %q, want %q", got, want)
	}
}
