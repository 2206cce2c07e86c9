package urlnorm

import "strings"

// What a URL shows to a request that is more than a GET is another document than what the GET shows. It is known by
// the URL with a mark behind it, where a fragment would stand: http://example.org/search#POST-0123456789abcdef0123.
// Fragments are never sent, and URLs that are found on pages have none ([Parse]), so that no page can link to such a
// document.

// markDigits is how many hexadecimal digits a mark ends with.
const markDigits = 20

// Marked returns the address of what a normalized URL shows to the request of a mark; the URL if that is empty.
func Marked(url, mark string) string {
	if mark == "" {
		return url
	}
	return url + "#" + mark
}

// CutMark cuts the mark off an address. It is empty where there is none; a fragment of another form is left.
func CutMark(address string) (url, mark string) {
	i := strings.LastIndexByte(address, '#')
	if i < 0 || !isMark(address[i+1:]) {
		return address, ""
	}
	return address[:i], address[i+1:]
}

// IsMarked reports whether an address is that of what a URL shows to a request of its owner's own. As what is shown to
// credentials, which may stand in its fields and body, that is for those who make the request.
func IsMarked(address string) bool {
	_, mark := CutMark(address)
	return mark != ""
}

func isMark(s string) bool {
	method, digest, ok := strings.Cut(s, "-")
	return ok && (method == "GET" || method == "POST") && len(digest) == markDigits && strings.Trim(digest, "0123456789abcdef") == ""
}
