package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The stand-in site has about as many pages and links as the real one, and pages about as large.
const (
	standInPages = 600
	standInWords = 6000
	wordsPerLink = 68
)

// unchanged is the entity tag of every page: none ever changes.
const unchanged = `"1"`

// startStandIn serves a generated site from a child process, so that its CPU time is nobody's. Each answer takes so
// long.
func startStandIn(log string, pages, words int, delay time.Duration) (*site, error) {
	server, err := child("serve", log, strconv.Itoa(pages), strconv.Itoa(words), delay.String())
	if err != nil {
		return nil, err
	}
	hold, err := server.StdinPipe() // the child serves until this is closed
	if err != nil {
		return nil, err
	}
	output, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, fmt.Errorf("start the stand-in site: %w", err)
	}
	stop := func() {
		hold.Close()
		_ = server.Wait()
	}
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		stop()
		return nil, fmt.Errorf("the stand-in site did not say where it is: %w", err)
	}
	return &site{base: "http://" + strings.TrimSpace(address), what: fmt.Sprintf("of %d pages by net/http", pages), log: log, stop: stop}, nil
}

// serveStandIn is the child process. It prints its address, and serves until its standard input ends.
func serveStandIn(path string, pages *generated, delay time.Duration) error {
	log, err := os.Create(path)
	if err != nil {
		return err
	}
	defer log.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var logging sync.Mutex
	handler := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay)
		page, status := pages.at(r.URL.Path), http.StatusOK
		switch {
		case page == nil:
			page, status = []byte("<p>not found"), http.StatusNotFound
		case r.Header.Get("If-None-Match") == unchanged:
			page, status = nil, http.StatusNotModified
		}
		w.Header().Set("ETag", unchanged)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if page != nil {
			w.Header().Set("Content-Length", fmt.Sprint(len(page)))
		}
		w.WriteHeader(status)
		logging.Lock() // before the client has all, so that what it asks for next is logged behind it
		fmt.Fprintln(log, status, r.URL.RequestURI())
		logging.Unlock()
		_, _ = w.Write(page)
	}
	fmt.Println(listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		listener.Close()
	}()
	if err := http.Serve(listener, http.HandlerFunc(handler)); !isClosed(err) {
		return err
	}
	return nil
}

// generated is a site whose pages are made when they are asked for, each the same every time.
type generated struct {
	pages, words int // how many, and how many words each
	vocabulary   []string
}

func newGenerated(pages, words int) *generated {
	return &generated{pages, words, makeWords(rand.New(rand.NewPCG(1, 2)))}
}

// makePages returns all pages of the stand-in, by path.
func makePages() map[string][]byte {
	site, pages := newGenerated(standInPages, standInWords), make(map[string][]byte, standInPages)
	for i := range standInPages {
		pages[standInPath(i)] = site.at(standInPath(i))
	}
	return pages
}

// at returns the page of a path, nil if there is none. Each leads to two that nothing else needs to lead to,
// so that all can be reached in few steps, and to others at random; one in ten is about what somebody looks
// for.
func (g *generated) at(path string) []byte {
	number := strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".html")
	i, err := strconv.Atoi(strings.TrimPrefix(number, "page"))
	if path == startPath {
		i, err = 0, nil
	}
	if err != nil || i < 0 || i >= g.pages || path != standInPath(i) {
		return nil
	}
	random := rand.New(rand.NewPCG(3, uint64(i)))
	var page bytes.Buffer
	fmt.Fprintf(&page, "<!DOCTYPE html><html lang=en><head><title>Page %d</title></head><body><h1>Page %d</h1>\n", i, i)
	if i%10 == 0 {
		page.WriteString("<h2>How asyncio reads a stream into the xml parser of a module</h2>")
	}
	for w := range g.words {
		if w%wordsPerLink == 0 {
			link := standInPath(random.IntN(g.pages))
			fmt.Fprintf(&page, "</p>\n<p class=\"text\"><a class=\"reference internal\" href=\"..%s#part\">more</a> ", link)
		}
		if word := g.vocabulary[int(random.ExpFloat64()*100)%len(g.vocabulary)]; w%8 == 0 {
			fmt.Fprintf(&page, "<span class=\"n\">%s</span> ", word)
		} else {
			page.WriteString(word + " ")
		}
	}
	for _, next := range []int{2*i + 1, 2*i + 2} {
		if next < g.pages {
			fmt.Fprintf(&page, "<a href=\"%s\">next</a>", standInPath(next))
		}
	}
	page.WriteString("</body></html>\n")
	return page.Bytes()
}

// makeWords returns words of a language that nobody speaks.
func makeWords(random *rand.Rand) []string {
	syllables := strings.Fields("ba ce di fo gu la me ni po ru sa te vi zo ar en is ol un est")
	words := make([]string, 2000)
	for i := range words {
		for range 1 + random.IntN(4) {
			words[i] += syllables[random.IntN(len(syllables))]
		}
	}
	return words
}

func standInPath(page int) string {
	if page == 0 {
		return startPath
	}
	return fmt.Sprintf("/part%d/page%d.html", page%10, page)
}

// childCommand makes the program one of its own child processes.
const childCommand = "child"

// child returns the command of a child process of this program.
func child(args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the own program: %w", err)
	}
	c := exec.Command(self, append([]string{childCommand}, args...)...)
	c.Stderr = os.Stderr
	return c, nil
}

func runChild(args []string) error {
	switch {
	case len(args) == 5 && args[0] == "serve":
		pages, pagesErr := strconv.Atoi(args[2])
		words, wordsErr := strconv.Atoi(args[3])
		delay, delayErr := time.ParseDuration(args[4])
		if err := errors.Join(pagesErr, wordsErr, delayErr); err != nil {
			return err
		}
		return serveStandIn(args[1], newGenerated(pages, words), delay)
	case len(args) == 1 && args[0] == "slow-pages":
		return servePages(os.Stdin, os.Stdout)
	case len(args) == 3 && args[0] == "raw":
		return rawLoop(args[1], args[2])
	case len(args) > 1 && args[0] == "frontier":
		return runFrontierChild(args[1:])
	case len(args) == 3 && args[0] == "bleve":
		return indexWithBleve(args[1], args[2])
	case len(args) == 3 && args[0] == "plain":
		return plainCrawl(args[1], args[2])
	}
	return fmt.Errorf("no child process is called %q", args)
}
