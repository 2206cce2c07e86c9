// Package postgres runs PostgreSQL servers for tests, of the newest version that Debian's packages have installed, on
// loopback.
//
// A server sorts as people do (ICU, en) and has a time zone of its own, so that a test fails where a program leaves
// either to the server. What a transaction has written is there after [Server.Kill], also without fsync: only a power
// loss would take it.
package postgres

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/webrace/webrace/internal/testutil"
)

// Options of a server.
type Options struct {
	Fsync bool // as in production; without it a commit takes a tenth of the time
}

// Server is a PostgreSQL server. Its address stays the same when it is started again.
type Server struct {
	bin, dir   string
	host, port string
	options    Options
	process    *exec.Cmd // nil while it is stopped

	mu   sync.Mutex
	kept *pgx.Conn // see execute; nil before the first statement
}

// New starts a server that ends with the test, or skips the test where PostgreSQL is not installed.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s := create(t, o)
	t.Cleanup(func() {
		if err := s.remove(); err != nil {
			t.Error(err)
		}
	})
	s.Start(t)
	return s
}

// create makes the data of a server, in a folder which belongs to the user that it runs as: t.TempDir lets no other
// user in.
func create(t testing.TB, o Options) *Server {
	t.Helper()
	bin := newest()
	if bin == "" {
		t.Skip("no PostgreSQL is installed (apt-get install postgresql)")
	}
	dir, err := os.MkdirTemp("", "webrace-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{bin: bin, dir: dir, options: o}
	if err := giveAway(dir); err != nil {
		t.Fatal(err)
	}
	if s.host, s.port, err = net.SplitHostPort(testutil.FreeAddress(t)); err != nil {
		t.Fatal(err)
	}
	s.copyEmpty(t)
	return s
}

// copyEmpty makes the data of a server as initdb does, which takes two seconds. What it makes stays in the folder for
// temporary files, under a name of its own for each version, user and set of options, and is copied.
func (s *Server) copyEmpty(t testing.TB) {
	t.Helper()
	options := []string{"-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale-provider=icu", "--icu-locale=en", "--locale=C.UTF-8", "--no-sync"}
	made := sha256.Sum256(fmt.Append(nil, s.run(t, "postgres", "--version"), account(), options))
	empty := filepath.Join(os.TempDir(), fmt.Sprintf("webrace-postgres-empty-%x", made[:8]))
	if !isOurs(empty) {
		s.run(t, "initdb", append([]string{"-D", s.data()}, options...)...)
		if os.Rename(s.data(), empty) != nil && !isOurs(empty) { // or another process was first
			t.Fatalf("%s is in the way: it is no data of PostgreSQL that tests have made", empty)
		}
	}
	s.run(t, "/bin/cp", "-a", empty, s.data())
}

// newest returns the folder with the programs of the newest version; empty if there is none.
func newest() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is well-formed
	version := func(program string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(program))))
		return n
	}
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) }))
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// command returns one of PostgreSQL's programs, or another by its path, to be run as a user that it accepts.
func (s *Server) command(program string, args ...string) *exec.Cmd {
	if !filepath.IsAbs(program) {
		program = filepath.Join(s.bin, program)
	}
	c := exec.Command(program, args...)
	// Each session is a process, which takes its memory in large pieces, as that is cheaper on virtual machines.
	c.Dir, c.Env = s.dir, []string{"MALLOC_TOP_PAD_=4194304", "LC_ALL=C.UTF-8", "HOME=" + s.dir, "PATH=" + s.bin + ":/usr/bin:/bin", "PGHOST=" + s.host, "PGPORT=" + s.port, "PGUSER=postgres"}
	c.SysProcAttr = attributes()
	return c
}

func (s *Server) run(t testing.TB, program string, args ...string) string {
	t.Helper()
	out, err := s.command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Start starts a server that was stopped or killed, on the same data, and waits until it can be used.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	sync := "off"
	if s.options.Fsync {
		sync = "on"
	}
	c := s.command("postgres", "-D", s.data(), "-h", s.host, "-p", s.port, "-k", "", "-c", "fsync="+sync,
		"-c", "max_connections=200", "-c", "timezone=Asia/Kathmandu")
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	s.process = c
	testutil.Await(t, "PostgreSQL is ready, or has ended", func() bool { return s.isReady(c.Process.Pid) || ended(c.Process.Pid) })
	if ended(c.Process.Pid) {
		written, _ := os.ReadFile(log.Name()) // as much as can be told
		t.Fatalf("PostgreSQL did not start:\n%s", written)
	}
}

// isReady reports whether the server of a process accepts connections, as it writes itself for pg_ctl.
func (s *Server) isReady(process int) bool {
	state, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	lines := bytes.Split(state, []byte("\n"))
	if err != nil || len(lines) <= 7 || string(lines[0]) != strconv.Itoa(process) {
		return false
	}
	status := strings.TrimSpace(string(lines[7]))
	return status == "ready" || status == "standby"
}

// Stop ends a server, its connections and their transactions ("fast").
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.process.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := s.process.Wait(); err != nil {
		t.Fatalf("PostgreSQL did not end well: %v", err)
	}
	s.process = nil
}

// Kill ends all processes of a server at once.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.kill(); err != nil {
		t.Fatal(err)
	}
}

// remove ends a server, if it runs, and removes its data.
func (s *Server) remove() error {
	if err := s.kill(); err != nil {
		return err
	}
	return os.RemoveAll(s.dir)
}

// URL returns the address of a database.
func (s *Server) URL(database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User("postgres"), Host: s.Address(), Path: database, RawQuery: "sslmode=disable"}).String()
}

// Query returns what a statement returns, about the server as a whole.
func (s *Server) Query(t testing.TB, statement string) string {
	t.Helper()
	return s.query(t, s.URL("postgres"), statement)
}

func (s *Server) query(t testing.TB, database, statement string) string {
	t.Helper()
	return strings.TrimSpace(s.run(t, "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", statement))
}

// Address is where the server listens.
func (s *Server) Address() string { return net.JoinHostPort(s.host, s.port) }

// Database makes an empty database, which goes with the test, and returns its URL. The server has to run by then.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", databases.Add(1))
	if err := s.execute("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.process == nil {
			return
		}
		if err := s.execute("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return s.URL(name)
}

// execute executes a statement about databases, on a connection that is kept for the next: a new one takes as long as
// the statement.
func (s *Server) execute(statement string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if s.kept == nil || s.kept.Ping(ctx) != nil { // the server was started again
		var err error
		if s.kept, err = pgx.Connect(ctx, s.URL("postgres")); err != nil {
			return err
		}
	}
	_, err := s.kept.Exec(ctx, statement)
	return err
}
