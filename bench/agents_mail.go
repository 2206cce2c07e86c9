package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/dovecot"
	"github.com/webrace/webrace/internal/testutil/mails"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

const (
	loopLimit        = 2    // of imap > drop, over a loop of one FETCH
	singlyLimit      = 0.6  // over one of a FETCH for each message
	mailLimit        = 300  // µs of CPU time, a message in the whole pipeline
	nothingNewLimit  = 1    // ms of CPU time of a visit, and its questions
	bytesOfAMessage  = 2700 // of text: with their files they have 4 KB
	visitsForNothing = 500
	everyNth         = 10 // message has a word that an owner looks for
)

// loopback lets a stage ask servers there.
const loopback = "allow_networks = [\"loopback\"]\n"

// words are what the owners look for, one each.
var words = []string{"ferry", "harbour", "strike"}

// mail measures what a message costs, with dovecot as the server.
func (b *bench) mail(h *harness, authority *testutil.Authority, programs agentPrograms) error {
	messages, rounds := 5000, 5
	if b.quick {
		messages, rounds = 1000, 2
	}
	server := dovecot.New(h, authority)
	idle, telling := mails.New(1, bytesOfAMessage), mails.New(2, bytesOfAMessage, words...)
	for i := range messages {
		g := idle
		if i%everyNth == 0 {
			g = telling
		}
		server.Receive(h, dovecot.Inbox, g.Message(fmt.Sprintf("%d@bench.example", i)))
	}
	secret, err := newLent(dovecot.User, dovecot.Password, server.IMAPS)
	if err != nil {
		return err
	}
	inbox := "imaps://" + server.IMAPS + "/INBOX"
	came := func(n int, err error) error {
		if err == nil && n != messages {
			err = fmt.Errorf("%d of %d messages came", n, messages)
		}
		return err
	}
	costs, err := race(rounds, []contestant{
		{"imap > drop", func() error { return came(visits("imap", loopback+"backlog = 0", secret, inbox)) }},
		{"loop", func() error { return came(fetchLoop(server.IMAPS, messages, messages)) }},
		{"singly", func() error { return came(fetchLoop(server.IMAPS, messages, 1)) }},
	})
	if err != nil {
		return err
	}
	each := func(name string) float64 { return micros(best(costs[name], cpuOf)) / float64(messages) }
	const row = "imap > drop, a message of 4 KB, CPU min"
	b.table.against(row, each("imap > drop"), "µs", "loop of one UID FETCH", each("loop"), atMost(loopLimit))
	b.table.against(row, each("imap > drop"), "µs", "loop of a UID FETCH a message", each("singly"), atMost(singlyLimit))
	if err := b.nothingNew(secret, inbox); err != nil {
		return err
	}
	return b.mailrace(server, programs, messages, rounds)
}

// fetchLoop is the loop that one would write: it logs in, asks for so many messages at once, and throws them away.
func fetchLoop(address string, messages, atOnce int) (came int, err error) {
	c, err := imapclient.DialTLS(address, nil)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if err := c.Login(dovecot.User, dovecot.Password).Wait(); err != nil {
		return 0, err
	}
	if _, err := c.Select("INBOX", &imap.SelectOptions{ReadOnly: true}).Wait(); err != nil {
		return 0, err
	}
	for first := 1; first <= messages; first += atOnce {
		var uids imap.UIDSet
		uids.AddRange(imap.UID(first), imap.UID(first+atOnce-1))
		fetching := c.Fetch(uids, &imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{{Peek: true}}})
		for m := fetching.Next(); m != nil; m = fetching.Next() {
			for item := m.Next(); item != nil; item = m.Next() {
				if body, ok := item.(imapclient.FetchItemDataBodySection); ok {
					if _, err := io.Copy(io.Discard, body.Literal); err != nil {
						return came, err
					}
					came++
				}
			}
		}
		if err := fetching.Close(); err != nil {
			return came, err
		}
	}
	return came, c.Logout().Wait()
}

// nothingNew measures a visit of a mailbox in which nothing is new, by a session that was kept.
func (b *bench) nothingNew(secret lent, inbox string) (err error) {
	stage, err := stageOf("imap", loopback+"backlog = 1")
	if err != nil {
		return err
	}
	made, err := stage.Make(pipeline.NewEnv("bench", "imap", secret.resources()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.(pipeline.Closer).Close()) }()
	var visit webrace.Visit
	look := func() error {
		request := requestOf(inbox)
		if visit.State != nil {
			request.Visit = &visit
		}
		end := pipeline.ProcessOne(context.Background(), made.(pipeline.Processor), request, func(string, any) error { return nil })
		visit.Learn(end.Learned)
		return failureOf(end.Outcome)
	}
	for range 3 { // the first logs in
		if err := look(); err != nil {
			return err
		}
	}
	before := ownCPU()
	for range visitsForNothing {
		if err := look(); err != nil {
			return err
		}
	}
	cpu := (ownCPU() - before).Seconds() * 1000 / visitsForNothing
	b.table.value("imap, a visit that finds nothing new, session kept, CPU", cpu, "ms", atMost(nothingNewLimit))
	return nil
}

// mailrace measures the shipped pipeline: the program reads all messages for three owners, and is compared with itself
// where it reads one.
func (b *bench) mailrace(server *dovecot.Server, programs agentPrograms, messages, rounds int) error {
	urds, err := programs.file("mail.xml", owners(xmlschema.ProtocolIMAP, "imaps://"+server.IMAPS+"/INBOX"))
	if err != nil {
		return err
	}
	run := func(backlog int) (usage, error) {
		data, err := programs.data(dovecot.User, dovecot.Password, server.IMAPS)
		if err != nil {
			return usage{}, err
		}
		defer os.RemoveAll(data)
		return runProcess(exec.Command(programs.run, "mailrace", "--data", data, "--urds", urds,
			"--set", "imap.allow_networks=loopback", "--set", fmt.Sprintf("imap.backlog=%d", backlog)))
	}
	least := map[int]usage{}
	for round := range rounds {
		for _, n := range []int{1, messages} {
			used, err := run(n)
			if err != nil {
				return err
			}
			if round == 0 || used.CPU < least[n].CPU {
				least[n] = used
			}
		}
	}
	b.table.value("mailrace, three owners, a message of 4 KB, CPU min", micros(least[messages].CPU-least[1].CPU)/float64(messages-1), "µs", atMost(mailLimit))
	b.table.value("mailrace, all of them, wall", least[messages].Wall.Seconds(), "s", nil)
	return nil
}
