//go:build unix

package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// People with a mailbox and two webhooks are told of annotations, while the program is killed again and again, and one
// message of ten is refused at first. In the end each annotation was taken on each channel; what came again came
// under the same key; and none was in two messages.
func TestKilledDeliveriesLoseNothingToPeople(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of processes: not in short mode")
	}
	t.Parallel()
	const perKill, peoplePerKill = 100, 4
	s := newSubscribers(t, *kills*peoplePerKill)
	random := rand.New(rand.NewPCG(3, uint64(*kills)))
	killed := 0
	for i := range *kills {
		s.annotate(i*perKill, perKill)
		if s.runKilled(1+random.IntN(perKill), time.Duration(random.IntN(20_000))*time.Microsecond) {
			killed++
		}
	}
	for range 20 {
		startCommand(t, "tell", "--config", s.config, "--data", s.data).mustExit(0)
		if said := storeCommand(t, "outbox", "list", "--dead", "--config", s.config, "--data", s.data); !strings.Contains(said, "dead") {
			break
		}
		s.activate()
		storeCommand(t, "outbox", "again", "--dead", "--config", s.config, "--data", s.data)
	}
	lost, twice := s.compare(*kills * perKill)
	if len(lost) > 0 || len(twice) > 0 {
		t.Errorf("lost: %v\nin two messages: %v", lost, twice)
	}
	t.Logf("%d annotations to %d people on three channels each, %d kills: %d messages taken, %d of them again under the same key; lost %d, in two messages %d",
		*kills*perKill, s.people, killed, len(s.taken), s.again, len(lost), len(twice))
	if *kills > 1 && (killed == 0 || s.refused == 0) {
		t.Errorf("%d kills, %d refusals: nothing was disturbed", killed, s.refused)
	}
}

// subscribers are people with channels, and all that is sent to them.
type subscribers struct {
	t            *testing.T
	data, config string
	people       int

	mu      sync.Mutex
	seen    map[string]bool              // keys that were refused once
	taken   map[string]string            // by key, on which channel
	in      map[string]map[string]string // by channel and annotation, in which message
	twice   []string
	again   int
	refused int
	count   int
	reached chan struct{} // closed when so many were counted
	until   int
}

func newSubscribers(t *testing.T, people int) *subscribers {
	t.Helper()
	s := &subscribers{
		t: t, people: people, data: filepath.Join(t.TempDir(), "data"), config: filepath.Join(t.TempDir(), "pipelines.toml"),
		seen: make(map[string]bool), taken: make(map[string]string), in: make(map[string]map[string]string),
	}
	post, err := newNewsPost()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { post.listener.Close() })
	post.answer = s.mailed
	hook := httptest.NewServer(http.HandlerFunc(s.hooked))
	t.Cleanup(hook.Close)
	_, port, err := net.SplitHostPort(post.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, s.config, `version = 1
[pipeline.tell]
flow = ["acis > outbox > route", "route.mail > mail-out", "route.hook > http-out"]
[pipeline.tell.stage.route]
kind = "message"
ports = [{ name = "mail", when = "transport == 'mail'" }, { name = "hook", when = "true" }]
[pipeline.tell.stage.mail-out]
host = "127.0.0.1"
port = `+port+`
tls = "none"
from = "webrace@post.example"
plain = true
workers = 4
[pipeline.tell.stage.http-out]
allow_networks = ["loopback"]
`)
	s.open(func(store *control.Store) {
		for i := range people {
			owner := fmt.Sprint("person", i)
			s.ok(store.AddAccount(t.Context(), control.Account{Owner: owner, State: control.AccountActive}, false))
			for name, c := range map[string]control.Channel{
				"mail":  {Kind: control.ChannelMail, Address: channel.NewAddress(mailAddress("mail", owner), "")},
				"hook":  {Kind: control.ChannelWebhook, Address: channel.NewAddress(hook.URL+"/hook/"+owner, "key")},
				"other": {Kind: control.ChannelWebhook, Address: channel.NewAddress(hook.URL+"/other/"+owner, "")},
			} {
				c.Name, c.State = name, control.ChannelActive
				_, err := store.Of(owner).AddChannel(t.Context(), c)
				s.ok(err)
			}
		}
	})
	return s
}

func (s *subscribers) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// open works on the store while no process has it.
func (s *subscribers) open(do func(*control.Store)) {
	s.t.Helper()
	dir, err := storage.Open(s.data, storage.Options{})
	s.ok(err)
	store, err := dir.Control()
	s.ok(err)
	do(store)
	s.ok(dir.Close())
}

// annotate stores annotations for all people in turn.
func (s *subscribers) annotate(first, n int) {
	s.t.Helper()
	s.open(func(store *control.Store) {
		var acis []*xmlschema.ACI
		for i := first; i < first+n; i++ {
			acis = append(acis, &xmlschema.ACI{
				ID: fmt.Sprint("a", i), URD: "u", Owner: fmt.Sprint("person", i%s.people), URI: fmt.Sprint("http://a.example/", i), Title: fmt.Sprintf("Annotation %d.", i),
				Format: xmlschema.FormatHTML, Relevance: 50, Urgency: 1, UpdateTime: time.Now(), Docbase: xmlschema.Docbase{Version: 1},
			})
		}
		_, err := store.PutACIs(s.t.Context(), acis)
		s.ok(err)
	})
}

// activate has channels go on that were stopped because their receivers refused too much.
func (s *subscribers) activate() {
	s.t.Helper()
	s.open(func(store *control.Store) {
		for i := range s.people {
			mine := store.Of(fmt.Sprint("person", i))
			for c, err := range mine.Channels(s.t.Context()) {
				s.ok(err)
				if c.State == control.ChannelStopped {
					c.State = control.ChannelActive
					s.ok(mine.ChangeChannel(s.t.Context(), c))
				}
			}
		}
	})
}

// runKilled runs the pipeline, and kills it a moment after so many messages came. It reports false if it ended before.
func (s *subscribers) runKilled(after int, moment time.Duration) bool {
	s.t.Helper()
	s.mu.Lock()
	s.reached, s.until = make(chan struct{}), s.count+after
	reached := s.reached
	s.mu.Unlock()
	p := startCommand(s.t, "tell", "--config", s.config, "--data", s.data)
	ended := make(chan struct{})
	var killing sync.WaitGroup
	killing.Go(func() {
		select {
		case <-reached:
			time.Sleep(moment) // any may be the one at which it dies
			p.Process.Kill()   // which may have ended meanwhile
		case <-ended:
		}
	})
	killed := p.isKilled()
	close(ended)
	killing.Wait()
	return killed
}

func (s *subscribers) mailed(to, data string) error {
	m, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		return err
	}
	text, err := readMail(data)
	if err == nil && !s.take(to, m.Header.Get("Message-ID"), text) {
		err = errors.New("not now")
	}
	return err
}

func (s *subscribers) hooked(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	signed := r.Header.Get("X-Webrace-Signature") != ""
	switch {
	case err != nil, strings.HasPrefix(r.URL.Path, "/hook/") != signed:
		http.Error(w, "unreadable, or not signed as it should be", http.StatusBadRequest)
	case !s.take(r.URL.Path, r.Header.Get("Idempotency-Key"), string(body)):
		http.Error(w, "not now", http.StatusGone)
	}
}

var annotationNumber = regexp.MustCompile(`Annotation (\d+)\.`)

// take keeps what came on a channel, or refuses it, as one of ten the first time.
func (s *subscribers) take(on, key, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count++; s.count == s.until {
		close(s.reached)
	}
	hash := fnv.New32a()
	fmt.Fprint(hash, key)
	if hash.Sum32()%10 == 0 && !s.seen[key] {
		s.seen[key] = true
		s.refused++
		return false
	}
	if _, is := s.taken[key]; is {
		s.again++
	}
	s.taken[key] = on
	if s.in[on] == nil {
		s.in[on] = make(map[string]string)
	}
	for _, found := range annotationNumber.FindAllStringSubmatch(text, -1) {
		if before := s.in[on][found[1]]; before != "" && before != key {
			s.twice = append(s.twice, fmt.Sprintf("%s on %s: %s and %s", found[1], on, before, key))
		}
		s.in[on][found[1]] = key
	}
	return true
}

// compare returns which annotations were not taken on a channel, and which were in two messages.
func (s *subscribers) compare(annotations int) (lost, twice []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range annotations {
		owner := fmt.Sprint("person", i%s.people)
		for _, on := range []string{mailAddress("mail", owner), "/hook/" + owner, "/other/" + owner} {
			if s.in[on][fmt.Sprint(i)] == "" {
				lost = append(lost, fmt.Sprintf("%d on %s", i, on))
			}
		}
	}
	return lost, s.twice
}
