package usage

import (
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/linkfield"
)

// rslType is the media type of terms in RSL (Really Simple Licensing).
const rslType = "application/rsl+xml"

// header reads the fields of the header.
func (r *reader) header(header http.Header) {
	for _, field := range []struct {
		name string
		read func(string) []preference
	}{{"Content-Usage", contentUsage}, {"Content-Signal", contentSignal}} {
		if value := strings.Join(header[field.name], ", "); value != "" {
			r.add(at{InHeader, 0, field.name + ": " + value}, "", field.read(value))
		}
	}
	for _, value := range header["X-Robots-Tag"] {
		r.add(at{InHeader, 0, "X-Robots-Tag: " + value}, "", robotsTag(value, r.isImage))
	}
	for _, value := range header["Link"] {
		if target, ok := linkfield.First(value, "license", rslType); ok {
			r.terms(at{InHeader, 0, "Link: " + value}, target)
		}
	}
	tdm := reserved{where: at{place: InHeader}}
	for _, value := range header["Tdm-Reservation"] {
		tdm.reserve(value, "tdm-reservation: "+value)
	}
	if policy := header["Tdm-Policy"]; len(policy) > 0 {
		tdm.policy = r.absolute(policy[0], r.url)
	}
	r.tdm = append(r.tdm, tdm)
}

// terms adds that there are terms.
func (r *reader) terms(where at, ref string) {
	if url := r.absolute(ref, r.urlOf(where.place)); url != "" {
		r.add(where, url, []preference{{}})
	}
}

// page reads the elements of a page's head. Those elsewhere may be of people who have written into the page.
func (r *reader) page(root *html.Node) {
	head := headOf(root)
	if head == nil {
		return
	}
	tdm := reserved{where: at{place: InPage}}
	for n := range head.Descendants() {
		if n.Type != html.ElementNode || len(r.all) >= mostOfPage {
			continue
		}
		switch n.Data {
		case "meta":
			r.meta(n, &tdm)
		case "link":
			rel, kind, href := valueOf(n, "rel"), valueOf(n, "type"), valueOf(n, "href")
			if strings.EqualFold(strings.TrimSpace(kind), rslType) && hasWord(rel, "license") {
				r.terms(at{InPage, 0, `<link rel="` + rel + `" type="` + kind + `" href="` + href + `">`}, href)
			}
		}
	}
	r.tdm = append([]reserved{tdm}, r.tdm...)
}

func (r *reader) meta(n *html.Node, tdm *reserved) {
	name, content := strings.ToLower(strings.TrimSpace(valueOf(n, "name"))), valueOf(n, "content")
	text := `<meta name="` + name + `" content="` + content + `">`
	switch {
	case name == "tdm-reservation":
		tdm.reserve(content, text)
	case name == "tdm-policy" && tdm.policy == "":
		tdm.policy = r.absolute(strings.TrimSpace(content), r.url)
	case name != "" && isOurs(name):
		r.add(at{InPage, 0, text}, "", robotsTag(content, r.isImage))
	}
}

// headOf returns the head of a page.
func headOf(root *html.Node) *html.Node {
	for top := range root.ChildNodes() {
		if top.Type != html.ElementNode || top.Data != "html" {
			continue
		}
		for n := range top.ChildNodes() {
			if n.Type == html.ElementNode && n.Data == "head" {
				return n
			}
		}
	}
	return nil
}

func valueOf(n *html.Node, key string) string {
	if value := htmltree.Value(n.Attr, key); value != nil {
		return *value
	}
	return ""
}

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// recorded reads what fetch has written into the header of the host's files.
func (r *reader) recorded(header http.Header) {
	tdm := reserved{where: at{place: InTDMRep}}
	for _, value := range header[webrace.UsageField] {
		place, line, text, ok := cutRecorded(value)
		name, stated, _ := strings.Cut(text, ":")
		stated = strings.TrimSpace(stated)
		switch name = strings.ToLower(strings.TrimSpace(name)); {
		case !ok:
		case place == InTDMRep && name == "tdm-reservation":
			tdm.where.line = line
			tdm.reserve(stated, text)
		case place == InTDMRep && name == "tdm-policy":
			tdm.policy = r.absolute(stated, r.urlOf(place))
		case place == InTDMRep:
		case name == "content-usage":
			r.add(at{place, line, text}, "", contentUsage(withoutPath(stated)))
		case name == "content-signal":
			r.add(at{place, line, text}, "", contentSignal(withoutPath(stated)))
		case name == "license":
			r.terms(at{place, line, text}, stated)
		}
	}
	r.tdm = append(r.tdm, tdm)
}

// Recorded writes a line of a host's file, as it is noted in [webrace.UsageField] of the documents that it speaks of.
func Recorded(place Place, line int, text string) string {
	return string(place) + ":" + strconv.Itoa(line) + ": " + text
}

func cutRecorded(value string) (place Place, line int, text string, ok bool) {
	name, rest, _ := strings.Cut(value, ":")
	number, text, found := strings.Cut(rest, ": ")
	line, err := strconv.Atoi(number)
	place = Place(name)
	return place, line, text, found && err == nil && line > 0 && (place == InRobots || place == InTDMRep)
}

// CutPath cuts the path off a rule of robots.txt that begins with one (draft-ietf-aipref-attach, section 3.2).
func CutPath(rule string) (path, stated string) {
	if !strings.HasPrefix(rule, "/") {
		return "", rule
	}
	end := strings.IndexAny(rule, " \t")
	if end < 0 {
		return rule, ""
	}
	return rule[:end], strings.TrimLeft(rule[end:], " \t")
}

func withoutPath(rule string) string {
	_, stated := CutPath(rule)
	return stated
}
