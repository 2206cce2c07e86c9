package agent

import (
	"crypto/tls"
	"io"
	"net"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/stages/internal/agent/agenttest"
)

const (
	hello = "+ hello\r\n"
	in    = "+ in\r\n"
	// mostGrowth is how much memory a visit may take, with the server that is in the same process.
	mostGrowth = 64 << 20
)

// misbehaviour is what a server does, and what comes of a visit then.
type misbehaviour struct {
	name   string
	secure *tls.Config // nil for a server that speaks no TLS
	does   func(peer)
	wants  string // what the reason has
	again  bool   // the network failed: it is asked again soon
	passed int    // documents that were passed on before
}

// says sends the lines of a server, each but the first when a command has come; then it does something.
func says(then func(peer), texts ...string) func(peer) {
	return func(p peer) {
		if p.say(texts...) && then != nil {
			then(p)
		}
	}
}

func floods(text string) func(peer) { return func(p peer) { p.flood(text) } }

func stalls(p peer) { p.stall() }

// drips sends a text again and again, a byte at a time.
func drips(text string) func(peer) {
	return func(p peer) {
		for i := 0; ; i++ {
			if _, err := io.WriteString(p, text[i%len(text):][:1]); err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond) // is what it does: it answers so slowly
		}
	}
}

const (
	tooMuch   = "more than it was asked for"
	timeout   = "i/o timeout"
	tooLate   = "context deadline exceeded"
	untrusted = "no secure connection can be made"
)

var (
	list  = []string{hello, in, "+ 1 new\r\n"}
	first = append(append([]string{}, list...), "+ 3\r\nabc")
)

// plainly are misbehaviours of servers that speak no TLS.
var plainly = []misbehaviour{
	{"closes at once", nil, func(peer) {}, "EOF", true, 0},
	{"resets the connection", nil, reset, "connection reset", true, 0},
	{"never greets", nil, stalls, timeout, true, 0},
	{"greets a letter at a time", nil, drips("+ hello"), timeout, true, 0},
	{"sends empty lines for a greeting", nil, floods("\r\n"), "the greeting", false, 0},
	{"is full", nil, says(nil, "- full\r\n"), ": - full", false, 0},
	{"is a server of the web", nil, says(nil, "HTTP/1.1 400 Bad Request\r\n\r\n"), "HTTP/1.1 400", false, 0},
	{"is a server of SSH", nil, says(nil, "SSH-2.0-OpenSSH_9.2\r\n"), "SSH-2.0", false, 0},
	{"greets by a record of TLS", nil, says(nil, "\x15\x03\x01\x00\x02\x02\x46\n"), "the greeting", false, 0},
	{"greets by zeros", nil, floods("\x00"), tooMuch, false, 0},
	{"greets by a line without an end", nil, says(floods("x"), "+ "), tooMuch, false, 0},
	{"greets by half a line, and goes", nil, says(nil, "+ hel"), "EOF", true, 0},
	{"greets twice", nil, says(stalls, hello+hello, in, in), "is no list", false, 0},
	{"goes before the login", nil, says(nil, hello), "LOGIN", true, 0},
	{"refuses the login", nil, says(nil, hello, "-\r\n"), "does not accept secret mail", false, 0},
	{"lets nobody in for now", nil, says(nil, hello, "~ later\r\n"), "later", true, 0},
	{"lets nobody in for now, in colours", nil, says(nil, hello, "~ \x1b[31mlater\r\n"), "[31mlater", true, 0},
	{"lets nobody in for now, and repeats the password", nil, says(nil, hello, "~ not "+password+"\r\n"), "the answer holds the secret", true, 0},
	{"never answers the login", nil, says(stalls, hello, ""), timeout, true, 0},
	{"answers the login without an end", nil, says(floods("x"), hello, ""), tooMuch, false, 0},
	{"repeats the password", nil, says(nil, hello, "! wrong: "+password+"\r\n"), "the answer holds the secret", false, 0},
	{"repeats the password as SASL sends it", nil, says(nil, hello, "! AGVsZW5pAGh1c2gtOWEzYi1odXNo\r\n"), "the answer holds the secret", false, 0},
	{"writes to the reader's terminal", nil, says(nil, hello, "! \x1b[2J\x1b]0;x\x07\x9b1m\x7f\u202e\r\n"), "LOGIN: !", false, 0},
	{"answers in what is no UTF-8", nil, says(nil, hello, "! na\xefve \xff\xfe\r\n"), "LOGIN: ! na", false, 0},
	{"answers in a page", nil, says(nil, hello, "! "+strings.Repeat("long ", 5000)+"\r\n"), "LOGIN: ! long", false, 0},
	{"has no such source", nil, says(nil, hello, in, "! no such\r\n"), "LIST: ! no such", false, 0},
	{"goes before the list", nil, says(nil, hello, in), "LIST", true, 0},
	{"lists without an end", nil, says(floods("1"), hello, in, "+ "), tooMuch, false, 0},
	{"lists fewer than none", nil, says(nil, hello, in, "+ -1 new\r\n"), "is no list", false, 0},
	{"lists more than a number", nil, says(nil, hello, in, "+ 99999999999999999999 new\r\n"), "is no list", false, 0},
	{"lists more than there are", nil, says(nil, hello, in, "+ 2000000000 new\r\n", "+ 3\r\nabc"), "GET", true, 1},
	{"is to be known by more than can be", nil, says(nil, hello, in, "+ 0 "+strings.Repeat("x", 65537)+"\r\n"), "at most 65536", false, 0},
	{"sends nothing", nil, says(stalls, append(list, "")...), timeout, true, 0},
	{"sends a size that is none", nil, says(nil, append(list, "+ many\r\n")...), "is no size", false, 0},
	{"sends fewer bytes than none", nil, says(nil, append(list, "+ -5\r\n")...), "is no size", false, 0},
	{"goes in the middle of a document", nil, says(nil, append(list, "+ 100\r\nabc")...), "unexpected EOF", true, 0},
	{"stops in the middle of a document", nil, says(stalls, append(list, "+ 100\r\nabc")...), timeout, true, 0},
	{"sends a document a byte at a time", nil, says(drips("x"), append(list, "+ 1000\r\n")...), timeout, true, 0},
	{"sends a document of a terabyte", nil, says(floods("x"), append(list, "+ 1099511627776\r\n")...), "", false, 1},
	{"sends a document of the year 2099", nil, says(nil, append(list, "+ 3 2099-01-01T00:00:00Z\r\nabc")...), "", false, 1},
	{"sends more than the document", nil, says(floods("x"), hello, in, "+ 2 new\r\n", "+ 3\r\nabc", ""), tooMuch, false, 1},
	{"goes after the first document", nil, says(nil, hello, in, "+ 2 new\r\n", "+ 3\r\nabc"), "GET", true, 1},
	{"says more when all is said", nil, says(floods("x"), first...), "", false, 1},
}

// secretly are those of servers that speak TLS, or are to.
func secretly(t *testing.T) []misbehaviour {
	other, err := testutil.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	good := func() *tls.Config { return certified(t, agenttest.Authority, "127.0.0.1") }
	old := good()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	asks := good()
	asks.ClientAuth = tls.RequireAnyClientCert
	long := good()
	for range 1000 { // certificates between it and the agenttest.Authority, of which none leads there
		c, err := other.Issue("127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		long.Certificates[0].Certificate = append(long.Certificates[0].Certificate, c.Certificate[0])
	}
	return []misbehaviour{
		{"speaks no TLS", nil, says(nil, hello), untrusted, false, 0},
		{"never shakes hands", nil, stalls, tooLate, true, 0},
		{"goes while it shakes hands", nil, func(peer) {}, "EOF", true, 0},
		{"shakes hands with zeros", nil, floods("\x00"), untrusted, false, 0},
		{"shakes hands a byte at a time", nil, drips("\x16\x03\x03\x3f\xff\x02\x00\x3f\xfb"), tooLate, true, 0},
		{"shakes hands without an end", nil, floods("\x16\x03\x03\x00\x04\x0b\xff\xff\xff"), "tls:", true, 0},
		{"has a certificate for another host", certified(t, agenttest.Authority, "mail.example"), says(nil, hello), untrusted, false, 0},
		{"has a certificate by another agenttest.Authority", certified(t, other, "127.0.0.1"), says(nil, hello), untrusted, false, 0},
		{"has a certificate that is none", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{{1, 2, 3}}, PrivateKey: good().Certificates[0].PrivateKey}}}, says(nil, hello), "tls:", true, 0},
		{"has a chain of 1000 certificates", long, says(nil, hello), "exceeds maximum", true, 0},
		{"speaks TLS of 2006 alone", old, says(nil, hello), "protocol version", true, 0},
		{"asks for a certificate", asks, says(nil, hello), "certificate required", true, 0},
		{"greets by TLS without an end", good(), says(floods("x"), "+ "), tooMuch, false, 0},
		{"greets by records of a byte", good(), func(p peer) {
			for {
				if _, err := p.Write([]byte("x")); err != nil {
					return
				}
			}
		}, tooMuch, false, 0},
		{"goes without the end of TLS", good(), says(nil, append(list, "+ 100\r\nabc")...), "EOF", true, 0},
		{"sends a record that is none", good(), says(func(p peer) {
			io.WriteString(p.Conn.(*tls.Conn).NetConn(), "\x17\x03\x03\x00\x20"+strings.Repeat("x", 32))
		}, hello), "bad record MAC", true, 0},
		{"goes from TLS to none", good(), says(func(p peer) { io.WriteString(p.Conn.(*tls.Conn).NetConn(), in) }, hello), "tls:", true, 0},
	}
}

// reset ends a connection by RST.
func reset(p peer) {
	p.Conn.(*net.TCPConn).SetLinger(0)
	p.Conn.Close()
}

// TestServersThatMisbehave have visits come to an end: by an outcome, or by another try later. What was known of the
// source stays, nothing reaches a terminal that is not text, and no visit takes more memory than it may.
func TestServersThatMisbehave(t *testing.T) { // alone, since it watches the memory of the process
	for scheme, all := range map[string][]misbehaviour{"imap": plainly, "imaps": secretly(t)} {
		for _, c := range all {
			t.Run(scheme+" "+c.name, func(t *testing.T) { mustEndIn(t, c, scheme) })
		}
	}
	if n := len(plainly) + len(secretly(t)); n < 40 {
		t.Errorf("%d misbehaviours", n)
	}
}

func mustEndIn(t *testing.T, c misbehaviour, scheme string) {
	address := serve(t, c.secure, func(p peer) {
		if scheme == "imaps" && c.secure == nil {
			hearsTLS(p, c.does)
			return
		}
		c.does(p)
	})
	grown := watchMemory()
	o := quick()
	if c.wants != timeout { // also where the machine is busy
		o.Timeout = Defaults.Timeout
	}
	if c.wants != tooLate {
		o.ConnectTimeout = Defaults.ConnectTimeout
	}
	got := read(t, o, basicAccount(t, address, true), scheme+"://"+address+"/box", "old", 1)
	memory := grown()
	t.Logf("%q; again %t; %d documents; %d KB", got.Why(), got.Err != nil, len(got.Documents), memory>>10)
	if !strings.Contains(got.Why(), c.wants) || (got.Why() == "") != (c.wants == "") || (got.Err != nil) != c.again {
		t.Errorf("it ends by %q, and is asked again %t", got.Why(), got.Err != nil)
	}
	if known := string(got.Visit.State); (known == "old") != (c.wants != "") {
		t.Errorf("known is %q", known)
	}
	if len(got.Documents) != c.passed {
		t.Errorf("%d documents", len(got.Documents))
	}
	for _, d := range got.Documents {
		if d.At.After(time.Now()) {
			t.Errorf("a document of %v", d.At)
		}
	}
	if why := got.Why(); !utf8.ValidString(why) || strings.ContainsFunc(why, func(r rune) bool { return !unicode.IsPrint(r) }) || len(why) > 1000 || strings.Contains(why, password) {
		t.Errorf("the reason is %q", why)
	}
	if memory > mostGrowth {
		t.Errorf("%d MB of memory", memory>>20)
	}
}

// hearsTLS has a server without TLS wait for the first words of a client that speaks it.
func hearsTLS(p peer, then func(peer)) {
	if _, err := p.lines.Peek(5); err == nil {
		then(p)
	}
}

// watchMemory returns a function that returns by how much the heap has grown at most until it is called.
func watchMemory() (grown func() uint64) {
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before, most := heap(), uint64(0)
	enough, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			most = max(most, heap())
			select {
			case <-enough:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(enough)
		<-done
		return max(most, before) - before
	}
}

// TestALoginIsNotTriedAgainAndAgain: what a server refuses three times in a row is not sent for a while, and a server
// that goes away instead of answering has refused nothing.
func TestALoginIsNotTriedAgainAndAgain(t *testing.T) {
	t.Parallel()
	tried := make(chan string, 100)
	notes := func(answer string) func(peer) {
		return func(p peer) {
			if !p.say(hello) {
				return
			}
			if line, err := p.lines.ReadString('\n'); err == nil {
				tried <- line
				io.WriteString(p, answer)
			}
		}
	}
	address := serve(t, nil, notes("-\r\n"))
	got := read(t, quick(), basicAccount(t, address, true), "imap://"+address+"/box", "", 6)
	if n := len(tried); n != 3 || got.Counters["secrets_paused"] != 1 || got.Counters["secret_refused"] != 3 {
		t.Errorf("tried %d times, %v, %q", n, got.Counters, got.Why())
	}
	for len(tried) > 0 {
		<-tried
	}
	address = serve(t, nil, notes(""))
	if got := read(t, quick(), basicAccount(t, address, true), "imap://"+address+"/box", "", 6); len(tried) != 6 || got.Counters["network_failures"] != 6 {
		t.Errorf("tried %d times, %v, %q", len(tried), got.Counters, got.Why())
	}
}

// TestAPasswordIsNotSentInTheOpen, unless the secret was stored as one that may be, nor to another host.
func TestAPasswordIsNotSentInTheOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host     string
		insecure bool
		wants    string
	}{{"", false, "is not sent by plain imap"}, {"mail.example", true, "secret mail is not for"}} {
		said := make(chan string, 1)
		address := serve(t, nil, says(func(p peer) {
			all, _ := io.ReadAll(p.lines) // until it goes
			said <- string(all)
		}, hello))
		host := c.host
		if host == "" {
			host = address
		}
		got := read(t, quick(), basicAccount(t, host, c.insecure), "imap://"+address+"/box", "", 1)
		if all := <-said; all != "" || !strings.Contains(got.Why(), c.wants) || got.Err != nil {
			t.Errorf("it said %q, and fails of %q", all, got.Why())
		}
	}
}
