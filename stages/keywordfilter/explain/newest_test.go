package explain

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

func nothing() {}

// urls returns the URLs of alerts, each once.
func urls(alerts []string) (all []string) {
	for _, a := range alerts {
		url, _, _ := strings.Cut(a, " ")
		all = append(all, url)
	}
	return slices.Compact(all)
}

func TestTheNewestComesFirstAndAllIsFound(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.filled()
	for _, allVersions := range []bool{false, true} {
		forward, newest := s.rematch(allVersions, false), s.rematch(allVersions, true)
		want, err1 := alerts(t.Context(), forward, nothing)
		got, err2 := alerts(t.Context(), newest, nothing)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if forward.URLs != newest.URLs || forward.Versions != newest.Versions || forward.Found != newest.Found || !forward.Oldest.Equal(newest.Oldest) {
			t.Errorf("all versions %t: %d URLs, %d versions, %d found, back to %s; and newest first %d, %d, %d, %s", allVersions,
				forward.URLs, forward.Versions, forward.Found, forward.Oldest, newest.URLs, newest.Versions, newest.Found, newest.Oldest)
		}
		if !newest.Oldest.Equal(noon.AddDate(-9, 0, 0)) {
			t.Errorf("the oldest is of %s", newest.Oldest)
		}
		order := urls(got)
		if order[0] != "http://a.example/last" || order[1] != "http://a.example/first" || len(order) < 9 {
			t.Errorf("all versions %t: the order is %q", allVersions, order)
		}
		for i := 1; i < len(order); i++ {
			later, err1 := s.cache.Latest(order[i-1])
			earlier, err2 := s.cache.Latest(order[i])
			if err1 != nil || err2 != nil || later.Seq <= earlier.Seq {
				t.Errorf("all versions %t: %s before %s: %v, %v", allVersions, order[i-1], order[i], err1, err2)
			}
		}
		if allVersions {
			if i, j := indexOf(got, "http://a.example/first 1 "), indexOf(got, "http://a.example/first 2 "); i < 0 || j < i {
				t.Errorf("the versions of a document: %q", got)
			}
		}
		slices.Sort(want)
		if slices.Sort(got); !slices.Equal(got, want) || len(got) < 9 {
			t.Errorf("all versions %t: newest first\n%q, want\n%q", allVersions, got, want)
		}
	}
}

func indexOf(alerts []string, prefix string) int {
	return slices.IndexFunc(alerts, func(a string) bool { return strings.HasPrefix(a, prefix) })
}

// Of two documents with the same text it is the first of the order that is told of.
func TestOfMirrorsTheFirstThereIsTold(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	text := "<p>A boat leaves." + strings.Repeat(" What it has on board is of no interest.", 10) // as few words are alike by chance
	s.put("one", text, nil)
	s.put("between", "<p>Another boat comes.", nil)
	s.put("two", text, nil)
	for newest, want := range map[bool][]string{
		false: {"http://a.example/one", "http://a.example/between"}, true: {"http://a.example/two", "http://a.example/between"},
	} {
		got, err := alerts(t.Context(), s.rematch(false, newest), nothing)
		if err != nil || !slices.Equal(urls(got), want) {
			t.Errorf("newest first %t: %q, %v, want %q", newest, got, err, want)
		}
	}
}

// TestARunThatEndsSaysHowFarItCame ends the context before each version, newest first and in the order they came.
func TestARunThatEndsSaysHowFarItCame(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.filled()
	for _, newest := range []bool{true, false} {
		type state struct {
			urls, alerts int
			oldest       time.Time
		}
		var before []state // each version
		whole := s.rematch(false, newest)
		var all []string
		for alert, err := range whole.Alerts(t.Context(), func() { before = append(before, state{whole.URLs, len(all), whole.Oldest}) }) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, alert.URI)
		}
		if len(before) != int(s.cache.Last()) || whole.URLs < 15 {
			t.Fatalf("%d versions, %d URLs", len(before), whole.URLs)
		}
		for n, want := range before {
			ctx, end := context.WithCancel(t.Context())
			r, came := s.rematch(false, newest), 0
			got, err := alerts(ctx, r, func() {
				if came++; came > n {
					end()
				}
			})
			if !errors.Is(err, context.Canceled) || came != n+1 {
				t.Errorf("it ends at %d of %d with %v", came, n+1, err)
			}
			if r.URLs != want.urls || len(got) != want.alerts || !r.Oldest.Equal(want.oldest) {
				t.Errorf("newest first %t: before version %d: %d URLs, back to %s, %d alerts, want %+v", newest, n, r.URLs, r.Oldest, len(got), want)
			}
			end()
		}
	}
}

// A document of which not all is looked at is not counted, though what was found of it holds.
func TestTheDocumentAtHandIsNotCountedWhenTimeIsUp(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put("other", "<p>A boat comes.", nil)
	s.put("both", "<p>A boat and a ferry.", nil)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	r := s.rematch(false, true)
	var found []string
	var ended error
	for alert, err := range r.Alerts(ctx, nothing) {
		if ended = err; err == nil {
			found = append(found, alert.URI)
		}
		end()
	}
	if !errors.Is(ended, context.Canceled) || !slices.Equal(found, []string{"http://a.example/both"}) || r.URLs != 0 || !r.Oldest.IsZero() {
		t.Errorf("%v: found %q of %d URLs, back to %s", ended, found, r.URLs, r.Oldest)
	}

	late, cancel := context.WithDeadline(t.Context(), noon.AddDate(-100, 0, 0))
	defer cancel()
	r = s.rematch(false, true)
	if got, err := alerts(late, r, nothing); !errors.Is(err, context.DeadlineExceeded) || len(got) > 0 || r.URLs != 0 {
		t.Errorf("after the deadline: %q, %v, %d URLs", got, err, r.URLs)
	}
}

// Who breaks off in the document at hand ends the run without an error, whatever becomes of the context.
func TestARunIsBrokenOff(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.filled()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	r := s.rematch(false, true)
	for alert, err := range r.Alerts(ctx, nothing) {
		if err != nil || alert.URI != "http://a.example/last" {
			t.Errorf("%v, %v", alert, err)
		}
		end()
		break
	}
	if r.URLs != 1 || r.Found != 1 || r.Oldest.IsZero() {
		t.Errorf("%d URLs, %d found, back to %s", r.URLs, r.Found, r.Oldest)
	}
}

// What comes meanwhile is left out, and a document that gets a further version then is looked at as it was.
func TestWhatComesMeanwhileIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, newest := range []bool{false, true} {
		s := newShelf(t)
		s.put("one", "<p>A boat leaves.", nil)
		for i := range chunk { // so that what comes is read with the last of those that were there
			if _, err := s.cache.Put(s.document(fmt.Sprint("page/", i), "<p>Nothing."), nil); err != nil {
				t.Fatal(err)
			}
		}
		s.put("two", "<p>A ferry leaves.", nil)
		first := true
		got, err := alerts(t.Context(), s.rematch(false, newest), func() {
			if first {
				s.put("one", "<p>Nothing leaves.", nil)
				s.put("three", "<p>A boat has come.", nil)
			}
			first = false
		})
		slices.Sort(got)
		if err != nil || !slices.Equal(urls(got), []string{"http://a.example/one", "http://a.example/two"}) {
			t.Errorf("newest first %t: %q, %v", newest, got, err)
		}
	}
}

// Reading what may take seconds ends with the context.
func TestReadingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put("table", "a,b\n1,2\n", func(d *webrace.Document) {
		d.MediaType, d.Header = "text/csv", http.Header{"Content-Type": {"text/csv"}}
	})
	v, err := s.cache.Latest("http://a.example/table")
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Read(ended, s.cache, v); !errors.Is(err, context.Canceled) {
		t.Errorf("when the context has ended: %v", err)
	}
	if d, err := Read(t.Context(), s.cache, v); err != nil || len(d.Text.Blocks) == 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// What another asked for by a request that is more than a GET is nothing to a crawl that never ran, though it lies
// within the scope of that; unless it makes the same request.
func TestADraftIsShownNoAnswersToRequestsOfOthers(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put("page", "<p>A boat leaves.", nil)
	s.put("page", "<p>A boat for who asks.", func(d *webrace.Document) { d.URL += "#" + posting.Mark() })
	for name, c := range map[string]struct {
		change func(*xmlschema.URD)
		want   []string
	}{
		"a crawl":          {nil, []string{"http://a.example/page"}},
		"the same request": {func(u *xmlschema.URD) { u.Request = posting }, []string{"http://a.example/page", "http://a.example/page#" + posting.Mark()}},
		"another request":  {func(u *xmlschema.URD) { u.Request = &httprequest.Request{Method: http.MethodPost, Body: "more boats"} }, []string{"http://a.example/page"}},
		"a prefix":         {func(u *xmlschema.URD) { u.URI = "http://a.example/*" }, []string{"http://a.example/page"}},
	} {
		u := asking("draft", func(u *xmlschema.URD) { u.URI = "http://a.example/page" }, "boat")
		if c.change != nil {
			c.change(u)
		}
		interest, err := annotate.NewInterest(u)
		if err != nil {
			t.Fatal(err)
		}
		crawl, _, err := control.CrawlOf(u)
		if err != nil {
			t.Fatal(err)
		}
		r := &Rematch{Owner: "eleni", Cache: s.cache, Control: s.control, Interests: []*Rematched{{Interest: interest, Request: control.URD{URD: u, Crawl: crawl}}}}
		got, err := alerts(t.Context(), r, nothing)
		if err != nil || !slices.Equal(urls(got), c.want) {
			t.Errorf("%s: %q, %v, want %q", name, urls(got), err, c.want)
		}
	}
}

var posting = &httprequest.Request{Method: http.MethodPost, Body: "boats"}
