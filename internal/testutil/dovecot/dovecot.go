// Package dovecot runs dovecot, as Debian's package dovecot-imapd has installed it, as a mail server for tests: by an
// ordinary user, on loopback, at ports of its own. Its one account has a Maildir, in which tests put, move and look at
// messages as files.
package dovecot

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"text/template"

	"github.com/webrace/webrace/internal/testutil"
)

// The account.
const (
	User     = "eleni"
	Password = "hush-5e1c-hush"
)

// Server is a mail server.
type Server struct {
	IMAP  string // its address where TLS is asked for by STARTTLS
	IMAPS string // and where it speaks TLS from the beginning

	dir   string
	count int // of messages that it has got
}

const program = "/usr/sbin/dovecot"

var config = template.Must(template.New("").Parse(`
base_dir = {{.Dir}}/base
state_dir = {{.Dir}}/state
log_path = {{.Dir}}/log
protocols = imap
listen = {{.Host}}
default_internal_user = {{.User}}
default_login_user = {{.User}}
default_internal_group = {{.Group}}
first_valid_uid = 1
ssl = yes
ssl_cert = <{{.Dir}}/certificate.pem
ssl_key = <{{.Dir}}/certificate.pem
disable_plaintext_auth = yes
mail_location = maildir:{{.Dir}}/mail
auth_failure_delay = 0
mail_max_userip_connections = 100
rawlog_dir = {{.Dir}}/said
passdb {
  driver = static
  args = password={{.Password}}
}
userdb {
  driver = static
  args = uid={{.User}} gid={{.Group}} home={{.Dir}}
}
service imap-login {
  chroot =
  inet_listener imap {
    port = {{.IMAP}}
  }
  inet_listener imaps {
    port = {{.IMAPS}}
    ssl = yes
  }
}
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
`))

// New starts a server with an empty inbox and a certificate by an authority, until the test ends. It skips the test
// where dovecot is not installed.
func New(t testing.TB, by *testutil.Authority) *Server {
	t.Helper()
	if _, err := os.Stat(program); err != nil {
		t.Skip("dovecot is not installed (apt-get install dovecot-imapd)")
	}
	dir, err := os.MkdirTemp("", "dovecot-") // the paths of its sockets may have 108 bytes, and t.TempDir lets no other user in
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{dir: dir, IMAP: testutil.FreeAddress(t)}
	host, imap, err := net.SplitHostPort(s.IMAP)
	if err != nil {
		t.Fatal(err)
	}
	imaps := freePort(t, host)
	s.IMAPS = net.JoinHostPort(host, imaps)
	writeCertificate(t, by, host, filepath.Join(dir, "certificate.pem"))
	name, group := account(t)
	var text bytes.Buffer
	values := map[string]string{"Dir": dir, "Host": host, "IMAP": imap, "IMAPS": imaps, "User": name, "Group": group, "Password": Password}
	if err := config.Execute(&text, values); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "conf"), text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"base", "state", "said", "mail/cur", "mail/new", "mail/tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := giveAway(dir); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	return s
}

// freePort returns a port of a host at which nothing listens.
func freePort(t testing.TB, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// writeCertificate writes a certificate for a host, and its key, into one file.
func writeCertificate(t testing.TB, by *testutil.Authority, host, file string) {
	t.Helper()
	c, err := by.Issue(host, "localhost")
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// account returns the names of the user that the server runs as, and of its group.
func account(t testing.TB) (name, group string) {
	t.Helper()
	if os.Geteuid() == 0 {
		return ordinary, ordinaryGroup
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	mine, err := user.LookupGroupId(me.Gid)
	if err != nil {
		t.Fatal(err)
	}
	return me.Username, mine.Name
}

// run starts dovecot, waits until it answers, and has it end with the test.
func (s *Server) run(t testing.TB) {
	t.Helper()
	c := exec.Command(program, "-F", "-c", filepath.Join(s.dir, "conf"))
	var complaints testutil.Buffer
	c.Dir, c.Stdout, c.Stderr, c.SysProcAttr = s.dir, &complaints, &complaints, attributes()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		if err := c.Process.Signal(syscall.SIGTERM); err == nil { // it ends its own processes
			<-ended
		}
	})
	testutil.Await(t, "dovecot to answer", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("dovecot has ended: %v\n%s%s", err, complaints.String(), s.Log(t))
		default:
		}
		for _, address := range []string{s.IMAP, s.IMAPS} {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				return false
			}
			conn.Close()
		}
		return true
	})
}

// Log is what the server has logged.
func (s *Server) Log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// Sessions is how many times a client was let in.
func (s *Server) Sessions(t testing.TB) int { return len(s.sessions(t)) }

// sessions are the files of what clients have said.
func (s *Server) sessions(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "said", "*.in"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Said is what clients have said after they were let in, decrypted: of one session after the other the lines, each
// behind the time at which it came.
func (s *Server) Said(t testing.TB) string {
	t.Helper()
	var all strings.Builder
	for _, file := range s.sessions(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s\n", text)
	}
	return all.String()
}
