package jsonld

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// Contexts are the documents of contexts that are known by their URLs. Each is parsed and compiled when it is first
// used, once. Contexts are safe for concurrent use.
type Contexts struct {
	documents map[string]*document
}

// NewContexts returns the contexts that are built in, and those of documents by their URLs: JSON-LD whose @context
// counts, as one would get from there. One for schema.org replaces that which is built in under all of its names that
// documents does not have. The documents must not be changed afterwards.
func NewContexts(documents map[string][]byte) *Contexts {
	c := &Contexts{documents: maps.Clone(builtIn().documents)}
	given := make(map[string]*document, len(documents))
	for _, url := range slices.Sorted(maps.Keys(documents)) {
		given[url] = &document{source: &source{url: url, body: string(documents[url])}}
		if builtIn().documents[url] != nil {
			for name := range builtIn().documents {
				c.documents[name] = given[url]
			}
		}
	}
	maps.Copy(c.documents, given)
	return c
}

var builtIn = sync.OnceValue(func() *Contexts {
	c := &Contexts{documents: map[string]*document{}}
	schema := &document{write: schemaOrg, source: &source{url: "https://schema.org"}}
	for _, scheme := range []string{"http://", "https://"} {
		for _, host := range []string{"schema.org", "www.schema.org"} {
			for _, path := range []string{"", "/", "/docs/jsonldcontext.json", "/docs/jsonldcontext.jsonld"} {
				c.documents[scheme+host+path] = schema
			}
		}
	}
	return c
})

// document is the document of a context.
type document struct {
	source *source
	write  func() string // writes the document, if it has no text
	parse  sync.Once
	err    error
	// context is the value of its @context; nil if it has none.
	context *value

	compile sync.Once
	// result is what the context makes of an active context without any terms; nil if that depends on the document
	// that names it, or is an error.
	result *active
}

// document returns the document of a URL, read; nil for one that is not known.
func (c *Contexts) document(url string) *document {
	if c == nil {
		c = builtIn()
	}
	d := c.documents[url]
	if d == nil {
		return nil
	}
	d.parse.Do(func() {
		if d.write != nil {
			d.source.body = d.write()
		}
		w := &watch{ctx: context.Background(), about: d.source}
		d.err = catch(func() {
			root := read(w, d.source.body, Limits{}.withDefaults())
			d.context = root.get("@context")
		})
	})
	return d
}

// inherited is the language, or the direction, of a compiled context that leaves it as it is.
const inherited = "\x00"

// compiled returns what the context of a URL makes of an active context without any terms and without a base, if that
// can be shared.
func (c *Contexts) compiled(url string) *active {
	d := c.document(url)
	if d == nil || d.context == nil {
		return nil
	}
	d.compile.Do(func() {
		p := newProcessor(&watch{ctx: context.Background(), about: d.source}, c, "", Limits{}.withDefaults())
		p.compiling = true
		err := catch(func() {
			u := usage{base: url, including: &inclusion{url: url, depth: 1}}
			result := p.process(&active{language: inherited, direction: inherited}, d.context, u)
			if !p.usedBase && result.previous == nil {
				d.result = result
			}
		})
		if err != nil {
			d.result = nil // the documents that name it get the error
		}
	})
	return d.result
}

// after returns a compiled context as if it had been applied to an active one without terms.
func (a *active) after(before *active) *active {
	result := *a
	result.base, result.previous = before.base, before.previous
	if a.language == inherited {
		result.language = before.language
	}
	if a.direction == inherited {
		result.direction = before.direction
	}
	result.terms = a.terms.Editable()
	return &result
}
