package objects

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func TestAnExportRemembersBoundedlyManyBodies(t *testing.T) {
	s := opened(t, Options{})
	put(t, s, page(home, "one"))
	put(t, s, page(home+"2", "one"))
	var out bytes.Buffer
	e, err := s.NewExport(&out, "x")
	if err != nil {
		t.Fatal(err)
	}
	first, err := e.Write(mustLatest(t, s, home))
	if err != nil || first.Revisit || string(first.Body) != "one" {
		t.Errorf("%+v, %v", first, err)
	}
	again, err := e.Write(mustLatest(t, s, home+"2"))
	if err != nil || !again.Revisit || again.Offset <= first.Offset || again.Offset+again.Length > int64(out.Len()) {
		t.Errorf("%+v, %v", again, err)
	}
	fill := func(n int) { // with other bodies, so that those before them are forgotten
		for i := range n {
			e.bodies.Add(fmt.Sprint("another ", i), nil)
		}
	}
	fill(maxBodies - 1)
	if in, err := e.Write(mustLatest(t, s, home+"2")); err != nil || !in.Revisit {
		t.Errorf("a body is forgotten while there is room: %+v, %v", in, err)
	}
	put(t, s, page(home+"3", "three"))
	if _, err := e.Write(mustLatest(t, s, home+"3")); err != nil || e.bodies.Len() != maxBodies {
		t.Errorf("%d bodies are remembered, want %d: %v", e.bodies.Len(), maxBodies, err)
	}
	if in, err := e.Write(mustLatest(t, s, home+"2")); err != nil || !in.Revisit {
		t.Errorf("the body that was referred to last is forgotten when the cache is full: %+v, %v", in, err)
	}
	fill(maxBodies)
	if in, err := e.Write(mustLatest(t, s, home+"2")); err != nil || in.Revisit {
		t.Errorf("a body that is forgotten is referred to: %+v, %v", in, err)
	}
	if _, err := e.Write(Version{URL: home + "none", Number: 1}); !errors.Is(err, ErrNotFound) {
		t.Errorf("error %v", err)
	}
}
