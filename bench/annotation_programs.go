package main

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// grep finds the keywords with a process for each page, which reads them all first.
func (d *duel) grep() (*rival, error) {
	if _, err := exec.LookPath("grep"); err != nil {
		d.note("annotation: %sgrep -F is left out, because there is none", d.of)
		return nil, nil
	}
	keywords, text, err := d.files()
	if err != nil {
		return nil, err
	}
	run := func() (usage, string, error) {
		var found strings.Builder
		c := exec.Command("grep", "-F", "-w", "-o", "-f", keywords, text)
		c.Env, c.Stdout = []string{"LC_ALL=C"}, &found
		used, err := runProcess(c)
		if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 1 { // which means that nothing was found
			err = nil
		}
		return used, found.String(), err
	}
	_, found, err := run()
	if err == nil {
		err = d.same(strings.Fields(found))
	}
	if err != nil {
		return nil, fmt.Errorf("check of grep -F: %w", err)
	}
	return &rival{name: "grep -F -w -o -f", call: func() (taken, error) {
		used, _, err := run()
		return taken{CPU: used.CPU, Wall: used.Wall}, err
	}}, nil
}

//go:embed hyperscan/scan.c
var hyperscanSource []byte

// hyperscan finds the keywords by Debian's libhyperscan, which has no Go: in a child process, which compiles the
// keywords once, and then scans the page as often as it is told and prints how long that took.
func (d *duel) hyperscan() (*rival, error) {
	program, err := d.compileHyperscan()
	if err != nil {
		d.note("annotation: %shyperscan is left out: %v", d.of, err)
		return nil, nil
	}
	keywords, text, err := d.files()
	if err != nil {
		return nil, err
	}
	h, err := startHyperscan(program, keywords, text)
	if err == nil {
		if err = d.same(h.found); err != nil {
			err = errors.Join(err, h.close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("check of hyperscan: %w", err)
	}
	d.note("annotation: %shyperscan compiles the keywords in %v", d.of, h.compiled.Round(time.Millisecond))
	return &rival{name: "hyperscan", bytes: h.bytes, call: h.scan, close: h.close}, nil
}

func (d *duel) compileHyperscan() (program string, err error) {
	source := filepath.Join(d.dir, "scan.c")
	program = filepath.Join(d.dir, "scan")
	if err := os.WriteFile(source, hyperscanSource, 0o666); err != nil {
		return "", err
	}
	if out, err := exec.Command("gcc", "-O2", "-o", program, source, "-lhs").CombinedOutput(); err != nil {
		return "", fmt.Errorf("gcc and libhyperscan-dev are needed: %w: %s", err, lastLine(out))
	}
	return program, nil
}

// hyperscanner is the child process.
type hyperscanner struct {
	process *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Reader

	compiled time.Duration
	bytes    int64
	found    []string
}

// scansAtOnce is how many scans the child makes to tell which took least.
const scansAtOnce = 200

func startHyperscan(program, keywords, text string) (*hyperscanner, error) {
	h := &hyperscanner{process: exec.Command(program, keywords, text, strconv.Itoa(scansAtOnce))}
	h.process.Stderr = os.Stderr
	answers, err := h.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if h.orders, err = h.process.StdinPipe(); err != nil {
		return nil, err
	}
	if err := h.process.Start(); err != nil {
		return nil, fmt.Errorf("start hyperscan: %w", err)
	}
	h.answers = bufio.NewReader(answers)
	if err := h.greeting(); err != nil {
		return nil, errors.Join(fmt.Errorf("read what hyperscan found: %w", err), h.close())
	}
	return h, nil
}

func (h *hyperscanner) greeting() error {
	if _, err := fmt.Fscanf(h.answers, "%d %d\n", &h.compiled, &h.bytes); err != nil {
		return err
	}
	for {
		line, err := h.answers.ReadString('\n')
		if err != nil {
			return err
		}
		if line == "\n" {
			return nil
		}
		h.found = append(h.found, strings.TrimSuffix(line, "\n"))
	}
}

func (h *hyperscanner) scan() (t taken, err error) {
	if _, err = io.WriteString(h.orders, "\n"); err == nil {
		_, err = fmt.Fscanf(h.answers, "%d %d\n", &t.CPU, &t.Wall)
	}
	if err != nil {
		return t, fmt.Errorf("let hyperscan scan: %w", err)
	}
	return t, nil
}

// close ends the child.
func (h *hyperscanner) close() error { return errors.Join(h.orders.Close(), h.process.Wait()) }
