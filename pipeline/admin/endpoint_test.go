package admin

import (
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

const token = "0123456789abcdef"

func TestAnEndpointThatOthersCanReachNeedsAToken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address, token string
		needed, fails  bool
	}{
		{"127.0.0.1:0", "", false, false},
		{"127.8.9.1:80", "", false, false},
		{"[::1]:0", "", false, false},
		{"localhost:0", "", false, false},
		{":0", "", true, true},
		{"0.0.0.0:0", "", true, true},
		{"[::]:0", "", true, true},
		{"192.0.2.1:0", "", true, true},
		{"[::ffff:192.0.2.1]:0", "", true, true},
		{":0", token, false, false},
		{"192.0.2.1:0", token, false, false},
		{":0", "too short", false, true},
		{"127.0.0.1:0", "too short", false, true},
		{"127.0.0.1", "", false, true},
		{"8641", "", false, true},
		{"127.0.0.1:http:", "", false, true},
		{"127.0.0.1:70000", "", false, true},
	} {
		_, err := NewEndpoint(c.address, c.token)
		if errors.Is(err, ErrTokenNeeded) != c.needed || (err != nil) != c.fails {
			t.Errorf("%s with token %q: %v", c.address, c.token, err)
		}
	}
}

func newEndpoint(t *testing.T, address, token string) *Endpoint {
	t.Helper()
	endpoint, err := NewEndpoint(address, token)
	if err != nil {
		t.Fatal(err)
	}
	return endpoint
}

// knock asks for something with some header fields, and returns the status.
func knock(h http.Handler, method, host, path string, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://"+host+path, nil)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAnEndpointWithoutATokenIsForThisMachineAlone(t *testing.T) {
	t.Parallel()
	run := start(t, busyGraph("toy", toyOptions{}))
	h := New()
	h.Show(map[string]*pipeline.Run{"toy": run})
	guarded := newEndpoint(t, "localhost:0", "").Guard(h)
	for host, want := range map[string]int{
		"localhost": 200, "localhost:8641": 200, "LOCALHOST": 200, "127.0.0.1:8641": 200, "127.1.2.3": 200, "[::1]:8641": 200,
		"evil.example": 421, "evil.example:8641": 421, "localhost.evil.example": 421, "127.0.0.1.nip.example": 421,
		"192.0.2.1:8641": 421, "0.0.0.0:8641": 421, "[2001:db8::1]": 421,
	} {
		for _, path := range []string{"/", "/pipelines", "/metrics", "/debug/pprof/", "/healthz"} {
			if got := knock(guarded, "GET", host, path).Code; got != want {
				t.Errorf("asked for %s as %s: %d, want %d", path, host, got, want)
			}
		}
	}
	const pause = "/pipelines/toy/pause"
	for _, c := range []struct {
		what   string
		fields []string
		want   int
	}{
		{"a form of another site", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 403},
		{"a form of another port", []string{"Sec-Fetch-Site", "same-site", "Origin", "http://localhost:99"}, 403},
		{"an old browser", []string{"Origin", "https://evil.example"}, 403},
		{"a sandboxed frame", []string{"Origin", "null"}, 403},
		{"a program", nil, 202},
		{"the page", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:8641"}, 202},
	} {
		run.Resume()
		if got := knock(guarded, "POST", "localhost:8641", pause, c.fields...).Code; got != c.want || run.Paused() != (c.want == 202) {
			t.Errorf("%s: %d, want %d; paused: %t", c.what, got, c.want, run.Paused())
		}
	}
}

func TestAnEndpointWithATokenIsForThoseWhoKnowIt(t *testing.T) {
	t.Parallel()
	endpoint := newEndpoint(t, ":0", token)
	guarded := endpoint.Guard(New())
	for _, path := range []string{"/", "/pipelines", "/pipelines/toy", "/metrics", "/debug/pprof/", "/debug/pprof/profile", "/nowhere", "/healthz/../metrics"} {
		for _, fields := range [][]string{
			nil,
			{"Authorization", "Bearer " + token + "x"}, {"Authorization", "Bearer " + token[1:]}, {"Authorization", "Bearer "},
			{"Authorization", "Bearer"}, {"Authorization", "Basic " + token}, {"Authorization", token},
			{"Cookie", "webrace=" + token}, {"Cookie", "webrace="}, {"Cookie", "webrace=" + newEndpoint(t, ":0", token+"x").cookie()},
		} {
			w := knock(guarded, "GET", "any.example", path, fields...)
			if w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s with %q: %d", path, fields, w.Code)
			}
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/page/page.css": 200, "/page/page.html": 404, "/page/": 404, "/login": 200} {
		if got := knock(guarded, "GET", "any.example", path).Code; got != want {
			t.Errorf("%s for anybody: %d, want %d", path, got, want)
		}
	}
	if got := knock(guarded, "POST", "any.example", "/healthz").Code; got != http.StatusUnauthorized {
		t.Errorf("a POST to /healthz: %d", got)
	}
	for _, scheme := range []string{"Bearer", "bearer"} {
		if got := knock(guarded, "GET", "any.example", "/pipelines", "Authorization", scheme+" "+token).Code; got != http.StatusOK {
			t.Errorf("with the token: %d", got)
		}
	}
}

func TestABrowserComesInByTheForm(t *testing.T) {
	t.Parallel()
	endpoint := newEndpoint(t, "127.0.0.1:0", token)
	listener, err := endpoint.Listen()
	if err != nil {
		t.Fatal(err)
	}
	stop := Serve(listener, endpoint.Guard(New()))
	defer stop()
	base := "http://" + listener.Addr().String()
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(r *http.Request) (status int, path, body string) {
		t.Helper()
		r.Header.Set("Accept", "text/html")
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return response.StatusCode, response.Request.URL.Path, string(text)
	}
	fill := func(word string) *http.Request {
		r, _ := http.NewRequest("POST", base+"/login", strings.NewReader(url.Values{"token": {word}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return r
	}
	page, _ := http.NewRequest("GET", base+"/", nil)
	if status, path, body := get(page); status != 200 || path != "/login" || !strings.Contains(body, `name="token"`) {
		t.Errorf("who comes is shown %s: %d", path, status)
	}
	if status, _, body := get(fill("wrong" + token)); status != 401 || !strings.Contains(body, "not the token") {
		t.Errorf("a wrong token: %d, %s", status, body)
	}
	if status, path, body := get(fill(token)); status != 200 || path != "/" || !strings.Contains(body, "Not ready yet") {
		t.Errorf("the token leads to %s: %d, %s", path, status, body)
	}
	if status := knockForm(endpoint, strings.Repeat("x", 1<<20)+token).Code; status != 401 {
		t.Errorf("a huge form: %d", status)
	}
	r := knockForm(endpoint, token)
	cookie := r.Header().Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q has no %s", cookie, want)
		}
	}
	if strings.Contains(cookie, token) {
		t.Error("the cookie tells the token")
	}
}

func knockForm(endpoint *Endpoint, word string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/login", strings.NewReader(url.Values{"token": {word}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	endpoint.Guard(New()).ServeHTTP(w, r)
	return w
}

// What programs alone ask for has no form, and takes no cookie.
func TestAGuardForPrograms(t *testing.T) {
	t.Parallel()
	pass := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	open, err := NewEndpoint("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	closed, err := NewEndpoint("127.0.0.1:0", token)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		e      *Endpoint
		path   string
		header [2]string
		want   int
	}{
		"open":                  {open, "/x", [2]string{}, 204},
		"open, another name":    {open, "/x", [2]string{"Host", "a.org"}, 421},
		"open, a foreign page":  {open, "/x", [2]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"open, an old browser":  {open, "/x", [2]string{"User-Agent", "Mozilla/4.0"}, 403},
		"token":                 {closed, "/x", [2]string{"Authorization", "Bearer " + token}, 204},
		"no token":              {closed, "/x", [2]string{}, 401},
		"no token, for a page":  {closed, "/x", [2]string{"Accept", "text/html"}, 401},
		"a cookie":              {closed, "/x", [2]string{"Cookie", cookieName + "=" + closed.cookie()}, 401},
		"the form":              {closed, loginPath, [2]string{}, 401},
		"whether it is healthy": {closed, "/healthz", [2]string{}, 401},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+c.path, nil)
		if c.header[0] == "Host" {
			r.Host = c.header[1]
		} else if c.header[0] != "" {
			r.Header.Set(c.header[0], c.header[1])
		}
		w := httptest.NewRecorder()
		c.e.GuardPrograms(pass).ServeHTTP(w, r)
		if w.Code != c.want || (w.Code == 401) != (w.Header().Get("WWW-Authenticate") != "") {
			t.Errorf("%s: %d, want %d", name, w.Code, c.want)
		}
	}
}
