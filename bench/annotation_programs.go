package main

import (
	_ "embed"
	"fmt"
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

// hyperscan finds the keywords by Debian's libhyperscan, which has no Go. The program compiles the keywords,
// scans the page in rounds and says how long one scan takes; compiling them is not counted.
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
	const scans = 200
	run := func() (h hyperscanned, err error) {
		out, err := exec.Command(program, keywords, text, strconv.Itoa(scans)).Output()
		if err != nil {
			return h, fmt.Errorf("run hyperscan: %w", err)
		}
		return readHyperscanned(out)
	}
	first, err := run()
	if err == nil {
		err = d.same(first.found)
	}
	if err != nil {
		return nil, fmt.Errorf("check of hyperscan: %w", err)
	}
	d.note("annotation: %shyperscan compiles the keywords in %v", d.of, first.compiled.Round(time.Millisecond))
	return &rival{name: "hyperscan", bytes: first.bytes, call: func() (taken, error) {
		h, err := run()
		return h.scan, err
	}}, nil
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

// hyperscanned is what the program says.
type hyperscanned struct {
	compiled time.Duration
	bytes    int64
	scan     taken
	found    []string
}

// readHyperscanned reads the line of numbers and then the keywords found.
func readHyperscanned(out []byte) (h hyperscanned, err error) {
	numbers, found, _ := strings.Cut(string(out), "\n")
	h.found = strings.Fields(found)
	if _, err := fmt.Sscan(numbers, &h.compiled, &h.bytes, &h.scan.CPU, &h.scan.Wall); err != nil {
		return h, fmt.Errorf("read what hyperscan says: %w", err)
	}
	return h, nil
}
