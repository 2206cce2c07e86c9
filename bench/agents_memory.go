package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/webrace/webrace/xmlschema"
)

// memoryLimit is how many MB a process may have that reads a mailbox, however large, of whatever server.
const memoryLimit = 200

// onlyMail reads mailboxes, and keeps nothing but its frontier.
const onlyMail = `version = 1
[pipeline.bench]
flow = ["urds > frontier > imap > drop"]
[pipeline.bench.stage.urds]
xpath = "/urd[type/@protocol='imap']"
[pipeline.bench.stage.imap]
allow_networks = ["loopback"]
backlog = 0
`

// memoryOfAMailbox measures the memory of a process that reads a mailbox of a million messages, and of one whose server
// lists messages without end.
func (b *bench) memoryOfAMailbox(programs agentPrograms) error {
	messages := 1_000_000
	if b.quick {
		messages = 100_000
	}
	config, err := programs.file("mail.toml", []byte(onlyMail))
	if err != nil {
		return err
	}
	for _, server := range []struct {
		name string
		mailboxOf
	}{
		{fmt.Sprintf("imap > drop, a mailbox of %s messages, peak RSS", grouped(messages)), mailboxOf{messages: messages}},
		{"imap > drop, a listing without end, peak RSS", mailboxOf{messages: messages, endless: true}},
	} {
		address, stop, err := server.serve()
		if err != nil {
			return err
		}
		used, err := b.readMailbox(programs, config, address)
		if _, failed := errors.AsType[*exec.ExitError](err); failed && server.endless { // no document came of its one start
			err = nil
		}
		if err := errors.Join(err, stop()); err != nil {
			return err
		}
		b.table.value(server.name, float64(used.PeakRSS)/1e6, "MB", atMost(memoryLimit))
	}
	return nil
}

func (b *bench) readMailbox(programs agentPrograms, config, address string) (usage, error) {
	urds, err := programs.file("mailbox.xml", owners(xmlschema.ProtocolIMAP, "imap://"+address+"/INBOX"))
	if err != nil {
		return usage{}, err
	}
	data, err := programs.data("eleni", "any-will-do", address)
	if err != nil {
		return usage{}, err
	}
	defer os.RemoveAll(data)
	return runProcess(exec.Command(programs.run, "bench", "--data", data, "--urds", urds, "--config", config))
}

// mailboxOf is a server of one mailbox, whose messages are numbered from 1. It speaks as much of IMAP as the stage
// does.
type mailboxOf struct {
	messages int
	endless  bool // it lists messages without end
}

func (m mailboxOf) serve() (address string, stop func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = m.speak(c) // until the client has gone
			}()
		}
	}()
	return l.Addr().String(), l.Close, nil
}

func (m mailboxOf) speak(c net.Conn) error {
	in, out := bufio.NewScanner(c), bufio.NewWriter(c)
	fmt.Fprint(out, "* OK [CAPABILITY IMAP4rev1] here\r\n")
	for out.Flush() == nil && in.Scan() {
		tag, command, _ := strings.Cut(in.Text(), " ")
		verb, rest, _ := strings.Cut(command, " ")
		switch {
		case verb == "STARTTLS":
			fmt.Fprintf(out, "%s BAD not here\r\n", tag)
			continue
		case verb == "EXAMINE":
			fmt.Fprintf(out, "* %d EXISTS\r\n* OK [UIDVALIDITY 7] numbered\r\n* OK [UIDNEXT %d] next\r\n", m.messages, m.messages+1)
		case verb == "FETCH" || verb == "UID":
			if err := m.fetch(out, verb == "UID", strings.TrimPrefix(rest, "FETCH ")); err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "%s OK done\r\n", tag)
	}
	return in.Err()
}

// fetch answers with what was asked for of ranges of messages: the whole of each, or its UID.
func (m mailboxOf) fetch(out io.Writer, whole bool, asked string) error {
	set, _, _ := strings.Cut(asked, " ")
	for of := range strings.SplitSeq(set, ",") {
		low, high, is := strings.Cut(of, ":")
		if !is {
			high = low
		}
		first, err := strconv.Atoi(low)
		last, wrong := strconv.Atoi(high)
		if err := errors.Join(err, wrong); err != nil {
			return err
		}
		for n := first; n <= last || m.endless; n++ {
			if whole {
				text := fmt.Sprintf("Message-ID: <%d@a.example>\r\nSubject: %d\r\n\r\nA few words.\r\n", n, n)
				_, err = fmt.Fprintf(out, "* %d FETCH (UID %d BODY[]<0> {%d}\r\n%s)\r\n", n, n, len(text), text)
			} else {
				_, err = fmt.Fprintf(out, "* %d FETCH (UID %d)\r\n", n, n)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
