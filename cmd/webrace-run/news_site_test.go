package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// newsStage is a scenario with the servers of its hosts.
type newsStage struct {
	*situation
	servers  []*httptest.Server
	toServer *strings.Replacer // from addresses as the scenario has them
	toHost   *strings.Replacer // and back; paths alone for those of homeHost

	mu    sync.Mutex
	pages map[string]answer
}

// newNewsStage starts the servers of a scenario. Each answer is given by a function that ask is called with.
func newNewsStage(s *situation, ask func(answer func())) *newsStage {
	stage := &newsStage{situation: s, pages: make(map[string]answer)}
	var there, back []string
	for _, host := range s.hosts() {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ask(func() { stage.serve(w, r, host+r.URL.RequestURI()) })
		}))
		stage.servers = append(stage.servers, server)
		there = append(there, host, server.URL)
		if host == homeHost {
			back = append(back, server.URL+"/", "/")
		}
		back = append(back, server.URL, host)
	}
	stage.toServer, stage.toHost = strings.NewReplacer(there...), strings.NewReplacer(back...)
	return stage
}

func (s *newsStage) close() {
	for _, server := range s.servers {
		server.Close()
	}
}

// set changes pages, and leaves the others as they are.
func (s *newsStage) set(pages map[string]answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.pages, pages)
}

func (s *newsStage) serve(w http.ResponseWriter, r *http.Request, url string) {
	s.mu.Lock()
	a, known := s.pages[url]
	s.mu.Unlock()
	if !known {
		http.NotFound(w, r)
		return
	}
	body := s.toServer.Replace(a.body)
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(body)))
	for key, values := range a.header {
		w.Header().Set(key, s.toServer.Replace(values[0]))
	}
	w.Header().Set("ETag", cmp.Or(w.Header().Get("ETag"), tag))
	if a.status == http.StatusOK && r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.WriteHeader(a.status)
	w.Write([]byte(body))
}

// absolute is a URL of the scenario with its host.
func (s *newsStage) absolute(url string) string {
	if strings.HasPrefix(url, "/") {
		return homeHost + url
	}
	return url
}

var (
	ownerInXML = regexp.MustCompile(`\bowner="([^"]*)"`)
	pathInXML  = regexp.MustCompile(`(<uri[^>]*>)/`)
)

// owned makes XML of URDs whole: owners of this scenario, URLs with their host, and a root.
func (s *newsStage) owned(urds string) string {
	urds = ownerInXML.ReplaceAllString(urds, `owner="$1@`+s.name+`"`)
	urds = pathInXML.ReplaceAllString(urds, "${1}"+homeHost+"/")
	return `<urds xmlns="urn:webrace:1">` + urds + "</urds>"
}

// owners returns who asks for something.
func (s *situation) owners() (all []string) {
	for _, r := range s.rounds {
		if strings.HasPrefix(r.urds, "<") {
			for _, m := range ownerInXML.FindAllStringSubmatch(r.urds, -1) {
				all = append(all, m[1])
			}
			continue
		}
		for _, line := range linesOf(r.urds) {
			all = append(all, argumentsOf(line)[0])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// asWritten gives addresses and owners back as the scenario has them.
func (s *newsStage) asWritten(text string) string {
	return s.toHost.Replace(strings.ReplaceAll(text, "@"+s.name, ""))
}

// alert is a line of what is told: OWNER URL, URL…: SUMMARY. Which of several documents with one text comes first
// depends on how quickly they are answered, so they are sorted.
func (s *newsStage) alert(owner string, told toldOf) string {
	urls := []string{s.toHost.Replace(told.URI)}
	for _, also := range told.Also.Documents {
		urls = append(urls, s.toHost.Replace(also.URI))
	}
	slices.Sort(urls)
	return s.asWritten(fmt.Sprintf("%s %s: %s", owner, strings.Join(urls, ", "), told.Summary))
}
