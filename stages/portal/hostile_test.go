package portal

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// victim is a world in which anna has something to lose; eve is another person there.
type victim struct {
	*world
	anna, eve *browser
	urd       string
	item      control.InboxItem
	link      string // of an invitation of zoe
}

func newVictim(t *testing.T) *victim {
	w := newWorld(t, func(o *Options) { o.SignUp = "open" })
	v := &victim{world: w, anna: w.account("anna"), eve: w.account("eve")}
	v.urd = w.urd("anna", "https://a.example/", func(u *xmlschema.URD) { u.Title = "Private " + marker })
	v.item = w.aci("anna", v.urd, "Title "+marker)
	v.link = "/in/" + v.token("zoe", control.PurposeInvite, control.AccountInvited)
	w.ok(w.store.SetPassword(t.Context(), "anna", hashOfAnna()))
	v.anna.logIn()
	return v
}

// hashOfAnna is that of her password, which takes a while.
var hashOfAnna = sync.OnceValue(func() string {
	hash, err := newHasher().hash(context.Background(), "correct horse battery")
	if err != nil {
		panic(err)
	}
	return hash
})

// token adds an account with a token.
func (v *victim) token(owner string, purpose control.Purpose, state control.AccountState) string {
	v.t.Helper()
	v.ok(v.store.AddAccount(v.t.Context(), control.Account{Owner: owner, State: state, Mail: owner + "@example.org"}, false))
	text := rand.Text()
	v.ok(v.store.AddToken(v.t.Context(), text, control.Token{Owner: owner, Purpose: purpose, Expires: time.Now().Add(time.Hour)}))
	return text
}

// mark is a change of anna's that a page of another site would like to make, sent with some header fields.
func (v *victim) mark(header http.Header) answer {
	h := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for name, values := range header {
		h[name] = values
	}
	return v.anna.send(http.MethodPost, fmt.Sprint("/a/", v.item.Seq), strings.NewReader("state=bin"), h)
}

func (v *victim) stateOfItem() control.InboxState {
	i, err := v.store.Of("anna").Item(v.t.Context(), v.item.Seq)
	v.ok(err)
	return i.State
}

// attack is what somebody tries, and the status that it must give. What is stored of anna stays as it was.
type attack struct {
	name   string
	try    func(*victim) answer
	status int
}

var attacks = []attack{
	{"a form of another site", func(v *victim) answer { return v.mark(http.Header{"Sec-Fetch-Site": {"cross-site"}}) }, 403},
	{"a form of a sister site", func(v *victim) answer { return v.mark(http.Header{"Sec-Fetch-Site": {"same-site"}}) }, 403},
	{"an old browser at another site", func(v *victim) answer { return v.mark(http.Header{"Origin": {"https://evil.example"}}) }, 403},
	{"a sandboxed frame", func(v *victim) answer { return v.mark(http.Header{"Origin": {"null"}}) }, 403},
	{"our name as a subdomain", func(v *victim) answer {
		return v.mark(http.Header{"Origin": {strings.Replace(v.url, "127.0.0.1", "127.0.0.1.evil.example", 1)}})
	}, 403},
	{"neither origin nor site", func(v *victim) answer { return v.mark(nil) }, 403},
	{"a trusted origin at another site", func(v *victim) answer {
		return v.mark(http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}})
	}, 403},
	{"an overridden method", func(v *victim) answer {
		return v.anna.send(http.MethodGet, fmt.Sprint("/a/", v.item.Seq, "?_method=POST&state=bin"), nil, http.Header{"X-Http-Method-Override": {"POST"}})
	}, 200},
	{"a change by GET", func(v *victim) answer { return v.anna.get("/marks?state=bin&seq=" + fmt.Sprint(v.item.Seq)) }, 404},
	{"PUT", func(v *victim) answer {
		return v.anna.send(http.MethodPut, fmt.Sprint("/a/", v.item.Seq), strings.NewReader("state=bin"), http.Header{"Sec-Fetch-Site": {"same-origin"}})
	}, 404},
	{"TRACE", func(v *victim) answer {
		return v.anna.send(http.MethodTrace, "/", nil, http.Header{"Sec-Fetch-Site": {"same-origin"}})
	}, 404},
	{"the name of another site that leads here", func(v *victim) answer {
		return v.anna.send(http.MethodGet, "/", nil, http.Header{"Host": {"evil.example"}})
	}, 421},
	{"and one that begins as ours", func(v *victim) answer {
		return v.anna.send(http.MethodGet, "/", nil, http.Header{"Host": {"127.0.0.1.evil.example"}})
	}, 421},
	{"a link in a mail to another host", func(v *victim) answer {
		b := v.browser()
		got := b.send(http.MethodPost, "/forgot", strings.NewReader("mail=anna@example.org"), http.Header{
			"Content-Type": {"application/x-www-form-urlencoded"}, "X-Forwarded-Host": {"evil.example"}, "Forwarded": {"host=evil.example"},
		})
		if len(v.mails) != 1 || strings.Contains(v.mails[0].Text, "evil") || !strings.Contains(v.mails[0].Text, v.url) {
			v.t.Errorf("%+v", v.mails)
		}
		return got
	}, 303},
	{"another's annotation", func(v *victim) answer { return v.eve.get(fmt.Sprint("/a/", v.item.Seq)) }, 404},
	{"another's annotation as JSON", func(v *victim) answer { return v.eve.get(fmt.Sprint("/a/", v.item.Seq, ".json")) }, 404},
	{"a mark on another's annotation", func(v *victim) answer { return v.eve.post(fmt.Sprint("/a/", v.item.Seq), "state", "bin") }, 404},
	{"marks on another's annotations", func(v *victim) answer { return v.eve.post("/marks", "state", "bin", "seq", fmt.Sprint(v.item.Seq)) }, 303},
	{"another's interest as a filter", func(v *victim) answer { return v.eve.get("/?interest=" + v.urd) }, 200},
	{"a quote in a filter", func(v *victim) answer { return v.eve.get("/?interest=" + url.QueryEscape("' OR owner='anna")) }, 200},
	{"a quote in a state", func(v *victim) answer { return v.eve.get("/?state=" + url.QueryEscape("unread' OR 1=1 --")) }, 200},
	{"a state that there is not", func(v *victim) answer { return v.eve.post("/marks", "state", "owned", "seq", "1") }, 400},
	{"a number out of range", func(v *victim) answer { return v.eve.get("/a/99999999999999999999") }, 404},
	{"a number below zero", func(v *victim) answer { return v.eve.get("/a/-1") }, 404},
	{"a number written otherwise", func(v *victim) answer { return v.anna.get(fmt.Sprint("/a/0", v.item.Seq)) }, 404},
	{"a format that there is not", func(v *victim) answer { return v.anna.get(fmt.Sprint("/a/", v.item.Seq, ".html")) }, 404},
	{"a path that climbs", func(v *victim) answer { return v.browser().get("/asset/..%2f..%2f/portal.go") }, 404},
	{"a template as a file", func(v *victim) answer {
		return v.browser().get("/asset/" + assets()["portal.css"].sum + "/layout.html")
	}, 404},
	{"a file under another sum", func(v *victim) answer { return v.browser().get("/asset/" + assets()["icon.svg"].sum + "/portal.css") }, 404},
	{"a form that is too large", func(v *victim) answer { return v.eve.post("/marks", "state", strings.Repeat("x", mostOfForm)) }, 413},
	{"a form that is no form", func(v *victim) answer {
		return v.eve.send(http.MethodPost, "/marks", strings.NewReader("a=%zz"), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}})
	}, 400},
	{"a form as JSON", func(v *victim) answer {
		return v.eve.send(http.MethodPost, "/marks", strings.NewReader(`{"state":"bin"}`), http.Header{"Content-Type": {"application/json"}, "Sec-Fetch-Site": {"same-origin"}})
	}, 400},
	{"a script in the name that logs in", func(v *victim) answer {
		got := v.browser().post("/login", "name", `"><script>alert(1)</script>`, "password", "x")
		if strings.Contains(got.body, "<script>alert") {
			v.t.Error(got)
		}
		return got
	}, 422},
	{"a script in where to go", func(v *victim) answer {
		got := v.browser().get("/login?to=" + url.QueryEscape(`"><script>alert(1)</script>`))
		if strings.Contains(got.body, "<script>alert") {
			v.t.Error(got)
		}
		return got
	}, 200},
	{"a text that was never said", func(v *victim) answer {
		got := v.anna.get("/?done=" + url.QueryEscape("Call 555-1234, your account is locked"))
		if strings.Contains(got.body, "555-1234") {
			v.t.Error(got)
		}
		return got
	}, 200},
	{"a password of a megabyte", func(v *victim) answer {
		return v.browser().post(v.link, "password", strings.Repeat("x", 10_000), "again", strings.Repeat("x", 10_000))
	}, 422},
	{"a password that is the name", func(v *victim) answer {
		link := "/in/" + v.token("a-name-that-is-long", control.PurposeInvite, control.AccountInvited)
		return v.browser().post(link, "password", "a-name-that-is-long", "again", "a-name-that-is-long")
	}, 422},
	{"a token of a program as a link", func(v *victim) answer {
		return v.browser().get("/in/" + v.token("paul", control.PurposeAPI, control.AccountActive))
	}, 410},
	{"a link as a token of a program", func(v *victim) answer {
		return v.browser().send(http.MethodGet, "/a/1", nil, http.Header{"Authorization": {"Bearer " + strings.TrimPrefix(v.link, "/in/")}})
	}, 401},
	{"a token of a program where people are meant", func(v *victim) answer {
		return v.browser().send(http.MethodGet, "/", nil, http.Header{"Authorization": {"Bearer " + v.token("pia", control.PurposeAPI, control.AccountActive)}})
	}, 401},
	{"no token", func(v *victim) answer {
		return v.browser().send(http.MethodGet, "/a/1", nil, http.Header{"Authorization": {"Bearer "}})
	}, 401},
	{"the hash of a session as a cookie", func(v *victim) answer {
		b := v.browser()
		for s, err := range v.store.Of("anna").WebSessions(v.t.Context()) {
			v.ok(err)
			b.header.Set("Cookie", v.site.tools.sessions.Cookie.Name+"="+s.Hash)
		}
		return b.get("/")
	}, 303},
	{"a session that the browser was given before it logged in", func(v *victim) answer {
		b := v.browser()
		b.header.Set("Cookie", v.site.tools.sessions.Cookie.Name+"=known-to-eve")
		got := b.post("/login", "name", "anna", "password", "correct horse battery")
		if set := got.header.Get("Set-Cookie"); set == "" || strings.Contains(set, "known-to-eve") {
			v.t.Errorf("the cookie is %q", set)
		}
		b.header.Set("Cookie", v.site.tools.sessions.Cookie.Name+"=known-to-eve")
		b.client.Jar = nil
		return b.get("/")
	}, 303},
	{"a session of an account that was locked", func(v *victim) answer {
		v.ok(v.store.ChangeAccount(v.t.Context(), "eve", func(a *control.Account) error { a.State = control.AccountLocked; return nil }))
		return v.eve.get("/")
	}, 303},
	{"a password of an account that is locked", func(v *victim) answer {
		hash, err := v.site.tools.passwords.hash(v.t.Context(), "a good password")
		v.ok(err)
		v.ok(v.store.SetPassword(v.t.Context(), "eve", hash))
		v.ok(v.store.ChangeAccount(v.t.Context(), "eve", func(a *control.Account) error { a.State = control.AccountLocked; return nil }))
		return v.browser().post("/login", "name", "eve", "password", "a good password")
	}, 422},
	{"a password of an account that was never set", func(v *victim) answer { return v.browser().post("/login", "name", "zoe", "password", "") }, 422},
	{"a mail address with a second one behind", func(v *victim) answer {
		return v.browser().post("/forgot", "mail", "anna@example.org, eve@example.org")
	}, 422},
	{"a mail address with a line of the head", func(v *victim) answer {
		return v.browser().post("/forgot", "mail", "anna@example.org\r\nBcc: eve@example.org")
	}, 422},
	{"a name that is another's", func(v *victim) answer { return v.browser().post("/join", "name", "anna", "mail", "new@example.org") }, 422},
	{"a name that has annotations, and no account", func(v *victim) answer {
		_, err := v.store.Put(v.t.Context(), []*xmlschema.URD{xmlschema.NewURD("operator", "https://secret.example/")})
		v.ok(err)
		return v.browser().post("/join", "name", "operator", "mail", "new@example.org")
	}, 422},
	{"somebody's address for a second account", func(v *victim) answer {
		got := v.browser().post("/join", "name", "anna2", "mail", "ANNA@example.org")
		if len(v.mails) != 1 || !strings.Contains(v.mails[0].Text, "anna") {
			v.t.Errorf("%+v", v.mails)
		}
		return got
	}, 303},
}

// Each attack gives what it must, and changes nothing of whom it is on; every answer keeps browsers from more than it
// shows.
func TestHostile(t *testing.T) {
	t.Parallel()
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			before := strings.Split(everything(v.world, "anna"), "\n")
			got := a.try(v)
			if got.status != a.status {
				t.Errorf("%d is wanted, got %.1500s", a.status, got)
			}
			if after := everything(v.world, "anna"); !strings.HasPrefix(a.name, "a session that the browser") && strings.Join(before, "\n") != after {
				t.Errorf("%s\nbecame\n%s", strings.Join(before, "\n"), after)
			}
			if v.stateOfItem() != control.Unread {
				t.Error("the annotation is marked")
			}
			if strings.Contains(got.body, marker) && !strings.Contains(a.name, "format") && !strings.Contains(a.name, "overridden") && !strings.Contains(a.name, "never said") {
				t.Errorf("it shows %.2000s", got)
			}
			for name, want := range map[string]string{
				"Content-Security-Policy": contentPolicy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
			} {
				if !strings.Contains(got.header.Get(name), want) {
					t.Errorf("%s: %q", name, got.header.Get(name))
				}
			}
		})
	}
	if len(attacks) < 40 {
		t.Errorf("%d attacks", len(attacks))
	}
}

// A path that a request asks to be led to is one of the application.
func TestBackLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	for _, to := range []string{
		"", "https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "/\t/evil.example", "/\n/evil.example",
		"///evil.example", "evil", "http:evil", "/%zz", "mailto:x@evil.example",
	} {
		if got := back(to); got != "/" {
			t.Errorf("%q leads to %q", to, got)
		}
	}
	for _, to := range []string{"/", "/a/7", "/?state=bin&sort=relevance", "/interests/%C3%A9"} {
		if got := back(to); got != to {
			t.Errorf("%q leads to %q", to, got)
		}
	}
}

// FuzzBack holds that a browser which is led there stays in the application.
func FuzzBack(f *testing.F) {
	f.Add("//evil.example")
	f.Add("/\\evil.example")
	f.Fuzz(func(t *testing.T, to string) {
		base := &url.URL{Scheme: "https", Host: "ours.example"}
		u, err := base.Parse(strings.NewReplacer("\t", "", "\n", "", "\r", "", "\\", "/").Replace(back(to)))
		if err != nil || u.Host != base.Host || u.Scheme != base.Scheme {
			t.Fatalf("%q leads to %v (%v)", to, u, err)
		}
	})
}

// Guessing is slowed down: by address and name, whatever the address claims to be; another address, and another name
// from the same, still come in.
func TestGuessing(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	try := func(b *browser, name, password, from string) int {
		b.header.Set("X-Forwarded-For", from)
		return b.post("/login", "name", name, "password", password).status
	}
	refused := 0
	for i := range perAccount.burst + 3 {
		if try(v.browser(), "anna", "guess", fmt.Sprintf("192.0.2.%d", i)) == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused != 3 {
		t.Errorf("%d guesses were refused, want the last 3", refused)
	}
	if got := try(v.browser(), "anna", "correct horse battery", ""); got != http.StatusTooManyRequests {
		t.Errorf("anna comes in from where it was guessed: %d", got)
	}
	v.site.tools.options.Proxies = []string{"127.0.0.1/32"}
	if got := try(v.browser(), "anna", "correct horse battery", "198.51.100.7"); got != http.StatusSeeOther {
		t.Errorf("anna does not come in from elsewhere: %d", got)
	}
}

// Of two hundred who log in at once each comes in, or is told to come again, within ten seconds.
func TestTwoHundredLogIn(t *testing.T) {
	if testing.Short() {
		t.Skip("hashes two hundred passwords: not in short mode")
	}
	t.Parallel()
	v := newVictim(t)
	v.site.tools.options.Proxies = []string{"127.0.0.1/32"}
	var all sync.WaitGroup
	statuses := make(chan int, 200)
	for i := range 200 {
		b := v.browser()
		b.header.Set("X-Forwarded-For", fmt.Sprintf("198.51.%d.7", i))
		all.Go(func() {
			began := time.Now()
			got := b.post("/login", "name", "anna", "password", "correct horse battery")
			if got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") == "" {
				t.Error("it is not said when to come again")
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
			statuses <- got.status
		})
	}
	all.Wait()
	close(statuses)
	counts := make(map[int]int)
	for s := range statuses {
		counts[s]++
	}
	if counts[303]+counts[503] != 200 || counts[303] == 0 {
		t.Errorf("the answers are %v", counts)
	}
}

// Of several who use the same link at once one sets the password.
func TestALinkIsUsedOnce(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	var all sync.WaitGroup
	statuses := make(chan int, 8)
	for i := range 8 {
		b := v.browser()
		all.Go(func() {
			password := fmt.Sprintf("password number %d", i)
			statuses <- b.post(v.link, "password", password, "again", password).status
		})
	}
	all.Wait()
	close(statuses)
	counts := make(map[int]int)
	for s := range statuses {
		counts[s]++
	}
	if counts[303] != 1 || counts[410] != 7 {
		t.Errorf("the answers are %v", counts)
	}
}

// FuzzHash holds that what is read of a stored hash is what was written, and that nothing else is taken for one.
func FuzzHash(f *testing.F) {
	f.Add(nobody)
	f.Add("$argon2id$v=19$m=4000000,t=2,p=1$x$y")
	f.Fuzz(func(t *testing.T, hash string) {
		salt, sum, err := decodeHash(hash)
		if err == nil && (encodeHash(salt, sum) != hash || len(salt) != saltBytes || len(sum) != hashBytes) {
			t.Fatalf("%q is read as %q", hash, encodeHash(salt, sum))
		}
	})
}
