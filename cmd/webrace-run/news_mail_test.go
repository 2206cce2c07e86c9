package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync"

	"github.com/emersion/go-smtp"
)

// newsPost is a mail server that keeps what it is given.
type newsPost struct {
	listener net.Listener
	answer   func(to, data string) error // takes a mail, which is not kept then, or refuses it for good; nil: it is kept

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
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{post: p}, nil }))
	server.Domain, server.EnableSMTPUTF8 = "post.example", true
	server.ErrorLog = log.New(io.Discard, "", 0) // programs that send are killed
	go server.Serve(listener)                    // until it is closed
	return p, nil
}

// mailSession is a connection of who sends mails.
type mailSession struct {
	post *newsPost
	to   string
}

func (s *mailSession) Mail(string, *smtp.MailOptions) error { return nil }
func (s *mailSession) Reset()                               {}
func (s *mailSession) Logout() error                        { return nil }

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	return nil
}

func (s *mailSession) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	switch {
	case err != nil:
		return err
	case s.post.answer != nil:
		return s.post.answer(s.to, string(data))
	}
	s.post.keep(s.to, string(data))
	return nil
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
