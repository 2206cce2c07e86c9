package storecmd

import (
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/frontier"
)

func TestARedirectSaysWhetherItIsForGood(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		301: "moved for good (status 301)", 308: "moved for good (status 308)", 302: "redirected elsewhere (status 302)",
	} {
		s := urlStatus{Explanation: frontier.Explanation{State: frontier.Completed, Visit: &webrace.Visit{Status: status}}}
		if got := s.state(); got != want {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
}

func TestWhereTheStartOfACrawlLeadsIsSaid(t *testing.T) {
	t.Parallel()
	s := urlStatus{Explanation: frontier.Explanation{Reached: []frontier.Reached{{Crawl: "c", Start: "http://a.org/", Current: true, Landing: "http://b.com/"}}}}
	want := "at level 1 of the crawl from http://a.org/, whose start leads to http://b.com/"
	if got := s.answer().Crawls[0].sentence(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
