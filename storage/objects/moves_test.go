package objects

import (
	"errors"
	"maps"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/fsck"
)

// movedPage is a page of a document that has moved for good, as its visit tells.
func movedPage(url, body, from string, version int) *webrace.Document {
	d := page(url, body)
	d.Visit = &webrace.Visit{Version: version, Former: webrace.Former{URL: from, Version: version}}
	return d
}

// A document that moves for good is numbered on, and its versions from before are found by its new URL: also after it
// has moved again, and when the index was lost.
func TestTheVersionsOfADocumentThatMovesGoOn(t *testing.T) {
	t.Parallel()
	const second, third = home + "second", "http://third.example/"
	fsys := vfs.NewMem()
	s := open(t, fsys, Options{})
	for _, body := range []string{"one", "two", "three"} {
		put(t, s, page(home, body))
	}
	if v := put(t, s, movedPage(second, "three", home, 3)); v.Number != 4 || !v.Changed {
		t.Errorf("the first version at the second URL is %d, changed: %v", v.Number, v.Changed)
	}
	five := page(second, "five")
	five.Visit = &webrace.Visit{Version: 4, Former: webrace.Former{URL: home, Version: 3}}
	if v := put(t, s, five); v.Number != 5 {
		t.Errorf("the next version there is %d", v.Number)
	}
	put(t, s, movedPage(third, "six", second, 5))
	check := func() {
		t.Helper()
		for i, want := range []string{"one", "two", "three", "three", "five", "six"} {
			v, err := s.Get(third, i+1)
			if err != nil {
				t.Errorf("version %d: %v", i+1, err)
				continue
			}
			wantBody(t, s, v, want)
		}
		for _, c := range []struct {
			url    string
			number int
		}{{third, 7}, {second, 6}, {home, 4}} {
			if v, err := s.Get(c.url, c.number); !errors.Is(err, ErrNotFound) {
				t.Errorf("version %d of %s is %+v, %v", c.number, c.url, v, err)
			}
		}
		if all, err := s.History(third); err != nil || len(all) != 6 || all[0].URL != home || all[5].URL != third {
			t.Errorf("the history of the document at the third URL is %v, %v", all, err)
		}
		if all, err := s.Versions(third); err != nil || len(all) != 1 {
			t.Errorf("the versions at the third URL are %v, %v", all, err)
		}
		moved := make(map[string]int)
		for former, err := range s.Moved(t.Context()) {
			if err != nil {
				t.Error(err)
			}
			moved[former.URL] = former.Version
		}
		if want := map[string]int{home: 3, second: 5}; !maps.Equal(moved, want) {
			t.Errorf("moved are %v, want %v", moved, want)
		}
		sound(t, s)
	}
	check()
	s.Close()
	if err := fsys.RemoveAll("/data/objects/" + indexName); err != nil {
		t.Fatal(err)
	}
	if err := Mend(t.Context(), "/data/objects", Options{FS: fsys, Logger: quiet()}, func(fsck.Finding) {}); err != nil {
		t.Fatal(err)
	}
	s = open(t, fsys, Options{})
	defer s.Close()
	check()
}

// What was stored at the new URL before the move was known, by another pipeline or by a process that died, keeps its
// numbers, and none is used twice.
func TestAURLThatHasVersionsKeepsThemWhenADocumentMovesThere(t *testing.T) {
	t.Parallel()
	const to = home + "new"
	s := opened(t, Options{})
	for _, body := range []string{"one", "two", "three"} {
		put(t, s, page(home, body))
	}
	put(t, s, page(to, "of its own"))
	for range 2 { // the second time, as after a process died that had stored the first
		if v := put(t, s, movedPage(to, "of its own", home, 3)); v.Number != 4 {
			t.Errorf("what was stored there, and has moved there now, is version %d", v.Number)
		}
	}
	if v := put(t, s, movedPage(to, "five", home, 3)); v.Number != 5 {
		t.Errorf("the next version is %d", v.Number)
	}
	for number, want := range map[int]string{1: "of its own", 2: "two", 3: "three", 4: "of its own", 5: "five"} {
		v, err := s.Get(to, number)
		if err != nil {
			t.Fatal(err)
		}
		wantBody(t, s, v, want)
	}
}

// What is asked for with credentials moves by itself.
func TestADocumentMovesAsItIsShownWithCredentials(t *testing.T) {
	t.Parallel()
	const to = home + "new"
	s := opened(t, Options{})
	private := page(home, "private")
	private.Secret = "key"
	put(t, s, private)
	put(t, s, page(home, "public"))
	there := movedPage(to, "private, and new", home, 1)
	there.Secret = "key"
	put(t, s, there)
	v, err := s.Get(View("key", to), 1)
	if err != nil {
		t.Fatal(err)
	}
	wantBody(t, s, v, "private")
	if v, err := s.Get(to, 1); !errors.Is(err, ErrNotFound) {
		t.Errorf("others are shown %+v, %v", v, err)
	}
}
