package channel

import (
	"fmt"
	"strings"
	"testing"
)

// A token is good for its channel with its key, and for no other; without a key there is none.
func TestTokens(t *testing.T) {
	t.Parallel()
	a, other := NewAddress("eleni@example.org", "KEY"), NewAddress("eleni@example.org", "KEX")
	for name, kind := range map[string]struct {
		make  func(int64, Address) string
		check func(string, int64, Address) bool
	}{"unsubscribe": {UnsubscribeToken, Unsubscribes}, "feed": {FeedToken, Fetches}} {
		token := kind.make(7, a)
		if n, is := NumberIn(token); n != 7 || !is || !kind.check(token, 7, a) {
			t.Errorf("%s: %q is not that of channel 7: %d, %v", name, token, n, is)
		}
		for _, wrong := range []string{"", token[:len(token)-1], token + "A", strings.ToLower(token), kind.make(8, a), kind.make(7, other), "7-"} {
			if kind.check(wrong, 7, a) {
				t.Errorf("%s: %q is taken for %q", name, wrong, token)
			}
		}
		if keyless := NewAddress("eleni@example.org", ""); kind.make(7, keyless) != "" || kind.check("", 7, keyless) || kind.check("7-", 7, keyless) {
			t.Errorf("%s: there is one without a key", name)
		}
	}
	if strings.Contains(UnsubscribeToken(7, a), "KEY") {
		t.Error("it tells the key")
	}
}

// FuzzNumberIn holds that a number is read from a token as it is written there, and from no other text.
func FuzzNumberIn(f *testing.F) {
	for _, token := range []string{"7-ABC", "-7-ABC", "07-A", "7", "", "9223372036854775808-A", "+7-A"} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if n, is := NumberIn(token); is && (n < 1 || !strings.HasPrefix(token, fmt.Sprint(n, "-"))) {
			t.Errorf("%q names %d", token, n)
		}
	})
}
