package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// benchPortal measures the web application of a process of its own, over the annotations of many people.
func benchPortal(b *bench) error {
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := &portalBench{bench: b, dir: dir, accounts: 10_000, annotations: 1_000_000, requests: 1000, logins: 200}
	if b.quick {
		p.accounts, p.annotations, p.requests, p.logins = 200, 20_000, 800, 50
	}
	if p.program, err = buildRun(dir); err != nil {
		return err
	}
	told := &toldBench{bench: b, dir: dir, program: p.program, people: 1000, waves: 20}
	if b.quick {
		told.people, told.waves = 200, 6
	}
	if err := errors.Join(told.filing(), told.tell()); err != nil {
		return err
	}
	if err := p.fill(); err != nil {
		return fmt.Errorf("fill the store: %w", err)
	}
	if err := p.start(); err != nil {
		return err
	}
	return errors.Join(p.measure(), p.stop())
}

// visitors are how many people ask at once.
const visitors = 8

// previewed is how many pages are stored for a preview, of 70 KB each.
const previewed = 1000

type portalBench struct {
	*bench
	dir, program                            string
	accounts, annotations, requests, logins int

	links   []string // of visitors who have no password yet
	process *exec.Cmd
	said    syncBuffer
	url     string
	people  []*http.Client
}

// syncBuffer is what a process says while it is looked at.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (p *portalBench) data() string { return filepath.Join(p.dir, "data") }

// fill stores the accounts, with interests and annotations in their inboxes, and pages for a preview.
func (p *portalBench) fill() error {
	return withStore(p.data(), func(dir *storage.Dir, store *control.Store) error {
		if err := p.addPeople(context.Background(), store); err != nil {
			return err
		}
		pages, err := dir.Objects()
		if err != nil {
			return err
		}
		return storePages(pages)
	})
}

// withStore runs a function over the store of a data directory.
func withStore(path string, do func(*storage.Dir, *control.Store) error) (err error) {
	dir, err := storage.Open(path, storage.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	store, err := dir.Control()
	if err != nil {
		return err
	}
	return do(dir, store)
}

// addPeople stores the accounts, and the annotations of their owners.
func (p *portalBench) addPeople(ctx context.Context, store *control.Store) error {
	for i := range p.accounts {
		if err := store.AddAccount(ctx, control.Account{Owner: owner(i), State: control.AccountInvited}, false); err != nil {
			return err
		}
	}
	for i := range max(visitors, 1) {
		token := fmt.Sprintf("TOKEN%d", i)
		if err := store.AddToken(ctx, token, control.Token{Owner: owner(i), Purpose: control.PurposeInvite, Expires: time.Now().Add(time.Hour)}); err != nil {
			return err
		}
		p.links = append(p.links, "/in/"+token)
		for j := range interests {
			u := xmlschema.NewURD(owner(i), fmt.Sprintf("https://site%d.example/", j))
			u.ID = urdOf(i, j)
			u.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: "storm", Weight: 5})
			if _, err := store.Put(ctx, []*xmlschema.URD{u}); err != nil {
				return err
			}
		}
	}
	began := time.Now()
	if err := p.annotate(ctx, store); err != nil {
		return err
	}
	p.note("portal: %s accounts, %s annotations stored and filed in %v", grouped(p.accounts), grouped(p.annotations), time.Since(began).Round(time.Second))
	return nil
}

// interests is how many each person has.
const interests = 20

func owner(i int) string { return fmt.Sprint("person", i) }

func urdOf(person, i int) string { return fmt.Sprintf("person%d-%d", person, i) }

// annotate stores annotations, of which each visitor has ten times as many as others, and files them.
func (p *portalBench) annotate(ctx context.Context, store *control.Store) error {
	const together = 1000
	for first := 0; first < p.annotations; first += together {
		acis, filings := make([]*xmlschema.ACI, together), make([]control.Filing, together)
		for i := range acis {
			n := first + i
			who := n % p.accounts
			if n%(p.accounts/10) < visitors {
				who = n % (p.accounts / 10)
			}
			acis[i] = numbered(n, who)
			filings[i] = control.Filing{ID: acis[i].ID, Relevance: acis[i].Relevance, Urgency: acis[i].Urgency}
		}
		if _, err := store.PutEachACI(ctx, acis); err != nil {
			return err
		}
		if _, err := store.File(ctx, filings); err != nil {
			return err
		}
	}
	return nil
}

// numbered returns an annotation of a page with a number, for one of a person's interests.
func numbered(n, who int) *xmlschema.ACI {
	return &xmlschema.ACI{
		ID: fmt.Sprint("a", n), URD: urdOf(who, n/1000%interests), Owner: owner(who), URI: fmt.Sprintf("https://page.example/%d", n), Title: fmt.Sprintf("A page with the number %d", n),
		Format: xmlschema.FormatHTML, Relevance: n % 101, Urgency: 1 + n%3, UpdateTime: time.Unix(int64(1_700_000_000+n), 0), Docbase: xmlschema.Docbase{Version: 1},
		Summary: strings.Repeat("A summary of the page. ", 8),
	}
}

// storePages stores pages of 70 KB, of which one in ten has a word that is looked for.
func storePages(pages *objects.Store) error {
	filler := strings.Repeat("<p>Nothing in particular was reported from the harbour today, and the sea was calm.</p>\n", 800)
	for i := range previewed {
		word := "calm"
		if i%10 == 0 {
			word = "storm"
		}
		body := fmt.Appendf(nil, "<title>Report %d</title><h1>A %s</h1>%s", i, word, filler)
		d := &webrace.Document{
			URL: fmt.Sprintf("https://site0.example/%d", i), Outcome: webrace.Fetched, Status: http.StatusOK, At: time.Now(),
			Header: http.Header{"Content-Type": {"text/html"}}, Body: body, Digest: sha256.Sum256(body),
		}
		durable := make(chan error, 1)
		_, err := pages.Put(d, func(err error) { durable <- err })
		if err == nil {
			err = <-durable
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// start starts the process, and logs the visitors in.
func (p *portalBench) start() error {
	p.process = exec.Command(p.program, "portal", "--config", "../pipelines.toml", "--data", p.data(), "--set", "portal.listen=127.0.0.1:0")
	p.process.Env = append(os.Environ(), "WEBRACE_CONTACT=https://operator.example/")
	p.process.Stdout, p.process.Stderr = &p.said, &p.said
	if err := p.process.Start(); err != nil {
		return err
	}
	opened := regexp.MustCompile(`open".* url=(\S+)`)
	for deadline := time.Now().Add(time.Minute); p.url == ""; time.Sleep(10 * time.Millisecond) {
		if found := opened.FindStringSubmatch(p.said.String()); found != nil {
			p.url = found[1]
		} else if time.Now().After(deadline) {
			return fmt.Errorf("the application does not open: %s", p.said.String())
		}
	}
	for _, link := range p.links {
		jar, err := cookiejar.New(nil)
		if err != nil {
			return err
		}
		client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		status, _, err := p.post(client, link, url.Values{"password": {"a long sentence"}, "again": {"a long sentence"}})
		if err != nil || status != http.StatusSeeOther {
			return fmt.Errorf("set a password: %d, %w", status, err)
		}
		p.people = append(p.people, client)
	}
	return nil
}

func (p *portalBench) stop() error {
	if err := p.process.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	_ = p.process.Wait() // an interrupted run ends with a status of its own
	return nil
}

func (p *portalBench) post(client *http.Client, path string, form url.Values) (int, string, error) {
	r, err := p.request(path, form)
	if err != nil {
		return 0, "", err
	}
	return answered(client.Do(r))
}

// request is a form that is sent.
func (p *portalBench) request(path string, form url.Values) (*http.Request, error) {
	r, err := http.NewRequest(http.MethodPost, p.url+path, strings.NewReader(form.Encode()))
	if err == nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return r, err
}

func answered(got *http.Response, err error) (int, string, error) {
	if err != nil {
		return 0, "", err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	return got.StatusCode, string(body), err
}

func (p *portalBench) measure() error {
	for _, page := range []struct{ name, path, has string }{
		{"inbox", "/", "A page with the number"}, {"inbox, by relevance", "/?sort=relevance", "A page with the number"}, {"item", "", "A page with the number"},
		{"interests", "/interests", "site1.example"}, {"deliveries", "/deliveries", "<h1>"},
	} {
		if err := p.page(page.name, page.path, page.has); err != nil {
			return fmt.Errorf("%s: %w", page.name, err)
		}
	}
	if err := p.preview(); err != nil {
		return fmt.Errorf("preview: %w", err)
	}
	return p.logIn()
}

// page asks for a page, as all visitors at once.
func (p *portalBench) page(name, path, has string) error {
	items := make([]string, len(p.people))
	link := regexp.MustCompile(`href="(/a/\d+)"`)
	for i, client := range p.people {
		_, body, err := answered(client.Get(p.url + cmp.Or(path, "/")))
		if err != nil {
			return err
		}
		items[i] = path
		if found := link.FindStringSubmatch(body); path == "" && found != nil {
			items[i] = found[1]
		}
	}
	var mu sync.Mutex
	var times []time.Duration
	failures := make(chan error, len(p.people))
	for i, client := range p.people {
		go func() {
			for range p.requests / len(p.people) {
				began := time.Now()
				status, body, err := answered(client.Get(p.url + items[i]))
				if took := time.Since(began); err == nil && status == http.StatusOK && strings.Contains(body, has) {
					mu.Lock()
					times = append(times, took)
					mu.Unlock()
					continue
				}
				failures <- fmt.Errorf("%s gave %d: %w: %.300s", items[i], status, err, body)
				return
			}
			failures <- nil
		}()
	}
	var err error
	for range p.people {
		err = errors.Join(err, <-failures)
	}
	if err != nil {
		return err
	}
	slices.Sort(times)
	of := fmt.Sprintf("%s, %d at once, wall ", name, len(p.people))
	p.table.value(of+"p50", float64(percentile(times, 50).Microseconds())/1000, "ms", atMost(10))
	p.table.value(of+"p99", float64(percentile(times, 99).Microseconds())/1000, "ms", atMost(50))
	return nil
}

// preview shows what an interest would bring of the stored pages. The page itself does not answer.
func (p *portalBench) preview() error {
	form := url.Values{
		"url": {"https://site0.example/"}, "keywords": {"storm: 5"}, "match": {"any"}, "threshold": {"20"}, "tell": {"filter"}, "change": {"added"},
		"urgency": {"1"}, "depth": {"2"}, "scope": {"host"},
	}
	times := make([]time.Duration, 2)
	for i, part := range []bool{false, true} { // as without scripts, and what these show first
		r, err := p.request("/interests/preview", form)
		if err != nil {
			return err
		}
		if part {
			r.Header.Set("HX-Request", "true")
		}
		began := time.Now()
		status, body, err := answered(p.people[0].Do(r))
		times[i] = time.Since(began)
		if err != nil || status != http.StatusOK || !strings.Contains(body, "Report") {
			return fmt.Errorf("%d, %w: %.500s", status, err, body)
		}
	}
	const row = "preview over 1,000 stored pages of 70 KB, and a page that does not answer, "
	p.table.value(row+"wall", times[0].Seconds(), "s", atMost(2))
	p.table.value(row+"first results, wall", times[1].Seconds(), "s", atMost(0.3))
	return nil
}

// logIn has many log in at once, each from an address of its own.
func (p *portalBench) logIn() error {
	process := p.process.Process.Pid
	before, err := residentBytes(process, "VmRSS")
	if err == nil {
		err = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", process), []byte("5"), 0) // VmHWM begins anew
	}
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := make(map[int]int)
	var slowest time.Duration
	for range p.logins {
		all.Go(func() {
			began := time.Now()
			client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			status, _, err := p.post(client, "/login", url.Values{"name": {owner(0)}, "password": {"a long sentence"}})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				status = 0
			}
			statuses[status]++
			slowest = max(slowest, time.Since(began))
		})
	}
	all.Wait()
	p.note("portal: of %d who log in at once from one address: %v", p.logins, statuses)
	p.table.value(fmt.Sprintf("%d log in at once, the slowest answer, wall", p.logins), slowest.Seconds(), "s", atMost(10))
	after, err := residentBytes(process, "VmHWM")
	p.table.value(fmt.Sprintf("%d log in at once, RSS beyond before", p.logins), float64(max(after-before, 0))/1e6, "MB", atMost(64))
	return err
}
