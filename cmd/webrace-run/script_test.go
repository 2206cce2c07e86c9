package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/webrace/webrace/internal/testutil/mariadb"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage"
)

// programs are what scripts and tests run as a program, besides what there is on the machine.
var programs = map[string]func(){
	"webrace-run":   main,
	"webrace-store": main, // known by its name
}

func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector each program would end a second later
	testscript.Main(tests{m}, programs)
}

// tests are those of this program. They share a PostgreSQL server, and one of MariaDB.
type tests struct{ *testing.M }

func (t tests) Run() int { return mariadb.Main(func() int { return postgres.Main(t.M) }) }

// TestScripts runs the command as a person would: each file of testdata/script is a session.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of processes: not in short mode")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"holds": holds,
		},
	})
}

// exits runs a command and wants a status: exits STATUS COMMAND ARGUMENT…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ARGUMENT…")
	}
	status := 0
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("exit status %d, want %s", status, args[0])
	}
}

// holds opens a data directory until the script ends, and names the process that has it: holds DIR.
func holds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: holds DIR")
	}
	dir, err := storage.Open(ts.MkAbs(args[0]), storage.Options{})
	ts.Check(err)
	ts.Defer(func() { dir.Close() })
	ts.Setenv("PID", strconv.Itoa(os.Getpid()))
}
