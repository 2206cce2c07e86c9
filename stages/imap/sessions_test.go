package imap

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/imapserver"
	"github.com/webrace/webrace/pipeline"
)

// TestASessionIsKept for the next visit of the same account, of whatever mailbox, as long as its secret is the same and
// the server is there: one that has gone is connected to anew within the same visit.
func TestASessionIsKept(t *testing.T) {
	t.Parallel()
	const other = "another-secret-b1"
	for name, test := range map[string]struct {
		security imapserver.Security
		keep     time.Duration
		before   func(i int, s *imapserver.Server, secrets secrets)
		logins   int
		subjects string // of the documents of the third visit
		failure  string // of the third visit
	}{
		"three visits": {security: imapserver.TLS, keep: time.Minute, logins: 1, subjects: "0 1 2"},
		"by STARTTLS":  {security: imapserver.STARTTLS, keep: time.Minute, logins: 1, subjects: "0 1 2"},
		"none is kept": {security: imapserver.TLS, logins: 3, subjects: "0 1 2"},
		"not for so long": {security: imapserver.TLS, keep: time.Millisecond, logins: 3, subjects: "0 1 2", before: func(i int, s *imapserver.Server, _ secrets) {
			testutil.Await(t, "the end of the session", func() bool { return strings.Count(s.Said(), " LOGOUT\r\n") == i })
		}},
		"the server went": {security: imapserver.TLS, keep: time.Minute, logins: 3, subjects: "0 1 2", before: func(_ int, s *imapserver.Server, _ secrets) { s.Disconnect() }},
		"of another secret": {security: imapserver.TLS, keep: time.Minute, logins: 2, failure: "does not accept secret mail", before: func(i int, s *imapserver.Server, all secrets) {
			if i == 2 {
				all.Replace("mail", account(t, s.Address, other, false))
			}
		}},
		"not for the host any more": {security: imapserver.TLS, keep: time.Minute, logins: 1, failure: "secret mail is not for", before: func(i int, _ *imapserver.Server, all secrets) {
			if i == 2 {
				all.Replace("mail", account(t, "mail.example.org", password, false))
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, test.security)
			s.Create(t, "Other")
			mailbox := "imaps://" + s.Address + "/"
			if test.security == imapserver.STARTTLS {
				mailbox = "imap://" + s.Address + "/"
			}
			for _, subject := range []string{"0", "1", "2"} {
				s.Receive(t, "INBOX", mail(subject+"@a.example", subject))
			}
			all := secrets{"mail": account(t, s.Address, password, false)}
			r := newReader(t, all)
			r.options.Keep = pipeline.Duration(test.keep)
			came := r.visits([]string{mailbox + "Other", mailbox + "Other", mailbox + "INBOX"}, nil, func(i int) {
				if test.before != nil {
					test.before(i, s, all)
				}
			})
			if logins := strings.Count(s.Said(), " AUTHENTICATE PLAIN"); logins != test.logins {
				t.Errorf("%d log-ins, want %d", logins, test.logins)
			}
			last := came[2]
			if last.subjects() != test.subjects || (last.Visit.Error == "") != (test.failure == "") || !strings.Contains(last.Visit.Error, test.failure) || last.Err != nil {
				t.Errorf("documents %q, failure %q, error %v", last.subjects(), last.Visit.Error, last.Err)
			}
		})
	}
}

// TestNothingNewIsOneQuestion where the session was kept.
func TestNothingNewIsOneQuestion(t *testing.T) {
	t.Parallel()
	s := newServer(t, imapserver.TLS)
	s.Receive(t, "INBOX", mail("0@a.example", "0"))
	r := newReader(t, secrets{"mail": account(t, s.Address, password, false)})
	inbox := "imaps://" + s.Address + "/INBOX"
	questions := func() int { // as the server has read them, which is before it answers
		return len(regexp.MustCompile(`(?m)^T\d+ (AUTHENTICATE|EXAMINE|FETCH|UID|NOOP|LOGOUT|CAPABILITY)\b`).FindAllString(s.Said(), -1))
	}
	asked := make([]int, 4)
	r.visits([]string{inbox, inbox, inbox, inbox}, nil, func(i int) { asked[i] = questions() })
	if asked[2]-asked[1] != 1 || asked[3]-asked[2] != 1 {
		t.Errorf("questions before each visit: %v", asked)
	}
}
