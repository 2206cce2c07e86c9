// Package mariadb runs a MariaDB server for the tests of a program, of Debian's package, on loopback.
package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/go-sql-driver/mysql" // the driver

	"github.com/webrace/webrace/internal/testutil"
)

// The account that may read all databases, and write them. It may write files of the server, too.
const (
	User     = "reader"
	Password = "hunter2-maria"
)

const accounts = `CREATE USER owner@'%';
GRANT ALL ON *.* TO owner@'%';
CREATE USER ` + User + `@'%' IDENTIFIED BY '` + Password + `';
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, FILE ON *.* TO ` + User + `@'%';
`

// Database is an empty database.
type Database struct {
	Address string // host and port of its server
	Name    string
	DB      *sql.DB // by an account that may do everything
}

// URL is the address of the database, without an account.
func (d *Database) URL() string { return "mariadb://" + d.Address + "/" + d.Name + "?tls=false" }

// server is one that is shared by the tests of a program.
type server struct {
	dir, address string
	process      *exec.Cmd
	all          *sql.DB
}

var shared struct {
	sync.Mutex
	server *server
	made   atomic.Int64
}

// Main runs the tests of a program, ends the server that they shared, and returns the status to exit with.
func Main(run func() int) (status int) {
	status = run()
	if shared.server == nil {
		return status
	}
	if err := shared.server.remove(); err != nil {
		fmt.Fprintln(os.Stderr, "remove the MariaDB server of the tests:", err)
		return 1
	}
	return status
}

// New makes an empty database on a server that all tests of the program share, whose TestMain calls [Main]. It skips
// the test where MariaDB is not installed.
func New(t testing.TB) *Database {
	t.Helper()
	s := start(t)
	d := &Database{Address: s.address, Name: fmt.Sprintf("test%d", shared.made.Add(1))}
	if _, err := s.all.ExecContext(context.Background(), "CREATE DATABASE "+d.Name+" CHARACTER SET utf8mb4"); err != nil {
		t.Fatal(err)
	}
	var err error
	if d.DB, err = sql.Open("mysql", "owner@tcp("+s.address+")/"+d.Name+"?parseTime=true"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.DB.Close() })
	return d
}

// start starts the shared server, unless it runs.
func start(t testing.TB) *server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		if shared.server.all == nil {
			t.Fatal("the MariaDB server of the tests did not start")
		}
		return shared.server
	}
	for _, program := range []string{"/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db"} {
		if _, err := os.Stat(program); err != nil {
			t.Skip("no MariaDB is installed (apt-get install mariadb-server)")
		}
	}
	dir, err := os.MkdirTemp("", "webrace-mariadb-") // t.TempDir lets no other user in
	if err != nil {
		t.Fatal(err)
	}
	s := &server{dir: dir, address: testutil.FreeAddress(t)}
	shared.server = s // before it runs, so that it is removed in any case
	if err := os.WriteFile(filepath.Join(dir, "accounts.sql"), []byte(accounts), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := giveAway(dir); err != nil {
		t.Fatal(err)
	}
	out, err := s.command("/usr/bin/mariadb-install-db", "--no-defaults", "--datadir="+filepath.Join(dir, "data"), "--skip-test-db", "--auth-root-authentication-method=normal").CombinedOutput()
	if err != nil {
		t.Fatalf("make the data of MariaDB: %v\n%s", err, out)
	}
	s.run(t)
	if s.all, err = sql.Open("mysql", "owner@tcp("+s.address+")/"); err != nil {
		t.Fatal(err)
	}
	testutil.Await(t, "MariaDB is ready", func() bool { return s.all.PingContext(context.Background()) == nil })
	return s
}

func (s *server) run(t testing.TB) {
	t.Helper()
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	host, port, _ := net.SplitHostPort(s.address) // as FreeAddress makes it
	in := func(name string) string { return filepath.Join(s.dir, name) }
	s.process = s.command("/usr/sbin/mariadbd", "--no-defaults", "--datadir="+in("data"), "--bind-address="+host, "--port="+port, "--socket="+in("socket"),
		"--init-file="+in("accounts.sql"), "--skip-name-resolve", "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=0",
		"--default-time-zone=+05:45", "--secure-file-priv=", "--local-infile=1", "--pid-file="+in("pid"))
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		s.process = nil
		t.Fatalf("start MariaDB: %v", err)
	}
}

// remove ends the server, if it runs, and removes its data.
func (s *server) remove() error {
	var closed error
	if s.all != nil {
		closed = s.all.Close()
	}
	if s.process != nil {
		_ = s.process.Process.Kill() // it may have ended
		_ = s.process.Wait()
	}
	return errors.Join(closed, os.RemoveAll(s.dir))
}

func (s *server) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Dir, c.Env = s.dir, []string{"HOME=" + s.dir, "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C.UTF-8"}
	c.SysProcAttr = attributes()
	return c
}
