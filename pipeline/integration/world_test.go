package integration

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/print"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
)

// The test binary is the program of exec stages as well, which passes on what it is given, and the one that is killed.
func TestMain(m *testing.M) {
	if os.Getenv("WEBRACE_TEST_PROGRAM") != "" {
		program(bufio.NewReader(os.Stdin))
		return
	}
	if dir := os.Getenv("WEBRACE_TEST_KILLED"); dir != "" {
		if err := killed(dir); err != nil {
			panic(err)
		}
		return
	}
	if dir := os.Getenv("WEBRACE_TEST_STATE"); dir != "" {
		if err := remembers(dir); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

func program(in *bufio.Reader) {
	answer := func(format string, args ...any) {
		header := fmt.Appendf(nil, format, args...)
		frame := binary.LittleEndian.AppendUint32(nil, uint32(4+len(header)))
		frame = append(binary.LittleEndian.AppendUint32(frame, uint32(len(header))), header...)
		_, _ = os.Stdout.Write(frame)
	}
	for {
		var lengths [2]uint32
		if binary.Read(in, binary.LittleEndian, &lengths) != nil {
			return
		}
		frame := make([]byte, lengths[0]-4)
		if _, err := io.ReadFull(in, frame); err != nil {
			return
		}
		var message struct {
			Type string
			ID   uint64
		}
		if err := json.Unmarshal(frame[:lengths[1]], &message); err != nil {
			panic(err)
		}
		if message.Type == "hello" {
			answer(`{"type":"ready","abi":1}`)
			continue
		}
		answer(`{"type":"emit","id":%d,"keep":true}`, message.ID)
		answer(`{"type":"done","id":%d}`, message.ID)
	}
}

// world is what pairs of stages find: a site, receivers of what they send, files to read, and stores with something
// in them.
type world struct {
	site, hook string
	smtp       int // the port
	dir        string
	resources  *pipeline.Resources
	files      atomic.Int64 // that were written to
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir()}
	site := httptest.NewServer(http.HandlerFunc(servePages))
	t.Cleanup(site.Close)
	w.site = site.URL
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { _, _ = io.Copy(io.Discard, q.Body) }))
	t.Cleanup(hook.Close)
	w.hook = hook.URL
	w.smtp = mailServer(t)
	w.write(t, "rows.csv", "name,price\npen,2\ndesk,120\nlamp,30\nchair,60\n")
	w.write(t, "pages.warc", warc(w.site+"/a")+warc(w.site+"/b"))
	w.open(t)
	return w
}

func (w *world) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func warc(url string) string {
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>old</title><p>An archived page with some text."
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", url, len(block), block)
}

// open makes the stores, with a request for all of the site.
func (w *world) open(t *testing.T) {
	t.Helper()
	dir, err := storage.Open(filepath.Join(w.dir, "data"), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	control, err := dir.Control()
	if err != nil {
		t.Fatal(err)
	}
	urd := xmlschema.NewURD("eleni", w.site+"/")
	urd.Depth = 2
	if _, err := control.Put(context.Background(), []*xmlschema.URD{urd}); err != nil {
		t.Fatal(err)
	}
	w.resources = new(pipeline.Resources)
	pipeline.Provide[pipeline.OpenStates](w.resources, func() (pipeline.States, error) { return dir.States() })
	pipeline.Provide(w.resources, dir)
	pipeline.Provide(w.resources, print.Output{Writer: io.Discard})
	pipeline.Provide[credentials.Open](w.resources, func() (credentials.Source, error) { return dir.Control() })
}

// servePages is a small site: pages of text, a redirect, a feed, and a sitemap that robots.txt names.
func servePages(w http.ResponseWriter, q *http.Request) {
	page := func(media, format string, args ...any) {
		w.Header().Set("Content-Type", media)
		fmt.Fprintf(w, format, args...)
	}
	site := "http://" + q.Host
	switch q.URL.Path {
	case "/robots.txt":
		page("text/plain", "Sitemap: %s/sitemap.xml\n", site)
	case "/sitemap.xml":
		page("application/xml", `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>%s/3</loc></url></urlset>`, site)
	case "/feed.xml":
		page("application/rss+xml", `<rss version="2.0"><channel><title>feed</title><item><link>%s/4</link></item></channel></rss>`, site)
	case "/go":
		http.Redirect(w, q, "/5", http.StatusMovedPermanently)
	case "/":
		page("text/html", `<title>start</title><a href="/1">one</a> <a href="/2">two</a> <a href="/3">three</a> <a href="/go">five</a> <a href="/feed.xml">feed</a>`)
	default:
		page("text/html", "<title>page</title><p>This is the text of page %s, which is about nothing.</p>", q.URL.Path)
	}
}

// mailServer takes every mail, and returns its port.
func mailServer(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go takeMails(conn)
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}

func takeMails(conn net.Conn) {
	defer conn.Close()
	fmt.Fprint(conn, "220 ready\r\n")
	inMail := false
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		line := lines.Text()
		switch {
		case inMail && line != ".":
		case strings.HasPrefix(strings.ToUpper(line), "DATA"):
			inMail = true
			fmt.Fprint(conn, "354 go on\r\n")
		case strings.HasPrefix(strings.ToUpper(line), "QUIT"):
			fmt.Fprint(conn, "221 bye\r\n")
			return
		default:
			inMail = false
			fmt.Fprint(conn, "250 yes\r\n")
		}
	}
}
