package portal

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// formIn returns what a browser without scripts would send of the form on a page that is sent to an action, as it
// stands; an empty action is the page itself.
func (a answer) formIn(t *testing.T, action string) url.Values {
	t.Helper()
	root, err := html.Parse(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Data == "form" && attribute(n, "action") == action && attribute(n, "method") == "post" {
			return fieldsIn(n)
		}
	}
	t.Fatalf("there is no form for %q on %.3000s", action, a)
	return nil
}

// fieldsIn returns what the fields of a form hold, as a browser encodes it.
func fieldsIn(form *html.Node) url.Values {
	values := make(url.Values)
	for n := range form.Descendants() {
		name := attribute(n, "name")
		switch {
		case n.Data == "input" && slices.Contains([]string{"checkbox", "radio"}, attribute(n, "type")):
			if has(n, "checked") {
				values.Add(name, attribute(n, "value"))
			}
		case n.Data == "input":
			values.Add(name, attribute(n, "value"))
		case n.Data == "textarea":
			text := ""
			if n.FirstChild != nil {
				text = n.FirstChild.Data // of which the parser has left out the first line end
			}
			values.Add(name, strings.ReplaceAll(text, "\n", "\r\n"))
		case n.Data == "select":
			values.Add(name, chosenOf(n))
		}
	}
	return values
}

func chosenOf(list *html.Node) (value string) {
	first := true
	for n := range list.Descendants() {
		if n.Data == "option" && (first || has(n, "selected")) {
			value, first = attribute(n, "value"), false
		}
	}
	return value
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
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// submit sends the form of a page with some fields filled in, others as they stand.
func (b *browser) submit(page, action string, values ...string) answer {
	b.w.t.Helper()
	form := b.get(page).wants(b.w.t, http.StatusOK).formIn(b.w.t, action)
	for i := 0; i < len(values); i += 2 {
		form.Del(values[i])
	}
	for i := 0; i < len(values); i += 2 {
		form.Add(values[i], values[i+1])
	}
	if action == "" {
		action = page
	}
	return b.send(http.MethodPost, action, strings.NewReader(form.Encode()), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}})
}
