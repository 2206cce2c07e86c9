package control_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func TestVersionsThatAreWaitedForAreKnown(t *testing.T) {
	t.Parallel()
	s := open(t)
	var acis []*xmlschema.ACI
	for i, c := range []struct {
		owner, url string
		version    int
		expired    bool
	}{
		{"eleni", "http://a.example/", 1, false}, {"andreas", "http://a.example/", 1, false},
		{"eleni", "http://a.example/", 2, false}, {"eleni", "http://b.example/", 1, true}, {"andreas", "http://b.example/", 3, false},
	} {
		a := aci(i)
		a.Owner, a.URI, a.Docbase.Version, a.Expired = c.owner, c.url, c.version, c.expired
		acis = append(acis, a)
	}
	putACIs(t, s, acis...)
	_, err := s.Take(t.Context(), "eleni")
	ok(t, err)
	ref := func(host string, version int) control.VersionRef {
		return control.VersionRef{URL: "http://" + host + ".example/", Version: version}
	}
	asked := []control.VersionRef{ref("a", 1), ref("a", 2), ref("a", 3), ref("b", 1), ref("b", 2), ref("b", 3), ref("c", 1)}
	waiting, err := s.Waiting(t.Context(), asked)
	ok(t, err)
	if want := map[control.VersionRef]bool{ref("a", 1): true, ref("b", 3): true}; !maps.Equal(waiting, want) {
		t.Errorf("waiting: %v, want %v", waiting, want)
	}
	referred, err := s.Referred(t.Context(), asked)
	ok(t, err)
	if want := map[control.VersionRef]bool{ref("a", 1): true, ref("a", 2): true, ref("b", 1): true, ref("b", 3): true}; !maps.Equal(referred, want) {
		t.Errorf("referred: %v, want %v", referred, want)
	}
}

func TestOldACIsExpireAndAreTrimmedAndNeverComeBack(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	const count = 1200 // several batches
	s := open(t)
	ctx := t.Context()
	var all []*xmlschema.ACI
	for n := range count {
		all = append(all, aci(n)) // one a second
	}
	timeless := aci(count)
	timeless.UpdateTime = time.Time{}
	putACIs(t, s, append(all, timeless)...)
	began := time.Now()
	before := time.Unix(1e9+1100, 0)
	n, err := s.Expire(ctx, before)
	ok(t, err)
	if n != 1100 {
		t.Errorf("%d expired", n)
	}
	if n, err := s.Expire(ctx, before); n != 0 || err != nil {
		t.Errorf("%d expired again: %v", n, err)
	}
	for i, a := range gather(t, s.ACIs(ctx, control.Filter{})) {
		if old := i < 1100; a.Expired != old || a.Retrieved.IsZero() == old {
			t.Fatalf("%d: expired %v, retrieved %v", i, a.Expired, a.Retrieved)
		}
	}
	if got := len(gather(t, s.ACIs(ctx, control.Filter{XPath: "/aci[expired/@expir='true']"}))); got != 1100 {
		t.Errorf("XPath finds %d expired", got)
	}
	if n, err := s.Trim(ctx, began.Add(-time.Second)); n != 0 || err != nil {
		t.Errorf("%d trimmed that had just expired: %v", n, err)
	}
	if n, err := s.Trim(ctx, time.Now().Add(time.Hour)); n != 1100 || err != nil {
		t.Errorf("%d trimmed: %v", n, err)
	}
	left := gather(t, s.ACIs(ctx, control.Filter{}))
	if len(left) != 101 || left[0].ID != "aci1100" || !left[0].Retrieved.IsZero() {
		t.Errorf("%d are left", len(left))
	}
	if n := putACIs(t, s, all...); n != 0 {
		t.Errorf("%d of those trimmed are new", n)
	}
	if again := gather(t, s.ACIs(ctx, control.Filter{})); len(again) != 101 {
		t.Errorf("%d are there after all were put again", len(again))
	}
	// Nothing waits, and everything goes: who follows is where they were.
	for _, owner := range []string{"eleni", "andreas"} {
		_, err := s.Take(ctx, owner)
		ok(t, err)
	}
	_, err = s.Trim(ctx, time.Now().Add(time.Hour))
	ok(t, err)
	if last, err := s.LastACI(ctx); last != count+1 || err != nil {
		t.Errorf("the last is %d: %v", last, err)
	}
}

// golden unpacks the store that the release of a data directory's format wrote.
func golden(t *testing.T, format int) string {
	t.Helper()
	archive, err := os.Open(fmt.Sprintf("../testdata/golden/format-%d.tar.gz", format))
	ok(t, err)
	defer archive.Close()
	unzipped, err := gzip.NewReader(archive)
	ok(t, err)
	path := filepath.Join(t.TempDir(), "control.db")
	for files := tar.NewReader(unzipped); ; {
		file, err := files.Next()
		if errors.Is(err, io.EOF) {
			return path
		}
		ok(t, err)
		if name := filepath.Base(file.Name); name == "control.db" || name == "control.db-wal" {
			content, err := io.ReadAll(files)
			ok(t, err)
			ok(t, os.WriteFile(filepath.Join(filepath.Dir(path), name), content, 0o600))
		}
	}
}

func TestAStoreOfTheFirstFormatOpensWithAllThatIsInIt(t *testing.T) {
	t.Parallel()
	s := openAt(t, golden(t, 1))
	ctx := t.Context()
	urds := gather(t, s.All(ctx))
	acis := gather(t, s.ACIs(ctx, control.Filter{}))
	if len(urds) == 0 || len(acis) == 0 {
		t.Fatalf("%d URDs, %d ACIs", len(urds), len(acis))
	}
	if now(t, s).Revision < int64(len(urds)) || now(t, s).Checks != 0 {
		t.Errorf("at %+v", now(t, s))
	}
	hosts := 0
	for _, u := range urds {
		found := gather(t, s.Query(ctx, fmt.Sprintf("/urd[@id='%s']", u.ID)))
		if !slices.Equal(ids(found), []string{u.ID}) {
			t.Errorf("%s is found as %v", u.ID, ids(found))
		}
		for k := range u.Keywords.All() {
			if !slices.Contains(ids(gather(t, s.Query(ctx, "/urd[keywords/keyword/@key="+quoted(k.Key)+"]"))), u.ID) {
				t.Errorf("%s is not found by its keyword %s", u.ID, k.Key)
			}
		}
		effect := put(t, s, u.URD)
		if effect[0].Effect != control.Unchanged {
			t.Errorf("%s: %v", u.ID, effect)
		}
	}
	for _, u := range gather(t, s.ByHost(ctx, "127.0.0.1")) {
		hosts++
		ok(t, s.CheckNow(ctx, u.ID))
	}
	if hosts == 0 {
		t.Error("no host was derived")
	}
	for _, a := range acis {
		ref := control.VersionRef{URL: a.URI, Version: a.Docbase.Version}
		found, err := s.Referred(ctx, []control.VersionRef{ref})
		if err != nil || !found[ref] || a.Docbase.Version == 0 {
			t.Errorf("the version of %s is not referred to: %v", a.ID, err)
		}
	}
}
