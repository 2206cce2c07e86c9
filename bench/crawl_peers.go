package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// patience is how long a rival may take: some never end by themselves.
const patience = 10 * time.Minute

// peers are the crawlers that others would take, as far as they are here. Those in Go are built from the
// versions that go.mod, and peers/katana/go.mod, pin.
func (c *crawlBench) peers(b *bench) []crawler {
	var list []crawler
	start, parallel := c.site.base+startPath, strconv.Itoa(crawlWorkers)
	installed := func(name string, slow bool, args func(dir string) []string) {
		path, err := exec.LookPath(name)
		if err != nil {
			b.note("crawl: %s is not installed", name)
			return
		}
		list = append(list, crawler{name: name, failing: true, slow: slow, command: func(dir string) (*exec.Cmd, error) {
			return patient(dir, path, args(dir)...), nil
		}})
	}
	built := func(name, module, program string, args ...string) {
		path := filepath.Join(c.dir, name)
		if b.quick {
			return
		}
		build := exec.Command("go", "build", "-o", path, program)
		build.Dir = module
		if out, err := build.CombinedOutput(); err != nil {
			b.note("crawl: %s is left out: %v: %s", name, err, lastLine(out))
			return
		}
		list = append(list, crawler{name: name, failing: true, slow: true, command: func(dir string) (*exec.Cmd, error) {
			return patient(dir, path, args...), nil
		}})
	}
	installed("wget", false, func(dir string) []string {
		return []string{"-q", "-r", "-l", "inf", "-e", "robots=off", "--follow-tags=a", "-A", "*.html", "-P", dir, "--delete-after", start}
	})
	installed("wget2", false, func(dir string) []string {
		return []string{"-q", "-r", "-l", "inf", "--robots=off", "--follow-tags=a", "-A", "*.html", "--max-threads=" + parallel,
			"--no-compression", "-P", dir, "--delete-after", start}
	})
	built("colly", ".", "./peers/colly", start, parallel)
	built("katana", filepath.Join("peers", "katana"), "github.com/projectdiscovery/katana/cmd/katana",
		"-u", start, "-d", "60", "-c", parallel, "-p", parallel, "-rl", "1000000", "-silent", "-duc", "-fs", "fqdn",
		"-mrs", "16777216", "-timeout", "30", "-s", "breadth-first", "-o", filepath.Join(c.dir, "katana.txt"))
	spider, err := filepath.Abs(filepath.Join("peers", "scrapy", "spider.py"))
	if err != nil {
		b.note("crawl: scrapy is left out: %v", err)
		return list
	}
	installed("scrapy", true, func(string) []string { return []string{"runspider", spider, "-a", "start=" + start} })
	return list
}

// patient returns the command of a rival that is stopped when it takes too long, in a directory of its own.
func patient(dir, path string, args ...string) *exec.Cmd {
	command := exec.Command("timeout", append([]string{"--signal=KILL", fmt.Sprint(patience.Seconds()), path}, args...)...)
	command.Dir = dir
	return command
}

// serverLimit adds how many pages a second the server gives to somebody who does nothing with them.
func (c *crawlBench) serverLimit(b *bench) error {
	path, err := exec.LookPath("wrk")
	if err != nil {
		b.note("crawl: wrk is not installed: the server's limit is not known")
		return nil
	}
	script := filepath.Join(c.dir, "paths.lua")
	var text bytes.Buffer
	text.WriteString("local i, requests = 0, {}\n")
	for _, p := range c.paths {
		fmt.Fprintf(&text, "requests[#requests+1] = %q\n", "GET "+p+" HTTP/1.1\r\nHost: site\r\n\r\n")
	}
	text.WriteString("function request() i = i % #requests + 1; return requests[i] end\n")
	if err := os.WriteFile(script, text.Bytes(), 0o666); err != nil {
		return err
	}
	out, err := exec.Command(path, "-t1", "-c"+strconv.Itoa(crawlWorkers), "-d3s", "-s", script, c.site.base).CombinedOutput()
	if err != nil {
		return fmt.Errorf("run wrk: %w: %s", err, lastLine(out))
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if rate, ok := strings.CutPrefix(lines.Text(), "Requests/sec:"); ok {
			pages, err := strconv.ParseFloat(strings.TrimSpace(rate), 64)
			b.table.value("wrk, the server's limit, pages a second", pages, "", nil)
			return err
		}
	}
	return fmt.Errorf("wrk did not say how many requests it made a second: %s", out)
}
