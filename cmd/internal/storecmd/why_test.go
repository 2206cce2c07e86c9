package storecmd

import (
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/storage/frontier"
)

// Every state a URL can be in, and every reason for which it can be refused, is told in words of its own.
func TestWhyTellsEveryState(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	rule, err := scope.ParseRule("deny path /x # asked")
	if err != nil {
		t.Fatal(err)
	}
	visit := func(status int, failure string) *webrace.Visit {
		return &webrace.Visit{At: now.Add(-time.Hour), Status: status, Error: failure}
	}
	told := map[string]string{}
	for name, tt := range map[string]struct {
		of   frontier.Explanation
		want string
	}{
		"never offered":   {frontier.Explanation{State: frontier.Unseen}, "never accepted: nothing that was fetched leads to it"},
		"no crawl":        {frontier.Explanation{State: frontier.Unseen, Refused: frontier.Unknown}, "never accepted: no crawl was ever started"},
		"invalid":         {frontier.Explanation{State: frontier.Unseen, Refused: frontier.Invalid}, "never accepted: it has no host"},
		"rule":            {frontier.Explanation{State: frontier.Unseen, Refused: frontier.Rule, Gate: scope.Explanation{Rule: rule, Number: 3}}, "rule 3, \"deny path /x\", denies it\n  of rule 3 is said: asked"},
		"domain":          {frontier.Explanation{State: frontier.Unseen, Refused: frontier.BlockedDomain, Gate: scope.Explanation{Domain: "ads.example"}}, "ads.example is a blocked domain"},
		"URL":             {frontier.Explanation{State: frontier.Unseen, Refused: frontier.BlockedURL}, "blocked_urls_file"},
		"type":            {frontier.Explanation{State: frontier.Unseen, Refused: frontier.IgnoredType, Gate: scope.Explanation{Extension: "png"}}, "the extension png"},
		"length":          {frontier.Explanation{State: frontier.Unseen, Refused: frontier.TrapLength}, "trap: the URL is too long (frontier.url_length)"},
		"path":            {frontier.Explanation{State: frontier.Unseen, Refused: frontier.TrapDepth}, "frontier.path_depth"},
		"repeats":         {frontier.Explanation{State: frontier.Unseen, Refused: frontier.TrapRepeats}, "frontier.path_repeats"},
		"parameters":      {frontier.Explanation{State: frontier.Unseen, Refused: frontier.TrapParameters}, "frontier.query_parameters"},
		"queries":         {frontier.Explanation{State: frontier.Unseen, Refused: frontier.TrapQueries}, "frontier.path_queries"},
		"dates":           {frontier.Explanation{State: frontier.Unseen, Refused: frontier.TrapDates}, "frontier.dated_pages"},
		"far dates":       {frontier.Explanation{State: frontier.Unseen, Refused: frontier.TrapFarDates}, "frontier.far_dates"},
		"depth":           {frontier.Explanation{State: frontier.Unseen, Refused: frontier.Depth}, "beyond the levels"},
		"scope":           {frontier.Explanation{State: frontier.Unseen, Refused: frontier.Scope}, "outside the scope"},
		"host full":       {frontier.Explanation{State: frontier.Unseen, Refused: frontier.HostFull}, "frontier.host_urls"},
		"crawl full":      {frontier.Explanation{State: frontier.Unseen, Refused: frontier.CrawlFull}, "frontier.crawl_urls"},
		"queued":          {frontier.Explanation{State: frontier.Queued}, "waits for its turn"},
		"queued, denied":  {frontier.Explanation{State: frontier.Queued, Refused: frontier.Rule, Gate: scope.Explanation{Rule: rule, Number: 1}}, "it is dropped when its turn comes: rule 1"},
		"leased":          {frontier.Explanation{State: frontier.Leased}, "is being fetched"},
		"host paused":     {frontier.Explanation{State: frontier.Queued, Paused: true}, "its host is paused"},
		"host waiting":    {frontier.Explanation{State: frontier.Queued, Host: now.Add(time.Minute)}, "its host may be asked again at 2026-11-21T12:01:00Z"},
		"host dead":       {frontier.Explanation{State: frontier.Queued, Host: now.Add(time.Minute), HostWhy: "it is taken for dead"}, "its host may be asked again at 2026-11-21T12:01:00Z: it is taken for dead"},
		"delayed":         {frontier.Explanation{State: frontier.Delayed, Due: now.Add(time.Hour), Visit: &webrace.Visit{Attempts: 2, Error: "connection\nreset"}}, "failed, and is tried again at 2026-11-21T13:00:00Z: connection reset\n  failed 2 times in a row"},
		"robots":          {frontier.Explanation{State: frontier.Failed, Visit: visit(0, "refused by robots.txt: line 3: Disallow: /x")}, "gave no document: refused by robots.txt: line 3: Disallow: /x"},
		"media type":      {frontier.Explanation{State: frontier.Failed, Visit: visit(200, "media type image/png is not taken (mime_types: !image/*)")}, "media type image/png is not taken"},
		"missing":         {frontier.Explanation{State: frontier.Failed, Visit: visit(404, "404 Not Found")}, "last answer at 2026-11-21T11:00:00Z: status 404"},
		"redirected":      {frontier.Explanation{State: frontier.Completed, Visit: visit(301, ""), Moved: "http://a.example/y"}, "moved for good (status 301)"},
		"dropped":         {frontier.Explanation{State: frontier.Dropped}, "taken off the queue"},
		"fetched":         {frontier.Explanation{State: frontier.Completed, Visit: visit(200, ""), Reached: []frontier.Reached{{Crawl: "c", Start: "http://a.example/", Round: 2, Distance: 1}}}, "fetched\n  at level 2 of the crawl from http://a.example/, in an earlier round"},
		"of credentials":  {frontier.Explanation{State: frontier.Queued, Secret: "intranet"}, "p (with credentials intranet): waits"},
		"fetched, denied": {frontier.Explanation{State: frontier.Completed, Refused: frontier.TrapDepth, Visit: visit(200, "")}, "it is not accepted any more: it looks like a trap"},
	} {
		tt.of.URL = "http://a.example/x"
		a := answerOf(explain.Status{Pipeline: "p", Explanation: tt.of})
		var text strings.Builder
		a.print(&text, now)
		if !strings.Contains(text.String(), tt.want) {
			t.Errorf("%s is told as %q, want %q in it", name, text.String(), tt.want)
		}
		if other, ok := told[text.String()]; ok {
			t.Errorf("%s and %s are told in the same words", name, other)
		}
		told[text.String()] = name
		if (a.Refused == "") != (tt.of.Refused == 0) || a.State != string(tt.of.State) {
			t.Errorf("%s: %+v", name, a)
		}
	}
	for r := frontier.Rule; r < frontier.Repeat; r++ {
		if (explain.Status{Explanation: frontier.Explanation{Refused: r, Gate: scope.Explanation{Rule: rule}}}).Refusal() == "" {
			t.Errorf("nothing is said of what is refused as %s", r)
		}
	}
}

func TestWhyTellsOfTheDocumentAndTheRedirects(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	a := &answer{Pipeline: "p", Because: "fetched", At: &at, Status: 200, Redirects: []string{"http://a/1", "http://a/2"},
		Document: &answeredVersion{Version: 3, Stored: true, Truncated: true, Canonical: "http://a/0"}}
	want := "p: fetched\n  last answer at 2026-11-21T12:00:00Z: status 200; version 3 is stored\n  a limit cut what is stored (fetch.max_body)\n" +
		"  it declares http://a/0 to be its canonical URL\n  it leads to http://a/1, then http://a/2\n"
	var text strings.Builder
	if a.print(&text, at); text.String() != want {
		t.Errorf("told as\n%swant\n%s", text.String(), want)
	}
}

func TestWhereTheStartOfACrawlLeadsIsSaid(t *testing.T) {
	t.Parallel()
	s := explain.Status{Explanation: frontier.Explanation{Reached: []frontier.Reached{{Crawl: "c", Start: "http://a.org/", Current: true, Landing: "http://b.com/"}}}}
	want := "at level 1 of the crawl from http://a.org/, whose start leads to http://b.com/"
	if got := answerOf(s).Crawls[0].sentence(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
