package nntp

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil/newsserver"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent/agenttest"
)

// TestServersThatMisbehave cost a visit, no more memory than they may, and nothing of what was known.
func TestServersThatMisbehave(t *testing.T) {
	t.Parallel()
	then := func(script []string, texts ...string) []string { return append(slices.Clone(script), texts...) }
	hello := []string{"200 hello\r\n"}
	reader := then(hello, "200 reader\r\n")
	selected := then(reader, "211 1 1 1 boats\r\n")
	listed := then(selected, "224 list\r\n1\ts\tf\td\t<1@a.example>\t\t9\t1\r\n.\r\n")
	const whole = "220 1 <1@a.example>\r\nMessage-ID: <1@a.example>\r\n\r\ntext\r\n.\r\n"
	for name, c := range map[string]struct {
		script []string
		wants  string // of the reason; empty for success
		later  bool   // it is asked again for that
	}{
		// Connections.
		"goes at once":                     {[]string{"close"}, "the greeting", true},
		"never says anything":              {[]string{""}, "timeout", true},
		"goes in the middle of a line":     {then(hello, "200 rea", "close"), "MODE READER: unexpected EOF", true},
		"goes in the middle of a list":     {then(selected, "224 list\r\n1\ts\r\n", "close"), "OVER: unexpected EOF", true},
		"goes in the middle of an article": {then(listed, "220 1 <1@a.example>\r\nMessage-ID: <1@a", "close"), "ARTICLE: unexpected EOF", true},
		"stops in the middle":              {then(listed, "220 1 <1@a.example>\r\nMessage-ID: <1@a"), "timeout", true},
		// Floods.
		"floods the greeting":             {[]string{"200 " + strings.Repeat("x", 1<<20)}, "more than 65536 bytes", false},
		"a line without an end in a list": {then(selected, "224 list\r\n1\t"+strings.Repeat("x", 1<<20)), "more than 65536 bytes", false},
		"a list of long lines":            {then(reader, "211 2 1 2 boats\r\n", "224 list\r\n1\t"+strings.Repeat("x", 60_000)+"\r\n2\t"+strings.Repeat("x", 60_000)+"\r\n.\r\n"), "more than it was asked for", false},
		"a long line in a list":           {then(selected, "224 list\r\n1\t"+strings.Repeat("x", 65_537)+"\r\n.\r\n"), "more than 65536 bytes", false},
		"a list without an end":           {then(selected, "224 list\r\n"+strings.Repeat("1\ts\r\n", 1<<16)), "lists article 1, where", false},
		"an empty list without an end":    {then(selected, "224 list\r\n"+strings.Repeat("\r\n", 1<<16)), "is no number", false},
		"an article without an end":       {then(listed, "220 1 <1@a.example>\r\n"+strings.Repeat("x", 1<<20)), "", false}, // it is cut
		"answers without an end":          {then(hello, strings.Repeat("200 reader\r\n", 1<<16)), "GROUP boats: 200 reader", false},
		// Other protocols.
		"is another":                    {[]string{"SSH-2.0-OpenSSH_9.2\r\n"}, "is no NNTP: SSH-2.0-OpenSSH_9.2", false},
		"is one of mail":                {[]string{"220 mail.example ESMTP\r\n"}, "220 mail.example ESMTP", false},
		"answers in bytes":              {then(hello, "\x00\xff\x1b[2J\r\n"), "is no NNTP: \ufffd\ufffd\ufffd[2J", false},
		"lines without CR":              {[]string{"200 hello\n"}, "does not end with CR LF", false},
		"an empty line":                 {then(hello, "\r\n"), "is no NNTP", false},
		"codes of four digits":          {then(hello, "2000 reader\r\n"), "is no NNTP", false},
		"codes of none":                 {then(hello, "-99 reader\r\n"), "is no NNTP", false},
		"control characters in answers": {then(reader, "411 no\x1b[2J\rsuch group\r\n"), "411 no\ufffd[2J\ufffdsuch group", false},
		// Refusals.
		"goes down":                         {[]string{"400 going down\r\n"}, "400 going down", true},
		"goes down when it is asked":        {then(reader, "400 going down\r\n"), "400 going down", true},
		"goes down before an article":       {then(listed, "400 going down\r\n"), "400 going down", true},
		"is out of order":                   {then(reader, "403 disk\r\n"), "403 disk", true},
		"lets nobody in":                    {[]string{"502 no\r\n"}, "the greeting: 502 no (it does not let this be read)", false},
		"has no readers":                    {then(hello, "502 transit only\r\n"), "MODE READER: 502 transit only", false},
		"does not let the group be read":    {then(reader, "502 no\r\n"), "GROUP boats: 502 no", false},
		"has no such group":                 {then(reader, "411 none\r\n"), "it has no such newsgroup", false},
		"asks for an account":               {then(reader, "480 who?\r\n"), "names no secret", false},
		"asks for an account later":         {then(listed, "480 who?\r\n"), "names no secret", false},
		"asks for an account as a greeting": {[]string{"480 who?\r\n"}, "names no secret", false},
		"asks for TLS":                      {then(reader, "483 TLS\r\n", "580 no\r\n"), "makes none by STARTTLS", false},
		"asks for TLS at once":              {then(hello, "483 TLS\r\n", "580 no\r\n"), "makes none by STARTTLS", false},
		"asks for TLS for the list":         {then(selected, "483 TLS\r\n"), "makes none by STARTTLS", false},
		"knows no lists":                    {then(selected, "500 what?\r\n", "500 what?\r\n"), "XOVER: 500 what?", false},
		"knows no readers":                  {then(hello, "500 what?\r\n", "211 0 1 0 boats\r\n"), "", false},
		// Lies.
		"no marks":                           {then(reader, "211 boats\r\n"), "does not tell the numbers", false},
		"marks that are none":                {then(reader, "211 x y z boats\r\n"), "is no number", false},
		"marks below 0":                      {then(reader, "211 1 -1 -1 boats\r\n"), "is no number", false},
		"marks beyond all":                   {then(reader, "211 1 1 99999999999999999999 boats\r\n"), "is no number", false},
		"articles beyond those asked for":    {then(selected, "224 list\r\n2\ts\r\n.\r\n"), "lists article 2, where those from 1 to 1", false},
		"articles below those asked for":     {then(selected, "224 list\r\n0\ts\r\n.\r\n"), "lists article 0, where", false},
		"articles twice":                     {then(reader, "211 2 1 2 boats\r\n", "224 list\r\n2\ts\r\n2\ts\r\n.\r\n"), "lists article 2, where", false},
		"articles in another order":          {then(reader, "211 2 1 2 boats\r\n", "224 list\r\n2\ts\r\n1\ts\r\n.\r\n"), "lists article 1, where", false},
		"an article that is another":         {then(listed, strings.Replace(whole, "220 1", "220 7", 1)), "article 1 was asked for", false},
		"an article that has no number":      {then(listed, strings.Replace(whole, "220 1", "220", 1)), "article 1 was asked for", false},
		"no article, though it is listed":    {then(listed, "423 gone\r\n"), "", false},
		"no list, though there are articles": {then(selected, "423 none\r\n"), "", false},
		"the answer to another command":      {then(listed, "224 list\r\n.\r\n"), "ARTICLE: 224 list", false},
		"an article with an answer in it":    {then(listed, strings.Replace(whole, "text\r\n", "text\n.\n220 2 <evil@a.example>\r\n\r\n", 1)), "", false},
		"an article of nothing":              {then(listed, "220 1 <1@a.example>\r\n.\r\n"), "", false},
		"an article that is whole":           {then(listed, whole), "", false},
		"a Message-ID that is none":          {then(listed, "220 1 <1@a.example\r\n\r\n.\r\n"), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := scripted(t, c.script)
			r := newReader(t)
			r.options.MaxSize, r.options.Timeout = 1000, pipeline.Duration(2*time.Second)
			before := known(1)
			got := r.visit("nntp://"+address+"/boats", before)
			why := got.Visit.Error
			if got.Err != nil {
				why += got.Err.Error()
			}
			if !strings.Contains(why, c.wants) || (why == "") != (c.wants == "") || (got.Err != nil) != c.later {
				t.Errorf("it fails of %q, and is asked again: %v", why, got.Err != nil)
			}
			if kept := string(got.Visit.State) == string(before.Visit.State); c.wants != "" && !kept {
				t.Errorf("known is %s", got.Visit.State)
			}
			if len(got.Documents) > 1 || len(got.Documents) == 1 && len(got.Documents[0].Body) > 1000 {
				t.Errorf("%d documents", len(got.Documents))
			}
		})
	}
}

// TestServersThatWantThePassword get it over TLS alone, whatever they say, and a text that repeats it is not shown.
func TestServersThatWantThePassword(t *testing.T) {
	t.Parallel()
	reader := []string{"200 hello\r\n", "200 reader\r\n"}
	for name, c := range map[string]struct {
		script   []string // what comes for STARTTLS, and then
		insecure bool
		wants    string
	}{
		"strips STARTTLS":               {[]string{"502 what?\r\n"}, false, "is not sent by plain nntp"},
		"knows no STARTTLS":             {[]string{"500 what?\r\n"}, false, "is not sent by plain nntp"},
		"cannot now":                    {[]string{"580 no\r\n"}, false, "is not sent by plain nntp"},
		"claims to be secure":           {[]string{"281 you are in\r\n"}, false, "is not sent by plain nntp"},
		"speaks on before TLS":          {[]string{"382 go on\r\n281 you are in\r\n"}, false, "between STARTTLS and the secure connection"},
		"speaks on instead of TLS":      {[]string{"382 go on\r\n", "281 you are in\r\n"}, false, "no secure connection can be made"},
		"repeats the password":          {[]string{"500 what?\r\n", "381 go on\r\n", "599 " + password + "\r\n"}, true, "the answer holds the secret"},
		"repeats the password as it is": {[]string{"500 what?\r\n", "381 go on\r\n", password + "\r\n"}, true, "the answer holds the secret"},
		"goes down with the password":   {[]string{"500 what?\r\n", "381 go on\r\n", "400 " + password + "\r\n"}, true, "the answer holds the secret"},
		"takes no account":              {[]string{"500 what?\r\n", "502 no\r\n"}, true, "it takes no account"},
		"refuses the account":           {[]string{"500 what?\r\n", "381 go on\r\n", "481 no\r\n"}, true, "does not accept secret"},
		"refuses the account as of old": {[]string{"500 what?\r\n", "381 go on\r\n", "482 no\r\n"}, true, "does not accept secret"},
		"asks for TLS with the account": {[]string{"500 what?\r\n", "483 TLS\r\n"}, true, "makes none by STARTTLS"},
		"asks for another":              {[]string{"500 what?\r\n", "281 hello\r\n", "480 who?\r\n"}, true, "another account than that of secret news"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := scripted(t, append(slices.Clone(reader), c.script...))
			r := newReader(t).logsIn(address, password, c.insecure)
			r.options.Timeout = pipeline.Duration(5 * time.Second)
			before := known(1)
			got := r.visit("nntp://"+address+"/boats", before)
			why := got.Visit.Error
			if got.Err != nil {
				why += got.Err.Error()
			}
			if !strings.Contains(why, c.wants) || string(got.Visit.State) != string(before.Visit.State) {
				t.Errorf("it fails of %q, known is %s", why, got.Visit.State)
			}
		})
	}
}

// TestACertificateOfAnother is no secure connection, from the beginning and after STARTTLS.
func TestACertificateOfAnother(t *testing.T) {
	t.Parallel()
	for scheme, security := range map[string]newsserver.Security{"nntps": newsserver.TLS, "nntp": newsserver.STARTTLS} {
		s, _ := boats(t, newsserver.Options{Security: security, Account: true})
		_, port, _ := net.SplitHostPort(s.Address)
		r := newReader(t).logsIn("localhost:"+port, password, false)
		got := r.visit(scheme+"://localhost:"+port+"/boats", nil)
		if !strings.Contains(got.Visit.Error, "no secure connection can be made") || strings.Contains(s.Said(), "AUTHINFO") {
			t.Errorf("%s: %q, %v", scheme, got.Visit.Error, got.Err)
		}
	}
}

// TestNumbersWithoutEnd: a group that claims more numbers than can ever be listed costs a visit some thousand commands,
// and the next one goes on.
func TestNumbersWithoutEnd(t *testing.T) {
	t.Parallel()
	address := answering(t, func(line string) string {
		switch verb, _, _ := strings.Cut(line, " "); verb {
		case "MODE":
			return "200 reader"
		case "GROUP":
			return fmt.Sprintf("211 1 1 %d boats", mostNumber)
		case "OVER":
			return "423 none"
		}
		return "205 bye"
	})
	r := newReader(t)
	first := r.visit("nntp://"+address+"/boats", nil)
	if is, err := readState(first.Visit.State); first.Visit.Error != "" || first.Err != nil || is.Next != mostNumber+1 || err != nil {
		t.Errorf("%q, %v: known is %s", first.Visit.Error, first.Err, first.Visit.State)
	}
	next := int64(1)
	for range 2 {
		got := r.visit("nntp://"+address+"/boats", known(next))
		is, err := readState(got.Visit.State)
		if got.Visit.Error != "" || got.Err != nil || is.Next < next+(mostRanges-10)*widest || is.Next > next+mostRanges*widest || err != nil {
			t.Errorf("%q, %v: known is %s", got.Visit.Error, got.Err, got.Visit.State)
		}
		next = is.Next
	}
}

// TestArticlesOfDots are not more than was asked for.
func TestArticlesOfDots(t *testing.T) {
	t.Parallel()
	s, source := boats(t, newsserver.Options{})
	dots := post("boats", "dots@a.example", "dots") + strings.Repeat(".\r\n", 300_000)
	s.Receive(t, dots)
	r := newReader(t)
	r.options.MaxSize = pipeline.Size(len(dots) + 100)
	if got := r.visit(source, nil); len(got.Documents) != 1 || got.Documents[0].Truncated || string(got.Documents[0].Body) != dots {
		t.Errorf("%d documents: %q, %v", len(got.Documents), got.Visit.Error, got.Err)
	}
}

// answering starts a server that answers each line.
func answering(t *testing.T, answer func(line string) string) (address string) {
	t.Helper()
	return agenttest.Listen(t, "127.0.0.1:0", func(conn net.Conn) {
		conn.SetDeadline(time.Now().Add(time.Minute))
		io.WriteString(conn, "200 hello\r\n")
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			if _, err := io.WriteString(conn, answer(lines.Text())+"\r\n"); err != nil {
				return
			}
		}
	})
}

// scripted starts a server that sends the parts of a script.
func scripted(t *testing.T, script []string) (address string) {
	t.Helper()
	return agenttest.Listen(t, "127.0.0.1:0", func(conn net.Conn) { speak(t, conn, script) })
}

// speak sends a script to one client: the first part at once, and each other when it has read a command. A part "close"
// ends the connection; when all is said, the client is listened to.
func speak(t *testing.T, conn net.Conn, script []string) {
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	lines := bufio.NewReader(conn)
	read := func() (line string, ok bool) {
		line, err := lines.ReadString('\n')
		if writes.MatchString(line) {
			t.Errorf("said: %q", line)
		}
		return line, err == nil
	}
	for i, text := range script {
		if text == "close" {
			return
		}
		if i > 0 {
			if _, ok := read(); !ok {
				return
			}
		}
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
	}
	for {
		line, ok := read()
		if !ok {
			return
		}
		if line == "QUIT\r\n" {
			io.WriteString(conn, "205 bye\r\n")
			return
		}
	}
}
