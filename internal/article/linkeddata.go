package article

import (
	"encoding/json"
	"html"
	"strings"
)

const (
	longestData = 1 << 19 // bytes of a script of JSON-LD that is read
	deepestData = 6       // objects within each other that are looked at
	mostThings  = 200
)

// linkedData reads a script of JSON-LD. Its context is taken for schema.org's.
func (m *meta) linkedData(script string) {
	if len(script) > longestData {
		return
	}
	var data any
	if json.Unmarshal([]byte(script), &data) != nil && json.Unmarshal([]byte(lenient(script)), &data) != nil {
		return
	}
	l := linked{names: map[string]string{}}
	l.gather(data, deepestData)
	for _, t := range l.things {
		m.thing(&l, t)
	}
}

// lenient returns a script without what pages put around JSON, and between its strings' characters.
func lenient(script string) string {
	script = strings.TrimSpace(script)
	for _, mark := range [...]string{"<!--", "//<![CDATA[", "<![CDATA["} {
		script = strings.TrimPrefix(script, mark)
	}
	for _, mark := range [...]string{"-->", "//]]>", "]]>", ";"} {
		script = strings.TrimSuffix(strings.TrimSpace(script), mark)
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, script)
}

// linked are the things of a script that may be what its page is about, and the names of others, by @id.
type linked struct {
	things []map[string]any
	names  map[string]string
}

func (l *linked) gather(data any, depth int) {
	if depth == 0 || len(l.things) >= mostThings {
		return
	}
	switch data := data.(type) {
	case []any:
		for _, d := range data {
			l.gather(d, depth-1)
		}
	case map[string]any:
		if id, name := str(data["@id"]), str(data["name"]); id != "" && name != "" {
			l.names[id] = name
		}
		l.things = append(l.things, data)
		l.gather(data["@graph"], depth-1)
		l.gather(data["mainEntity"], depth-1)
	}
}

// thing offers what an object states, if that is of a page.
func (m *meta) thing(l *linked, t map[string]any) {
	r := ofThing
	switch is := typeOf(t); {
	case strings.HasSuffix(is, "Article"), strings.HasSuffix(is, "Posting"), strings.HasSuffix(is, "Report"), is == "Review", is == "Recipe":
		r = ofArticle
	case is == "WebSite":
		m.offer(fieldSite, ofThing, unescaped(t["name"]))
		return
	case !strings.HasSuffix(is, "Page"):
		return
	}
	m.offer(fieldTitle, r, unescaped(t["headline"]))
	if r == ofArticle || m.ranks[fieldTitle] == 0 {
		m.offer(fieldTitle, r, unescaped(t["name"]))
	}
	for _, a := range list(t["author"]) {
		m.offer(fieldAuthor, r, l.nameOf(a))
	}
	m.offer(fieldPublished, r, str(t["datePublished"]))
	if r == ofArticle {
		m.offer(fieldSite, r, l.nameOf(firstOf(t["publisher"])))
	}
	m.offer(fieldImage, r, imageOf(firstOf(t["image"])))
	m.offer(fieldLanguage, ofMicrodata, str(t["inLanguage"]))
}

func (l *linked) nameOf(v any) string {
	o, is := v.(map[string]any)
	if !is {
		return unescaped(v)
	}
	if name := unescaped(firstOf(o["name"])); name != "" {
		return name
	}
	return l.names[str(o["@id"])]
}

func imageOf(v any) string {
	if o, is := v.(map[string]any); is {
		if u := str(o["url"]); u != "" {
			return u
		}
		return str(o["contentUrl"])
	}
	return str(v)
}

func typeOf(t map[string]any) string {
	is := str(firstOf(t["@type"]))
	return is[strings.LastIndexAny(is, "/#:")+1:]
}

func list(v any) []any {
	if all, is := v.([]any); is {
		return all[:min(len(all), mostAuthors)]
	}
	return []any{v}
}

func firstOf(v any) any {
	if all, is := v.([]any); is {
		if len(all) == 0 {
			return nil
		}
		return all[0]
	}
	return v
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

// unescaped returns a string of JSON in which a template may have left references of HTML.
func unescaped(v any) string { return html.UnescapeString(str(v)) }
