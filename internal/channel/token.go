package channel

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"
)

// unsubscribeEncoding has letters and digits alone, so that the token is a part of a path as it is.
var unsubscribeEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// UnsubscribeToken returns the text by which whoever gets the messages of a channel stops them without logging in: the
// channel's number, and a MAC of it by the key of the channel's address. It is empty if the address has no key. It
// tells nothing of the key, and another key makes it useless.
func UnsubscribeToken(n int64, a Address) string {
	if a.key == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(a.key))
	fmt.Fprintf(mac, "unsubscribe %d", n)
	return fmt.Sprintf("%d-%s", n, unsubscribeEncoding.EncodeToString(mac.Sum(nil)[:20]))
}

// Unsubscribes reports whether a text is the [UnsubscribeToken] of a channel. How long it takes does not tell how much
// of it is right.
func Unsubscribes(token string, n int64, a Address) bool {
	right := UnsubscribeToken(n, a)
	return right != "" && subtle.ConstantTimeCompare([]byte(token), []byte(right)) == 1
}

// FeedToken returns the text by which a program fetches the feed that a channel is: the channel's number, and the key
// of its address. It is empty if the address has no key.
func FeedToken(n int64, a Address) string {
	if a.key == "" {
		return ""
	}
	return fmt.Sprintf("%d-%s", n, a.key)
}

// Fetches reports whether a text is the [FeedToken] of a channel, and how long it takes does not tell how much of it is
// right.
func Fetches(token string, n int64, a Address) bool {
	right := FeedToken(n, a)
	return right != "" && subtle.ConstantTimeCompare([]byte(token), []byte(right)) == 1
}

// NumberIn returns the number of the channel that a token of one of these kinds names, and whether there is one. That
// the token is right it does not say.
func NumberIn(token string) (n int64, is bool) {
	number, _, is := strings.Cut(token, "-")
	n, err := strconv.ParseInt(number, 10, 64)
	return n, is && err == nil && n > 0 && strconv.FormatInt(n, 10) == number
}
