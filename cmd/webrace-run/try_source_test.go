package main

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil/imapserver"
	"github.com/webrace/webrace/internal/testutil/newsserver"
	"github.com/webrace/webrace/xmlschema"
)

// TestTryShowsTheNewestOfASource, and why there is none to show. What is tried is not stored.
func TestTryShowsTheNewestOfASource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secret("mail", imapserver.Password)
	s := imapserver.New(t, imapserver.None, tls.Certificate{})
	s.Create(t, "Empty")
	s.Receive(t, "INBOX", letter("1@a.example", "Lunch", "Fish."))
	s.Receive(t, "INBOX", letter("2@a.example", "Ferry", "It sails."))
	for _, c := range []struct{ url, secret, want string }{
		{"imap://" + s.Address, "mail", "mid:2@a.example"},
		{"imap://" + s.Address, "mail", "it is the newest of imap://" + s.Address + "/INBOX"},
		{"imap://" + s.Address + "/INBOX", "mail", "worth an alert to 1 of 1 URD"},
		{"imap://" + s.Address + "/Empty", "mail", "there is none in it"},
		{"imap://" + s.Address + "/Elsewhere", "mail", "EXAMINE Elsewhere"},
		{"imap://" + s.Address + "/INBOX", "", "names no secret"},
		{"imap://" + s.Address + "/INBOX", "other", "no secret is named other"},
		{"pop3://" + s.Address, "mail", "nothing reads pop3"},
		{"imap://eleni@" + s.Address, "mail", "names a user"},
	} {
		args := []string{"try", "--data", w.data, "--set", "imap.allow_networks=loopback", "--url", c.url, "-k", "ferry"}
		if c.secret != "" {
			args = append(args, "--secret", c.secret)
		}
		out, said, err := webraceRun(args...)
		if all := fmt.Sprint(out, said, err); !strings.Contains(all, c.want) || strings.Contains(all, imapserver.Password) {
			t.Errorf("%s with %q: %s\nwant %q", c.url, c.secret, all, c.want)
		}
	}
	if said, status := w.store("cache", "ls"); status != 0 || strings.Contains(said, "mid:") {
		t.Errorf("stored: %d, %s", status, said)
	}
}

// TestTryReadsNewsgroupsAndQueries shows the newest article, the answer to a query, and the newest row of one with a
// mark.
func TestTryReadsNewsgroupsAndQueries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newsserver.New(t, newsserver.Options{Security: newsserver.None})
	s.Create(t, boats)
	for i, text := range []string{"Fish.", "The ferry sails."} {
		s.Receive(t, article{id: fmt.Sprint(i, "@a.example"), text: text, groups: []string{boats}}.String())
	}
	file := filepath.Join(t.TempDir(), "shop.db")
	db := openDatabase(t, "sqlite", file).db
	if _, err := db.Exec("CREATE TABLE boat (id INTEGER, name TEXT, changed INTEGER); INSERT INTO boat VALUES (1, 'ketch', 1), (2, 'ferry', 2)"); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "pipelines.toml")
	writeFile(t, config, fmt.Sprintf(`version = 1
[pipeline.rows]
flow = ["urds > frontier > sql > drop", "sql.rows > drop"]
[pipeline.rows.stage.sql.sources.boats]
driver = "sqlite"
address = %[1]q
query = "SELECT id, name FROM boat"
key = ["id"]
[pipeline.rows.stage.sql.sources.changes]
driver = "sqlite"
address = %[1]q
query = "SELECT id, name, changed FROM boat WHERE changed > $mark"
key = ["id"]
mark = "changed"
overlap = "0"
`, file))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"nntp://" + s.Address + "/" + boats, "--set", "nntp.allow_networks=loopback"}, "news:1@a.example"},
		{[]string{"nntp://" + s.Address + "/" + boats, "--set", "nntp.allow_networks=loopback"}, "worth an alert to 1 of 1 URD"},
		{[]string{"nntp://" + s.Address + "/" + piers, "--set", "nntp.allow_networks=loopback"}, "it has no such newsgroup"},
		{[]string{"db://boats", "--config", config}, "worth an alert to 1 of 1 URD"},
		{[]string{"db://changes", "--config", config}, "db://changes/2"},
		{[]string{"db://ships", "--config", config}, "ships"},
		{[]string{"db://boats"}, "boats"}, // which the shipped pipelines do not declare
	} {
		out, said, err := webraceRun(append([]string{"try", "--data", w.data, "-k", "ferry"}, c.args...)...)
		if all := fmt.Sprint(out, said, err); !strings.Contains(all, c.want) {
			t.Errorf("%s: %s\nwant %q", c.args, all, c.want)
		}
	}
}

// TestWhyTellsOfASourceByItsOwnPipeline, and not by those that serve other protocols.
func TestWhyTellsOfASourceByItsOwnPipeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secret("mail", imapserver.Password)
	s := imapserver.New(t, imapserver.None, tls.Certificate{})
	news := newsserver.New(t, newsserver.Options{Security: newsserver.None})
	news.Create(t, boats)
	w.mailrace(mailbox(s, "ann", "INBOX", "ferry"))
	w.runs("newsrace", "nntp", []*xmlschema.URD{newsgroup(news.Address, "ann", boats, "ferry")})
	for source, pipelines := range map[string][2]string{
		"imap://" + s.Address + "/INBOX":               {"mailrace", "newsrace"},
		"nntp://" + news.Address + "/" + boats:         {"newsrace", "mailrace"},
		"nntp://" + news.Address + "/" + "nobody.asks": {"newsrace", ""},
	} {
		said, status := w.store("why", source)
		if own, other := pipelines[0], pipelines[1]; status != 0 || !strings.Contains(said, own) || other != "" && strings.Contains(said, other) {
			t.Errorf("%s: %d, %s", source, status, said)
		}
	}
}

// TestAMailboxIsAddedByItsURL tells its protocol, unless that is given. What nothing serves is refused.
func TestAMailboxIsAddedByItsURL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		flags, want string
		status      int
	}{
		{"--url imaps://mail.example.org", "added", 0},
		{"--url mail.example.org --protocol imap", "added", 0},
		{"--url imaps://mail.example.org/INBOX --protocol http", "is not an http or https URL", 2},
		{"--url nntp://news.example.org/comp.lang.go", "added", 0},
		{"--url db://orders", "declare", 2},
		{"--url pop3s://mail.example.org", "nothing serves protocol pop3", 2},
		{"--url imaps://mail.example.org/ --protocol mail", "protocol", 2},
	} {
		args := append([]string{"urd", "add", "--owner", "ann", "--keyword", "ferry:5"}, strings.Fields(c.flags)...)
		if said, status := w.store(args...); status != c.status || !strings.Contains(said, c.want) {
			t.Errorf("%s: %d, %s", c.flags, status, said)
		}
	}
}
