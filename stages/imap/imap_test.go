package imap

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil/imapserver"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent/agenttest"
	"github.com/webrace/webrace/xmlschema"
)

// mail is a message with a subject.
func mail(id, subject string) string {
	return "Message-ID: <" + id + ">\r\nDate: Fri, 2 Jan 2026 05:04:05 +0200\r\nSubject: " + subject + "\r\n\r\nText of " + subject + ".\r\n"
}

// TestAVisitBringsWhatIsNew, and nothing else; and nothing at the server is changed by it.
func TestAVisitBringsWhatIsNew(t *testing.T) {
	t.Parallel()
	s := newServer(t, imapserver.TLS)
	source := "imaps://" + s.Address + "/INBOX"
	r := newReader(t, secrets{"mail": account(t, s.Address, password, false)})
	r.options.Backlog = 3
	empty := r.visit(source, nil)
	if len(empty.Documents) != 0 || empty.Visit.Error != "" || empty.Err != nil {
		t.Fatalf("of an empty mailbox: %+v", empty)
	}
	for i := range 5 {
		s.Receive(t, "INBOX", mail(fmt.Sprint(i, "@a.example"), fmt.Sprint(i)))
	}
	if got := r.visit(source, empty); got.subjects() != "0 1 2 3 4" {
		t.Errorf("after an empty one: %s", got.subjects())
	}
	first := r.visit(source, nil)
	if first.subjects() != "2 3 4" {
		t.Fatalf("the first visit brings %s", first.subjects())
	}
	d := first.Documents[0]
	if d.URL != "mid:2@a.example" || d.Status != 0 || d.Outcome != webrace.Fetched || d.MediaType != "message/rfc822" || d.Secret != "mail" ||
		d.Visit != nil || len(d.Reach) != 1 || time.Since(d.At) > time.Minute || d.At.After(time.Now()) || string(d.Body) != mail("2@a.example", "2") || d.Truncated {
		t.Errorf("%+v", d)
	}
	second := r.visit(source, first)
	if len(second.Documents) != 0 || string(second.Visit.State) != string(first.Visit.State) || second.Visit.Digest != first.Visit.Digest || second.Visit.At.Before(first.Visit.At) {
		t.Errorf("the second brings %s, state %s", second.subjects(), second.Visit.State)
	}
	s.Receive(t, "INBOX", mail("5@a.example", "5"))
	third := r.visit(source, second)
	if third.subjects() != "5" || third.Visit.Digest == second.Visit.Digest {
		t.Errorf("one more brings %s, state %s", third.subjects(), third.Visit.State)
	}
	r.options.Backlog = 0
	if got := r.visit(source, nil); got.subjects() != "0 1 2 3 4 5" {
		t.Errorf("all bring %s", got.subjects())
	}
	said := s.Said()
	if !strings.Contains(said, "EXAMINE") || !strings.Contains(said, "BODY.PEEK[]") {
		t.Errorf("said: %s", said)
	}
	if wrong := regexp.MustCompile(`(?i)\b(SELECT|STORE|EXPUNGE|APPEND|COPY|MOVE|CLOSE|\\Seen\)) |BODY\[\]<`).FindString(strings.ReplaceAll(said, "BODY[]<0>", "")); wrong != "" {
		t.Errorf("said: %q", wrong)
	}
}

// TestMailboxesOfThousandsAreListedFromTheirEnd.
func TestMailboxesOfThousandsAreListedFromTheirEnd(t *testing.T) {
	t.Parallel()
	s := newServer(t, imapserver.TLS)
	s.Create(t, "Lists/Boats é")
	const before = 2500
	for i := range before {
		s.Receive(t, "Lists/Boats é", mail(fmt.Sprint(i, "@a.example"), fmt.Sprint(i)))
	}
	source := "imaps://" + s.Address + "/Lists/Boats%20%C3%A9"
	r := newReader(t, secrets{"mail": account(t, s.Address, password, false)})
	r.options.Backlog = 1200
	first := r.visit(source, nil)
	if n := len(first.Documents); n != 1200 || first.Documents[0].URL != "mid:1300@a.example" || first.Documents[n-1].URL != "mid:2499@a.example" {
		t.Fatalf("%d documents", n)
	}
	if listed := strings.Count(s.Said(), "FETCH (UID "); listed != 2*1200 { // listed, and fetched
		t.Errorf("%d lines for 1200 messages", listed)
	}
	for i := range 3 {
		s.Receive(t, "Lists/Boats é", mail(fmt.Sprint("new", i, "@a.example"), fmt.Sprint("new", i)))
	}
	if got := r.visit(source, first); got.subjects() != "new0 new1 new2" {
		t.Errorf("then %s", got.subjects())
	}
}

// many is a server that says that a mailbox has so many messages, each with its place as its UID.
type many struct{ session }

func (many) List(first, last uint32) (uids []uint32, err error) {
	for uid := first; uid <= last; uid++ {
		uids = append(uids, uid)
	}
	return uids, nil
}

// TestMoreThanCanBeListedIsAFailure, and not the loss of what is left out: what was known stays.
func TestMoreThanCanBeListedIsAFailure(t *testing.T) {
	t.Parallel()
	s := &stage{}
	if uids, err := s.fresh(many{}, mailbox{Validity: 7, Messages: 3_000_000, Next: 3_000_001}, 1); err == nil || len(uids) > 0 {
		t.Errorf("%d messages, %v", len(uids), err)
	}
	if uids, err := s.fresh(many{}, mailbox{Validity: 7, Messages: 900_000, Next: 900_001}, 1); err != nil || len(uids) != 900_000 || uids[0] != 1 {
		t.Errorf("%d messages, %v", len(uids), err)
	}
	if uids, err := s.fresh(many{}, mailbox{Validity: 7, Messages: 3_000_000, Next: 3_000_001}, 2_999_990); err != nil || len(uids) != 11 {
		t.Errorf("%d messages, %v", len(uids), err)
	}
}

// TestMessagesAreKnownByTheirIDs wherever they lie, and by their bytes where they have none.
func TestMessagesAreKnownByTheirIDs(t *testing.T) {
	t.Parallel()
	s := newServer(t, imapserver.TLS)
	nameless := "Subject: none\r\n\r\ntext\r\n"
	s.Receive(t, "INBOX", mail("a/b@c", "slash"))
	s.Receive(t, "INBOX", nameless)
	s.Receive(t, "INBOX", mail("long@a.example", strings.Repeat("x", 500)))
	r := newReader(t, secrets{"mail": account(t, s.Address, password, false)})
	r.options.MaxSize = 400
	source := "imaps://" + s.Address + "/INBOX"
	first := r.visit(source, nil)
	var urls []string
	for _, d := range first.Documents {
		urls = append(urls, d.URL)
		if d.Truncated != (d.URL == "mid:long@a.example") || d.Truncated && len(d.Body) != 400 {
			t.Errorf("%s: truncated %v, %d bytes", d.URL, d.Truncated, len(d.Body))
		}
	}
	want := fmt.Sprint([]string{"mid:a%2Fb@c", urlnorm.OfBytes([]byte(nameless)), "mid:long@a.example"})
	if fmt.Sprint(urls) != want {
		t.Errorf("%s, want %s", urls, want)
	}
	s.Remove(t, "INBOX")
	s.Create(t, "INBOX")
	s.Receive(t, "INBOX", mail("a/b@c", "slash"))
	got := r.visit(source, first)
	if len(got.Documents) != 1 || got.Documents[0].URL != "mid:a%2Fb@c" || got.Counters["renumbered"] != 1 {
		t.Errorf("a mailbox that was made anew: %s, %v", got.subjects(), got.Counters)
	}
}

// TestPasswordsGoNowhereElse: not over what others can read, unless they may, and not to other servers.
func TestPasswordsGoNowhereElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scheme   string
		security imapserver.Security
		insecure bool
		wants    string // what the visit fails of; empty for success
	}{
		{"imaps", "TLS", false, ""},
		{"imap", "STARTTLS", false, ""},
		{"imap", "none", false, "is not sent by plain imap"},
		{"imap", "none", true, ""},
		{"imaps", "none", true, "no secure connection can be made"},
	} {
		s := newServer(t, c.security)
		r := newReader(t, secrets{"mail": account(t, s.Address, password, c.insecure)})
		got := r.visit(c.scheme+"://"+s.Address+"/INBOX", nil)
		if !strings.Contains(got.Visit.Error, c.wants) || (got.Visit.Error == "") != (c.wants == "") || got.Err != nil {
			t.Errorf("%s to a server of %s, insecure %v: %q, %v", c.scheme, c.security, c.insecure, got.Visit.Error, got.Err)
		}
		if said := s.Said(); c.wants != "" && (strings.Contains(said, "LOGIN") || strings.Contains(said, "AUTHENTICATE")) {
			t.Errorf("%s to a server of %s: %s", c.scheme, c.security, said)
		}
	}
	s := newServer(t, imapserver.TLS)
	r := newReader(t, secrets{"mail": account(t, "mail.example", password, false)})
	if got := r.visit("imaps://"+s.Address+"/INBOX", nil); !strings.Contains(got.Visit.Error, "secret mail is not for "+s.Address) || strings.Contains(s.Said(), "LOGIN") {
		t.Errorf("of another host: %q", got.Visit.Error)
	}
	r.secrets = secrets{}
	if got := r.visit("imaps://"+s.Address+"/INBOX", nil); !strings.Contains(got.Visit.Error, "no secret is named mail") {
		t.Errorf("without one: %q", got.Visit.Error)
	}
	r.options.AllowNetworks = nil
	if got := r.visit("imaps://"+s.Address+"/INBOX", nil); !strings.Contains(got.Visit.Error, "--set imap.allow_networks=loopback") || got.Counters["address_refused"] != 1 {
		t.Errorf("of an address that is not to be asked: %q, %v", got.Visit.Error, got.Counters)
	}
}

// TestWhatAServerRefusesIsAnOutcome, and leaves what was known as it was.
func TestWhatAServerRefusesIsAnOutcome(t *testing.T) {
	t.Parallel()
	s := newServer(t, imapserver.TLS)
	s.Receive(t, "INBOX", mail("1@a.example", "1"))
	r := newReader(t, secrets{"mail": account(t, s.Address, password, false)})
	first := r.visit("imaps://"+s.Address+"/INBOX", nil)
	none := r.visit("imaps://"+s.Address+"/None", first)
	if !strings.Contains(none.Visit.Error, "EXAMINE None") || !none.Visit.Refused || none.Err != nil || string(none.Visit.State) != string(first.Visit.State) {
		t.Errorf("a mailbox that is not there: %+v, %v", none.Visit, none.Err)
	}
	r.secrets["mail"] = account(t, s.Address, "another-password", false)
	wrong := r.visit("imaps://"+s.Address+"/INBOX", first)
	if !strings.Contains(wrong.Visit.Error, "does not accept secret mail") || wrong.Counters["unauthorized"] != 1 || string(wrong.Visit.State) != string(first.Visit.State) {
		t.Errorf("a wrong password: %q, %v", wrong.Visit.Error, wrong.Counters)
	}
}

// TestServersThatMisbehave cost a visit, no more memory than they may, and nothing of what was known.
func TestServersThatMisbehave(t *testing.T) {
	t.Parallel()
	const hello = "* OK [CAPABILITY IMAP4rev1] hello\r\n"
	// After each command, which is read as a line, a script has the next text; TAG stands for that of the command.
	in := []string{hello, "TAG OK\r\n"}
	selected := append(slices.Clone(in), "* 1 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\nTAG OK\r\n")
	listed := append(slices.Clone(selected), "* 1 FETCH (UID 1)\r\nTAG OK\r\n")
	then := func(script []string, text string) []string { return append(slices.Clone(script), text) }
	for name, c := range map[string]struct {
		script []string
		wants  string
	}{
		"goes at once":                     {[]string{"close"}, "visit"},
		"says no":                          {[]string{"* BYE full\r\n"}, "visit"}, // what the library meets first: to read it, or to ask for TLS
		"is another":                       {[]string{"220 mail.example ESMTP\r\n"}, "visit"},
		"never says anything":              {[]string{""}, "timeout"},
		"floods the greeting":              {[]string{"* OK " + strings.Repeat("x", 1<<20)}, "more than it was asked for"},
		"floods what it can":               {then(in[:1], strings.Repeat("* CAPABILITY IMAP4rev1 X\r\n", 1<<15)), "more than it was asked for"},
		"answers another command":          {then(in[:1], "Z9 OK\r\n"), "unknown tag"},
		"goes in the middle of the login":  {then(then(in[:1], "TAG O"), "close"), "LOGIN"},
		"repeats the password":             {then(in[:1], "TAG NO "+password+"\r\n"), "does not accept"},
		"is not there for a while":         {then(in[:1], "TAG NO [UNAVAILABLE] later\r\n"), "later"},
		"has no UIDVALIDITY":               {then(in, "* 1 EXISTS\r\nTAG OK [READ-ONLY]\r\n"), "UIDVALIDITY"},
		"has four billion messages":        {then(then(in, "* 4294967295 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\nTAG OK\r\n"), "TAG OK\r\n"), "has no message"},
		"lists without an end":             {then(selected, strings.Repeat("* 1 FETCH (UID 1)\r\n", 1<<14)), "more than it was asked for"},
		"a literal of a gigabyte":          {then(listed, "* 1 FETCH (UID 1 BODY[]<0> {1073741824}\r\n"+strings.Repeat("x", 1<<20)), "more than it was asked for"},
		"a literal that is not whole":      {then(then(listed, "* 1 FETCH (UID 1 BODY[]<0> {100}\r\nabc"), "close"), "UID FETCH"},
		"a literal in the place of a UID":  {then(listed, "* 1 FETCH (UID {1073741824}\r\n"+strings.Repeat("9", 1<<20)), "UID FETCH"},
		"no list":                          {then(listed, "* 1 FETCH UID 1\r\nTAG OK\r\n"), "UID FETCH"},
		"a message that was not asked for": {then(listed, "* 9 FETCH (UID 9 BODY[]<0> {3}\r\nabc)\r\nTAG OK\r\n"), ""},
		"a message twice":                  {then(listed, "* 1 FETCH (UID 1 BODY[]<0> {3}\r\nabc)\r\n* 1 FETCH (UID 1 BODY[]<0> {3}\r\nabc)\r\nTAG OK\r\n"), ""},
		"a message of nothing":             {then(listed, "* 1 FETCH (UID 1 BODY[]<0> NIL)\r\nTAG OK\r\n"), ""},
		"no message, though it is there":   {then(listed, "TAG NO gone\r\n"), "gone"},
		"stops in the middle":              {then(listed, "* 1 FETCH (UID 1 BODY[]<0> {100}\r\nabc"), "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := scripted(t, c.script)
			r := newReader(t, secrets{"mail": account(t, address, password, true)})
			r.options.MaxSize, r.options.Timeout = 1000, pipeline.Duration(2*time.Second)
			before := &result{&agenttest.Result{Visit: webrace.Visit{State: state{Validity: 7, Next: 1}.write()}}}
			got := r.visit("imap://"+address+"/INBOX", before)
			why := got.Visit.Error
			if got.Err != nil {
				why += got.Err.Error()
			}
			if !strings.Contains(why, c.wants) || (why == "") != (c.wants == "") {
				t.Errorf("it fails of %q", why)
			}
			if kept := string(got.Visit.State) == string(before.Visit.State); c.wants != "" && !kept {
				t.Errorf("known is %s", got.Visit.State)
			}
			if len(got.Documents) > 1 {
				t.Errorf("%d documents", len(got.Documents))
			}
		})
	}
}

// scripted starts a server that refuses STARTTLS, and then sends the parts of a script: the first at once, and each
// other when it has read a line.
func scripted(t *testing.T, script []string) (address string) {
	t.Helper()
	return agenttest.Listen(t, "127.0.0.1:0", func(conn net.Conn) { speak(conn, script) })
}

// speak sends a script to one client: the first part at once, and each other when it has read a command. A part "close"
// ends the connection; when all is said, the client is listened to.
func speak(conn net.Conn, script []string) {
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	lines := bufio.NewReader(conn)
	tag := ""
	for i, text := range script {
		if text == "close" {
			return
		}
		for known := i == 0; !known; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			tag, line, _ = strings.Cut(line, " ")
			switch strings.TrimSpace(line) {
			case "STARTTLS":
				io.WriteString(conn, tag+" BAD no\r\n")
			case "CAPABILITY":
				io.WriteString(conn, "* CAPABILITY IMAP4rev1\r\n"+tag+" OK\r\n")
			default:
				known = true
			}
		}
		if _, err := io.WriteString(conn, strings.ReplaceAll(text, "TAG", tag)); err != nil {
			return
		}
	}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if tag, command, _ := strings.Cut(line, " "); strings.HasPrefix(command, "LOGOUT") {
			io.WriteString(conn, "* BYE\r\n"+tag+" OK\r\n")
			return
		} else if strings.HasPrefix(command, "STARTTLS") {
			io.WriteString(conn, tag+" BAD no\r\n")
		}
	}
}

// TestNamesOfMailboxesAreNoCommands, whatever is in them: what is said is an EXAMINE of the mailbox, whose message
// comes.
func TestNamesOfMailboxesAreNoCommands(t *testing.T) {
	t.Parallel()
	s := newServer(t, imapserver.TLS)
	r := newReader(t, secrets{"mail": account(t, s.Address, password, false)})
	for i, name := range []string{`a" (X`, `a\`, `{3+}`, `(a)`, `NIL`, `%2525`, `é ~&-`, "日本 \u202e", `a DELETE INBOX`, strings.Repeat("long ", 200) + "x"} {
		s.Create(t, name)
		s.Receive(t, name, mail(fmt.Sprint(i, "@a.example"), fmt.Sprint(i)))
		u := xmlschema.NewURD("eleni", "imaps://"+s.Address+"/"+url.PathEscape(name))
		u.Protocol, u.Secret = xmlschema.ProtocolIMAP, "mail"
		start, err := u.Start()
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if got := r.visit(start, nil); got.subjects() != fmt.Sprint(i) {
			t.Errorf("of %q come %q, %q, %v", name, got.subjects(), got.Visit.Error, got.Err)
		}
	}
	if said := s.Said(); regexp.MustCompile(`(?m)^\S+ (DELETE|CREATE|SELECT|STORE|EXPUNGE|APPEND|COPY|MOVE|CLOSE)\b`).MatchString(said) {
		t.Errorf("said: %s", said)
	}
}
