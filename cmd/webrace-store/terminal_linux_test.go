package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

func init() { commands["terminal"] = terminal }

func terminal(ts *testscript.TestScript, _ bool, args []string) {
	screen, tty, err := openTerminal()
	ts.Check(err)
	program := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], args[1])
	command := exec.Command(program, args[2:]...)
	command.Dir, command.Stdout = ts.MkAbs("."), tty
	ts.Check(command.Start())
	ts.Check(tty.Close())
	seen, err := io.ReadAll(screen)
	if err != nil && !errors.Is(err, syscall.EIO) { // a terminal ends so when nobody has it open any more
		ts.Check(err)
	}
	ts.Check(errors.Join(command.Wait(), screen.Close()))
	lines := strings.ReplaceAll(string(seen), "\r\n", "\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(lines), 0o600))
}

// openTerminal returns both ends of a new terminal.
func openTerminal() (screen, tty *os.File, err error) {
	screen, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, screen.Close())
	}
	return screen, tty, nil
}
