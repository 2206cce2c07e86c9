package main

import (
	"errors"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/webrace/webrace/storage"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"webrace-store": mainOrThroughSocket})
}

// Scripts run the command as a user would. Beside it they have:
//
//	status N COMMAND…   runs a command that must end with this exit status
//	fill DIR            makes a data directory as a crawl leaves it behind; see fill
//	tell DIR OWNER N    stores N annotations for an owner; see tell
//	hold DIR            keeps a data directory locked until the script ends
//	terminal FILE COMMAND…  runs a command at a terminal, and writes what is seen there to a file (Linux)
func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, false, nil)
}

// While another process has the stores open, the same scripts see the same.
func TestScriptsWhileTheStoresAreInUse(t *testing.T) {
	t.Parallel()
	runScripts(t, true, func(e *testscript.Env) error {
		e.Setenv(throughSocket, "1")
		return nil
	})
}

// runScripts runs the scripts, which know by the condition in-use whether another process has the stores open.
func runScripts(t *testing.T, inUse bool, setup func(*testscript.Env) error) {
	if testing.Short() {
		t.Skip("hundreds of processes: not in short mode")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
		Setup:               setup,
		Condition: func(name string) (bool, error) {
			if name != "in-use" {
				return false, errors.New("no such condition")
			}
			return inUse, nil
		},
	})
}

var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"status": wantStatus, "fill": fillCommand, "tell": tellCommand, "hold": hold,
}

func wantStatus(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var exit *exec.ExitError
	got := 0
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func fillCommand(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(fill(ts.MkAbs(args[0])))
}

func hold(ts *testscript.TestScript, _ bool, args []string) {
	dir, err := storage.Open(ts.MkAbs(args[0]), storage.Options{})
	ts.Check(err)
	ts.Defer(func() { ts.Check(dir.Close()) })
}
