package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTryShowsWhatCredentialsOpen(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newSite(t)
	w.secret("bank", hush)
	w.guarded("/", []string{"tea within"}, nil)
	w.redirect("/away", other.URL+"/")
	other.handle("/", func(rw http.ResponseWriter, r *http.Request) {
		fmt.Fprint(rw, "<p>shown "+r.Header.Get("Authorization"))
	})
	for _, c := range []struct {
		path, secret string
		want, not    string
	}{
		{"/", "bank", "«tea» within", "not for it"},
		{"/away", "bank", "a host was asked without the credentials bank, which are not for it", "shown Basic"},
		{"/", "", "the host asks for credentials (Basic), and the URD names none", "within"},
		{"/", "shop", "no secret is named shop", "within"},
	} {
		args := []string{"try", "--data", w.data, "--set", "fetch.allow_networks=loopback", "--url", w.URL + c.path, "-k", "tea", "--text", "full"}
		if c.secret != "" {
			args = append(args, "--secret", c.secret)
		}
		out, said, err := webraceRun(args...)
		if all := fmt.Sprint(out, said, err); !strings.Contains(all, c.want) || strings.Contains(all, c.not) || strings.Contains(all, hush) {
			t.Errorf("%s with %q: %s\nwant %q, and not %q", c.path, c.secret, all, c.want, c.not)
		}
	}
	urds := filepath.Join(t.TempDir(), "urds.xml")
	writeFile(t, urds, fmt.Sprintf(`<urds xmlns="urn:webrace:1"><urd owner="ann" id="a1"><uri secret="bank">%s/</uri></urd></urds>`, other.URL))
	out, said, err := webraceRun("try", "--set", "fetch.allow_networks=loopback", "--url", other.URL+"/", "--urds", urds)
	if err != nil || !strings.Contains(out, "it was asked for without the credentials bank of URD a1: --secret bank sends them") {
		t.Errorf("a URD with credentials: %v\n%s%s", err, out, said)
	}
	if out, _, err := webraceRun("try", "--data", t.TempDir()+"/none", "--secret", "bank", "--url", w.URL+"/"); err == nil || !strings.Contains(err.Error(), "there is no data directory") {
		t.Errorf("without a data directory: %v\n%s", err, out)
	}
}

// A crawl goes on where its start leads, on another host too; where another URL leads there is outside its scope.
func TestTryFollowsAStartAsItsCrawlDoes(t *testing.T) {
	t.Parallel()
	from, to := newSite(t), newSite(t)
	from.redirect("/start", to.URL+"/")
	from.redirect("/other", to.URL+"/")
	to.handle("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<p>tea") })
	urds := filepath.Join(t.TempDir(), "urds.xml")
	writeFile(t, urds, fmt.Sprintf(`<urds xmlns="urn:webrace:1"><urd owner="ann"><uri>%s/start</uri><keywords><keyword key="tea"/></keywords></urd></urds>`, from.URL))
	for path, astray := range map[string]bool{"/start": false, "/other": true} {
		out, said, err := webraceRun("try", "--set", "fetch.allow_networks=loopback", "--url", from.URL+path, "--urds", urds)
		if err != nil || !strings.Contains(out, "«tea»") || strings.Contains(out, "outside the scope") != astray {
			t.Errorf("%s: %v\n%s%s", path, err, out, said)
		}
	}
}

// scripted puts a page there whose text a script makes, of what it loads.
func (s *site) scripted() {
	s.handle("/", func(w http.ResponseWriter, r *http.Request) {
		serveDocument(w, r, []byte(`<!DOCTYPE html><div id=root></div><script src="/app.js"></script>`))
	})
	s.handle("/app.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, `root.innerHTML = "<p>a boat on the lake</p>"`)
	})
	s.page("/plain", strings.Repeat("a boat that no script has made ", 20))
}

func TestTryShowsWhatScriptsMakeOfAPage(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("no Chromium is installed")
	}
	s := newSite(t)
	s.scripted()
	sandbox := fmt.Sprint("render.sandbox=", os.Geteuid() != 0)
	for path, want := range map[string]string{"/": ", rendered\n", "/plain": "it is not rendered"} {
		out, said, err := tryHere(t, "--url", s.URL+path, "-k", "boat", "--render", "--set", sandbox)
		if err != nil || !strings.Contains(out, "«boat»") || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s%s", path, err, out, said)
		}
	}
	if got, want := s.requests(), []string{"200 /", "200 /app.js", "200 /plain"}; !slices.Equal(got, want) {
		t.Errorf("asked for %q, want %q", got, want)
	}
}

func TestTrySaysThatNoBrowserIsInstalledBeforeItAsksForAnything(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.scripted()
	_, _, err := tryHere(t, "--url", s.URL+"/", "--render", "--set", "render.browser=no-such-browser")
	if err == nil || !strings.Contains(err.Error(), "nothing can be rendered: browser: ") {
		t.Errorf("said %v", err)
	}
	if got := s.requests(); len(got) > 0 {
		t.Errorf("asked for %q", got)
	}
	out, _, err := tryHere(t, "--url", s.URL+"/")
	if err != nil || !strings.Contains(out, "what scripts write is not read (--render reads it)") {
		t.Errorf("without --render: %v\n%s", err, out)
	}
	if _, _, err := tryHere(t, "--file", "x.html", "--render"); err == nil || !strings.Contains(err.Error(), "are of a --url") {
		t.Errorf("a file: %v", err)
	}
}
