package xmlschema

import (
	"strings"
	"testing"
)

func TestSourcesHaveOneForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		protocol, uri string
		port          int
		group, want   string // an address, or what the error says
	}{
		{"http", "HTTP://A.example", 0, "", "http://a.example/"},
		{"feed", "https://a.example/feed#x", 0, "", "https://a.example/feed"},
		{"", "http://a.example/b", 8080, "", "http://a.example:8080/b"},
		{"x:rmi", "some thing", 0, "", "some thing"},
		{"x:rmi", "a.example", 1099, "", "a.example:1099"},

		{"imap", "mail.example.org", 0, "", "imaps://mail.example.org/INBOX"},
		{"imap", "mail.example.org", 143, "", "imap://mail.example.org/INBOX"},
		{"imap", "mail.example.org:143/inbox", 143, "", "imap://mail.example.org/INBOX"},
		{"imap", "imaps://Mail.Example.org:993/", 0, "", "imaps://mail.example.org/INBOX"},
		{"imap", "imaps://mail.example.org:9993/Lists/Go%20nuts/", 0, "", "imaps://mail.example.org:9993/Lists/Go%20nuts"},
		{"imap", "imap://mail.example.org/Entw\u00fcrfe", 1143, "", "imap://mail.example.org:1143/Entw%C3%BCrfe"},
		{"imap", "imaps://[::1]/a", 0, "", "imaps://[::1]/a"},
		{"imap", "imaps://b\u00fccher.example", 0, "", "imaps://xn--bcher-kva.example/INBOX"},
		{"imap", "http://mail.example.org/", 0, "", `begins with neither imap:// nor imaps://: write it as imaps://mail.example.org/INBOX`},
		{"imap", "imaps://me@mail.example.org/", 0, "", "names a user: that is part of the credentials"},
		{"imap", "imaps://mail.example.org/INBOX;UIDVALIDITY=7/;UID=20", 0, "", "names a message, and a source is a mailbox"},
		{"imap", "imaps://mail.example.org/a?b", 0, "", "has more than a server"},
		{"imap", "imaps://mail.example.org/a#b", 0, "", "has more than a server"},
		{"imap", "imaps://mail.example.org/a%0d%0ab", 0, "", "control characters"},
		{"imap", "imaps://mail.example.org/%ff", 0, "", "control characters"},
		{"imap", "imaps:///INBOX", 0, "", "names no server"},
		{"imap", "", 0, "", "names no server"},
		{"imap", "imaps://a b/", 0, "", "cannot be read"},
		{"imap", "mail.example.org:99999", 0, "", "ports are 1 to 65535"},
		{"imap", "mail.example.org:993", 143, "", "has the port 993, and port is 143"},
		{"imap", "mail.example.org", 0, "comp.lang.go", "stands beside a group"},

		{"pop3", "mail.ucy.ac.cy", 110, "", "pop3://mail.ucy.ac.cy/"},
		{"pop3", "mail.ucy.ac.cy", 0, "", "pop3s://mail.ucy.ac.cy/"},
		{"pop3", "pop3s://mail.ucy.ac.cy:995", 0, "", "pop3s://mail.ucy.ac.cy/"},
		{"pop3", "pop3s://mail.ucy.ac.cy/INBOX", 0, "", "names more than a server"},

		{"nntp", "news.example.org", 0, "comp.lang.go", "nntp://news.example.org/comp.lang.go"},
		{"nntp", "news.example.org", 563, "comp.lang.go", "nntps://news.example.org/comp.lang.go"},
		{"nntp", "nntps://news.example.org/comp.lang.go", 0, "comp.lang.go", "nntps://news.example.org/comp.lang.go"},
		{"nntp", "nntp://news.example.org:119/comp.lang.c++", 0, "", "nntp://news.example.org/comp.lang.c++"},
		{"nntp", "news.example.org", 0, "", "names no newsgroup: write it as nntps://news.example.org/comp.lang.go"},
		{"nntp", "news.example.org/comp.lang.c", 0, "comp.lang.go", `names the newsgroup "comp.lang.c", and group is "comp.lang.go"`},
		{"nntp", "news.example.org", 0, "comp.*", "is not of one newsgroup"},
		{"nntp", "nntp://news.example.org/a%0d%0aDATE", 0, "", "is not of one newsgroup"},
		{"nntp", "news:comp.lang.go", 0, "", "cannot be read"},
		{"nntp", "", 0, "comp.lang.go", "names no server"},
		{"nntp", "nntp:///comp.lang.go", 0, "", "names no server"},
		{"nntp", "news.example.org", 0, "a\r\nPOST", "is not of one newsgroup"},
		{"nntp", "news.example.org\r\nPOST/a", 0, "", "cannot be read"},
		{"nntp", "nntp://news.example.org/a,b", 0, "", "is not of one newsgroup"},
		{"nntp", "nntp://news.example.org/comp.lang.[a-z]", 0, "", "is not of one newsgroup"},
		{"nntp", "nntp://news.example.org/comp.lang.go/17", 0, "", "is not of one newsgroup"},
		{"nntp", "nntps://me@news.example.org/a", 0, "", "names a user"},
		{"nntp", "imaps://news.example.org/a", 0, "", "begins with neither nntp:// nor nntps://"},

		{"db", "orders", 0, "", "db://orders"},
		{"db", "db://orders/?region=eu&from=a+b", 0, "", "db://orders?from=a+b&region=eu"},
		{"db", "db://orders?a=1&a=2", 0, "", "gives the parameter a twice"},
		{"db", "db://orders?a=%zz", 0, "", "parameters that cannot be read"},
		{"db", "db://orders/1", 0, "", "more than the name of a query"},
		{"db", "postgres://a.example/shop", 0, "", "does not begin with db://"},
		{"db", "db://", 0, "", "names no query"},
	} {
		got, err := (&URD{Protocol: c.protocol, URI: c.uri, Port: c.port, Group: c.group}).Start()
		switch {
		case err == nil && got != c.want:
			t.Errorf("%s %s %d %s: %s, want %s", c.protocol, c.uri, c.port, c.group, got, c.want)
		case err != nil && (got != "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %s %d %s: %q, %v, want %s", c.protocol, c.uri, c.port, c.group, got, err, c.want)
		}
	}
}

// What Start gives is its own form, and nothing in it could end a line of a protocol.
func FuzzStart(f *testing.F) {
	protocols := []string{ProtocolHTTP, ProtocolIMAP, ProtocolPOP3, ProtocolNNTP, ProtocolDB}
	f.Add(1, "imaps://mail.example.org/a%0ab/../c", 0, "")
	f.Add(3, "news.example.org/%25", 563, "comp.lang.go")
	f.Add(4, "db://a?b=%0a&c", 0, "")
	f.Add(1, "[::1]:1/%2F", 1, "")
	f.Fuzz(func(t *testing.T, n int, uri string, port int, group string) {
		u := &URD{Protocol: protocols[(n%len(protocols)+len(protocols))%len(protocols)], URI: uri, Port: port, Group: group}
		start, err := u.Start()
		if err != nil {
			return
		}
		again, err := (&URD{Protocol: u.Protocol, URI: start}).Start()
		if again != start || err != nil {
			t.Fatalf("%s %q %d %q begins at %q, and that at %q: %v", u.Protocol, uri, port, group, start, again, err)
		}
		if strings.ContainsFunc(start, func(r rune) bool { return r <= ' ' || r >= 0x7f }) || !strings.Contains(start, "://") {
			t.Fatalf("%s %q begins at %q", u.Protocol, uri, start)
		}
	})
}
