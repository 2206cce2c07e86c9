//go:build unix

package main

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/testutil/dovecot"
	"github.com/webrace/webrace/internal/testutil/mails"
	"github.com/webrace/webrace/storage/objects"
)

// mortalSource is a source that is not of the web, and what reads it.
type mortalSource interface {
	reads() *command                   // the program that reads what is new there, and ends; not started
	asked() int                        // how often it has begun to
	grow()                             // has something more come at the source
	upset()                            // does to the source what makes all of it be read anew
	wants() (documents, told []string) // by an oracle: the versions to be stored, and what is to be told, each once
	got() (documents, told []string)   // that are stored, and were told
	dataDir() string
}

// mortalSources are those that are killed.
var mortalSources = map[string]func(*testing.T) mortalSource{
	"mailrace":           newMortalMailboxes,
	"newsrace, scripted": newMortalGroups,
	"newsrace by INN":    newMortalGroupsOfINN,
	"dbrace of rows":     newMortalRows,
	"dbrace of a list":   newMortalList,
}

// TestKilledAgentsLoseNothing kills what reads a source with SIGKILL, at random moments after it has begun to, while
// more comes there. In the end all that ever came is stored, and each owner was told of what matters to them once.
func TestKilledAgentsLoseNothing(t *testing.T) {
	t.Parallel()
	for name, start := range mortalSources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, rng := start(t), rand.New(rand.NewPCG(4, uint64(*kills)))
			runs, within := 0, 200*time.Millisecond
			for killed := 0; killed < *kills; runs++ {
				for range rng.IntN(60) {
					s.grow()
				}
				if rng.IntN(4) == 0 {
					s.upset()
				}
				if dead, took := dies(t, s, time.Duration(rng.Int64N(int64(within)))); dead {
					killed++
					within += within / 8
				} else { // the next one dies early enough, and not always early
					within = took + 1
				}
			}
			p := s.reads()
			p.begin()
			p.mustExit(cli.OK)

			documents, told := s.wants()
			stored, were := s.got()
			missing, more := difference(documents, stored), difference(stored, documents)
			lost, doubled := difference(told, were), difference(were, told)
			if len(documents) < *kills || len(told) < *kills { // how many came depends on when it died
				t.Errorf("only %d documents, and %d to be told", len(documents), len(told))
			}
			if len(missing)+len(more)+len(lost)+len(doubled) > 0 {
				t.Errorf("missing %d documents:\n%.1000s\nof no message %d:\n%.1000s\nlost %d alerts:\n%.1000s\ndoubled %d:\n%.1000s", len(missing), strings.Join(missing, "\n"),
					len(more), strings.Join(more, "\n"), len(lost), strings.Join(lost, "\n"), len(doubled), strings.Join(doubled, "\n"))
			}
			mustSucceed(t, exec.Command("webrace-store", "fsck", "--data", s.dataDir()))
			t.Logf("%d kills in %d runs: %d documents, missing %d; %d alerts, lost %d, doubled %d", *kills, runs, len(documents), len(missing), len(told), len(lost), len(doubled))
		})
	}
}

// mostArrivals is how much may come at a source in a run.
const mostArrivals = 10

// dies starts what reads a source, has more come there meanwhile, and kills it a moment after it has begun. It reports
// whether that came before its end, and how long after it had begun, or was started, the end came.
func dies(t *testing.T, s mortalSource, moment time.Duration) (killed bool, took time.Duration) {
	t.Helper()
	before, began := s.asked(), time.Now()
	p := s.reads()
	p.begin()
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	begun := false
	for arrivals := 0; ; {
		select {
		case err := <-ended:
			if p.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
				return true, time.Since(began)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, p.said())
			}
			return false, time.Since(began)
		case <-time.After(time.Millisecond): // looks again whether it has begun
		}
		switch {
		case !begun:
			if s.asked() > before {
				begun, began = true, time.Now()
			}
		case time.Since(began) >= moment:
			p.Process.Kill() // which may have ended meanwhile
		case arrivals < mostArrivals:
			arrivals++
			s.grow()
		}
	}
}

// mortalMailboxes are two mailboxes of a server, for three owners.
type mortalMailboxes struct {
	*mailWorld
	g   *mails.Generator
	ids []string // of the messages so far
}

func newMortalMailboxes(t *testing.T) mortalSource {
	return &mortalMailboxes{mailWorld: newMailWorld(t), g: mails.New(5, 1000, wordsOfMail...)}
}

func (m *mortalMailboxes) reads() *command { return m.command() }

func (m *mortalMailboxes) asked() int { return m.Sessions(m.t) }

func (m *mortalMailboxes) dataDir() string { return m.data }

// grow has a message come, of one kind or another: of a new Message-ID, of a known one with another text, without one,
// of few words, and to two mailboxes.
func (m *mortalMailboxes) grow() {
	id, mailbox := fmt.Sprintf("%d@a.example", len(m.ids)), []string{dovecot.Inbox, dovecot.Inbox, archiveBox}[m.g.IntN(3)]
	message := m.g.Message(id)
	switch m.g.IntN(20) {
	case 0:
		if len(m.ids) > 0 {
			id = m.ids[m.g.IntN(len(m.ids))]
			message = m.g.Message(id)
		}
	case 1:
		message = m.g.Message("")
	case 2, 3:
		message = fiveWords(id)
	case 4:
		m.Receive(m.t, archiveBox, message)
		mailbox = dovecot.Inbox
	}
	m.ids = append(m.ids, id)
	m.Receive(m.t, mailbox, message)
}

func (m *mortalMailboxes) upset() { m.Renumber(m.t, dovecot.Inbox) }

func (m *mortalMailboxes) wants() (documents, told []string) {
	for _, name := range []string{dovecot.Inbox, archiveBox} {
		files := m.Files(m.t, name)
		for i, message := range m.readings(name) {
			documents = append(documents, message.ID+" "+digestAsSent(m.t, files[i]))
		}
	}
	slices.Sort(documents)
	return slices.Compact(documents), unlike(m.tellings(), nil)
}

func (m *mortalMailboxes) got() (documents, told []string) {
	m.t.Helper()
	m.eachVersion(func(v objects.Version, _ []byte) {
		documents = append(documents, messageID(m.t, v.URL)+" "+base64.RawURLEncoding.EncodeToString(v.Digest[:]))
	})
	slices.Sort(documents)
	return slices.Compact(documents), m.told()
}

// eachVersion visits all versions of documents that are stored, in the order in which they were, with their bodies.
func (w *world) eachVersion(visit func(objects.Version, []byte)) {
	w.t.Helper()
	dir := w.open()
	defer dir.Close()
	store, err := dir.Objects()
	if err != nil {
		w.t.Fatal(err)
	}
	for after := uint64(0); after < store.Last(); {
		versions, err := store.Next(w.t.Context(), after, 1000)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, v := range versions {
			body, _, err := store.Body(v)
			if err != nil {
				w.t.Fatal(err)
			}
			visit(v, body)
			after = v.Seq
		}
	}
}
