package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// site is a web site on loopback, served by a process of its own that logs every request.
type site struct {
	base string // without a slash at the end
	what string // for people
	log  string // one request a line: status, path
	stop func()

	marks int
}

// startPath is where every crawl begins.
const startPath = "/index.html"

// startSite serves the Python documentation of Debian by nginx. It installs both where it may; where they
// are missing it serves a site of its own making.
func startSite(dir string, note func(string, ...any)) (*site, error) {
	root, reason := realPages(note)
	var s *site
	var err error
	if root != "" {
		s, err = startNginx(dir, root)
	} else {
		note("a generated stand-in site takes the place of the Python documentation, because %s", reason)
		s, err = startStandIn(dir)
	}
	if err != nil {
		return nil, err
	}
	for range 100 {
		if response, err := http.Get(s.base + startPath); err == nil {
			response.Body.Close()
			return s, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("%s does not answer at %s", s.what, s.base)
}

// realPages returns the directory of the documentation, or why there is none to be served.
func realPages(note func(string, ...any)) (root, reason string) {
	find := func() string {
		roots, _ := filepath.Glob("/usr/share/doc/python3.*/html" + startPath) // the pattern is well-formed
		if _, err := exec.LookPath("nginx"); err != nil || len(roots) == 0 {
			return ""
		}
		return filepath.Dir(roots[0])
	}
	if root = find(); root != "" {
		return root, ""
	}
	if os.Geteuid() != 0 {
		return "", "python3.11-doc or nginx-light is not installed, and only root can install them"
	}
	note("installing python3.11-doc and nginx-light")
	if out, err := exec.Command("apt-get", "install", "-y", "-q", "python3.11-doc", "nginx-light").CombinedOutput(); err != nil {
		return "", fmt.Sprintf("python3.11-doc and nginx-light could not be installed: %v: %s", err, lastLine(out))
	}
	if root = find(); root == "" {
		reason = "the packages brought no documentation"
	}
	return root, reason
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

func startNginx(dir, root string) (*site, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf(`daemon off; pid %[1]s/pid; error_log %[1]s/error.log warn; worker_processes 1;
events { worker_connections 1024; }
http {
  include /etc/nginx/mime.types; keepalive_requests 1000000;
  log_format bench '$status $request_uri'; access_log %[1]s/access.log bench;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  server { listen %[2]s; root %[3]s; }
}`, dir, address, root)
	config := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return nil, err
	}
	server := exec.Command("nginx", "-c", config, "-e", filepath.Join(dir, "error.log"))
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("start nginx: %w", err)
	}
	return &site{
		base: "http://" + address, what: root + " by nginx", log: filepath.Join(dir, "access.log"),
		stop: func() { stopProcess(server) },
	}, nil
}

// stopProcess asks a server to end and waits for it. That it did not end well says nothing of use.
func stopProcess(server *exec.Cmd) {
	_ = server.Process.Signal(os.Interrupt)
	_ = server.Wait()
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// mark draws a line in the log: it asks for a path of its own and waits until that is logged, and with it
// everything that was asked before.
func (s *site) mark() error {
	s.marks++
	path := fmt.Sprintf("/mark-%d", s.marks)
	response, err := http.Get(s.base + path)
	if err != nil {
		return fmt.Errorf("mark the server's log: %w", err)
	}
	response.Body.Close()
	for range 500 {
		text, err := os.ReadFile(s.log)
		if err != nil {
			return err
		}
		if bytes.Contains(text, []byte(" "+path+"\n")) {
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Errorf("the server did not log %s", path)
}

// asked is what one crawler asked for.
type asked struct {
	times map[string]int  // by path
	found map[string]bool // paths that were answered 200
	total int             // requests, but for robots.txt
}

// sinceMark returns the requests between the last two marks.
func (s *site) sinceMark() (*asked, error) {
	file, err := os.Open(s.log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	from, to := fmt.Sprintf("/mark-%d", s.marks-1), fmt.Sprintf("/mark-%d", s.marks)
	a := &asked{times: make(map[string]int), found: make(map[string]bool)}
	inside := false
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		status, path, _ := strings.Cut(lines.Text(), " ")
		switch {
		case path == from:
			inside = true
		case path == to:
			return a, nil
		case inside && path != "/robots.txt":
			a.total++
			a.times[path]++
			a.found[path] = a.found[path] || status == "200"
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%s has no line for %s", s.log, to)
}
