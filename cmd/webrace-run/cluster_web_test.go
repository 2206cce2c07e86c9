package main

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// web is sites with names of their own, drawn by lot, behind a proxy: what is asked of that is asked of them.
type web struct {
	t       *testing.T
	random  *rand.Rand
	proxy   *httptest.Server
	hosts   []string
	pages   map[string]webPage // by their URLs
	secrets []webSecret
	urds    []*xmlschema.URD

	mu    sync.Mutex
	asked []webRequest
}

// webPage is what a URL answers: a page, or where to look instead.
type webPage struct {
	words, links []string
	to           string // a redirect
	status       int
	opens        string // the name of the secret without which it is refused
}

// webSecret is a secret, and the hosts that it is for; none are where the crawl begins.
type webSecret struct {
	name, kind string
	hosts      []string
}

// value is what the secret says, and nothing else does.
func (s webSecret) value() string { return "hush-" + s.name + "-hush" }

// webRequest is what was asked for, how it was answered, and which secret was shown.
type webRequest struct {
	url, secret string
	status      int
}

func (r webRequest) String() string { return fmt.Sprintf("%d %s %s", r.status, r.url, r.secret) }

var (
	webPaths   = []string{"/", "/a", "/b/", "/b/1", "/b/c/2", "/d/"}
	webWords   = []string{"tea", "storms", "harbours", "gardens"}
	webSecrets = []string{"basic", "bearer", "header", "cookie"}
)

// newWeb returns 48 hosts in 20 domains. No two pages have much text in common, and no redirects lead in a circle.
func newWeb(t *testing.T, seed uint64) *web {
	t.Helper()
	w := &web{t: t, random: rand.New(rand.NewPCG(seed, 32)), pages: make(map[string]webPage)}
	for n := range 48 {
		w.hosts = append(w.hosts, fmt.Sprintf("%s.site%d.example", []string{"www", "news", "old"}[n/20], n%20))
	}
	w.drawSecrets()
	for n := range w.hosts {
		w.drawSite(n)
	}
	w.drawURDs()
	w.proxy = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.proxy.Close)
	return w
}

func (w *web) one(of []string) string { return of[w.random.IntN(len(of))] }

func (w *web) odds(percent int) bool { return w.random.IntN(100) < percent }

// drawSecrets makes secrets for one host, for several, for a domain, and for where their crawls begin.
func (w *web) drawSecrets() {
	for n := range 10 {
		s := webSecret{name: fmt.Sprint("secret", n), kind: webSecrets[n%len(webSecrets)]}
		switch {
		case n < 4:
			for range 1 + n {
				s.hosts = append(s.hosts, w.one(w.hosts))
			}
		case n < 7:
			s.hosts = []string{fmt.Sprintf("*.site%d.example", w.random.IntN(20))}
		}
		w.secrets = append(w.secrets, s)
	}
}

// drawSite makes the pages of a host, some of which only those see who have a secret, and its redirects.
func (w *web) drawSite(n int) {
	at := "http://" + w.hosts[n]
	for i, path := range webPaths {
		p := webPage{status: http.StatusOK, words: []string{w.one(webWords)}}
		if w.odds(30) {
			p.words = append(p.words, w.one(webWords))
		}
		for range 40 {
			p.words = append(p.words, fmt.Sprintf("w%d", w.random.IntN(1_000_000)))
		}
		for range 1 + w.random.IntN(4) {
			p.links = append(p.links, w.drawLink(n))
		}
		if w.odds(25) {
			if s := w.secrets[w.random.IntN(len(w.secrets))]; len(s.hosts) == 0 || w.isFor(s, "", w.hosts[n]) {
				p.opens = s.name
			}
		}
		if i == 0 {
			p.links = append(p.links, at+"/a", at+"/moved", at+"/today")
		}
		w.pages[at+path] = p
	}
	w.pages[at+"/moved"] = webPage{status: w.oneOf(301, 308), to: w.drawTarget(n)}
	w.pages[at+"/today"] = webPage{status: w.oneOf(302, 303, 307), to: w.drawTarget(n)}
}

func (w *web) oneOf(of ...int) int { return of[w.random.IntN(len(of))] }

// drawLink returns a URL on the same host, in the same domain, or anywhere. Some lead to redirects or to nothing.
func (w *web) drawLink(n int) string {
	host := w.hosts[n]
	switch d := w.random.IntN(10); {
	case d < 2:
		host = w.hosts[(n+20)%len(w.hosts)]
	case d < 4:
		host = w.one(w.hosts)
	}
	return "http://" + host + w.one(append([]string{"/moved", "/today", "/nothing"}, append(webPaths, webPaths...)...))
}

// drawTarget returns where a redirect leads: to a page, or to a redirect of a host that comes later.
func (w *web) drawTarget(n int) string {
	if later := w.hosts[n+1:]; len(later) > 0 && w.odds(25) {
		return "http://" + w.one(later) + w.one([]string{"/moved", "/today"})
	}
	if w.odds(30) {
		return "http://" + w.hosts[n] + w.one(webPaths)
	}
	return "http://" + w.one(w.hosts) + w.one(webPaths)
}

// drawURDs makes requests of all scopes and many depths. Some share a start, some have two owners' words, some begin
// at a redirect, a third asks with a secret, and some only watch what others' crawls bring.
func (w *web) drawURDs() {
	scopes := []string{xmlschema.ScopeHost, xmlschema.ScopeDomain, xmlschema.ScopePrefix, xmlschema.ScopeAny}
	var start string
	for n := range 48 {
		if n == 0 || w.odds(85) {
			start = "http://" + w.one(w.hosts) + w.one(append([]string{"/moved", "/moved", "/today"}, webPaths...))
		}
		u := xmlschema.NewURD(fmt.Sprint("owner", n%40), start)
		u.ID, u.Scope, u.Depth = fmt.Sprint("urd", n), scopes[n%4], w.random.IntN(5)
		word := w.random.IntN(len(webWords))
		about(webWords[word], webWords[(word+1)%len(webWords)])(u)
		u.Keywords.Match = w.one([]string{xmlschema.MatchAny, xmlschema.MatchAny, xmlschema.MatchAll})
		if w.odds(40) {
			w.drawSecretOf(u)
		}
		w.urds = append(w.urds, u)
	}
	for n := range 3 {
		u := xmlschema.NewURD(fmt.Sprint("watcher", n), fmt.Sprintf("http://%s/b/*", w.hosts[n]))
		about(webWords...)(u)
		u.ID = u.Owner
		w.urds = append(w.urds, u)
	}
}

// drawSecretOf gives a URD a secret, and mostly a start that wants it. All with a secret that is for where their crawls
// begin do so at one host: which of them comes to a page first would decide about it otherwise.
func (w *web) drawSecretOf(u *xmlschema.URD) {
	s := w.secrets[w.random.IntN(len(w.secrets))]
	u.Secret = s.name
	if i := slices.IndexFunc(w.urds, func(u *xmlschema.URD) bool { return u.Secret == s.name }); i >= 0 && len(s.hosts) == 0 {
		u.URI = w.urds[i].URI
		return
	}
	var opened []string
	for url, p := range w.pages {
		if p.opens == s.name {
			opened = append(opened, url)
		}
	}
	slices.Sort(opened)
	if len(opened) > 0 && w.odds(70) {
		u.URI = w.one(opened)
	}
}

// serve answers as the host that is named, and notes which secret came.
func (w *web) serve(rw http.ResponseWriter, r *http.Request) {
	asked := webRequest{url: r.URL.String(), secret: w.shown(r.Header)}
	p, known := w.pages[asked.url]
	switch {
	case !known:
		p = webPage{status: http.StatusNotFound}
	case p.opens != "" && p.opens != asked.secret:
		p = webPage{status: http.StatusUnauthorized}
	}
	asked.status = p.status
	out := &statusWriter{rw, p.status}
	switch {
	case p.status == http.StatusOK:
		serveDocument(out, r, document(append([]string{strings.Join(p.words, " ")}, p.links...)...))
	case p.to != "":
		http.Redirect(out, r, p.to, p.status)
	default:
		out.WriteHeader(p.status)
	}
	if asked.status = out.status; r.URL.Path != "/robots.txt" || asked.secret != "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asked = append(w.asked, asked)
	}
}

// shown returns the name of the secret that stands anywhere in a header, as it is or in base 64.
func (w *web) shown(header http.Header) string {
	for _, values := range header {
		for _, value := range values {
			if coded, ok := strings.CutPrefix(value, "Basic "); ok {
				plain, _ := base64.StdEncoding.DecodeString(coded)
				value = string(plain)
			}
			for _, s := range w.secrets {
				if strings.Contains(value, s.value()) {
					return s.name
				}
			}
		}
	}
	return ""
}

// requests returns what was asked for since the last call, sorted.
func (w *web) requests() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.asked {
		all = append(all, a.String())
	}
	w.asked = nil
	slices.Sort(all)
	return all
}

// options let a run ask the web.
func (w *web) options() []string {
	return []string{
		"--set", "fetch.proxy=" + w.proxy.URL, "--set", "fetch.proxy_resolves=true", "--set", "fetch.delay=0", "--set", "fetch.adaptive_delay=0",
		"--set", "fetch.user_agent=webrace (+https://test.example/)",
	}
}
