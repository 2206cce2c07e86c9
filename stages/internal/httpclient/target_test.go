package httpclient

import (
	"errors"
	"testing"
)

func TestWhatIsNoURLIsAnError(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"", "x", "ftp://example.org/", "http://", "http:///x", "http://user@example.org/", "http://example.org/a b",
		"http://example.org/\r\nX: y", "http://example.org/ä", "http://example.org/#x", `http://a\b/`,
	} {
		if _, err := ParseTarget(url); !errors.Is(err, ErrTarget) {
			t.Errorf("%q: %v", url, err)
		}
	}
}
