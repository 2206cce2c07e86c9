package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage/control"
	"golang.org/x/net/html"
)

// realSite is documentation of Debian packages, served by nginx on loopback.
type realSite struct {
	base string // without a slash at the end
	log  string // the server's access log
}

// startRealSite serves the Python documentation.
func startRealSite(t *testing.T) realSite {
	t.Helper()
	if testing.Short() {
		t.Skip("a crawl of a whole site: not in short mode")
	}
	roots, _ := filepath.Glob("/usr/share/doc/python3.*/html/index.html")
	if len(roots) == 0 {
		t.Skip("the Python documentation is not installed: apt-get install python3-doc")
	}
	return serve(t, filepath.Dir(roots[0]))
}

// serve lets nginx serve the pages of a directory.
func serve(t *testing.T, root string) realSite {
	t.Helper()
	return serveAs(t, root, "include /etc/nginx/mime.types;")
}

// serveAs lets nginx serve the files of a directory, with the media types of some lines of its configuration.
func serveAs(t *testing.T, root, types string) realSite {
	t.Helper()
	address := testutil.FreeAddress(t)
	dir := startNginx(t, address, fmt.Sprintf(`%s keepalive_requests 1000000;
  server { listen %s; root %s; location ~ [.](pdf|epub|gz)$ { return 404; } }`, types, address, root))
	return realSite{base: "http://" + address, log: filepath.Join(dir, "access.log")}
}

// startNginx runs nginx as a part of its configuration within http has it, waits until it listens at an address, and
// returns the folder with its access.log.
func startNginx(t *testing.T, address, http string) (dir string) {
	t.Helper()
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Skip("nginx is not installed: apt-get install nginx-light")
	}
	dir = t.TempDir()
	config := filepath.Join(dir, "nginx.conf")
	user := ""
	if os.Getuid() == 0 {
		user = "user root;" // who may read the folders of tests
	}
	writeFile(t, config, fmt.Sprintf(`%[3]s daemon off; pid %[1]s/pid; error_log %[1]s/error.log warn; worker_processes 1;
events { worker_connections 512; }
http {
  log_format b '$status $request_uri "$http_user_agent"'; access_log %[1]s/access.log b;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  %[2]s
}`, dir, http, user))
	server := exec.Command("nginx", "-c", config, "-e", filepath.Join(dir, "error.log"))
	var output testutil.Buffer
	server.Stdout, server.Stderr = &output, &output
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(os.Interrupt)
		server.Wait()
	})
	waitFor(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, func() string { return "nginx does not answer: " + output.String() })
	return dir
}

// requests returns how often each path was answered with each status by a crawler of ours, and how many
// requests that were in all; the first skip lines are left out.
func (s realSite) requests(t *testing.T, skip int) (byStatus map[string]map[string]int, total int) {
	t.Helper()
	file, err := os.Open(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	byStatus = make(map[string]map[string]int)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		status, rest, _ := strings.Cut(lines.Text(), " ")
		path, agent, _ := strings.Cut(rest, " ")
		if !strings.HasPrefix(agent, `"webrace/`) || path == "/robots.txt" {
			continue
		}
		if total++; total <= skip {
			continue
		}
		if byStatus[status] == nil {
			byStatus[status] = make(map[string]int)
		}
		byStatus[status][path]++
	}
	return byStatus, total
}

// walk is an independent breadth-first walk over a, area, frame and iframe links: net/http, x/net/html
// and net/url, and nothing of ours. It returns the status and the media type of each path.
func (s realSite) walk(t *testing.T) (status map[string]int, media map[string]string) {
	t.Helper()
	status, media = make(map[string]int), make(map[string]string)
	queue := []string{"/index.html"}
	queued := map[string]bool{"/index.html": true}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		response, err := http.Get(s.base + path)
		if err != nil {
			t.Fatal(err)
		}
		status[path], media[path] = response.StatusCode, response.Header.Get("Content-Type")
		if response.StatusCode == http.StatusOK && strings.HasPrefix(media[path], "text/html") {
			for _, next := range linksOf(t, s.base+path, response) {
				if !queued[next] {
					queued[next] = true
					queue = append(queue, next)
				}
			}
		}
		response.Body.Close()
	}
	return status, media
}

// linksOf returns the paths on the same server that a page links to.
func linksOf(t *testing.T, page string, response *http.Response) []string {
	t.Helper()
	base, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	tokens := html.NewTokenizer(response.Body)
	for tokens.Next() != html.ErrorToken {
		token := tokens.Token()
		if token.Type != html.StartTagToken && token.Type != html.SelfClosingTagToken {
			continue
		}
		name := map[string]string{"a": "href", "area": "href", "frame": "src", "iframe": "src"}[token.Data]
		for _, a := range token.Attr {
			if name == "" || a.Key != name {
				continue
			}
			link, err := base.Parse(strings.TrimSpace(a.Val))
			if err == nil && link.Scheme == base.Scheme && link.Host == base.Host {
				link.Fragment = ""
				paths = append(paths, link.RequestURI())
			}
		}
	}
	return paths
}

// owners are two requests for the whole site.
func (s realSite) urds(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "urds.xml")
	text := fmt.Sprintf(`<urds xmlns="urn:webrace:1">
<urd id="u1" owner="eleni"><uri>%[1]s/index.html</uri><type protocol="http" method="pull" processtype="filter"/>
  <keywords match="any" threshold="20"><keyword key="asyncio" weight="5"/><keyword key="event loop" weight="3"/></keywords><depth level="0"/><urgency urgent="2"/></urd>
<urd id="u2" owner="costas"><uri>%[1]s/index.html</uri><type protocol="http" method="pull" processtype="filter"/>
  <keywords match="any" threshold="40"><keyword key="xml" weight="4"/><keyword key="sax" weight="5"/></keywords><depth level="0"/><urgency urgent="1"/></urd>
</urds>`, s.base)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// command is webrace-run over the site.
func (s realSite) command(t *testing.T, urds, data string, more ...string) *exec.Cmd {
	t.Helper()
	args := append([]string{"webrace", "--urds", urds, "--data", data, "--config", "../../pipelines.toml",
		"--set", "fetch.allow_networks=127.0.0.0/8"}, more...)
	return exec.Command("webrace-run", args...) // which TestMain has put into the PATH
}

func mustSucceed(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, out)
	}
}

func TestRealSiteIsCrawledWhole(t *testing.T) {
	site := startRealSite(t)
	status, media := site.walk(t)
	urds, data := site.urds(t), t.TempDir()
	reportPath := filepath.Join(t.TempDir(), "report.json")

	mustSucceed(t, site.command(t, urds, data, "--report", reportPath))
	first, total := site.requests(t, 0)
	pages, dead := 0, 0
	for path, code := range status {
		switch {
		case code != http.StatusOK:
			dead++
		case !strings.HasPrefix(media[path], "text/html"):
		default:
			pages++
			if n := first["200"][path]; n != 1 {
				t.Errorf("%s was answered 200 %d times, want once", path, n)
			}
		}
	}
	for path := range first["200"] {
		if status[path] == 0 {
			t.Errorf("%s was fetched, but no link leads there", path)
		}
	}
	var report struct {
		Pages, Errors, Annotations int
		NotModified                int `json:"not_modified"`
	}
	readJSON(t, reportPath, &report)
	if report.Pages != len(first["200"]) || report.Errors != dead {
		t.Errorf("the report says %d pages and %d errors; the server answered 200 for %d, and %d links are dead", report.Pages, report.Errors, len(first["200"]), dead)
	}
	if report.Annotations == 0 {
		t.Error("no owner was told of anything")
	}
	t.Logf("first run: %d HTML pages, %d documents, %d dead links, %d annotations, %d requests", pages, report.Pages, dead, report.Annotations, total)

	mustSucceed(t, site.command(t, urds, data, "--report", reportPath, "--set", "frontier.fresh=0s"))
	second, _ := site.requests(t, total)
	report.Annotations = -1
	readJSON(t, reportPath, &report)
	if len(second["200"]) != 0 || len(second["304"]) != len(first["200"]) || report.NotModified != len(first["200"]) {
		t.Errorf("second run: %d answers 200 and %d answers 304, want 0 and %d; the report says %d", len(second["200"]), len(second["304"]), len(first["200"]), report.NotModified)
	}
	if report.Annotations != 0 {
		t.Errorf("second run: %d annotations on a site that did not change", report.Annotations)
	}
}

// alerts returns of which documents, in which versions, URDs were told, or would have been but for a mirror, sorted.
func alerts(t *testing.T, data string) []string {
	t.Helper()
	store, closeDir := openControl(t, data)
	defer closeDir()
	var told []string
	for aci, err := range store.ACIs(context.Background(), control.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, fmt.Sprint(aci.URD, " ", aci.URI, " ", aci.Docbase.Version))
		for _, mirror := range aci.Also.Documents { // which of several is told of is the one that came first
			told = append(told, fmt.Sprint(aci.URD, " ", mirror.URI, " ", mirror.Version))
		}
		if aci.Also.More() > 0 {
			t.Errorf("of %d mirrors of %s not all are named: their order decides which are", aci.Also.Count, aci.URI)
		}
	}
	slices.Sort(told)
	return told
}

func readJSON(t *testing.T, path string, value any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	if err != nil {
		t.Fatal(err)
	}
}
