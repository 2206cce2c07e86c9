package objects

import (
	"bytes"
	"errors"
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
	for i := range maxBodies {
		e.bodies[[32]byte{0: 1, 1: byte(i), 2: byte(i >> 8), 3: byte(i >> 16)}] = nil
	}
	put(t, s, page(home+"3", "three"))
	if _, err := e.Write(mustLatest(t, s, home+"3")); err != nil || len(e.bodies) != 1 {
		t.Errorf("%d bodies are remembered, %v", len(e.bodies), err)
	}
	if in, err := e.Write(mustLatest(t, s, home+"2")); err != nil || in.Revisit {
		t.Errorf("a body that is forgotten is referred to: %+v, %v", in, err)
	}
	if _, err := e.Write(Version{URL: home + "none", Number: 1}); !errors.Is(err, ErrNotFound) {
		t.Errorf("error %v", err)
	}
}
