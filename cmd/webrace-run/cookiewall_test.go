package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
)

// wall is a site that sends its visitors away until they show the cookie that it gives them on the way.
type wall struct {
	name string
	lay  func(w *world)
	asks []string // with cookies
}

// walled answers as a page does that is shown to those who have a cookie, and sends others on.
func (w *world) walled(path, cookie, value, onTo string, setsHere bool) {
	w.handle(path, func(rw http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie(cookie); err == nil && c.Value == value {
			serveDocument(rw, r, document("tea behind "+path, "/next"))
			return
		}
		if setsHere {
			http.SetCookie(rw, &http.Cookie{Name: cookie, Value: value, Path: "/"})
		}
		http.Redirect(rw, r, onTo, http.StatusFound)
	})
}

// sets sends its visitors on with a cookie.
func (w *world) sets(path, cookie, value, onTo string) {
	w.handle(path, func(rw http.ResponseWriter, r *http.Request) {
		http.SetCookie(rw, &http.Cookie{Name: cookie, Value: value, Path: "/"})
		http.Redirect(rw, r, onTo, http.StatusFound)
	})
}

var walls = []wall{
	{"there-and-back", func(w *world) {
		w.walled("/page", "seen", "1", "/set-cookie", false)
		w.sets("/set-cookie", "seen", "1", "/page")
	}, []string{"302 /page", "302 /set-cookie", "200 /page", "200 /next"}},
	{"to-itself", func(w *world) { w.walled("/page", "seen", "1", "/page", true) }, []string{"302 /page", "200 /page", "200 /next"}},
	{"by-a-detour", func(w *world) {
		w.walled("/page", "seen", "1", "/one", true)
		w.redirect("/one", "/two")
		w.redirect("/two", "/page")
	}, []string{"302 /page", "302 /one", "302 /two", "200 /page", "200 /next"}},
	{"two-cookies", func(w *world) {
		w.walled("/page", "second", "2", "/first", false)
		w.handle("/first", func(rw http.ResponseWriter, r *http.Request) {
			to := "/first"
			if _, err := r.Cookie("first"); err == nil {
				http.SetCookie(rw, &http.Cookie{Name: "second", Value: "2", Path: "/"})
				to = "/page"
			}
			http.SetCookie(rw, &http.Cookie{Name: "first", Value: "1", Path: "/"})
			http.Redirect(rw, r, to, http.StatusSeeOther)
		})
	}, []string{"302 /page", "303 /first", "303 /first", "200 /page", "200 /next"}},
}

// TestCookieWall: a page that is shown after a redirect there and back is asked for again once its cookies are others,
// as wget and browsers do; where they are not, or never the same, the circle is told, once.
func TestCookieWall(t *testing.T) {
	t.Parallel()
	for _, c := range walls {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.page("/next", "more tea")
			c.lay(w)
			p := w.start(these(w.asks("ann", "/page", depth(2), about("tea"))), "--set", "fetch.cookies=true")
			p.mustExit(cli.OK)
			mustBe(t, "requests", []string{w.inOrder()}, strings.Join(c.asks, ", "))
			mustBe(t, "told", w.news(), "ann /next", "ann /page")
			if strings.Contains(p.said(), "gave no document") {
				t.Errorf("a page that came is told as a failure:\n%s", p.said())
			}
			w.mustAskAsWget(strings.Join(c.asks[:len(c.asks)-1], ", "))

			p = w.start(these(w.asks("ann", "/page", depth(2), about("tea"))), append(slices.Clone(askAll), "--set", "fetch.cookies=true")...)
			p.mustExit(cli.OK)
			again := strings.ReplaceAll(strings.Join(c.asks, ", "), "200", "304")
			mustBe(t, "requests of the next round", []string{w.inOrder()}, again)
			mustBe(t, "told in the next round", w.news())
		})
	}
	for _, c := range walls {
		t.Run("behind-credentials-"+c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.secret("site", "open sesame")
			w.page("/next", "more tea")
			c.lay(w)
			p := w.start(these(w.asks("ann", "/page", depth(2), about("tea"), as("site")), w.asks("bob", "/page", depth(2), about("tea"))))
			p.mustExit(cli.OK) // bob, who keeps no cookies, is in a circle
			mustBe(t, "told", w.news(), "ann /next", "ann /page")
			mustSay(t, p.said(), "1 URL gave no document:\n", ": redirects in a circle")
		})
	}
	t.Run("without-cookies", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		walls[0].lay(w)
		w.mustBeACircle("/page", "/set-cookie", "302 /page", "302 /set-cookie")
	})
	t.Run("circle", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		for i := range 3 {
			w.redirect(fmt.Sprintf("/%d", i), fmt.Sprintf("/%d", (i+1)%3))
		}
		w.mustBeACircle("/0", "/2", "302 /0", "302 /1", "302 /2")
	})
	t.Run("to-itself-for-ever", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.redirect("/self", "/self")
		w.mustBeACircle("/self", "/self", "302 /self")
	})
	t.Run("ever-another-cookie", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var n atomic.Int64
		w.handle("/page", func(rw http.ResponseWriter, r *http.Request) {
			http.SetCookie(rw, &http.Cookie{Name: "n", Value: fmt.Sprint(n.Add(1))})
			http.Redirect(rw, r, "/page", http.StatusFound)
		})
		p := w.start(these(w.asks("ann", "/page", depth(2))), "--set", "fetch.cookies=true", "--set", "frontier.redirects=4")
		p.mustExit(1)
		mustSay(t, p.said(), w.URL+"/page: redirects further, to "+w.URL+"/page, which would be more than 4 redirects in a row")
		if asked := w.requests(); len(asked) != 5 {
			t.Errorf("asked %d times, want 5: once, and after each of 4 redirects", len(asked))
		}
	})
}

// inOrder returns what was asked for since the last call, in order.
func (w *world) inOrder() string {
	var all []string
	for _, a := range w.requestsInOrder() {
		all = append(all, a.String())
	}
	return strings.Join(all, ", ")
}

// mustBeACircle crawls from a start that redirects in a circle, which another URL closes, and wants that told.
func (w *world) mustBeACircle(start, closes string, asks ...string) {
	w.t.Helper()
	p := w.start(these(w.asks("ann", start, depth(2))))
	p.mustExit(1)
	mustSay(w.t, p.said(), "1 URL gave no document", w.URL+start+": redirects in a circle")
	mustBe(w.t, "requests", w.requests(), asks...)
	for _, path := range []string{start, closes} {
		why, _ := w.store("why", w.URL+path)
		if n := strings.Count(why, "redirects in a circle") + strings.Count(why, "back to "); n != 1 {
			w.t.Errorf("the circle is named %d times, want once:\n%s", n, why)
		}
		if strings.Contains(why, "it leads to") == strings.Contains(why, "gave no document") {
			w.t.Errorf("it is not told how it leads in a circle:\n%s", why)
		}
	}
}

// mustAskAsWget compares with what wget asks of the same site, where it is there.
func (w *world) mustAskAsWget(want string) {
	w.t.Helper()
	program, err := exec.LookPath("wget")
	if err != nil {
		w.t.Log("wget is not there to compare with: apt-get install wget")
		return
	}
	c := exec.Command(program, "-q", "-O", filepath.Join(w.t.TempDir(), "page"), w.URL+"/page")
	if said, err := c.CombinedOutput(); err != nil {
		w.t.Errorf("wget: %v\n%s", err, said)
	}
	mustBe(w.t, "requests of wget", []string{w.inOrder()}, want)
}
