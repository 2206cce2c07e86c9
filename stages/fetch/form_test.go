package fetch

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
)

// club is a site whose pages are for those who have filled its form in.
type club struct {
	mu       sync.Mutex
	mode     string // how the form answers: "", "code", "wrong", "away"
	password string // in place of hush
	away     string // where the form is sent then
	blind    bool   // its pages know nobody
	sessions int    // that were given
	forgot   int    // of these, those that are over
	posts    []string
}

func (c *club) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.Header().Set("Content-Type", "text/html")
	var number int
	if cookie, err := r.Cookie("session"); err == nil {
		fmt.Sscanf(cookie.Value, "s3ss10n-%d", &number)
	}
	inside := number > c.forgot && !c.blind
	switch {
	case r.URL.Path == "/login" && r.Method == http.MethodGet:
		http.SetCookie(w, &http.Cookie{Name: "token", Value: "t0k3n"})
		fmt.Fprintf(w, `<form action="%s/session" method="post"><input type="hidden" name="csrf" value="c5rf&amp;"><input name="user">
			<input type="password" name="pw"><input type="checkbox" name="stay" checked><button name="go" value="in">Log in</button></form>`, c.away)
	case r.URL.Path == "/session":
		_ = r.ParseForm()
		token, _ := r.Cookie("token")
		c.posts = append(c.posts, r.PostForm.Encode())
		switch {
		case c.mode == "code":
			fmt.Fprint(w, `<form><input name="otp-code" autocomplete="one-time-code"></form>`)
		case c.mode == "wrong" || token == nil || r.PostForm.Get("pw") != cmp.Or(c.password, hush):
			fmt.Fprint(w, `<p>wrong password <form><input name="user"></form>`)
		default:
			c.sessions++
			http.SetCookie(w, &http.Cookie{Name: "session", Value: fmt.Sprintf("s3ss10n-%d", c.sessions), Path: "/", MaxAge: 3600})
			http.Redirect(w, r, "/home", http.StatusSeeOther)
		}
	case r.URL.Path == "/home" && number > 0:
		fmt.Fprint(w, `<p>welcome <a class="logout">Log out</a>`)
	case inside:
		fmt.Fprint(w, `<p>secret page <a class="logout">Log out</a>`)
	case r.URL.Path == "/redirects":
		http.Redirect(w, r, "/login?next=/redirects", http.StatusFound)
	default:
		fmt.Fprint(w, `<p>members only`)
	}
}

func (c *club) change(f func(*club)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c)
}

func (c *club) took() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.posts
	c.posts = nil
	return all
}

// safe is a vault that keeps sessions as well.
type safe struct {
	vault
	mu   sync.Mutex
	kept string
}

func (s *safe) Session(context.Context, string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept, nil
}

func (s *safe) SetSession(_ context.Context, _, cookies string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = cookies
	return nil
}

// formOf is a secret that is filled in at a site.
func formOf(t *testing.T, site, sign string) *safe {
	t.Helper()
	parsed, err := credentials.ParseSign(sign)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := credentials.NewForm(credentials.Form{Page: site + "/login", Password: "pw", Fields: map[string]string{"user": "eleni"}, Sign: parsed}, hush)
	if err != nil {
		t.Fatal(err)
	}
	return &safe{vault: vault{secret.Within(credentials.Bounds{Hosts: secret.Bounds().Hosts, Insecure: true}), site + "/"}}
}

// brokerOf gives the stage one broker for all of its runs.
func brokerOf(o Options, source credentials.Source) func(*stage) {
	b := credentials.NewBroker(source, credentials.Limits{Refusals: o.MaxUnauthorized, Pause: time.Duration(o.UnauthorizedPause)})
	return func(s *stage) { s.broker = func() (*credentials.Broker, error) { return b, nil } }
}

func pages(site string, paths ...string) (all []webrace.Request) {
	for _, path := range paths {
		all = append(all, secretly(site+path))
	}
	return all
}

const filled = "csrf=c5rf%26&go=in&pw=" + hush + "&stay=on&user=eleni"

func TestFormIsFilledInOnceAndAgainWhenTheSignIsGone(t *testing.T) {
	t.Parallel()
	for _, sign := range []string{"css:a.logout", "text:Log out", "status:200"} {
		c := &club{}
		site := serve(t, c.ServeHTTP)
		o := local()
		kept := formOf(t, site, sign)
		run := brokerOf(o, kept)
		mustOpen := func(logins int, paths ...string) {
			t.Helper()
			all := runWith(t, o, run, pages(site, paths...)...)
			for i, r := range all.byRequest {
				if len(r.bodies) != 1 || !strings.Contains(r.bodies[0], "secret page") || r.documents[0].Secret != "bank" {
					t.Errorf("%s: %s gives %q, %q", sign, paths[i], r.bodies, r.visit.Error)
				}
			}
			if got := c.took(); len(got) != logins || logins > 0 && got[0] != filled {
				t.Errorf("%s: the form was sent %d times, want %d: %q", sign, len(got), logins, got)
			}
			mustCount(t, all, map[string]int64{"logins": int64(logins), "pages": int64(len(paths))})
			mustHide(t, all, hush, "s3ss10n")
		}
		mustOpen(1, "/a", "/b", "/c", "/d")
		mustOpen(0, "/a", "/b")
		c.change(func(c *club) { c.forgot = c.sessions })
		mustOpen(1, "/redirects") // which leads to the form
		if sign != "status:200" {
			c.change(func(c *club) { c.forgot = c.sessions })
			mustOpen(1, "/a")
		}
		run = brokerOf(o, kept) // a later run takes the cookies of this one
		mustOpen(0, "/a", "/e")
	}
}

func TestFormThatIsNotTakenIsNotSentAgain(t *testing.T) {
	t.Parallel()
	other := &ear{}
	elsewhere := serve(t, other.ServeHTTP)
	for name, want := range map[string]struct {
		mode, away, why string
		posts           int
	}{
		"wrong":  {"wrong", "", "is the password right?", 1},
		"code":   {"code", "", "a second factor", 1},
		"away":   {"", elsewhere, "which the secret is not for", 0},
		"absent": {"", "", "no form on its page has a field of the name", 0},
	} {
		c := &club{mode: want.mode, away: want.away}
		site := serve(t, c.ServeHTTP)
		o := local()
		source := formOf(t, site, "css:a.logout")
		if name == "absent" {
			form, _ := source.secret.Form()
			form.Password = "pass"
			secret, err := credentials.NewForm(form, hush)
			if err != nil {
				t.Fatal(err)
			}
			source.secret = secret.Within(source.secret.Bounds())
		}
		all := runWith(t, o, brokerOf(o, source), pages(site, "/a", "/b", "/c", "/d", "/e")...)
		for _, r := range all.byRequest {
			if len(r.documents) != 0 || !strings.Contains(r.visit.Error, want.why) {
				t.Errorf("%s: %+v, %q", name, r.documents, r.visit.Error)
			}
		}
		if got := c.took(); len(got) != want.posts {
			t.Errorf("%s: the form was sent as %q", name, got)
		}
		mustCount(t, all, map[string]int64{"logins": 1, "logins_refused": 1, "secret_refused": 1, "secret_paused": 4})
		mustHide(t, all, hush)
	}
	mustHear(t, other)
}

func TestFormIsNotFilledInMoreOftenThanASecretMayBeRefused(t *testing.T) {
	t.Parallel()
	c := &club{blind: true}
	site := serve(t, c.ServeHTTP)
	o := local()
	o.MaxUnauthorized = 2
	all := runWith(t, o, brokerOf(o, formOf(t, site, "text:Log out")), pages(site, "/a", "/b", "/c", "/d", "/e", "/f")...)
	if got := c.took(); len(got) != 2 {
		t.Errorf("the form was sent %d times", len(got))
	}
	for _, r := range all.byRequest {
		if len(r.documents) != 0 || !strings.Contains(r.visit.Error, "sign of success") {
			t.Errorf("%+v, %q", r.documents, r.visit.Error)
		}
	}
}

// A page that is not a form, or one of many, gives an error or the form with the field, and never hangs or panics.
func FuzzForm(f *testing.F) {
	f.Add([]byte(`<form method=post action=x><input name=pw><select name=s><option>a<option selected value=b>`), "pw")
	f.Add([]byte(`<base href="//b/"><form><textarea name=t>x</textarea><button name=n></button><input name="" type=radio checked>`), "")
	f.Fuzz(func(t *testing.T, page []byte, field string) {
		form, err := findForm(page, field)
		if (form == nil) == (err == nil) {
			t.Fatal(form, err)
		}
		asksForCode(page)
		if form != nil && slices.Contains([]string{"get", "post", ""}, form.method) {
			t.Fatalf("method %q", form.method)
		}
	})
}
