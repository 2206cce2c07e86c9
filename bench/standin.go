package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// The stand-in site has about as many pages and links as the real one, and pages about as large.
const (
	standInPages = 600
	standInLinks = 88
	standInWords = 6000
)

// startStandIn serves the stand-in site from a child process, so that its CPU time is nobody's.
func startStandIn(dir string) (*site, error) {
	log := filepath.Join(dir, "access.log")
	server, err := child("serve", log)
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
	return &site{base: "http://" + strings.TrimSpace(address), what: "a generated stand-in by net/http", log: log, stop: stop}, nil
}

// serveStandIn is the child process. It prints its address, and serves until its standard input ends.
func serveStandIn(path string) error {
	log, err := os.Create(path)
	if err != nil {
		return err
	}
	defer log.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	pages := makePages()
	var logging sync.Mutex
	handler := func(w http.ResponseWriter, r *http.Request) {
		page, status := pages[r.URL.Path], http.StatusOK
		if page == nil {
			page, status = []byte("<p>not found"), http.StatusNotFound
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Length", fmt.Sprint(len(page)))
		w.WriteHeader(status)
		_, _ = w.Write(page) // a client that went away is logged all the same
		logging.Lock()
		defer logging.Unlock()
		fmt.Fprintln(log, status, r.URL.RequestURI())
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

// makePages returns the pages by path. Each leads to the next, so that all can be reached, and to others
// at random; one in ten is about what somebody looks for.
func makePages() map[string][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	words := makeWords(random)
	pages := make(map[string][]byte, standInPages)
	for i := range standInPages {
		var page strings.Builder
		fmt.Fprintf(&page, "<!DOCTYPE html><html lang=en><head><title>Page %d</title></head><body><h1>Page %d</h1>\n", i, i)
		if i%10 == 0 {
			page.WriteString("<h2>How asyncio reads a stream into the xml parser of a module</h2>")
		}
		for w := range standInWords {
			if w%(standInWords/standInLinks) == 0 {
				link := standInPath(random.IntN(standInPages))
				fmt.Fprintf(&page, "</p>\n<p class=\"text\"><a class=\"reference internal\" href=\"..%s#part\">more</a> ", link)
			}
			if word := words[int(random.ExpFloat64()*100)%len(words)]; w%8 == 0 {
				fmt.Fprintf(&page, "<span class=\"n\">%s</span> ", word)
			} else {
				page.WriteString(word + " ")
			}
		}
		fmt.Fprintf(&page, "<a href=\"%s\">next</a></body></html>\n", standInPath((i+1)%standInPages))
		pages[standInPath(i)] = []byte(page.String())
	}
	return pages
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
	case len(args) == 2 && args[0] == "serve":
		return serveStandIn(args[1])
	case len(args) == 3 && args[0] == "raw":
		return rawLoop(args[1], args[2])
	case len(args) > 1 && args[0] == "frontier":
		return runFrontierChild(args[1:])
	case len(args) == 3 && args[0] == "plain":
		return plainCrawl(args[1], args[2])
	}
	return fmt.Errorf("no child process is called %q", args)
}
