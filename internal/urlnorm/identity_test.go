package urlnorm

import (
	"slices"
	"strings"
	"testing"
)

func TestIdentityJoinsWhatTheStandardOfURIsCallsEquivalent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"http://h/", "http://h/"},
		{"http://h/%7ejoe", "http://h/~joe"}, {"http://h/%7Ejoe", "http://h/~joe"}, {"http://h/~joe", "http://h/~joe"},
		{"http://h/%41%5a%61%7a%30%39%2d%2E%5f", "http://h/AZaz09-._"},
		{"http://h/?%7e=%c3%a9&a=%2f", "http://h/?~=%C3%A9&a=%2F"},
		{"http://h/%c3%A9/%C3%a9", "http://h/%C3%A9/%C3%A9"},
		{"http://h/a%2fb", "http://h/a%2Fb"}, {"http://h/a/b", "http://h/a/b"}, // two pages: what is reserved stays as it is
		{"http://h/%21%24%26%3d%3a%40%20%25", "http://h/%21%24%26%3D%3A%40%20%25"},
		{"http://h/%257e", "http://h/%257e"}, // decoded once, not twice
		{"http://h/a%2e/%2ea", "http://h/a./.a"},
		{"http://h/%7", "http://h/%7"}, {"%", "%"}, {"", ""}, // of a prefix that a person wrote
	} {
		if got := Identity(c.in); got != c.want {
			t.Errorf("Identity(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if !HasPrefix("http://h/%7Ejoe/a", "http://h/%7ejoe/") || HasPrefix("http://h/%7Ejack/a", "http://h/~joe/") {
		t.Error("prefixes are not compared by their identities")
	}
}

func TestMostURLsAreTheirIdentityAndCostNothing(t *testing.T) {
	for _, u := range []string{"http://example.org/a/b.html?c=d", "http://example.org/%C3%A9%20%2F"} {
		if n := testing.AllocsPerRun(10, func() {
			if Identity(u) != u {
				t.Errorf("%s is not its identity", u)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", u, n)
		}
	}
}

// The identity of a URL is a normalized URL of the same host, and its own identity; and each of the spellings that
// make up a URL has it.
func FuzzIdentity(f *testing.F) {
	for _, s := range []string{"http://h/%7ejoe?%c3%a9#", "http://h/.%2e/%2E%2e%2f", "http://h/%%37e%41", "http://h/\u00e9%"} {
		f.Add(s, uint(7))
	}
	f.Fuzz(func(t *testing.T, s string, which uint) {
		u, err := Parse(s)
		if err != nil {
			return
		}
		identity := Identity(u)
		if again, err := Parse(identity); err != nil || again != identity || Identity(identity) != identity || Host(identity) != Host(u) {
			t.Fatalf("%q has the identity %q, which parses as %q, %v, and has %q", u, identity, again, err, Identity(identity))
		}
		end := hostEnd(identity)
		other, found := identity[:end], u[:end]
		for rest := identity[end:]; rest != ""; {
			var ways []string
			ways, rest = Spellings(rest)
			i := slices.IndexFunc(ways, func(way string) bool { return strings.HasPrefix(u[len(found):], way) })
			if i < 0 {
				t.Fatalf("%q goes on behind %q in none of the ways %q", u, found, ways)
			}
			other, found = other+ways[which%uint(len(ways))], found+ways[i]
		}
		if found != u || Identity(other) != identity {
			t.Fatalf("%q has the identity %q; %q has %q", u, identity, other, Identity(other))
		}
	})
}
