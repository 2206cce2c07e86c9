package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
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

// startSite serves documentation by nginx, or, where it or nginx is missing, a site of its own making.
func startSite(dir string, of []docSite, note func(string, ...any)) (*site, error) {
	root, what, err := gatherPages(dir, of, note)
	if err != nil {
		return nil, err
	}
	var s *site
	if _, missing := exec.LookPath("nginx"); missing == nil && root != "" {
		s, err = startNginx(dir, root)
	} else {
		note("nginx or all documentation is missing: a generated site takes its place")
		what = "a generated site"
		s, err = startStandIn(filepath.Join(dir, "access.log"), standInPages, standInWords, 0)
	}
	if err != nil {
		return nil, err
	}
	s.what = what + " " + s.what
	return s, s.await()
}

// await waits until the site answers.
func (s *site) await() error {
	for range 100 {
		if response, err := http.Get(s.base + startPath); err == nil {
			response.Body.Close()
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.stop()
	return fmt.Errorf("%s does not answer at %s", s.what, s.base)
}

func startNginx(dir, root string) (*site, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf(`daemon off; pid %[1]s/pid; error_log %[1]s/error.log warn; worker_processes 1;
events { worker_connections 4096; }
http {
  include /etc/nginx/mime.types; charset utf-8; keepalive_requests 1000000; sendfile on; tcp_nopush on;
  open_file_cache max=20000 inactive=600s; open_file_cache_valid 600s;
  log_format bench '$status $request_uri'; access_log %[1]s/access.log bench;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  server { listen %[2]s backlog=4096; root %[3]s; location ~ \.(html|ttl)$ { } location / { return 404; } }
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
		base: "http://" + address, what: "by nginx", log: filepath.Join(dir, "access.log"),
		stop: func() { stopProcess(server) },
	}, nil
}

// stopProcess asks a server to end and waits for it. That it did not end well tells nothing of use.
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
		end, err := tail(s.log)
		if err != nil {
			return err
		}
		if bytes.Contains(end, []byte(" "+path+"\n")) {
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Errorf("the server did not log %s", path)
}

// tail returns the end of a file.
func tail(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	const enough = 64 << 10
	return io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-enough), enough))
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
