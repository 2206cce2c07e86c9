package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// isRedirect says whether an answer sends its reader elsewhere. A choice of several (300) does so only
// if it names a favourite.
func isRedirect(a *httpclient.Response) bool {
	switch a.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	case http.StatusMultipleChoices:
		return a.Header.Get("Location") != ""
	}
	return false
}

// location returns the normalized URL that a redirect leads to. Bytes beyond ASCII are encoded one by one, as browsers
// do, whatever character set was meant: of UTF-8 that is the URL which the standard gives, and of Latin-1 the one that
// the server knows. Two that differ lead nowhere, which keeps what is smuggled into a header from being followed.
func location(from string, header http.Header) (string, error) {
	all := header["Location"]
	if len(all) == 0 || all[0] == "" {
		return "", errors.New("redirect without a location")
	}
	if i := slices.IndexFunc(all, func(other string) bool { return other != all[0] }); i > 0 {
		return "", fmt.Errorf("redirect to more than one location: %.200q and %.200q", all[0], all[i])
	}
	base, err := urlnorm.NewBase(from)
	if err != nil {
		return "", err
	}
	resolved, err := base.Resolve(percentEncoded(all[0]))
	if err != nil {
		return "", fmt.Errorf("redirect to %.200q: %w", all[0], err)
	}
	return resolved, nil
}

// percentEncoded percent-encodes the bytes beyond ASCII.
func percentEncoded(s string) []byte {
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if c := s[i]; c >= 0x80 {
			b = append(b, '%', hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return b
}
