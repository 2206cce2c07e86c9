// Package inn runs news servers for tests: INN 2.7 (InterNetNews), of Debian's packages inn2, inn2-inews and
// libcanlock3, which are unpacked in [Folder], and never installed: what they bring would be a mail server. As INN is,
// a server is there for other servers until a client sends MODE READER.
package inn

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// Folder is where the packages are unpacked.
const Folder = "/opt/inn"

// The account that a server knows, with what crypt makes of its password.
const (
	User     = "eleni"
	Password = "hush-6f1d-hush"
	crypted  = "$6$boats$oiJvTNyoGEPL7lrNppSaqA9IgLJeXC09aeHfORpeRiqpWy53WOmIdLaXkrDhl5fm8A4uZ7nW1NmZAND1LF48c."
)

// Options of a server.
type Options struct {
	Certificate *tls.Certificate // by which it speaks TLS when it is asked to; nil for a server that does not
	Account     bool             // groups are for the account alone
}

// Server is a news server.
type Server struct {
	Address string
	dir     string
}

// New starts a server with these groups, until the test ends; the test is skipped where that is not possible.
func New(t testing.TB, o Options, groups ...string) *Server {
	t.Helper()
	if _, err := os.Stat(program("innd")); err != nil {
		t.Skipf("INN is not unpacked in %s (.ci/run does that)", Folder)
	}
	if err := isNews(); err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp("", "webrace-inn-") // t.TempDir lets no other user in
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{dir: dir}
	for !s.start(t, o, groups) { // another program has taken the port meanwhile
	}
	return s
}

// start starts the program, and waits until it answers; false if it ends before.
func (s *Server) start(t testing.TB, o Options, groups []string) bool {
	t.Helper()
	s.Address = testutil.FreeAddress(t)
	if o.Certificate != nil { // it is that of 127.0.0.1, where others ask for free ports, too
		_, port, _ := net.SplitHostPort(s.Address)
		s.Address = net.JoinHostPort("127.0.0.1", port)
	}
	s.configure(t, o, groups)
	s.run(t, "makedbz", "-i", "-o", "-f", filepath.Join(s.dir, "db/history"))
	_, port, _ := net.SplitHostPort(s.Address)
	c := s.command("innd", "-f", "-N", "-P", port)
	var out testutil.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait() // it is killed, or has no port
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill() // it takes no notice of SIGTERM; or it has ended
		<-ended
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log/errlog")) // if it came that far
			t.Logf("innd: %s%s", out.String(), log)
		}
	})
	answers := false
	testutil.Await(t, "INN answers", func() bool {
		select {
		case <-ended:
			if !strings.Contains(out.String(), "cannot bind") {
				t.Fatalf("innd: %s", out.String())
			}
			return true
		default:
		}
		conn, err := textproto.Dial("tcp", s.Address)
		if err != nil {
			return false
		}
		defer conn.Close()
		_, text, err := conn.ReadCodeLine(200)
		answers = err == nil && strings.Contains(text, "INN")
		return answers
	})
	return answers
}

func program(name string) string { return filepath.Join(Folder, "usr/lib/news/bin", name) }

// command is one of INN's programs.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(program(name), args...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "INNCONF="+filepath.Join(s.dir, "etc/inn.conf"),
		"LD_LIBRARY_PATH="+Folder+"/usr/lib/news:"+Folder+"/usr/lib/x86_64-linux-gnu")
	c.SysProcAttr = attributes()
	return c
}

func (s *Server) run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// configure writes all files of a server: its settings, and stores that are empty.
func (s *Server) configure(t testing.TB, o Options, groups []string) {
	t.Helper()
	host, _, _ := net.SplitHostPort(s.Address)
	settings := fmt.Sprintf(`mta: "/bin/false"
organization: "Tests"
ovmethod: tradindexed
hismethod: hisv6
pathhost: news.example
domain: example
bindaddress: "%[3]s"
bindaddress6: "::1"
artcutoff: 0
icdsynccount: 1
enableoverview: true
wireformat: true
readertrack: true
pathnews: %[1]s/usr/lib/news
pathbin: %[1]s/usr/lib/news/bin
pathetc: %[2]s/etc
pathfilter: %[2]s/etc/filter
pathdb: %[2]s/db
pathrun: %[2]s/run
pathlog: %[2]s/log
pathhttp: %[2]s/log
pathspool: %[2]s/spool
pathtmp: %[2]s/spool/incoming/tmp
`, Folder, s.dir, host)
	readers := "auth anybody { hosts: \"*\"\n default: \"anybody\" }\n"
	if o.Account {
		readers = fmt.Sprintf("auth account { hosts: \"*\"\n auth: \"ckpasswd -f %s/etc/passwords\" }\n", s.dir)
	}
	if o.Certificate != nil {
		settings += fmt.Sprintf("tlscafile: %s/etc/cert.pem\ntlscertfile: %[1]s/etc/cert.pem\ntlskeyfile: %[1]s/etc/key.pem\n", s.dir)
	}
	active := "control 0000000000 0000000001 n\ncontrol.cancel 0000000000 0000000001 n\njunk 0000000000 0000000001 n\n"
	for _, g := range groups {
		active += g + " 0000000000 0000000001 y\n"
	}
	files := map[string]string{
		"etc/inn.conf": settings,
		// Articles lie by time, and not in the folders of their groups, by number: there those of a group that is made
		// anew would come in the place of old ones that are in other groups, too.
		"etc/storage.conf":  "method timehash {\n newsgroups: *\n class: 0\n}\n",
		"etc/incoming.conf": "streaming: true\nmax-connections: 100\npeer test { hostname: \"127.0.0.1\" }\n",
		"etc/newsfeeds":     "ME:*::\n",
		"etc/readers.conf":  readers + "access all { users: \"*\"\n newsgroups: \"*\" }\n",
		"etc/nnrpd.track":   "*:client\n",
		"etc/passwords":     User + ":" + crypted + "\n",
		"db/active":         active,
	}
	for _, empty := range []string{"etc/control.ctl", "etc/distributions", "etc/moderators", "db/newsgroups", "db/active.times", "db/history"} {
		files[empty] = ""
	}
	if o.Certificate != nil {
		files["etc/cert.pem"], files["etc/key.pem"] = certificate(t, o.Certificate)
	}
	for _, folder := range []string{"etc/filter", "db", "run", "log/tracklogs", "log/trackposts", "spool/articles", "spool/overview", "spool/incoming/tmp", "spool/outgoing"} {
		if err := os.MkdirAll(filepath.Join(s.dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := giveAway(s.dir); err != nil {
		t.Fatal(err)
	}
}

// certificate returns a certificate and its key as files have them.
func certificate(t testing.TB, c *tls.Certificate) (certificate, key string) {
	t.Helper()
	bytes, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes}))
}

// Create makes a group.
func (s *Server) Create(t testing.TB, group string) {
	s.run(t, "ctlinnd", "newgroup", group, "y", "test")
}

// Remove removes a group, with its articles.
func (s *Server) Remove(t testing.TB, group string) {
	t.Helper()
	s.run(t, "ctlinnd", "rmgroup", group)
}

// Cancel removes an article from all groups.
func (s *Server) Cancel(t testing.TB, id string) { s.run(t, "ctlinnd", "cancel", "<"+id+">") }

// Receive has a server take an article, as from another server.
func (s *Server) Receive(t testing.TB, article string) {
	t.Helper()
	_, id, _ := strings.Cut(article, "Message-ID: ")
	id, _, _ = strings.Cut(id, "\r\n")
	s.send(t, "IHAVE "+id, "Path: test!not-for-mail\r\n"+article, 335, 235)
}

// Post has a server take an article, as from a reader.
func (s *Server) Post(t testing.TB, article string) {
	t.Helper()
	s.send(t, "POST", article, 340, 240)
}

// send sends an article by a command, whose answers have these codes.
func (s *Server) send(t testing.TB, command, article string, goOn, taken int) {
	t.Helper()
	conn, err := textproto.Dial("tcp", s.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answer := func(wants int) {
		t.Helper()
		if code, text, err := conn.ReadCodeLine(wants); err != nil {
			t.Fatalf("%s: %d %s", command, code, text)
		}
	}
	say := func(wants int, line string) {
		t.Helper()
		if err := conn.PrintfLine("%s", line); err != nil {
			t.Fatal(err)
		}
		answer(wants)
	}
	answer(200)
	if command == "POST" {
		say(200, "MODE READER")
	}
	say(goOn, command)
	w := conn.DotWriter()
	if _, err := io.WriteString(w, article); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	answer(taken)
	say(205, "QUIT")
}

// Said is what the server has noted of its readers: each that came, and each article that one has posted.
func (s *Server) Said(t testing.TB) string {
	t.Helper()
	logs, _ := filepath.Glob(filepath.Join(s.dir, "log/track*/*")) // the pattern is well-formed
	var all bytes.Buffer
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s\n%s", filepath.Base(filepath.Dir(name)), text)
	}
	return all.String()
}
