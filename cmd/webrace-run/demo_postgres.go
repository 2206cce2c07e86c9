package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
)

// demoDatabase returns an empty database: that of the environment's WEBRACE_DATABASE, or one on a server that is
// started for it, and ended and removed by stop.
func demoDatabase(ctx context.Context) (address string, stop func(), err error) {
	if address = os.Getenv("WEBRACE_DATABASE"); address != "" {
		return address, func() {}, nil
	}
	bin := postgresPrograms()
	if bin == "" {
		return "", nil, errors.New("a cluster needs PostgreSQL, 13 or later, and none is installed here: apt-get install postgresql, " +
			"dnf install postgresql-server or brew install postgresql; or name an empty database on another machine, " +
			"WEBRACE_DATABASE=postgres://USER@HOST/DATABASE")
	}
	dir, err := os.MkdirTemp("", "webrace-demo-postgres-")
	if err != nil {
		return "", nil, err
	}
	s := &demoServer{bin: bin, dir: dir}
	if address, err = s.start(ctx); err != nil {
		return "", nil, errors.Join(fmt.Errorf("start PostgreSQL for the demo: %w", err), os.RemoveAll(dir))
	}
	return address, s.stop, nil
}

// debianPrograms is where Debian has what makes a server, in no path.
var debianPrograms = "/usr/lib/postgresql/*/bin/initdb"

// postgresPrograms returns the folder of initdb and pg_ctl; empty if there is none.
func postgresPrograms() string {
	if found, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(found)
	}
	found, _ := filepath.Glob(debianPrograms) // the pattern is well-formed
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

// demoServer is a server of PostgreSQL, for a while.
type demoServer struct{ bin, dir string }

func (s *demoServer) start(ctx context.Context) (address string, err error) {
	if os.Geteuid() == 0 { // as whom the server does not run
		postgres, err := user.Lookup("postgres")
		if err != nil {
			return "", err
		}
		uid, _ := strconv.Atoi(postgres.Uid) // digits, where there is a root
		gid, _ := strconv.Atoi(postgres.Gid)
		if err := os.Chown(s.dir, uid, gid); err != nil {
			return "", err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String()) // it has one
	if err := listener.Close(); err != nil {
		return "", err
	}
	if err := s.run(ctx, "initdb", "-D", s.data(), "-U", "webrace", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return "", err
	}
	options := fmt.Sprintf("-h 127.0.0.1 -p %s -k '' -c fsync=off -c max_connections=200", port)
	err = s.run(ctx, "pg_ctl", "-D", s.data(), "-w", "-l", filepath.Join(s.dir, "log"), "-o", options, "start")
	return "postgres://webrace@127.0.0.1:" + port + "/postgres?sslmode=disable", err
}

func (s *demoServer) data() string { return filepath.Join(s.dir, "data") }

func (s *demoServer) stop() {
	_ = s.run(context.Background(), "pg_ctl", "-D", s.data(), "-m", "immediate", "stop") // or it has ended
	os.RemoveAll(s.dir)
}

// run runs one of PostgreSQL's programs, as another user where this one is root.
func (s *demoServer) run(ctx context.Context, program string, args ...string) error {
	args = append([]string{filepath.Join(s.bin, program)}, args...)
	if os.Geteuid() == 0 {
		args = append([]string{"runuser", "-u", "postgres", "--"}, args...)
	}
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Dir = s.dir
	said, err := os.Create(filepath.Join(os.TempDir(), filepath.Base(s.dir)+"."+program)) // not a pipe, which the server would keep open
	if err != nil {
		return err
	}
	defer os.Remove(said.Name())
	defer said.Close()
	c.Stdout, c.Stderr = said, said
	if err := c.Run(); err != nil {
		text, _ := os.ReadFile(said.Name()) // as much as can be told
		return fmt.Errorf("%s: %w\n%s", program, err, text)
	}
	return nil
}
