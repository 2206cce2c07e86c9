package objects

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/fsck"
)

// keepView stores a page as it is shown to a request with credentials, and waits until it is durable.
func keepView(t *testing.T, s *Store, secret, url, body string) Version {
	t.Helper()
	durable := make(chan error, 1)
	v, err := s.Put(&webrace.Document{URL: url, Secret: secret, Status: 200, MediaType: "text/html", Body: []byte(body), Links: []string{url + "x"}}, func(err error) { durable <- err })
	if err == nil {
		err = <-durable
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWhatIsAskedForWithCredentialsIsKeptApart(t *testing.T) {
	t.Parallel()
	const page = "https://a.example/"
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a page that is the same each time is one version of each view
		keepView(t, s, "", page, "anybody")
		keepView(t, s, "ann", page, "for ann")
		keepView(t, s, "bob", page, "for bob")
	}
	keepView(t, s, "ann", page, "more for ann")
	keepView(t, s, "", page+"under", "anybody") // sorts behind all views of the page
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for secret, want := range map[string][]string{"": {"anybody"}, "ann": {"for ann", "more for ann"}, "bob": {"for bob"}} {
		versions, err := s.Versions(View(secret, page))
		if err != nil || len(versions) != len(want) {
			t.Fatalf("%q has %d versions, want %d: %v", secret, len(versions), len(want), err)
		}
		for i, v := range versions {
			body, _, err := s.Body(v)
			if err != nil || string(body) != want[i] || v.URL != page || v.Secret != secret || v.Number != i+1 {
				t.Errorf("%q sees %q as %+v: %v", secret, body, v, err)
			}
		}
	}
	if _, err := s.Latest(View("eve", page)); !errors.Is(err, ErrNotFound) {
		t.Errorf("a stranger sees something: %v", err)
	}
	var listed, private []string
	for v, err := range s.List(t.Context(), "") {
		listed = append(listed, v.View())
		if err != nil {
			t.Fatal(err)
		}
	}
	for v := range s.Private(t.Context(), page) {
		private = append(private, v.Secret)
	}
	if !slices.Equal(listed, []string{page, page + "under"}) || !slices.Equal(private, []string{"ann", "bob"}) {
		t.Errorf("listed are %q, private %q", listed, private)
	}
	log, err := s.Next(t.Context(), 0, 10)
	if err != nil || len(log) != 5 || log[1].Secret != "ann" || log[1].URL != page {
		t.Errorf("the log is %+v: %v", log, err)
	}
	if err := s.CheckDeep(t.Context(), false, func(f fsck.Finding) { t.Errorf("found %+v", f) }); err != nil {
		t.Error(err)
	}
}

func TestAViewIsTouchedAndRemovedByItself(t *testing.T) {
	t.Parallel()
	const page = "https://a.example/"
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	public, private := keepView(t, s, "", page, "one"), keepView(t, s, "ann", page, "two")
	later := time.Now().Add(time.Hour)
	durable := make(chan error, 1)
	if _, err := s.Touch(private.View(), later, func(err error) { durable <- err }); err != nil || <-durable != nil {
		t.Fatal(err)
	}
	if v, err := s.Latest(page); err != nil || !v.ValidatedAt.Equal(public.ValidatedAt) {
		t.Errorf("the other view was validated: %v, %v", v.ValidatedAt, err)
	}
	if v, err := s.Latest(private.View()); err != nil || !v.ValidatedAt.Equal(later) {
		t.Errorf("it was validated at %v: %v", v.ValidatedAt, err)
	}
	gone, err := s.Collect(t.Context(), CollectOptions{Verdict: only(Remove, func(v Version) bool { return v.Secret == "ann" })})
	if err != nil || gone.Versions != 1 {
		t.Fatalf("%+v: %v", gone, err)
	}
	if _, err := s.Latest(page); err != nil {
		t.Errorf("the other view went with it: %v", err)
	}
	if v := keepView(t, s, "ann", page, "three"); v.Number != 2 {
		t.Errorf("its number %d is used again", v.Number)
	}
}

func TestCredentialsWithoutAProperNameAreRefused(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, secret := range []string{"a b", "a\x00", "\x01", strings.Repeat("x", 2000)} {
		if _, err := s.Put(&webrace.Document{URL: "https://a.example/", Secret: secret, Status: 200}, func(error) {}); err == nil {
			t.Errorf("%q is taken", secret)
		}
	}
}
