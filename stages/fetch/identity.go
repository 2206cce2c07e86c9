package fetch

import (
	"fmt"
	"net/mail"
	"net/url"
	"strings"
)

// placeholder is in the user agent of an operator who has not said who they are.
const placeholder = "example.org/contact"

// sender returns the mail address that is sent as From (RFC 9110, section 10.1.2): that of the options, or else
// the one that the user agent gives as its contact. It is empty if there is none.
func (o Options) sender() string {
	if o.From != "" {
		return o.From
	}
	for _, word := range strings.FieldsFunc(o.UserAgent, func(r rune) bool { return strings.ContainsRune(" ()+,;<>", r) }) {
		address := word
		if contact, err := url.Parse(word); err == nil && strings.EqualFold(contact.Scheme, "mailto") {
			address = contact.Opaque
		}
		if isMailAddress(address) {
			return address
		}
	}
	return ""
}

// isMailAddress reports whether a text is an address and nothing else: no name, no list.
func isMailAddress(s string) bool {
	parsed, err := mail.ParseAddress(s)
	return err == nil && parsed.Address == s && strings.Contains(s, "@") && !strings.ContainsAny(s, "/:")
}

func (o Options) validateSender() error {
	if o.From != "" && !isMailAddress(o.From) {
		return fmt.Errorf("%q is no mail address (as crawler@example.org)", o.From)
	}
	return nil
}
