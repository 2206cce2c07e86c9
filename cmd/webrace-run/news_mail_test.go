package main

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/textproto"
	"strings"
	"sync"
)

// newsPost is a mail server that keeps what it is given.
type newsPost struct {
	listener net.Listener
	answer   func(to, data string) string // to a mail, which is not kept then; nil: it is kept

	mu    sync.Mutex
	mails map[string][]string // by recipient, as its reader sees them: SUBJECT | TEXT
	err   error
}

func newNewsPost() (*newsPost, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &newsPost{listener: listener, mails: make(map[string][]string)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				p.serve(textproto.NewConn(conn))
			}()
		}
	}()
	return p, nil
}

// serve speaks as much of SMTP as the stage mail-out needs.
func (p *newsPost) serve(c *textproto.Conn) {
	to := ""
	c.PrintfLine("220 post")
	for {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		switch verb := strings.ToUpper(line); {
		case strings.HasPrefix(verb, "RCPT TO:"):
			to = strings.Trim(line[len("RCPT TO:"):], "<> ")
			c.PrintfLine("250 ok")
		case verb == "DATA":
			c.PrintfLine("354 go on")
			data, err := io.ReadAll(c.DotReader())
			answer := "250 kept"
			switch {
			case err != nil:
			case p.answer != nil:
				answer = p.answer(to, string(data))
			default:
				p.keep(to, string(data))
			}
			c.PrintfLine("%s", answer)
		case verb == "QUIT":
			c.PrintfLine("221 bye")
			return
		default:
			c.PrintfLine("250 ok")
		}
	}
}

func (p *newsPost) keep(to, data string) {
	said, err := readMail(data)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mails[to] = append(p.mails[to], said)
	p.err = errors.Join(p.err, err)
}

func readMail(data string) (string, error) {
	m, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, data)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	return subject + " | " + strings.Join(strings.Fields(string(text)), " "), err
}

// take returns what a recipient was sent since the last call.
func (p *newsPost) take(to string) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	mails := p.mails[to]
	delete(p.mails, to)
	return mails, p.err
}

// mailAddress is the address of an owner of a scenario.
func mailAddress(owner, name string) string { return owner + "@" + name + ".example" }
