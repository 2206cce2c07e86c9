package credentials

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestFormsThatCannotBeFilledInAreRefused(t *testing.T) {
	t.Parallel()
	good := Form{Page: "HTTPS://A.example:443/login", Password: "pw", Fields: map[string]string{"user": "eleni"}, Sign: Sign{CSS: ".logout"}}
	s, err := NewForm(good, hush)
	if f, ok := s.Form(); err != nil || !ok || f.Page != "https://a.example/login" || strings.Join(s.Bounds().Hosts, ",") != "a.example" || s.Bounds().Insecure {
		t.Errorf("%+v, %v, %v, %v", f, ok, s.Bounds(), err)
	}
	for want, change := range map[string]func(*Form){
		"is no page":             func(f *Form) { f.Page = "login" },
		"is filled in twice":     func(f *Form) { f.Fields = map[string]string{"pw": "x"} },
		"no field":               func(f *Form) { f.Password = "" },
		"no sign":                func(f *Form) { f.Sign = Sign{} },
		"more than one":          func(f *Form) { f.Sign.Text = "x" },
		"cannot be looked for":   func(f *Form) { f.Sign.CSS = "a[" },
		"nothing but white":      func(f *Form) { f.Sign = Sign{Text: "  "} },
		"leads to one of 200 to": func(f *Form) { f.Sign = Sign{Status: 302} },
	} {
		f := good
		change(&f)
		if _, err := NewForm(f, hush); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), hush) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, text := range []string{"", "x", "css:", "status:2x", "status:", "regex:a", ".logout"} {
		if _, err := ParseSign(text); err == nil {
			t.Errorf("%q is a sign", text)
		}
	}
	for _, text := range []string{"css:a:not(.b)", "text:Log out: now", "status:204"} {
		if sign, err := ParseSign(text); err != nil || sign.String() != text {
			t.Errorf("%q: %v, %v", text, sign, err)
		}
	}
}

func TestCookiesThatWereKeptGoWhereTheyWentAndNoLongerThanThey(t *testing.T) {
	t.Parallel()
	j := NewJar(10)
	u := mustURL(t, "https://a.example/x/y")
	j.Keep(u, map[string][]string{"Set-Cookie": {"a=1; Path=/x; Max-Age=3600; Secure", "b=2; Path=/", "c=3; Max-Age=60", "d=4; Domain=example", "b=5; Path=/"}})
	kept := j.export()
	later := NewJar(10)
	if !later.restore(kept, time.Now().Add(10*time.Minute)) {
		t.Fatal("nothing is restored")
	}
	for address, want := range map[string]string{
		"https://a.example/x": "a=1; b=5", "http://a.example/x": "b=5", "https://a.example/": "b=5", "https://b.example/x": "",
	} {
		if got := later.Field(mustURL(t, address)); got != want {
			t.Errorf("%s is sent %q, want %q", address, got, want)
		}
	}
	j.clear()
	if got := j.Field(u); got != "" || j.export() != "null" && j.export() != "[]" {
		t.Errorf("it holds %q still", got)
	}
	if later.restore("{", time.Now()) || NewJar(1).restore(j.export(), time.Now()) {
		t.Error("what is no cookie is restored")
	}
}

func mustURL(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
