package urlnorm

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Not every document is on the web. A message is known by the ID that its writer gave it, wherever it lies, and by its
// bytes if it has none: in two mailboxes or newsgroups, and after it was moved, it is the same document. Such addresses
// are nothing that could be fetched; no page can link to such a document, since [Parse] refuses them.

const (
	messageScheme = "mid:"           // RFC 2392
	articleScheme = "news:"          // RFC 5538
	digestScheme  = "ni:///sha-256;" // RFC 6920: by no authority, and in full
)

// OfMessage returns the address of the message with an ID, which stands in angle brackets or not. One that has no ID,
// or has one that cannot be an address, is known by its bytes: see [OfBytes].
func OfMessage(id string) (string, error) { return ofID(messageScheme, id) }

// OfArticle returns the address of the article of news with an ID, as [OfMessage] does that of a mail. An ID without @
// cannot be told from the name of a newsgroup, and is no address.
func OfArticle(id string) (string, error) {
	if !strings.Contains(id, "@") {
		return "", fmt.Errorf("message ID %.256q: %w: news: and what has no @ is a newsgroup", id, ErrInvalid)
	}
	return ofID(articleScheme, id)
}

func ofID(scheme, id string) (string, error) {
	id = strings.TrimSpace(id)
	if inner, ok := strings.CutPrefix(id, "<"); ok {
		if id, ok = strings.CutSuffix(inner, ">"); !ok {
			return "", fmt.Errorf("message ID %.256q: %w: it does not end with >", id, ErrInvalid)
		}
	}
	if id == "" {
		return "", fmt.Errorf("message ID: %w: it is empty", ErrInvalid)
	}
	address := scheme + escapeMessageID(id)
	if len(address) > MaxLength {
		return "", fmt.Errorf("message ID %.64q…: %w", id, ErrLength)
	}
	return address, nil
}

// OfBytes returns the address of what has these bytes.
func OfBytes(all []byte) string {
	sum := sha256.Sum256(all)
	return digestScheme + base64.RawURLEncoding.EncodeToString(sum[:])
}

// MessageID returns the ID of the message or article that an address is of, without angle brackets.
func MessageID(address string) (id string, ok bool) {
	scheme, escaped, _ := strings.Cut(address, ":")
	if scheme += ":"; scheme != messageScheme && scheme != articleScheme {
		return "", false
	}
	id, err := url.PathUnescape(escaped)
	return id, err == nil && id != ""
}

// inMessageID are the characters that stand in an ID as they are: those that a URL may have, but for the ones that part
// it. A slash would part the ID from that of a piece of the message.
const inMessageID = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@"

func escapeMessageID(id string) string {
	var b strings.Builder
	for i := range len(id) {
		if c := id[i]; strings.IndexByte(inMessageID, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// ParseAddress normalizes the address of a document: a URL, as [Parse] does, with a mark behind it if it has one, or
// what [OfMessage], [OfArticle] and [OfBytes] give. It is for addresses that people, commands and
// archives give; what stands on a page is for Parse.
func ParseAddress(s string) (string, error) {
	if len(s) > MaxLength {
		return "", fmt.Errorf("parse %.64q…: %w", s, ErrLength)
	}
	scheme, rest, _ := strings.Cut(s, ":")
	switch scheme = strings.ToLower(scheme); scheme {
	case "mid", "news":
		id, ok := MessageID(scheme + ":" + rest)
		if !ok {
			return "", fmt.Errorf("parse %.256q: %w: it has no message ID, or a percent sign without two hexadecimal digits", s, ErrInvalid)
		}
		if scheme == "news" {
			return OfArticle("<" + id + ">")
		}
		return OfMessage("<" + id + ">")
	case "ni":
		digits, ok := strings.CutPrefix(s[len("ni"):], digestScheme[len("ni"):])
		if sum, err := base64.RawURLEncoding.Strict().DecodeString(digits); !ok || err != nil || len(sum) != sha256.Size {
			return "", fmt.Errorf("parse %.256q: %w: it is no %s… with a whole SHA-256", s, ErrInvalid, digestScheme)
		}
		return digestScheme + digits, nil
	}
	url, mark := CutMark(s)
	url, err := Parse(url)
	if err != nil {
		return "", err
	}
	if url = Marked(url, mark); len(url) > MaxLength {
		return "", fmt.Errorf("normalize %.64q…: %w", url, ErrLength)
	}
	return url, nil
}

// HasAddress reports whether something begins as the address of a document does.
func HasAddress(s string) bool {
	scheme, _, ok := strings.Cut(s, ":")
	return ok && slices.Contains([]string{"http", "https", "mid", "news", "ni"}, strings.ToLower(scheme))
}
