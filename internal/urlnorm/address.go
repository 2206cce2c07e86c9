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
	rowScheme     = "db://"          // of a query that is declared, and of a row of its answer
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

// OfRow returns the address of a row of the answer to a query, which has an address itself: db://NAME?parameter=value.
// The key is a path, of one or more values that [EscapeKey] has escaped.
func OfRow(source, key string) (string, error) {
	name, parameters, has := strings.Cut(source, "?")
	address := name + "/" + key
	if has {
		address += "?" + parameters
	}
	if len(address) > MaxLength {
		return "", fmt.Errorf("key %.64q…: %w", key, ErrLength)
	}
	return address, nil
}

// inKey are the characters that stand in a key as they are.
const inKey = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"

// EscapeKey escapes one of the values by which a row is known.
func EscapeKey(value string) string { return escape(value, inKey) }

// parseRow normalizes the address of a query, or of a row.
func parseRow(s string) (string, error) {
	wrong := func(why string) (string, error) { return "", fmt.Errorf("parse %.256q: %w: %s", s, ErrInvalid, why) }
	rest, ok := cutPrefixFold(s, rowScheme)
	if !ok {
		return wrong("it does not begin with " + rowScheme)
	}
	rest, parameters, _ := strings.Cut(rest, "?")
	name, path, isRow := strings.Cut(rest, "/")
	if name == "" || EscapeKey(name) != name {
		return wrong("it has no name of a query")
	}
	address := rowScheme + name
	if isRow {
		for value := range strings.SplitSeq(path, "/") {
			value, err := url.PathUnescape(value)
			if err != nil {
				return wrong("it has a percent sign without two hexadecimal digits")
			}
			address += "/" + EscapeKey(value)
		}
	}
	given, err := url.ParseQuery(parameters)
	if err != nil || strings.Contains(rest+parameters, "#") {
		return wrong("it has parameters that cannot be read")
	}
	if len(given) > 0 {
		address += "?" + given.Encode()
	}
	if len(address) > MaxLength {
		return "", fmt.Errorf("parse %.64q…: %w", s, ErrLength)
	}
	return address, nil
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// MessageID returns the ID of the message that an address is of, without angle brackets.
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

func escapeMessageID(id string) string { return escape(id, inMessageID) }

// escape escapes all bytes of a text but those that stand as they are.
func escape(text, asItIs string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; strings.IndexByte(asItIs, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// ParseAddress normalizes the address of a document: a URL, as [Parse] does, with a mark behind it if it has one, or
// what [OfMessage], [OfArticle], [OfBytes] and [OfRow] give. It is for addresses that people, commands and archives
// give; what stands on a page is for Parse.
func ParseAddress(s string) (string, error) {
	if len(s) > MaxLength {
		return "", fmt.Errorf("parse %.64q…: %w", s, ErrLength)
	}
	scheme, rest, has := strings.Cut(s, ":")
	if !has {
		scheme = ""
	}
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
	case "db":
		return parseRow(s)
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
	return ok && slices.Contains([]string{"http", "https", "mid", "news", "ni", "db"}, strings.ToLower(scheme))
}
