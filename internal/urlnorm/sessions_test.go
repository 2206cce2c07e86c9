package urlnorm

import "testing"

func TestSessionsAreRemoved(t *testing.T) {
	t.Parallel()
	rules := Rules{Sessions: true}
	const id = "0123456789abcdef0123456789ABCDEF"
	for given, want := range map[string]string{
		"/a;jsessionid=" + id:                  "/a",
		"/a;JSESSIONID=1.node2/b;v=2":          "/a/b;v=2",
		"/;jsessionid=1":                       "/",
		"/a;jsessionid=1;jsessionid=2?x":       "/a?x",
		"/a;v=1;jsessionid=2;w=3":              "/a;v=1;w=3",
		"/a?PHPSESSID=x&b=1":                   "/a?b=1",
		"/a?b=1&sid=" + id:                     "/a?b=1",
		"/a?ASPSESSIONIDQQ=x":                  "/a",
		"/app/(S(lit3py55t21z5v55vlm25s55))/x": "/app/x",
		"/(S(lit3py55t21z5v55vlm25s55))":       "/",
		"/a?sid=7":                             "/a?sid=7",
		"/a?s=" + id[:15]:                      "/a?s=" + id[:15],
		"/a?s=0123456789012345678":             "/a?s=0123456789012345678",
		"/a?session=2026-summer":               "/a?session=2026-summer",
		"/a?phpsessid":                         "/a?phpsessid",
		"/a(b)/c;d?e;f":                        "/a(b)/c;d?e;f",
		"/(S(/x":                               "/(S(/x",
	} {
		u := "http://a.org" + given
		got := u
		if rules.Concern([]byte(u)) {
			got = rules.Apply(u)
		}
		if got != "http://a.org"+want || rules.Apply(got) != got {
			t.Errorf("%s becomes %s, then %s; want %s", given, got, rules.Apply(got), want)
		}
		if none := (Rules{Sort: true}); none.Apply(u) != (&Rules{}).Apply(u) && want == given {
			t.Errorf("%s is changed without being asked", given)
		}
	}
}

// Removing sessions leaves a normalized URL of the same host, and nothing to remove.
func FuzzSessions(f *testing.F) {
	for _, s := range []string{"http://a.org/a;jsessionid=1;x/(S(b))/c?sid=0123456789abcdef", "http://a.org/(S((S(a))))/;jsessionid=;jsessionid="} {
		f.Add(s)
	}
	rules := Rules{Sessions: true}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := Parse(s)
		if err != nil {
			return
		}
		once := rules.Apply(u)
		if again, err := Parse(once); err != nil || again != once || Host(once) != Host(u) {
			t.Fatalf("%q becomes %q, normalized %q, %v", u, once, again, err)
		}
		if rules.Apply(once) != once {
			t.Fatalf("%q becomes %q, and then %q", u, once, rules.Apply(once))
		}
		if !rules.Concern([]byte(u)) && once != u {
			t.Fatalf("%q is said not to be concerned, and becomes %q", u, once)
		}
	})
}
