package main

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"
	"github.com/mmcdole/gofeed"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/chromium"
	"github.com/webrace/webrace/stages/httpout"
)

// A person is invited, sets a password, says what they want to know with a preview, and is told of it in the inbox, by
// mail, by a signed webhook and in a feed; the same text elsewhere is one annotation; what is new about a page that was
// edited is shown; and in the end they leave. The program is the built one with its shipped pipelines, behind nginx,
// which speaks TLS for it, as docs/portal.md has it.
func TestPortalWalk(t *testing.T) { walkPortal(t, true) }

// TestPortalWithoutScripts is TestPortalWalk in a browser that runs none, with the program as it is.
func TestPortalWithoutScripts(t *testing.T) { walkPortal(t, false) }

func walkPortal(t *testing.T, scripts bool) {
	if testing.Short() {
		t.Skip("walks through the application in a browser: not in short mode")
	}
	t.Parallel()
	w := newPortalWalker(t, scripts)
	if scripts {
		w.behindNginx()
	}
	w.start()

	w.open(w.link)
	w.fill("password", "a sentence to remember")
	w.fill("again", "a sentence to remember")
	w.press("Set the password")
	w.sees("You are logged in", "the password is set")

	w.open("/channels/new/mail")
	w.fill("name", "Mailbox")
	w.fill("address", "eleni@home.example")
	w.fill("hold", "0")
	w.press("Add the channel")
	w.sees("confirm")
	w.open(pathIn(t, w.mail(`/confirm/\S+`)))
	w.press("Yes, send mails here")
	w.open("/channels/new/webhook")
	w.fill("name", "Hook")
	w.fill("address", w.hook.URL+"/eleni")
	w.fill("hold", "0")
	w.press("Add the channel")
	w.key = w.text(".copy")
	w.open("/channels/new/feed")
	w.fill("name", "Reader")
	w.press("Add the channel")
	feed := w.text(".copy")

	w.open("/interests/new")
	w.fill("title", "Boats in the harbour")
	w.fill("url", w.siteURL+"/news")
	w.fill("keywords", "boat: 5")
	w.preview()
	w.sees("You would be told", "wooden boat")
	w.page.MustEval(`() => { document.querySelectorAll("details").forEach(d => d.open = true) }`)
	w.fill("depth", "2")
	w.press("Save the interest")
	interest := w.path()

	w.await("/", "Harbour news")
	w.press("Harbour news")
	w.sees("relevance", "wooden boat", "The same text elsewhere")
	if text := w.body(); !strings.Contains(text, "/copy") && !strings.Contains(text, "/news") {
		t.Errorf("it is not said where else the text is: %s", text)
	}
	if !w.scripts { // with them, to look at it is enough
		w.press("Mark as read")
	}
	w.await("/?state=read", "Harbour news")
	w.mail(`Harbour news`)
	w.hooked(1)
	w.inFeed(feed, 1)

	w.edit("Today a second boat arrived from Alexandria.")
	w.open(interest)
	w.press("Check now")
	w.await("/?state=unread", "Harbour news")
	w.press("Harbour news")
	if added := w.text("ins"); !strings.Contains(added, "second boat arrived") {
		t.Errorf("new is %q: %s", added, w.body())
	}
	w.press("Useful")
	w.sees("It is marked")
	w.open("/?state=useful")
	w.sees("Harbour news")
	w.mail(`second «boat»`)
	w.hooked(2)
	w.inFeed(feed, 2)
	w.open("/deliveries")
	w.sees("Mailbox", "Hook")

	w.open("/settings/leave")
	w.fill("password", "a sentence to remember")
	w.press("Leave, and have all erased")
	w.sees("You have left")
	w.fill("name", "eleni")
	w.fill("password", "a sentence to remember")
	w.press("Log in")
	w.sees("do not go together")
	if got := w.get(feed); got != "404 Not Found" {
		t.Errorf("the feed of who has left: %s", got)
	}
}

// portalWalker is a person with a browser, and what is around them: a site, a mailbox and a receiver of requests.
type portalWalker struct {
	t       *testing.T
	page    *rod.Page
	scripts bool
	base    string   // of the application
	link    string   // of the invitation
	options []string // of the program
	client  *http.Client
	siteURL string
	hook    *httptest.Server
	key     string // that requests are signed with

	mu     sync.Mutex
	news   string
	mails  []string
	hooks  int
	faults []string
}

func newPortalWalker(t *testing.T, scripts bool) *portalWalker {
	t.Helper()
	browser := chromium.Open(t)
	w := &portalWalker{t: t, scripts: scripts, client: http.DefaultClient, news: "<p>A wooden boat was sold in Limassol yesterday, for more than anybody had thought.</p>"}
	site := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(site.Close)
	w.siteURL = site.URL
	w.hook = httptest.NewServer(http.HandlerFunc(w.receive))
	t.Cleanup(w.hook.Close)
	post, err := newNewsPost()
	w.ok(err)
	t.Cleanup(func() { post.listener.Close() })
	post.answer = w.deliver
	at, err := url.Parse("smtp://" + post.listener.Addr().String())
	w.ok(err)

	w.options = []string{
		"--set", "portal.listen=127.0.0.1:0", "--set", "frontier.fresh=0s", "--set", "fetch.allow_networks=loopback", "--set", "http-out.allow_networks=loopback",
		"--set", "mail-out.host=" + at.Hostname(), "--set", "mail-out.port=" + at.Port(), "--set", "mail-out.tls=none", "--set", "mail-out.from=webrace@post.example",
	}
	w.ok(browser.IgnoreCertErrors(true)) // of a proxy's
	raw, err := browser.Page(proto.TargetCreateTarget{})
	w.ok(err)
	w.page = raw.Timeout(5 * patience)
	if !scripts {
		w.ok(proto.EmulationSetScriptExecutionDisabled{Value: true}.Call(w.page))
	}
	return w
}

// behindNginx has nginx stand before the program, by what its page says, with a certificate that this test alone knows.
func (w *portalWalker) behindNginx() {
	w.t.Helper()
	front, back := testutil.FreeAddress(w.t), testutil.FreeAddress(w.t)
	trusted := httptest.NewTLSServer(nil) // for its certificate
	w.t.Cleanup(trusted.Close)
	w.client = trusted.Client()
	w.client.Transport.(*http.Transport).TLSClientConfig.ServerName = "example.com" // which the certificate is for
	dir, served := w.t.TempDir(), trusted.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(served.PrivateKey)
	w.ok(err)
	cert, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeFile(w.t, cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: served.Certificate[0]})))
	writeFile(w.t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	config := fenced(readFile(w.t, "../../docs/portal.md"), "nginx")[0]
	for of, is := range map[string]string{
		"listen 443 ssl": "listen " + front + " ssl", "/etc/ssl/alerts.pem": cert, "/etc/ssl/alerts.key": keyFile, "127.0.0.1:8642": back,
	} {
		if !strings.Contains(config, of) {
			w.t.Fatalf("the page has no %s any more", of)
		}
		config = strings.ReplaceAll(config, of, is)
	}
	startNginx(w.t, front, config)
	w.base = "https://" + front
	w.options = append(w.options, "--set", "portal.listen="+back, "--set", "portal.url="+w.base, "--set", `portal.proxies=["127.0.0.1/32"]`)
}

// start invites the person and starts the program.
func (w *portalWalker) start() {
	w.t.Helper()
	shipped := []string{"--config", filepath.Join("..", "..", "pipelines.toml"), "--data", filepath.Join(w.t.TempDir(), "data")}
	link := strings.TrimSpace(storeCommand(w.t, append([]string{"account", "add", "eleni"}, shipped...)...))
	w.link = pathIn(w.t, link)
	p := newCommand(w.t, slices.Concat([]string{"webrace", "portal", "--continuous"}, w.options, shipped)...)
	p.Env = append(p.Environ(), "WEBRACE_CONTACT=https://operator.example/")
	p.begin()
	p.waitUntil("the web application is open")
	opened := regexp.MustCompile(`open".* url=(\S+)`).FindStringSubmatch(p.said())[1]
	if w.base != "" && opened != w.base {
		w.t.Errorf("it is open at %s, not at %s", opened, w.base)
	}
	w.base = opened
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("the program said %s", p.said())
		}
	})
}

func (w *portalWalker) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// pathIn returns the path of the first address in a text.
func pathIn(t *testing.T, text string) string {
	t.Helper()
	u, err := url.Parse(regexp.MustCompile(`https?://\S+`).FindString(text))
	if err != nil || u.Path == "" {
		t.Fatalf("there is no address in %q", text)
	}
	return u.Path
}

// serve is the site: news that are edited, and their copy as they were.
func (w *portalWalker) serve(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	const page = `<title>Harbour news</title><h1>Harbour news</h1>%s<p><a href="/copy">Elsewhere</a></p>`
	switch r.URL.Path {
	case "/news":
		fmt.Fprintf(out, page, w.news)
	case "/copy":
		first, _, _ := strings.Cut(w.news, "</p>")
		fmt.Fprintf(out, page, first+"</p>")
	default:
		http.NotFound(out, r)
	}
}

func (w *portalWalker) edit(more string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.news += "<p>" + more + "</p>"
}

// receive is the webhook: it takes what is signed with the key that was shown.
func (w *portalWalker) receive(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		err = httpout.Verify(w.key, r.Header.Get("X-Webrace-Signature"), body, time.Now(), time.Minute)
	}
	if err != nil {
		w.faults = append(w.faults, err.Error())
		http.Error(out, err.Error(), http.StatusForbidden)
		return
	}
	w.hooks += strings.Count(string(body), `"title"`)
}

func (w *portalWalker) deliver(_, data string) error {
	text, err := readMail(data)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.faults = append(w.faults, err.Error())
		return err
	}
	w.mails = append(w.mails, text)
	return nil
}

// mail waits for a mail with a text, and returns what of it the pattern finds, with what stands before up to a space.
func (w *portalWalker) mail(pattern string) (found string) {
	w.t.Helper()
	wanted := regexp.MustCompile(`\S*` + pattern)
	waitFor(w.t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, m := range w.mails {
			if found = wanted.FindString(m); found != "" {
				return true
			}
		}
		return false
	}, func() string { return fmt.Sprintf("no mail has %s: %q %q", pattern, w.mails, w.faults) })
	return found
}

// hooked waits until the webhook has been told of so many annotations.
func (w *portalWalker) hooked(n int) {
	w.t.Helper()
	waitFor(w.t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.hooks >= n
	}, func() string { return fmt.Sprintf("the webhook was told of %d: %q", w.hooks, w.faults) })
}

// inFeed fails unless a feed tells of so many annotations.
func (w *portalWalker) inFeed(feed string, n int) {
	w.t.Helper()
	parser := gofeed.NewParser()
	parser.Client = w.client
	read, err := parser.ParseURL(feed)
	if err != nil || len(read.Items) != n || !strings.Contains(read.Items[0].Title, "Harbour news") {
		w.t.Errorf("the feed: %v, %+v", err, read)
	}
}

func (w *portalWalker) get(address string) string {
	w.t.Helper()
	got, err := w.client.Get(address)
	w.ok(err)
	got.Body.Close()
	return got.Status
}

func (w *portalWalker) open(path string) {
	w.t.Helper()
	w.leaving()
	w.ok(w.page.Navigate(w.base + path))
	w.arrives("is opened at " + path)
}

// leaving and arrives stand around what brings another page. They ask the page, and not the browser for its events,
// because of one without scripts some of these do not come.
func (w *portalWalker) leaving() {
	w.t.Helper()
	_, err := w.page.Eval(`() => { window.left = true }`) // which another page knows nothing of
	w.ok(err)
}

func (w *portalWalker) arrives(how string) {
	w.t.Helper()
	waitFor(w.t, func() bool {
		got, err := w.page.Eval(`() => !window.left && document.readyState === "complete"`)
		return err == nil && got.Value.Bool()
	}, func() string { return fmt.Sprintf("no page comes when it %s: %s", how, w.body()) })
}

// fill types into a field.
func (w *portalWalker) fill(name, value string) {
	w.t.Helper()
	selector := `[name="` + name + `"]:not([type="hidden"])`
	if w.page.MustEval(`selector => document.querySelector(selector) === null`, selector).Bool() {
		w.t.Fatalf("there is no field %s: %s", name, w.body())
	}
	if !w.scripts { // the browser's keys go by frames of animation, which do not come
		w.page.MustEval(`(selector, value) => { document.querySelector(selector).value = value }`, selector, value)
		return
	}
	e, err := w.page.Timeout(patience).Element(selector)
	w.ok(err)
	w.ok(e.SelectAllText())
	w.ok(w.page.Keyboard.Type(input.Backspace))
	w.ok(e.Input(value))
}

// press presses the button, or follows the link, with a text, and waits for the page that comes.
func (w *portalWalker) press(label string) {
	w.t.Helper()
	w.leaving()
	w.button(label)
	w.arrives("is pressed on " + label)
}

func (w *portalWalker) button(label string) {
	w.t.Helper()
	const find = `label => [...document.querySelectorAll("main button, main a")].find(e => e.textContent.trim() === label)`
	if w.page.MustEval(`label => (`+find+`)(label) === undefined`, label).Bool() {
		w.t.Fatalf("there is nothing to press that says %q: %s", label, w.body())
	}
	if !w.scripts {
		w.page.MustEval(`label => { (`+find+`)(label).click() }`, label)
		return
	}
	e, err := w.page.Timeout(patience).ElementByJS(rod.Eval(find, label))
	w.ok(err)
	w.ok(e.Click(proto.InputMouseButtonLeft, 1))
}

// preview asks what the interest would bring: with scripts it comes into the page, and its page after what is stored;
// without it is another.
func (w *portalWalker) preview() {
	w.t.Helper()
	if !w.scripts {
		w.press("Show what it would bring")
		return
	}
	w.button("Show what it would bring")
	waitFor(w.t, func() bool { return strings.Contains(w.text("#preview"), "You would") }, func() string { return "no preview: " + w.body() })
}

// await loads a page until it has a text.
func (w *portalWalker) await(path, text string) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) { // as long as a person would wait before loading it again
		w.open(path)
		if strings.Contains(w.body(), text) {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s does not show %q: %s", path, text, w.body())
		}
	}
}

// sees fails unless the page has texts, whatever their case.
func (w *portalWalker) sees(texts ...string) {
	w.t.Helper()
	body := strings.ToLower(w.body())
	for _, text := range texts {
		if !strings.Contains(body, strings.ToLower(text)) {
			w.t.Fatalf("%s does not say %q: %s", w.path(), text, body)
		}
	}
}

func (w *portalWalker) body() string { return w.text("main") }

// text returns what an element shows; "" if there is none.
func (w *portalWalker) text(selector string) string {
	got, err := w.page.Eval(`selector => document.querySelector(selector)?.textContent.trim() ?? ""`, selector)
	if err != nil {
		return ""
	}
	return got.Value.Str()
}

// path returns the path of the page that is shown.
func (w *portalWalker) path() string {
	w.t.Helper()
	info, err := w.page.Info()
	w.ok(err)
	u, err := url.Parse(info.URL)
	w.ok(err)
	return u.Path
}
