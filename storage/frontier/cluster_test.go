package frontier

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/webrace/webrace"
)

// post is what the partitions of a cluster have in common, in memory: their inboxes, and where crawls that have left
// their home wait for URLs. Whoever tests says when something arrives.
type post struct {
	of   func(host string) int
	late func() bool // whether what is sent now arrives when that is told, or at once; nil: at once

	mu   sync.Mutex
	rows []*letter
	wait map[string]map[int]bool // by crawl: in which partitions it waits for URLs
	over bool
}

type letter struct{ Envelope }

// box is the post as one partition has it.
type box struct {
	*post
	here int
	to   Receiver
	sent []sending // what is not told to have arrived
}

type sending struct {
	late []*letter // what has not arrived; it is lost if the sender dies now
	done func(error)
}

func (b *box) Here() int          { return b.here }
func (b *box) Of(host string) int { return b.of(host) }

func (b *box) Send(all []Envelope, done func(error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	letters := make([]*letter, len(all))
	for i, e := range all {
		letters[i] = &letter{e}
	}
	if b.late == nil || !b.late() {
		b.rows, letters = append(b.rows, letters...), nil
	}
	b.sent = append(b.sent, sending{letters, done})
}

func (b *box) Attach(to Receiver) (detach func()) {
	b.to = to
	return func() { b.to = nil }
}

func (b *box) Over() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

// ack tells the queue that what it sent has arrived.
func (b *box) ack() {
	b.mu.Lock()
	sent := b.sent
	b.sent = nil
	for _, s := range sent {
		b.rows = append(b.rows, s.late...)
	}
	b.mu.Unlock()
	for _, s := range sent {
		s.done(nil)
	}
}

// inbox returns what waits for the partition.
func (b *box) inbox() (all []*letter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.rows {
		if l.To == b.here {
			all = append(all, l)
		}
	}
	return all
}

// receive has the queue receive a letter, which stays.
func (b *box) receive(t *testing.T, l *letter) {
	t.Helper()
	got := make(chan error, 1)
	b.to.Receive(l.Data, func(err error) { got <- err })
	if err := <-got; err != nil {
		t.Fatal(err)
	}
}

// take notes for which crawls of letters that were received URLs wait, and takes the letters away.
func (b *box) take(letters ...*letter) {
	for _, l := range letters {
		for i, pending := range b.to.Pending(l.Passes) {
			b.note(l.Passes[i].Crawl, pending)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows = slices.DeleteFunc(b.rows, func(l *letter) bool { return slices.Contains(letters, l) })
}

func (b *box) note(crawl string, pending bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wait[crawl] == nil {
		b.wait[crawl] = map[int]bool{}
	}
	b.wait[crawl][b.here] = pending
}

// look notes which crawls wait for nothing here any more.
func (b *box) look() {
	b.mu.Lock()
	var passes []Pass
	for crawl, by := range b.wait {
		if by[b.here] {
			passes = append(passes, Pass{Crawl: crawl})
		}
	}
	b.mu.Unlock()
	for i, pending := range b.to.Pending(passes) {
		b.note(passes[i].Crawl, pending)
	}
}

// end ends the passes of crawls that begin here and are over everywhere, and returns them.
func (b *box) end(t *testing.T) (ended []Pass) {
	t.Helper()
	for _, p := range b.to.Leaving() {
		if b.waits(p.Crawl) {
			continue
		}
		got := make(chan error, 1)
		b.to.End(p, func(err error) { got <- err })
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		ended = append(ended, p)
	}
	return ended
}

// waits reports whether a crawl waits for anything outside its home.
func (b *box) waits(crawl string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.rows {
		if slices.ContainsFunc(l.Passes, func(p Pass) bool { return p.Crawl == crawl }) {
			return true
		}
	}
	for _, pending := range b.wait[crawl] {
		if pending {
			return true
		}
	}
	return false
}

// partitions are the queues of three: of the first one are the hosts of which the name begins with "a".
type partitions struct {
	t     *testing.T
	boxes [3]*box
	f     [3]*fixture
}

func newPartitions(t *testing.T) *partitions {
	p := &partitions{t: t}
	all := &post{wait: map[string]map[int]bool{}, of: func(host string) int { return int(host[0] - 'a') }}
	for i := range p.f {
		p.boxes[i] = &box{post: all, here: i}
		p.f[i] = newFixture(t, QueueOptions{Fresh: -1, Wait: -1, Elsewhere: p.boxes[i]})
	}
	return p
}

// offer offers links of a page that is out, and reports what came of them once that is certain.
func (p *partitions) offer(at int, l *Lease, links webrace.Links) (got Offered) {
	p.t.Helper()
	r := l.Request()
	links.From, links.Reach = r.URL, r.Reach
	done := false
	p.f[at].q.Offer(&links, func(o Offered, err error) {
		if err != nil {
			p.t.Error(err)
		}
		got, done = o, true
	})
	p.f[at].waitForCommit()
	early := done
	p.boxes[at].ack()
	if !done || early != (got.Sent == 0) {
		p.t.Errorf("an offer is done before all of it is certain to arrive: %v; or never: %v", early, !done)
	}
	return got
}

// deliver delivers everything to a partition, twice.
func (p *partitions) deliver(to int) {
	p.t.Helper()
	all := p.boxes[to].inbox()
	for range 2 {
		for _, l := range all {
			p.boxes[to].receive(p.t, l)
		}
	}
	p.boxes[to].take(all...)
}

func (p *partitions) ends(at int) int {
	for _, b := range p.boxes {
		b.look()
	}
	return len(p.boxes[at].end(p.t))
}

func TestALinkToAHostOfAnotherPartitionIsFetchedThere(t *testing.T) {
	t.Parallel()
	p := newPartitions(t)
	p.f[0].start(crawlOf("a.org"), true)
	l := p.f[0].take()
	links := webrace.Links{Via: webrace.ViaLink, URLs: []string{"http://b.org/1", "http://a.org/1", "http://b.org/2"}}
	if o := p.offer(0, l, links); o.Accepted != 1 || o.Sent != 2 {
		t.Errorf("one link is here, and two are sent: %+v", o)
	}
	if o := p.offer(0, l, links); o.Refused[Repeat] != 3 {
		t.Errorf("they are repeats: %+v", o)
	}
	p.f[0].done(l)
	p.f[0].done(p.f[0].take())
	if s := p.f[0].q.Stats(); s.Known != 2 {
		t.Errorf("a link to another partition is counted here: %+v", s)
	}
	if p.ends(0) != 0 {
		t.Error("the round is over while links are on their way")
	}
	p.deliver(1)
	if p.ends(0) != 0 {
		t.Error("the round is over before the pages of another partition are done")
	}
	for range 2 {
		l := p.f[1].take()
		p.f[1].wantReach(l, webrace.Reach{Crawl: "a.org", Distance: 1})
		p.f[1].done(l)
	}
	p.f[1].none()
	if p.ends(0) != 1 || p.ends(0) != 0 {
		t.Error("the round is not over, once, when all is done")
	}
}

func TestARunIsOverWhenItIsOverEverywhere(t *testing.T) {
	t.Parallel()
	p := newPartitions(t)
	for i := range p.f {
		p.f[i].q.Seal()
	}
	p.f[0].start(crawlOf("a.org"), true)
	l := p.f[0].take()
	p.offer(0, l, webrace.Links{Via: webrace.ViaLink, URLs: []string{"http://b.org/"}})
	if p.f[0].q.Idle() {
		t.Error("a queue is idle while a page is out")
	}
	p.f[0].done(l)
	p.f[0].none()
	if !p.f[0].q.Idle() {
		t.Error("a queue with nothing to hand out is not idle")
	}
	if _, _, err := p.f[0].q.try(p.f[0].now()); err != nil {
		t.Errorf("the run of a partition ends before all others: %v", err)
	}
	p.boxes[0].mu.Lock()
	p.boxes[0].over = true
	p.boxes[0].mu.Unlock()
	p.f[0].q.Wake()
	p.f[0].end()
}

func TestACrawlIsBegunWhereItsStartIs(t *testing.T) {
	t.Parallel()
	p := newPartitions(t)
	var got Round
	began := false
	if err := p.f[0].q.Begin(crawlOf("b.org"), true, func(r Round, err error) { got, began = r, err == nil }); err != nil || began {
		t.Fatalf("begun: %v, %v", began, err)
	}
	p.boxes[0].ack()
	if !began || got != (Round{}) {
		t.Errorf("begun: %v, as %+v", began, got)
	}
	p.deliver(1)
	p.f[1].crash() // and then the letter is there again
	p.f[1].done(p.f[1].take())
	p.f[1].none()
	if status, err := p.f[1].s.CrawlStatus("p", "b.org"); err != nil || status.Round != 1 || status.Pending == 0 {
		t.Errorf("the first round is to be open until all of the cluster have done with it: %+v, %v", status, err)
	}
	if p.ends(1) != 1 {
		t.Error("the round is not over")
	}
	if status, err := p.f[1].s.CrawlStatus("p", "b.org"); err != nil || status.Pending != 0 {
		t.Errorf("the round is over: %+v, %v", status, err)
	}
}

func TestWhatCannotBeReadIsToldApart(t *testing.T) {
	t.Parallel()
	p := newPartitions(t)
	nowhere := (&message{start: true, passes: []carried{{Crawl: webrace.Crawl{ID: "x", Start: "nowhere"}}}}).encode()
	for _, data := range [][]byte{nil, {messageSchema}, {messageSchema + 1}, nowhere} {
		p.f[0].q.Receive(data, func(err error) {
			var unreadable *EnvelopeError
			if !errors.As(err, &unreadable) {
				t.Errorf("%x: %v", data, err)
			}
		})
	}
}

// A start that is redirected from partition to partition takes its crawl along, wherever that is known by then.
func TestAStartThatIsRedirectedThroughPartitionsLandsInAll(t *testing.T) {
	t.Parallel()
	p := newPartitions(t)
	p.f[0].start(webrace.Crawl{ID: "c", Start: "http://a.org/", Scope: webrace.ScopeDomain}, true)
	redirect := func(at, hops int, to string) {
		l := p.f[at].take()
		if o := p.offer(at, l, webrace.Links{Via: webrace.ViaRedirect, Permanent: true, Redirects: hops, URLs: []string{to}}); o.Landed != 1 {
			t.Errorf("a start is redirected to %s: %+v", to, o)
		}
		p.f[at].finish(l, p.f[at].visited(301, 0))
	}
	redirect(0, 1, "http://b.net/")
	first := p.boxes[1].inbox()[0]
	p.deliver(1)
	redirect(1, 2, "http://c.com/")
	p.deliver(2)
	l := p.f[2].take()
	p.offer(2, l, webrace.Links{Via: webrace.ViaLink, URLs: []string{"http://a.c.com/", "http://b.c.com/", "http://b.net/1"}})
	p.f[2].done(l)
	for at, url := range []string{"http://a.c.com/", "http://b.c.com/"} {
		p.deliver(at)
		if at == 1 {
			p.f[1].crash()               // no memory answers
			p.boxes[1].receive(t, first) // of where the start led before
		}
		l := p.f[at].take()
		p.f[at].wantURL(l, url)
		p.f[at].wantReach(l, webrace.Reach{Crawl: "c", Distance: 1})
		if o := p.offer(at, l, webrace.Links{Via: webrace.ViaLink, URLs: []string{"http://c.c.com/" + url, "http://b.net/2"}}); o.Sent != 1 || o.Refused[Scope] != 1 {
			t.Errorf("what is in scope where the start has landed is sent from partition %d, and nothing else: %+v", at, o)
		}
		p.f[at].done(l)
		p.f[at].none()
	}
}

// Whoever goes on with the directory of a partition alone waits for no other.
func TestAPartitionThatIsAloneAgainOpensItsRounds(t *testing.T) {
	t.Parallel()
	p := newPartitions(t)
	p.f[0].start(crawlOf("a.org"), true)
	l := p.f[0].take()
	p.offer(0, l, webrace.Links{Via: webrace.ViaLink, URLs: []string{"http://b.org/"}})
	p.f[0].done(l)
	if r := p.f[0].start(crawlOf("a.org"), true); !r.Resumed || r.Number != 1 {
		t.Errorf("a round that is not over elsewhere is %+v", r)
	}
	p.f[0].opt.Elsewhere = nil
	p.f[0].reopen()
	if r := p.f[0].start(crawlOf("a.org"), true); r.Resumed || r.Number != 2 {
		t.Errorf("a round without others is %+v", r)
	}
}
