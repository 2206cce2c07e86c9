package fetch

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// htmlForm is a form of a page, as a browser would send it if nothing were filled in.
type htmlForm struct {
	method, action, base string
	values               url.Values
}

// findForm returns the form of a page that has a field.
func findForm(page []byte, field string) (*htmlForm, error) {
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, fmt.Errorf("the page of the form cannot be read: %w", err)
	}
	base := ""
	for n := range root.Descendants() {
		switch {
		case n.DataAtom == atom.Base && base == "":
			base = attribute(n, "href")
		case n.DataAtom == atom.Form && hasField(n, field):
			f := &htmlForm{method: strings.ToUpper(attribute(n, "method")), action: attribute(n, "action"), base: base, values: url.Values{}}
			if f.method == "" {
				f.method = http.MethodGet
			}
			f.collect(n)
			return f, nil
		}
	}
	return nil, fmt.Errorf("no form on its page has a field of the name %.100q", field)
}

func hasField(form *html.Node, name string) bool {
	for n := range form.Descendants() {
		if n.DataAtom == atom.Input && attribute(n, "name") == name {
			return true
		}
	}
	return false
}

// collect takes what the fields of a form hold: what is hidden as well, and the first button.
func (f *htmlForm) collect(form *html.Node) {
	pressed := false
	for n := range form.Descendants() {
		name, value := attribute(n, "name"), attribute(n, "value")
		kind := strings.ToLower(attribute(n, "type"))
		button := n.DataAtom == atom.Input && kind == "submit" || n.DataAtom == atom.Button && (kind == "submit" || kind == "")
		switch {
		case has(n, "disabled"):
		case button:
			if !pressed && name != "" {
				f.values.Add(name, value)
			}
			pressed = true
		case name == "":
		case n.DataAtom == atom.Input:
			f.addInput(n, kind, name, value)
		case n.DataAtom == atom.Textarea:
			f.values.Add(name, textOf(n))
		case n.DataAtom == atom.Select:
			f.addSelect(n, name)
		}
	}
}

func (f *htmlForm) addInput(n *html.Node, kind, name, value string) {
	switch kind {
	case "button", "reset", "image", "file":
	case "checkbox", "radio":
		if has(n, "checked") {
			if !has(n, "value") {
				value = "on"
			}
			f.values.Add(name, value)
		}
	default:
		f.values.Add(name, value)
	}
}

// addSelect takes the option that is selected, or else the first.
func (f *htmlForm) addSelect(n *html.Node, name string) {
	var chosen *html.Node
	for option := range n.Descendants() {
		if option.DataAtom == atom.Option && (chosen == nil || has(option, "selected")) {
			chosen = option
		}
	}
	switch {
	case chosen == nil:
	case has(chosen, "value"):
		f.values.Add(name, attribute(chosen, "value"))
	default:
		f.values.Add(name, strings.TrimSpace(textOf(chosen)))
	}
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// codeField is how fields for a second factor are mostly called.
var codeField = regexp.MustCompile(`(?i)^(.*[-_.])?(otp|totp|mfa|2fa|tfa|two[-_]?factor.*|second[-_]?factor|(verification|security|auth|one[-_]?time)[-_]?(code|token|pin)|passcode)([-_.].*)?$`)

// asksForCode reports whether a page has a field for a second factor.
func asksForCode(page []byte) bool {
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return false
	}
	for n := range root.Descendants() {
		if n.DataAtom == atom.Input && attribute(n, "type") != "hidden" &&
			(strings.EqualFold(attribute(n, "autocomplete"), "one-time-code") || codeField.MatchString(attribute(n, "name")) || codeField.MatchString(attribute(n, "id"))) {
			return true
		}
	}
	return false
}
