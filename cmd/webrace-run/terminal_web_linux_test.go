package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/creack/pty"
)

// obeyed is what a terminal would obey: sequences of C0 and of C1, in UTF-8 and as bytes, a link (OSC 8), a bell, text
// that is written over, backwards or hidden. No command of ours prints any of it. Behind it stands where it was put.
func obeyed(field string) string {
	return "\x1b[2J\x1b]8;;http://evil/\x1b\\\a\b\u009b5m\x9b5m\x7f\u202e\u2066\u200b" + field
}

// inHeader is what of it can stand in a header: lines with other control characters are left out.
func inHeader(field string) string { return "\u009b5m\x9b5m\u202e\u2066\u200b" + field }

// shown is the end of both as a person sees it.
func shown(field string) string { return `\u202e\u2066\u200b` + field }

// ours are the sequences that the commands themselves tell a terminal.
var ours = regexp.MustCompile(`\x1b\[(0|1|2|7|22|27|(1;)?3[1-7])m|\r\x1b\[K|\r*\n`)

// mustObeyNothing finds in what a terminal was sent whatever is not text, nor one of our sequences.
func mustObeyNothing(t *testing.T, command, output string) {
	t.Helper()
	rest := ours.ReplaceAllString(output, " ")
	for i, r := range rest {
		invalid := r == utf8.RuneError && !strings.HasPrefix(rest[i:], "\ufffd")
		if invalid || r != '\t' && unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || r == '\u200b' {
			t.Errorf("%s tells the terminal %q: %q", command, r, rest[max(0, i-80):min(len(rest), i+80)])
			return
		}
	}
}

// atTerminal starts a command at a terminal, which keeps what it was sent. When all has been, the channel is closed.
func atTerminal(t *testing.T, dir, program string, args ...string) (p *command, ended <-chan struct{}) {
	t.Helper()
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Cols: 400, Rows: 50}); err != nil {
		t.Fatal(err)
	}
	p = &command{Cmd: exec.Command(program, args...), t: t}
	p.Dir, p.Stdin, p.Stdout, p.Stderr = dir, strings.NewReader("hidden\n"), tty, tty
	p.begin()
	tty.Close()
	all := make(chan struct{})
	go func() {
		defer close(all)
		defer screen.Close()
		io.Copy(&p.output, screen) // until no process has the terminal open any more
	}()
	return p, all
}

// mustEndSoundly waits for the end of a command, and wants its terminal to have obeyed nothing but us.
func (p *command) mustEndSoundly(ended <-chan struct{}) string {
	p.t.Helper()
	select {
	case <-ended:
	case <-time.After(patience):
		p.signal(syscall.SIGQUIT)
		<-ended
		p.t.Fatalf("%v does not end:\n%s", p.Args, p.said())
	}
	p.Wait()
	if strings.Contains(p.said(), "goroutine ") {
		p.t.Errorf("%v:\n%s", p.Args, p.said())
	}
	mustObeyNothing(p.t, strings.Join(p.Args, " "), p.said())
	return p.said()
}

// obeyedSite serves pages that have what a terminal would obey in each field that a site fills. What is asked for
// at /slow waits until it is let go.
func obeyedSite(t *testing.T, slow <-chan struct{}) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	url = "http://" + listener.Addr().String()
	answer := func(head, body string) string {
		return fmt.Sprintf("HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
	}
	page := func(head, title, body string) string {
		return answer("200 OK\r\nContent-Type: text/html; charset=utf-8"+head, "<!doctype html><title>"+title+"</title><p>"+body)
	}
	links := ""
	answers := map[string]string{
		"/robots.txt": answer("200 OK\r\nContent-Type: text/plain", "User-agent: *\nDisallow: /private"+obeyed("rule")+"\nDisallow: /private # "+obeyed("comment")+
			"\nSitemap: /sitemap.xml\nSitemap: "+obeyed("sitemap")+"\nCrawl-delay: "+obeyed("delay")+"\n"),
		"/sitemap.xml": answer("200 OK\r\nContent-Type: text/xml", "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>/listed"+
			obeyed("listed")+"</loc></url><url><loc>"+obeyed("scheme")+":x</loc></url></urlset>"),
		"/title":    page("", "tea "+obeyed("title"), "tea "+obeyed("text")+"<h1>tea "+obeyed("heading")+"</h1>"),
		"/language": page("\r\nContent-Language: "+obeyed("language"), "tea", "<html lang='"+obeyed("lang")+"'>tea <a href='/linked"+obeyed("link")+"'>"+obeyed("anchor")+"</a>"),
		"/headers":  page("\r\nETag: \""+inHeader("etag")+"\"\r\nLast-Modified: "+inHeader("modified")+"\r\nX-Odd: "+inHeader("header")+"\r\nY-Odd: "+obeyed("header")+"\r\nLink: </a>; rel="+inHeader("rel"), "tea", "tea"),
		"/charset":  answer("200 OK\r\nContent-Type: text/html; charset="+obeyed("charset"), "<title>tea</title><p>tea"),
		"/meta":     page("", "tea", "<meta charset='"+obeyed("metacharset")+"'><meta name=description content='"+obeyed("description")+"'>tea"),
		"/type":     answer("200 OK\r\nContent-Type: text/"+obeyed("type"), "tea"),
		"/plain":    answer("200 OK\r\nContent-Type: text/plain", "tea\n"+obeyed("plain")+"\r\noverwritten\rtea"),
		"/reason":   answer("404 "+obeyed("reason"), "tea"),
		"/status":   answer("2"+obeyed("status")+" OK", "tea"),
		"/field":    answer("200 OK\r\n"+obeyed("field")+": x", "tea"),
		"/coding":   answer("200 OK\r\nContent-Type: text/html\r\nContent-Encoding: "+obeyed("coding"), "tea"),
		"/length":   "HTTP/1.1 200 OK\r\nContent-Length: " + obeyed("length") + "\r\n\r\ntea",
		"/redirect": answer("302 Found\r\nLocation: /moved"+obeyed("location"), ""),
		"/nowhere":  answer("302 Found\r\nLocation: http://"+obeyed("host")+"/", ""),
		"/login":    answer("401 "+obeyed("denied")+"\r\nWWW-Authenticate: Basic realm="+obeyed("realm"), ""),
		"/busy":     answer("503 Busy\r\nRetry-After: "+obeyed("retry"), ""),
		"/pdf":      answer("200 OK\r\nContent-Type: application/pdf", "%PDF-1.4 "+obeyed("pdf")),
		"/xml":      answer("200 OK\r\nContent-Type: application/xml", "<?xml version='1.0' encoding='"+obeyed("encoding")+"'?><tea>tea "+obeyed("element")+"</tea>"),
		"/feed": answer("200 OK\r\nContent-Type: application/rss+xml", "<?xml version='1.0'?><rss version='2.0'><channel><title>tea &#x9b;5m&#x202e;"+obeyed("feed")+
			"</title><item><title>tea "+obeyed("item")+"</title><link>/title</link><pubDate>"+obeyed("date")+"</pubDate></item></channel></rss>"),
		"/slow": page("", "tea "+obeyed("slow"), "tea"),
	}
	for path := range answers {
		links += "<a href='" + path + "'>tea</a> "
	}
	answers["/"] = page("", "tea", links+"<a href='/private/'>tea</a><a href='/private"+obeyed("private")+"'>tea</a><a href='"+obeyed("href")+":/x'>tea</a> <link rel=alternate type=application/rss+xml href=/feed>")
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				request, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				if request.URL.Path == "/slow" {
					<-slow
				}
				text, known := answers[request.URL.Path]
				if !known {
					text = page("", "tea "+obeyed("other"), "tea")
				}
				io.WriteString(conn, text)
			}()
		}
	}()
	return url
}

// runCommands has arguments for every command of webrace-run that is not called by the test itself. Those that read
// nothing of the web or the stores are called in vain.
var runCommands = map[string]string{
	"build": "--with", "check": "webrace", "conformance": "webrace drop", "completion bash": "x", "completion fish": "x",
	"completion powershell": "x", "completion zsh": "x", "graph": "webrace", "help": "", "lint": "", "list": "", "new-stage": "A",
	"demo": "x", // its site is built in
	"run":  "webrace --set fetch.allow_networks=loopback --set frontier.fresh=0s", "schema": "", "stage": "transform", "stages": "fetch", "store": "aci list", "test": "",
	"crawl": "", "tap": "", "top": "", "try": "", "read": "", // called by the test
}

// TestTerminalObeysNothingOfTheWeb runs every command at a terminal over a site that has what a terminal would obey in
// each field that a site fills.
func TestTerminalObeysNothingOfTheWeb(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred processes: not in short mode")
	}
	t.Parallel()
	slow := make(chan struct{})
	site := obeyedSite(t, slow)
	dir := t.TempDir()
	w := &world{t: t, data: filepath.Join(dir, "data")}
	var all strings.Builder
	start := func(program string, args ...string) (*command, <-chan struct{}) {
		t.Helper()
		return atTerminal(t, dir, program, append(args, "--data", w.data)...)
	}
	at := func(program string, args ...string) string {
		t.Helper()
		p, ended := start(program, args...)
		seen := p.mustEndSoundly(ended)
		all.WriteString(seen)
		return seen
	}
	options := []string{"--set", "fetch.allow_networks=loopback", "--set", "frontier.attempts=1", "--owner", "ann", "--keyword", "tea:5", "--threshold", "1"}

	// While a crawl runs, its process runs the commands, and can be looked into.
	crawl, crawled := start("webrace-run", append([]string{"crawl", site + "/", "--depth", "3", "--log-level", "debug"}, options...)...)
	var told, known string
	waitFor(t, func() bool {
		told, _ = w.store("aci", "list")
		known, _ = w.store("explain", site+"/title", "ann")
		return strings.Contains(told, "/title") && !strings.Contains(known, "not in the object cache")
	}, func() string { return fmt.Sprintf("nothing is told of /title: %s\n%s\n%s", told, known, crawl.said()) })
	tap, tapped := start("webrace-run", "tap", "normalize", "--where", `url endsWith "/slow"`, "--limit", "1", "--body")
	tap.waitUntil("watching")
	mustSay(t, at("webrace-store", "explain", site+"/title", "ann"), shown("title"))
	mustSay(t, at("webrace-store", "cache", "cat", site+"/plain"), shown("plain"))
	at("webrace-store", "aci", "list")
	at("webrace-run", "top", "--once", "--interval", "100ms")
	close(slow)
	mustSay(t, tap.mustEndSoundly(tapped), shown("slow"))
	all.WriteString(crawl.mustEndSoundly(crawled))

	warc, urds, quads := filepath.Join(dir, "all.warc.gz"), filepath.Join(dir, "urds.xml"), filepath.Join(dir, "quads.nq")
	mustSay(t, w.mustStore(0, "cache", "cat", site+"/plain"), obeyed("plain")+"\r\n") // what is asked for goes through a pipe as it is
	w.mustStore(0, "cache", "export", "--warc", warc)
	writeFile(t, urds, w.mustStore(0, "urd", "export"))
	writeFile(t, quads, oneQuad)
	for _, path := range []string{"/title", "/headers", "/language", "/plain", "/feed"} {
		for _, args := range []string{"cache cat URL --header", "cache meta URL", "explain URL ann"} {
			at("webrace-store", strings.Fields(strings.Replace(args, "URL", site+path, 1))...)
		}
	}
	for _, path := range []string{"/private/", "/reason", "/field", "/length", "/nowhere", "/redirect"} {
		at("webrace-store", "why", site+path)
	}
	for _, path := range []string{"/title", "/headers", "/reason", "/coding"} {
		at("webrace-run", append([]string{"try", "--url", site + path, "--text", "full"}, options...)...)
		for _, as := range []string{"--all", "--json"} {
			at("webrace-run", "read", site+path, as, "--set", "fetch.allow_networks=loopback")
		}
	}
	if seen := at("webrace-store", "search", "--rebuild"); !strings.Contains(seen, "indexed") {
		t.Errorf("the index: %s", seen)
	}
	mustSay(t, at("webrace-store", "search", "tea", "-n", "50", "--facets"), shown("title"))
	at("webrace-store", "search", "tea", "--json")
	at("webrace-store", "aci", "list", "--xml")
	at("webrace-run", append([]string{"run", "crawl", "--log", "json"}, options[:4]...)...)

	at("webrace-run", "notify", "--set", "http-out.url="+site+"/reason") // refused, and so dead letters
	fill := strings.NewReplacer("SITE", site, "WARC", warc, "URDS", urds, "QUADS", quads, "OUT", filepath.Join(dir, "out"))
	for _, name := range storeLeaves() {
		c, known := storeCommands[name]
		if !known {
			t.Errorf("webrace-store %s is not tried: give it arguments in storeCommands", name)
		}
		at("webrace-store", append(strings.Fields(name), strings.Fields(fill.Replace(c.args))...)...)
	}
	for _, name := range leaves(newRoot()) {
		args, known := runCommands[name]
		if !known {
			t.Errorf("webrace-run %s is not tried: give it arguments in runCommands", name)
		}
		at("webrace-run", append(strings.Fields(name), strings.Fields(args)...)...)
	}
	fields := regexp.MustCompile(`\\u200b[a-z]+`).FindAllString(all.String(), -1)
	slices.Sort(fields)
	t.Logf("shown as text: %v", slices.Compact(fields))
	for _, field := range []string{"title", "text", "heading", "etag", "plain", "slow"} {
		if !strings.Contains(all.String(), shown(field)) {
			t.Errorf("no command shows what stands in %s: the test tests nothing there", field)
		}
	}
}
