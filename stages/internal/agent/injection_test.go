package agent

import (
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/xmlschema"
)

// lineEnds are what a server may take for the end of a command, with another command behind it.
var lineEnds = map[string]string{
	"CR LF": "\r\nDELETE box\r\n", "LF": "\nDELETE box\n", "CR": "\rDELETE box\r", "NUL": "\x00DELETE box", "vertical tab": "\vDELETE box", "form feed": "\fDELETE box",
	"DEL": "\x7fDELETE box",
}

// TestNoCommandComesFromAURDOrASecret: what a server could take for the end of a line is refused where it is read, in
// the user, the password, the mailbox, the newsgroup and the host, however it is written.
func TestNoCommandComesFromAURDOrASecret(t *testing.T) {
	t.Parallel()
	for name, end := range lineEnds {
		for what, account := range map[string][2]string{"user": {"eleni" + end, password}, "password": {"eleni", password + end}} {
			if _, err := credentials.NewSecret(credentials.KindBasic, account[0], account[1]); err == nil {
				t.Errorf("%s in the %s of a secret is taken", name, what)
			}
		}
		escaped := url.PathEscape(end)
		for _, c := range []struct{ what, protocol, uri, group string }{
			{"mailbox", xmlschema.ProtocolIMAP, "imaps://mail.example/a" + end, ""},
			{"mailbox, escaped", xmlschema.ProtocolIMAP, "imaps://mail.example/a" + escaped, ""},
			{"host", xmlschema.ProtocolIMAP, "imaps://mail" + end + ".example/a", ""},
			{"host, escaped", xmlschema.ProtocolIMAP, "imaps://mail" + escaped + ".example/a", ""},
			{"bare host", xmlschema.ProtocolIMAP, "mail.example" + end, ""},
			{"newsgroup", xmlschema.ProtocolNNTP, "nntps://news.example/a.b" + end, ""},
			{"newsgroup, escaped", xmlschema.ProtocolNNTP, "nntps://news.example/a.b" + escaped, ""},
			{"newsgroup beside the host", xmlschema.ProtocolNNTP, "nntps://news.example/", "a.b" + end},
			{"account of POP3", xmlschema.ProtocolPOP3, "pop3s://mail.example/" + escaped, ""},
		} {
			u := xmlschema.NewURD("eleni", c.uri)
			u.Protocol, u.Group, u.Secret = c.protocol, c.group, "mail"
			if start, err := u.Start(); err == nil {
				t.Errorf("%s in the %s is taken: %q", name, c.what, start)
			}
		}
		// What was stored before it was refused, or came from elsewhere.
		if s, err := parse("imaps://mail.example/a"+escaped, []string{"imaps"}); err == nil {
			t.Errorf("%s in a request is taken: %+v", name, s)
		}
	}
}

// TestACommandIsALine: what is said of a source, whose name has all that is no end of a line, is one line for each
// command.
func TestACommandIsALine(t *testing.T) {
	t.Parallel()
	said := make(chan string, 1)
	address := serve(t, nil, func(p peer) {
		var all strings.Builder
		for _, answer := range []string{hello, in, "+ 0 new\r\n", ""} {
			io.WriteString(p, answer)
			line, _ := p.lines.ReadString('\n') // nothing at last, when it goes
			all.WriteString(line)
		}
		said <- all.String()
	})
	got := read(t, quick(), basicAccount(t, address, true), "imap://"+address+"/a%20b%22%25%5C", "", 1)
	if all := <-said; got.Why() != "" || all != "LOGIN "+user+" "+password+"\r\nLIST a b\"%\\\r\n" {
		t.Errorf("it said %q, %q", all, got.Why())
	}
}
