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
	testscript.Main(m, map[string]func(){"webrace-store": mainAsAsked})
}

// Scripts run the command as a user would. Beside it they have:
//
//	status N COMMAND…   runs a command that must end with this exit status
//	fill DIR            makes a data directory as a crawl leaves it behind; see fill
//	tell DIR OWNER N    stores N annotations for an owner; see tell
//	people DIR          gives owners accounts; see people
//	unpack FILE         takes the files out of a zip file that its user alone may read, with moments as TIME
//	hold DIR            keeps a data directory locked until the script ends
//	terminal FILE COMMAND…  runs a command at a terminal, and writes what is seen there to a file (Linux)
func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/script", "alone", nil)
}

// While another process has the stores open, the same scripts see the same.
func TestScriptsWhileTheStoresAreInUse(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/script", "in-use", func(e *testscript.Env) error {
		e.Setenv(throughSocket, "1")
		return nil
	})
}

// runScripts runs the scripts, which know by the conditions in-use and cluster whether another process has the stores
// open, or several have a part each.
func runScripts(t *testing.T, dir, how string, setup func(*testscript.Env) error) {
	if testing.Short() {
		t.Skip("hundreds of processes: not in short mode")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
		Setup:               setup,
		Condition: func(name string) (bool, error) {
			if name != "in-use" && name != "cluster" {
				return false, errors.New("no such condition")
			}
			return name == how, nil
		},
	})
}

var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"status": wantStatus, "fill": fillCommand, "tell": tellCommand, "people": peopleCommand, "unpack": unpack, "hold": hold,
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
	withDir(ts, args[0], fill)
}

// withDir opens the data directory of one machine, or in a cluster that of the partition which has the site.
func withDir(ts *testscript.TestScript, path string, f func(*storage.Dir) error) {
	path = ts.MkAbs(path)
	if server := ts.Getenv(overCluster); server != "" {
		ts.Check(withPartition(server, path, f))
		return
	}
	dir, err := storage.Open(path, storage.Options{})
	ts.Check(err)
	ts.Check(errors.Join(f(dir), dir.Close()))
}

func hold(ts *testscript.TestScript, _ bool, args []string) {
	dir, err := storage.Open(ts.MkAbs(args[0]), storage.Options{})
	ts.Check(err)
	ts.Defer(func() { ts.Check(dir.Close()) })
}
