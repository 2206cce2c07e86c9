package imap

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil/dovecot"
	"github.com/webrace/webrace/stages/internal/agent/agenttest"
)

// TestDovecotIsReadAndNotChanged holds the stage to a server that is used in earnest, by either scheme: its visits
// bring what is new, and the files of the messages stay as whoever delivered them left them.
func TestDovecotIsReadAndNotChanged(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"imap", "imaps"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s := dovecot.New(t, agenttest.Authority)
			const messages, backlog = 120, 7
			var files []string
			for i := range messages {
				files = append(files, s.Receive(t, dovecot.Inbox, []byte(mail(fmt.Sprint(i, "@a.example"), fmt.Sprint(i)))))
			}
			address := map[string]string{"imap": s.IMAP, "imaps": s.IMAPS}[scheme]
			source := scheme + "://" + address + "/INBOX"
			r := newReader(t, secrets{"mail": account(t, address, dovecot.Password, false)})
			r.options.Backlog = backlog

			first := r.visit(source, nil)
			if got := first.subjects(); got != "113 114 115 116 117 118 119" || first.Visit.Error != "" {
				t.Fatalf("the first visit brings %q, %q, %v\n%s", got, first.Visit.Error, first.Err, s.Log(t))
			}
			if body := string(first.Documents[0].Body); body != mail("113@a.example", "113") {
				t.Errorf("a message is %q", body)
			}
			second := r.visit(source, first)
			if len(second.Documents) != 0 || second.Visit.Error != "" {
				t.Errorf("the second brings %q, %q, %v", second.subjects(), second.Visit.Error, second.Err)
			}
			files = append(files, s.Receive(t, dovecot.Inbox, []byte(mail("120@a.example", "120"))))
			third := r.visit(source, second)
			if got := third.subjects(); got != "120" {
				t.Errorf("one more brings %q, %q", got, third.Visit.Error)
			}
			r.options.Backlog = 0
			if got := len(r.visit(source, nil).Documents); got != messages+1 {
				t.Errorf("all bring %d", got)
			}
			s.Renumber(t, dovecot.Inbox)
			r.options.Backlog = 3
			renumbered := r.visit(source, third)
			if got := renumbered.subjects(); got != "118 119 120" || renumbered.Counters["renumbered"] != 1 {
				t.Errorf("with a new UIDVALIDITY it brings %q", got)
			}
			r.secrets["mail"] = account(t, address, "wrong", false)
			if why := r.visit(source, third).Visit.Error; !strings.Contains(why, "does not accept secret mail") {
				t.Errorf("a wrong password: %q", why)
			}
			r.secrets["mail"] = account(t, address, dovecot.Password, false)
			if why := r.visit(scheme+"://"+address+"/Nowhere", nil).Visit.Error; !strings.Contains(why, "Nowhere") {
				t.Errorf("a mailbox that is not there: %q", why)
			}

			found := s.Files(t, dovecot.Inbox)
			if len(found) != len(files) {
				t.Errorf("%d files of %d messages", len(found), len(files))
			}
			for i, file := range found {
				if filepath.Base(filepath.Dir(file)) != "new" || filepath.Base(file) != files[i] {
					t.Errorf("%s was %s, which nobody has opened", file, files[i])
				}
			}
			mustOnlyRead(t, s.Said(t))
		})
	}
}

// reading are the commands that change nothing.
var reading = regexp.MustCompile(`^[0-9.]+ \S+ (CAPABILITY|NOOP|LOGOUT|EXAMINE \S+|(UID )?FETCH [0-9:,]+ .*)$`)

// mustOnlyRead wants of what clients have said that it is nothing but commands that change nothing.
func mustOnlyRead(t *testing.T, said string) {
	t.Helper()
	commands := 0
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		commands++
		if !reading.MatchString(line) || strings.Contains(strings.ReplaceAll(line, "BODY.PEEK[", ""), "BODY[") || strings.Contains(line, `\Seen`) {
			t.Errorf("said: %s", line)
		}
	}
	if commands < 10 {
		t.Errorf("only %d commands are known:\n%s", commands, said)
	}
}
