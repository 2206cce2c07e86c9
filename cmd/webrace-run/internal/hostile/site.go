package hostile

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// goodPages is how many good pages a site has, besides its start.
const goodPages = 10

// Site is a web server. It answers for what it was given, and with 404 for anything else.
type Site struct {
	URL string // without a slash at the end

	*httptest.Server        // nil for a part of another site
	prefix           string // of the paths of that part

	mu       sync.Mutex
	handlers map[string]http.HandlerFunc // by path, or by its beginning up to a * at its end
	wrap     func(http.HandlerFunc) http.HandlerFunc
	start    string   // what is on the start page besides links
	links    []string // to the misbehaviour, from the start page, in the midst of those to good pages
	good     map[string]int
	asked    map[string]int // what else, by request URI
	closers  []io.Closer
	others   []*Site
	cut      func() // called at each request for a good page

	elsewhere string // the URL of the last of the other hosts, without a slash at the end
}

// NewSite starts a site with good pages and a misbehaviour; or with many ([Mixable]), each below a path of its own.
func NewSite(good int, cases ...Case) *Site {
	s := newServer()
	for i := range good {
		path := fmt.Sprintf("/good/%d", i)
		s.good[path] = 0
		s.handlers[path] = page(goodText(i))
	}
	s.good["/"] = 0
	s.handlers["/"] = func(w http.ResponseWriter, r *http.Request) { page(s.front(good))(w, r) }
	s.Start()
	s.URL = s.Server.URL
	if len(cases) == 1 {
		cases[0].Lay(s)
		return s
	}
	for _, c := range cases {
		s.mix(c)
	}
	return s
}

// newServer returns a server that has nothing yet, and is not started.
func newServer() *Site {
	s := newPart()
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Config.ErrorLog = silent
	return s
}

func newPart() *Site {
	return &Site{handlers: make(map[string]http.HandlerFunc), good: make(map[string]int), asked: make(map[string]int)}
}

// Close ends the site, also while it serves clients.
func (s *Site) Close() {
	s.mu.Lock()
	closers, others := s.closers, s.others
	s.closers = nil
	s.mu.Unlock()
	for _, c := range closers {
		c.Close()
	}
	for _, o := range others {
		o.Close()
	}
	if s.Server != nil {
		s.CloseClientConnections()
		s.Server.Close()
	}
}

// Good returns how often each good page was asked for.
func (s *Site) Good() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.good)
}

// Asked returns how often the misbehaviour was asked for, here and at the other hosts, all in all.
func (s *Site) Asked() (n int) {
	for _, times := range s.AskedFor() {
		n += times
	}
	return n
}

// AskedFor returns of what Asked counts how often each was asked for, by request URI; of other hosts by their URL.
func (s *Site) AskedFor() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := maps.Clone(s.asked)
	for _, o := range s.others {
		for uri, times := range o.AskedFor() {
			all[o.URL+" "+uri] += times
		}
	}
	return all
}

// Forget begins to count anew.
func (s *Site) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range s.good {
		s.good[path] = 0
	}
	clear(s.asked)
	for _, o := range s.others {
		o.Forget()
	}
}

// OnGood lets f be called at each request for a good page.
func (s *Site) OnGood(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = f
}

func (s *Site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	path := r.URL.Path
	switch _, good := s.good[path]; {
	case good && r.URL.RawQuery == "":
		s.good[path]++
		if s.cut != nil {
			s.cut()
		}
	case path != "/robots.txt" && s.prefix == "": // the site has counted those for its parts
		s.asked[r.RequestURI]++
	}
	handler, wrap := s.handler(path), s.wrap
	s.mu.Unlock()
	if wrap != nil {
		handler = wrap(handler)
	}
	handler(w, r)
}

// handler wants the lock.
func (s *Site) handler(path string) http.HandlerFunc {
	if h, ok := s.handlers[path]; ok {
		return h
	}
	var best string
	var handler http.HandlerFunc = http.NotFound
	for pattern, h := range s.handlers {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(path, prefix) && len(pattern) > len(best) {
			best, handler = pattern, h
		}
	}
	return handler
}

// handle answers for a path, or with a * at its end for all that begin so, as a function does, and links to it.
func (s *Site) handle(path string, h http.HandlerFunc) {
	s.hide(path, h)
	if !strings.HasSuffix(path, "*") {
		s.link(path)
	}
}

// hide is handle without a link.
func (s *Site) hide(path string, h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[path] = h
}

// link lets the start page lead to URLs, as they are written.
func (s *Site) link(urls ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = append(s.links, urls...)
}

// raw answers for a path by what a function does with the connection, once the request was read.
func (s *Site) raw(path string, serve func(net.Conn)) { s.handle(path, s.hijacked(serve)) }

func (s *Site) hijacked(serve func(net.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		s.onClose(conn)
		serve(conn)
	}
}

func (s *Site) onClose(c io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closers = append(s.closers, c)
}

// another starts a further host, without a page.
func (s *Site) another(prepare ...func(*Site)) *Site {
	o := newServer()
	for _, p := range prepare {
		p(o)
	}
	if o.TLS == nil {
		o.Start()
	} else {
		o.StartTLS()
	}
	o.URL = o.Server.URL
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others = append(s.others, o)
	s.elsewhere = o.URL
	return o
}

// listen starts a host that does this with each connection, and returns its name. Connections count as
// requests.
func (s *Site) listen(serve func(net.Conn)) (host string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err) // as httptest does: without loopback there is nothing to test
	}
	s.onClose(l)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.asked["connection"]++
			s.mu.Unlock()
			s.onClose(conn)
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	s.elsewhere = "http://" + l.Addr().String()
	return l.Addr().String()
}

// Resolve returns the URL that an [Expect] speaks of.
func (s *Site) Resolve(url string) string {
	if path, ok := strings.CutPrefix(url, "other:"); ok {
		return s.elsewhere + path
	}
	if strings.HasPrefix(url, "/") {
		return s.URL + url
	}
	return url
}

// front is the start page.
func (s *Site) front(good int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><title>Start</title>\n" + s.start)
	for i := range good / 2 {
		fmt.Fprintf(&b, "<p><a href=\"/good/%d\">good</a>\n", i)
	}
	for _, url := range s.links {
		fmt.Fprintf(&b, "<p><a href=\"%s\">bad</a>\n", url)
	}
	for i := good / 2; i < good; i++ {
		fmt.Fprintf(&b, "<p><a href=\"/good/%d\">good</a>\n", i)
	}
	return b.String()
}

var words = strings.Fields("amber birch cedar delta ember fjord grove heath islet jetty knoll larch meadow north orchard " +
	"prairie quarry ridge spruce tundra upland valley willow yarrow zephyr")

// goodText is a page unlike the others.
func goodText(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html><title>Good page %d</title>\n", i)
	x := uint32(i)*2654435761 + 1
	for range 12 {
		b.WriteString("<p>")
		for range 15 {
			x = x*1664525 + 1013904223
			b.WriteString(words[x>>16%uint32(len(words))] + " ")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// page serves HTML, and confirms that it has not changed.
func page(html string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		html := placed(r, html)
		tag := fmt.Sprintf(`"%08x"`, hash(html))
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader([]byte(html)))
	}
}

// body serves bytes as what they are said to be.
func body(contentType string, content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		} else {
			w.Header()["Content-Type"] = nil // or net/http would guess
		}
		_, _ = io.WriteString(w, placed(r, string(content)))
	}
}

// linking is a page that leads to URLs, as they are written.
func linking(urls ...string) string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><title>Links</title>\n")
	for _, url := range urls {
		fmt.Fprintf(&b, "<p><a href=\"%s\">next</a>\n", url)
	}
	return b.String()
}
