package main

import (
	"crypto/tls"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil/imapserver"
)

// TestMailraceThreads has what a message belongs to told with it. An owner who looks for something else since is told
// by rematch of what there is of it in their mailbox, and nobody else is.
func TestMailraceThreads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := imapserver.New(t, imapserver.None, tls.Certificate{})
	w.secret("mail", imapserver.Password)
	s.Create(t, "Other")
	s.Receive(t, "INBOX", letter("1@a.example", "Ferry?", "Does it sail?"))
	s.Receive(t, "INBOX", "References: <1@a.example> <2@a.example>\r\nIn-Reply-To: <2@a.example>\r\n"+letter("3@a.example", "Re: Ferry?", "No."))
	for _, a := range w.mailraced(mailbox(s, "ben", "INBOX", "ferry"), mailbox(s, "ann", "INBOX", "lunch"), mailbox(s, "kim", "Other", "ferry")) {
		if a.Owner != "ben" || a.Thread != "1@a.example" {
			t.Errorf("told %+v", a)
		}
	}
	file := filepath.Join(t.TempDir(), "urd.xml")
	writeFile(t, file, string(mailbox(s, "ann", "INBOX", "ferry").Canonical()))
	if said, status := w.store("urd", "import", file); status != 0 {
		t.Fatalf("%d, %s", status, said)
	}
	said, status := w.store("rematch", "ann", "--secret", "mail")
	if status != 0 || !strings.Contains(said, "mid:1@a.example") || !strings.Contains(said, "mid:3@a.example") {
		t.Errorf("rematch: %d, %s", status, said)
	}
	if said, status := w.store("rematch", "kim", "--secret", "mail"); status != 0 || strings.Contains(said, "mid:") {
		t.Errorf("rematch of another mailbox: %d, %s", status, said)
	}
}
