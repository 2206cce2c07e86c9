package explain

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// shelf is a store of documents of which each came a minute after the one before, and owners with two interests in all.
type shelf struct {
	*testing.T
	cache   *objects.Store
	control *control.Store
	came    time.Time
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{T: t, came: noon}
	var err error
	if s.cache, err = objects.Open(filepath.Join(t.TempDir(), "objects"), objects.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cache.Close() })
	if s.control, err = control.Open(filepath.Join(t.TempDir(), "control.db"), control.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.control.Close() })
	return s
}

// document makes the one that comes next.
func (s *shelf) document(path, text string) *webrace.Document {
	s.came = s.came.Add(time.Minute)
	return &webrace.Document{
		URL: "http://a.example/" + path, Outcome: webrace.Fetched, Status: 200, At: s.came, MediaType: "text/html", Charset: "utf-8",
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(text),
	}
}

// put stores a version, and waits until it is durable.
func (s *shelf) put(path, text string, change func(*webrace.Document)) {
	s.Helper()
	d := s.document(path, text)
	if change != nil {
		change(d)
	}
	done := make(chan error, 1)
	if _, err := s.cache.Put(d, func(err error) { done <- err }); err != nil {
		s.Fatal(err)
	}
	if err := <-done; err != nil {
		s.Fatal(err)
	}
}

// rematch makes a run for the two interests.
func (s *shelf) rematch(allVersions, newest bool) *Rematch {
	s.Helper()
	r := &Rematch{Owner: "eleni", AllVersions: allVersions, Newest: newest, Cache: s.cache, Control: s.control}
	for _, key := range []string{"boat", "ferry"} {
		u := asking(key, func(u *xmlschema.URD) { u.URI = "http://a.example/*" }, key)
		i, err := annotate.NewInterest(u)
		if err != nil {
			s.Fatal(err)
		}
		r.Interests = append(r.Interests, &Rematched{Interest: i, Request: control.URD{URD: u}})
	}
	return r
}

// alerts runs to the end, and returns what there would be to tell, and the error that ended it.
func alerts(ctx context.Context, r *Rematch, tick func()) (all []string, err error) {
	for t, err := range r.Alerts(ctx, tick) {
		if err != nil {
			return all, err
		}
		all = append(all, fmt.Sprint(t.URI, " ", t.Docbase.Version, " ", t.URD, " ", t.Relevance, " ", t.Summary))
	}
	return all, nil
}

// filled stores documents with one version and with many, some of which match, one that is private, one of long ago,
// and one that has moved for good.
func (s *shelf) filled() {
	s.put("first", "<p>A boat leaves.", nil)
	for i := range 30 {
		s.put(fmt.Sprint("page/", i%11), fmt.Sprintf("<p>Day %d has a number.<p>%s number %d.", i, []string{"A boat", "A ferry", "A boat and a ferry", "Nothing"}[i%4], i), nil)
	}
	s.put("private", "<p>A private boat.", func(d *webrace.Document) { d.Secret = "bank" })
	s.put("old", "<p>An old boat.", func(d *webrace.Document) { d.At = noon.AddDate(-9, 0, 0) })
	s.put("former", "<p>A boat that moves.", nil)
	s.put("latter", "<p>A boat that has moved.", func(d *webrace.Document) {
		former := webrace.Former{URL: "http://a.example/former", Version: 1}
		d.Visit = &webrace.Visit{Version: 1, Former: former}
	})
	s.put("first", "<p>A boat leaves.<p>A boat comes back.", nil)
	s.put("last", "<p>The last ferry.", nil)
}
