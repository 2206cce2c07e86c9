package explain

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
		s := Status{Explanation: frontier.Explanation{State: frontier.Completed, Visit: &webrace.Visit{Status: status}}}
		if got := s.Because(); got != want {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
}
