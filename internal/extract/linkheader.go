package extract

import (
	"net/http"

	"github.com/webrace/webrace/internal/linkfield"
	"github.com/webrace/webrace/internal/urlnorm"
)

// CanonicalOf returns the URL that a document declares for itself, in itself or else in the Link field of the
// header that it was sent with (RFC 8288, RFC 6596); empty if it declares none. Types that have no elements,
// such as PDF, can declare it in the header alone. What a URL shows to a request that is no plain GET declares nothing:
// the same URL would be another document.
func (r *Result) CanonicalOf(header http.Header, url string, rules urlnorm.Rules) string {
	if _, mark := urlnorm.CutMark(url); mark != "" {
		return ""
	}
	if r.Canonical != "" || len(header["Link"]) == 0 {
		return r.Canonical
	}
	base, err := urlnorm.NewBase(url)
	if err != nil {
		return ""
	}
	for _, field := range header["Link"] {
		if target, ok := linkfield.First(field, "canonical", ""); ok {
			return canonical(base, []byte(target), rules)
		}
	}
	return ""
}

// canonical resolves what is declared. What is no URL declares nothing.
func canonical(base *urlnorm.Base, declared []byte, rules urlnorm.Rules) string {
	u, err := base.Resolve(declared)
	if err != nil {
		return ""
	}
	return rules.Apply(u)
}
