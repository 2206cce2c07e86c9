package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

func init() { commands["terminal"] = terminal }

func terminal(ts *testscript.TestScript, _ bool, args []string) {
	screen, tty, err := pty.Open()
	ts.Check(err)
	program := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], args[1])
	command := exec.Command(program, args[2:]...)
	command.Dir, command.Stdout = ts.MkAbs("."), tty
	command.Env = append(os.Environ(), overCluster+"="+ts.Getenv(overCluster))
	ts.Check(command.Start())
	ts.Check(tty.Close())
	seen, err := io.ReadAll(screen)
	if err != nil && !errors.Is(err, syscall.EIO) { // a terminal ends so when no process has it open any more
		ts.Check(err)
	}
	ts.Check(errors.Join(command.Wait(), screen.Close()))
	lines := strings.ReplaceAll(string(seen), "\r\n", "\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(lines), 0o600))
}
