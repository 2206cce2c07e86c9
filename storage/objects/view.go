package objects

import "strings"

// viewSeparator is in no URL, and sorts behind the byte that ends a URL within a key.
const viewSeparator = "\x01"

// View names what a URL shows to a request with the credentials of that name, which is another document than
// what it shows to others. Wherever the store takes a URL, it takes a view as well; without credentials, that
// is the URL.
func View(secret, url string) string {
	if secret == "" {
		return url
	}
	return url + viewSeparator + secret
}

// splitView takes apart what View made.
func splitView(view string) (secret, url string) {
	url, secret, _ = strings.Cut(view, viewSeparator)
	return secret, url
}

// shown is how errors name a view.
func shown(view string) string {
	secret, url := splitView(view)
	if secret == "" {
		return url
	}
	return url + " (with credentials " + secret + ")"
}

// View returns the view that a version is of.
func (v *Version) View() string { return View(v.Secret, v.URL) }
