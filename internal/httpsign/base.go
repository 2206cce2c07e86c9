package httpsign

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/webrace/webrace/internal/structured"
)

// base returns what is signed (RFC 9421, section 2.5).
func (s *signature) base(r *http.Request) (string, error) {
	var b strings.Builder
	for _, c := range s.input.List {
		value, err := component(r, c)
		if err != nil {
			return "", err
		}
		b.WriteString(c.Serialize() + ": " + value + "\n")
	}
	b.WriteString(`"@signature-params": ` + s.input.Serialize())
	return b.String(), nil
}

// component returns the value of a component of a request, as a server has got it.
func component(r *http.Request, c structured.Item) (string, error) {
	name := c.Value
	key, isMember := c.Params.Get("key")
	switch {
	case name != strings.ToLower(name):
		return "", fmt.Errorf("%w: %.100s is not in lower case", ErrComponent, c.Text)
	case strings.HasPrefix(name, "@") && len(c.Params) == 0:
		return derived(r, name)
	case len(c.Params) == 0:
		return field(r, name)
	case len(c.Params) == 1 && isMember && key.Kind == structured.String:
		return member(r, name, key.Value)
	}
	return "", fmt.Errorf("%w: %.100s", ErrComponent, c.Serialize())
}

// derived returns a derived component (RFC 9421, section 2.2). Behind a proxy that ends TLS the scheme is not known,
// so those that hold it are not taken.
func derived(r *http.Request, name string) (string, error) {
	path, query, _ := strings.Cut(r.URL.RequestURI(), "?")
	switch name {
	case "@method":
		return r.Method, nil
	case "@authority":
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		return authority(scheme, r.Host), nil
	case "@path":
		return path, nil
	case "@query":
		return "?" + query, nil
	}
	return "", fmt.Errorf("%w: %.100q", ErrComponent, name)
}

// field returns the lines of a field together (RFC 9421, section 2.1).
func field(r *http.Request, name string) (string, error) {
	if name == "host" {
		return r.Host, nil
	}
	lines := r.Header[http.CanonicalHeaderKey(name)]
	if len(lines) == 0 {
		return "", fmt.Errorf("%w: %.100q", ErrComponent, name)
	}
	trimmed := make([]string, len(lines))
	for i, line := range lines {
		trimmed[i] = strings.Trim(line, " \t")
	}
	return strings.Join(trimmed, ", "), nil
}

// member returns a member of a field that is a dictionary (RFC 9421, section 2.1.2).
func member(r *http.Request, name, key string) (string, error) {
	d, err := readDictionary(r.Header, http.CanonicalHeaderKey(name))
	if err != nil {
		return "", err
	}
	v, ok := d.Values[key]
	if !ok {
		return "", fmt.Errorf("%w: %.100q has no member %.100q", ErrComponent, name, key)
	}
	return v.Serialize(), nil
}
