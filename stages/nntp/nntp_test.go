package nntp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil/newsserver"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/internal/agent/agenttest"
)

// post is an article with a subject.
func post(groups, id, subject string) string {
	return "Message-ID: <" + id + ">\r\nNewsgroups: " + groups + "\r\nFrom: e@a.example\r\nDate: Fri, 2 Jan 2026 05:04:05 +0200\r\nSubject: " + subject +
		"\r\n\r\nText of " + subject + ".\r\n.\r\n..dots\r\n"
}

// boats starts a server with a group of this name.
func boats(t *testing.T, o newsserver.Options) (s *newsserver.Server, source string) {
	t.Helper()
	o.Certificate = certificate(t)
	if o.Security == "" {
		o.Security = newsserver.None
	}
	s = newsserver.New(t, o)
	s.Create(t, "boats")
	scheme := "nntp"
	if o.Security == newsserver.TLS {
		scheme = "nntps"
	}
	return s, scheme + "://" + s.Address + "/boats"
}

// receives puts articles with these numbers in their IDs and subjects into the group.
func receives(t *testing.T, s *newsserver.Server, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		s.Receive(t, post("boats", fmt.Sprint(i, "@a.example"), fmt.Sprint(i)))
	}
}

// writes finds what would write to a server.
var writes = regexp.MustCompile(`(?im)^\s*(POST|IHAVE|TAKETHIS|CHECK|XREPLIC|SLAVE|MODE STREAM)\b`)

// TestAVisitBringsWhatIsNew, and nothing else; and nothing is sent to the server.
func TestAVisitBringsWhatIsNew(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]newsserver.Options{"with TLS": {Security: newsserver.TLS}, "without": {}, "old": {Old: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, source := boats(t, o)
			r := newReader(t)
			r.options.Backlog = 3
			empty := r.visit(source, nil)
			if len(empty.Documents) != 0 || empty.Visit.Error != "" || empty.Err != nil {
				t.Fatalf("of an empty group: %+v", empty)
			}
			receives(t, s, 0, 4)
			if got := r.visit(source, empty); got.subjects() != "0 1 2 3 4" {
				t.Errorf("after an empty one: %s", got.subjects())
			}
			first := r.visit(source, nil)
			if first.subjects() != "2 3 4" {
				t.Fatalf("the first visit brings %s", first.subjects())
			}
			d := first.Documents[0]
			if d.URL != "news:2@a.example" || d.Status != 0 || d.Outcome != webrace.Fetched || d.MediaType != "message/rfc822" || d.Secret != "" ||
				d.Visit != nil || len(d.Reach) != 1 || time.Since(d.At) > time.Minute || d.At.After(time.Now()) || string(d.Body) != post("boats", "2@a.example", "2") || d.Truncated {
				t.Errorf("%+v", d)
			}
			second := r.visit(source, first)
			if len(second.Documents) != 0 || string(second.Visit.State) != string(first.Visit.State) || second.Visit.Digest != first.Visit.Digest || second.Visit.At.Before(first.Visit.At) {
				t.Errorf("the second brings %s, state %s", second.subjects(), second.Visit.State)
			}
			receives(t, s, 5, 5)
			third := r.visit(source, second)
			if third.subjects() != "5" || third.Visit.Digest == second.Visit.Digest || third.Counters["renumbered"] != 0 {
				t.Errorf("one more brings %s, state %s", third.subjects(), third.Visit.State)
			}
			r.options.Backlog = 0
			if got := r.visit(source, nil); got.subjects() != "0 1 2 3 4 5" {
				t.Errorf("all bring %s", got.subjects())
			}
			said := s.Said()
			if !strings.Contains(said, "MODE READER\r\n") || !strings.Contains(said, "ARTICLE 1\r\n") || strings.Contains(said, "AUTHINFO") {
				t.Errorf("said: %s", said)
			}
			if wrong := writes.FindString(said); wrong != "" {
				t.Errorf("said: %q", wrong)
			}
		})
	}
}

// TestNumbersThatAreNotThereAreSkipped, however many: a group of few articles far apart costs few commands.
func TestNumbersThatAreNotThereAreSkipped(t *testing.T) {
	t.Parallel()
	s, source := boats(t, newsserver.Options{})
	r := newReader(t)
	receives(t, s, 1, 150)
	s.Skip("boats", 40_000_000)
	receives(t, s, 151, 160)
	for _, n := range []int{1, 2, 140, 40_000_009} {
		s.Expire("boats", n)
	}
	r.options.Backlog = 50
	first := r.visit(source, nil)
	if got := first.Documents; len(got) != 50 || got[0].URL != "news:109@a.example" || got[49].URL != "news:159@a.example" {
		t.Errorf("the newest: %s", first.subjects())
	}
	if n := strings.Count(s.Said(), "OVER "); n > 2*(400+10) { // 40,000,000 numbers by ranges of 100,000, once down and once up
		t.Errorf("%d ranges were listed", n)
	}
	r.options.Backlog = 0
	all := r.visit(source, nil)
	if len(all.Documents) != 156 || all.Documents[0].URL != "news:3@a.example" {
		t.Errorf("all: %s", all.subjects())
	}
	s.Skip("boats", 40_000_100)
	receives(t, s, 161, 170)
	if got := r.visit(source, all); got.subjects() != "161 162 163 164 165 166 167 168 169 170" {
		t.Errorf("after a gap: %s", got.subjects())
	}
}

// TestGroupsOfThousands are read by ranges, and articles by batches.
func TestGroupsOfThousands(t *testing.T) {
	t.Parallel()
	s, source := boats(t, newsserver.Options{})
	receives(t, s, 0, 2_499)
	r := newReader(t)
	r.options.Backlog = 1_200
	first := r.visit(source, nil)
	if n := len(first.Documents); n != 1_200 || first.Documents[0].URL != "news:1300@a.example" || first.Documents[n-1].URL != "news:2499@a.example" {
		t.Fatalf("%d documents", n)
	}
	if n := strings.Count(s.Said(), "OVER "); n > 5 {
		t.Errorf("%d lists", n)
	}
	r.options.Backlog = 0
	if got := r.visit(source, nil); len(got.Documents) != 2_500 || len(slices.Compact(strings.Fields(got.subjects()))) != 2_500 {
		t.Errorf("%d documents", len(got.Documents))
	}
}

// TestAGroupThatWasNumberedAnew begins with its newest articles, whether its numbers have come beyond those that were
// read or not.
func TestAGroupThatWasNumberedAnew(t *testing.T) {
	t.Parallel()
	s, source := boats(t, newsserver.Options{})
	receives(t, s, 0, 9)
	r := newReader(t)
	r.options.Backlog = 5
	before := r.visit(source, nil)
	s.Create(t, "boats")
	receives(t, s, 5, 12)
	lower := r.visit(source, before)
	if lower.subjects() != "8 9 10 11 12" || lower.Counters["renumbered"] != 1 {
		t.Errorf("lower: %s, %v", lower.subjects(), lower.Counters)
	}
	s.Create(t, "boats")
	receives(t, s, 3, 22)
	beyond := r.visit(source, lower)
	if beyond.subjects() != "18 19 20 21 22" || beyond.Counters["renumbered"] != 1 {
		t.Errorf("beyond: %s, %v", beyond.subjects(), beyond.Counters)
	}
	s.Create(t, "boats")
	emptied := r.visit(source, beyond)
	if len(emptied.Documents) != 0 || emptied.Counters["renumbered"] != 1 {
		t.Errorf("emptied: %s, %v", emptied.subjects(), emptied.Counters)
	}
	receives(t, s, 30, 31)
	if got := r.visit(source, emptied); got.subjects() != "30 31" || got.Counters["renumbered"] != 0 {
		t.Errorf("and then: %s, %v", got.subjects(), got.Counters)
	}
	s.Expire("boats", 2)
	receives(t, s, 32, 32)
	if got := r.visit(source, lower); !strings.HasSuffix(got.subjects(), "32") || got.Counters["renumbered"] != 1 {
		t.Errorf("the last one read is gone: %s, %v", got.subjects(), got.Counters)
	}
}

// TestArticlesAreKnownByTheirIDs, wherever they are read, and are cut where they are too long.
func TestArticlesAreKnownByTheirIDs(t *testing.T) {
	t.Parallel()
	s, source := boats(t, newsserver.Options{Security: newsserver.STARTTLS, Account: true, OnlySecure: true})
	s.Create(t, "alt.boats")
	s.Receive(t, post("alt.boats", "0@a.example", "0"))
	s.Receive(t, post("boats,alt.boats", "a/b@c", "slash"))
	long := post("boats", "long@a.example", strings.Repeat("x", 500))
	s.Receive(t, long)
	s.Receive(t, post("boats", "5@a.example", "after"))
	s.Receive(t, "X-No-Archive: yes\r\n"+post("boats", "6@a.example", "private"))
	s.Receive(t, post("boats", "none", "nameless"))
	s.Receive(t, post("boats", "7@a.example", "last"))
	r := newReader(t).logsIn(s.Address, password, false)
	r.options.MaxSize = 400
	first := r.visit(source, nil)
	var urls []string
	for _, d := range first.Documents {
		urls = append(urls, d.URL)
		if d.Truncated != (d.URL == "news:long@a.example") || !strings.HasPrefix(long, string(d.Body)) && d.Truncated || d.Secret != "news" {
			t.Errorf("%s: truncated %v, %q", d.URL, d.Truncated, d.Body)
		}
	}
	nameless := urlnorm.OfBytes([]byte(post("boats", "none", "nameless")))
	if want := []string{"news:a%2Fb@c", "news:long@a.example", "news:5@a.example", nameless, "news:7@a.example"}; !slices.Equal(urls, want) {
		t.Errorf("%s, want %s", urls, want)
	}
	if first.Counters["no_archive"] != 1 || first.Counters["truncated"] != 1 || first.Counters["documents"] != 5 {
		t.Errorf("%v", first.Counters)
	}
	if n := strings.Count(s.Said(), "AUTHINFO PASS"); n != 2 { // again after the article that was cut
		t.Errorf("%d log-ins", n)
	}
	r.options.MaxSize = 8e6
	other := r.visit("nntp://"+s.Address+"/alt.boats", nil)
	if len(other.Documents) != 2 || other.Documents[1].URL != urls[0] || string(other.Documents[1].Body) != string(first.Documents[0].Body) {
		t.Errorf("posted to both: %+v", other.Documents)
	}
	if got := r.visit(source, first); len(got.Documents) != 0 {
		t.Errorf("again: %s", got.subjects())
	}
}

// TestPasswordsGoNowhereElse: not over what others can read, unless they may, and not to other servers; and who needs
// none needs no TLS.
func TestPasswordsGoNowhereElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scheme   string
		options  newsserver.Options
		secret   bool
		insecure bool
		wants    string // what the visit fails of; empty for success
	}{
		{"nntps", newsserver.Options{Security: newsserver.TLS, Account: true}, true, false, ""},
		{"nntp", newsserver.Options{Security: newsserver.STARTTLS, Account: true}, true, false, ""},
		{"nntp", newsserver.Options{Security: newsserver.STARTTLS, Account: true, OnlySecure: true}, true, false, ""},
		{"nntp", newsserver.Options{Security: newsserver.STARTTLS, OnlySecure: true}, false, false, ""},
		{"nntp", newsserver.Options{Security: newsserver.None, Account: true}, true, false, "is not sent by plain nntp"},
		{"nntp", newsserver.Options{Security: newsserver.None, Account: true}, true, true, ""},
		{"nntp", newsserver.Options{Security: newsserver.None, Account: true}, false, false, "names no secret"},
		{"nntp", newsserver.Options{Security: newsserver.None, OnlySecure: true}, false, false, "makes none by STARTTLS"},
		{"nntp", newsserver.Options{Security: newsserver.None, OnlySecure: true}, true, true, "makes none by STARTTLS"},
		{"nntp", newsserver.Options{Security: newsserver.None}, false, false, ""},
		{"nntps", newsserver.Options{Security: newsserver.None, Account: true}, true, true, "no secure connection can be made"},
	} {
		s, _ := boats(t, c.options)
		receives(t, s, 1, 1)
		r := newReader(t)
		if c.secret {
			r.logsIn(s.Address, password, c.insecure)
		}
		got := r.visit(c.scheme+"://"+s.Address+"/boats", nil)
		if !strings.Contains(got.Visit.Error, c.wants) || (got.Visit.Error == "") != (c.wants == "") || got.Err != nil || (len(got.Documents) == 1) != (c.wants == "") {
			t.Errorf("%s, %+v: %q, %v", c.scheme, c.options.Security, got.Visit.Error, got.Err)
		}
		if said := s.Said(); (c.wants != "" || !c.secret) && strings.Contains(said, "AUTHINFO PASS") {
			t.Errorf("%s to a server of %s: %s", c.scheme, c.options.Security, said)
		}
	}
	s, source := boats(t, newsserver.Options{Security: newsserver.TLS, Account: true})
	r := newReader(t).logsIn("news.example", password, false)
	if got := r.visit(source, nil); !strings.Contains(got.Visit.Error, "secret news is not for "+s.Address) || strings.Contains(s.Said(), "AUTHINFO") {
		t.Errorf("of another host: %q", got.Visit.Error)
	}
	r.secrets = agenttest.Secrets{}
	if got := r.visit(source, nil); !strings.Contains(got.Visit.Error, "no secret is named news") {
		t.Errorf("without one: %q", got.Visit.Error)
	}
	r.options.AllowNetworks = nil
	if got := r.visit(source, nil); !strings.Contains(got.Visit.Error, "--set nntp.allow_networks=loopback") || got.Counters["address_refused"] != 1 {
		t.Errorf("of an address that is not to be asked: %q, %v", got.Visit.Error, got.Counters)
	}
}

// TestWhatAServerRefusesIsAnOutcome, and leaves what was known as it was.
func TestWhatAServerRefusesIsAnOutcome(t *testing.T) {
	t.Parallel()
	s, source := boats(t, newsserver.Options{Security: newsserver.TLS, Account: true})
	receives(t, s, 1, 1)
	r := newReader(t).logsIn(s.Address, password, false)
	first := r.visit(source, nil)
	for path, wants := range map[string]string{
		"trains": "GROUP trains: 411 no such group (it has no such newsgroup)", "": "names no newsgroup", "boats.*": "names no newsgroup",
		"boats%20trains": "names no newsgroup",
	} {
		got := r.visit("nntps://"+s.Address+"/"+path, first)
		if !strings.Contains(got.Visit.Error, wants) || !got.Visit.Refused || got.Err != nil || string(got.Visit.State) != string(first.Visit.State) {
			t.Errorf("%q: %q, %v", path, got.Visit.Error, got.Err)
		}
	}
	r.logsIn(s.Address, "another-password", false)
	wrong := r.visit(source, first)
	if !strings.Contains(wrong.Visit.Error, "does not accept secret news") || wrong.Counters["unauthorized"] != 1 || string(wrong.Visit.State) != string(first.Visit.State) {
		t.Errorf("a wrong password: %q, %v", wrong.Visit.Error, wrong.Counters)
	}
	if wrong := writes.FindString(s.Said()); wrong != "" {
		t.Errorf("said: %q", wrong)
	}
}
