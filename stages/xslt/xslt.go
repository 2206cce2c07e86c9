// Package xslt is the stage that gives documents of XML and HTML another form by stylesheets of XSLT, so that what they
// say can be read: XML of one's own and pages as RDF/XML, as MultiCrawler's transformers do ("MultiCrawler: A Pipelined
// Architecture for Crawling and Indexing Semantic Web Data", ISWC 2006, section 3.3), and what a document names itself,
// as GRDDL specifies (https://www.w3.org/TR/grddl/).
//
// What it guarantees: stylesheets are files of the administrator, compiled once, before anything flows, and one that
// reads the environment is refused; no document and no stylesheet makes it read another file, ask for a URL or write;
// what no rule is about passes as it came; and a document that takes too long fails by itself, while the stage goes on.
package xslt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/filestate"
)

// Options of the stage.
type Options struct {
	Rules []Rule                   `toml:"rules" doc:"which documents are transformed by which stylesheet: the first rule that fits decides"`
	GRDDL map[string]pipeline.File `toml:"grddl" doc:"files of the stylesheets that documents name for themselves, as GRDDL says, by their URIs; what is not here is not fetched either"`

	MaxInput  pipeline.Size     `toml:"max_input" doc:"the largest document that is transformed"`
	MaxOutput pipeline.Size     `toml:"max_output" doc:"the largest result"`
	Timeout   pipeline.Duration `toml:"timeout" doc:"how long a document is transformed before it fails"`
}

// Rule has documents transformed by a stylesheet: those with that root and of that media type, if it names
// both.
type Rule struct {
	Root       string        `toml:"root" doc:"the root element, with its namespace: {http://example.org/ns}berths, or berths without one; that of a page is {http://www.w3.org/1999/xhtml}html"`
	MediaType  string        `toml:"media_type" doc:"the media type: text/html"`
	Stylesheet pipeline.File `toml:"stylesheet" doc:"the file of the stylesheet"`
}

func defaults() Options {
	return Options{MaxInput: 2 << 20, MaxOutput: 8 << 20, Timeout: pipeline.Duration(5 * time.Second)}
}

// Validate refuses rules that set nothing, addresses that are none, and limits that leave nothing.
func (o Options) Validate() error {
	var errs []error
	refuse := func(option, format string, values ...any) {
		errs = append(errs, &pipeline.OptionError{Option: option, Err: fmt.Errorf(format, values...)})
	}
	for i, r := range o.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		if r.Stylesheet == "" {
			refuse(at, `the rule has no stylesheet, as in stylesheet = "berths.xsl"`)
		}
		if r.Root == "" && r.MediaType == "" {
			refuse(at, `the rule fits nothing: say root = "{http://example.org/ns}berths" or media_type = "text/html"`)
		}
		if namespace, name, ok := strings.Cut(r.Root, "}"); strings.HasPrefix(r.Root, "{") != ok || strings.ContainsAny(r.Root, " :/") && !ok || ok && (name == "" || namespace == "{") {
			refuse(at+".root", "%q is no element: write {http://example.org/ns}name, and name alone without a namespace", r.Root)
		}
		if mediaType, _, err := mime.ParseMediaType(r.MediaType); r.MediaType != "" && (err != nil || mediaType != r.MediaType || !strings.Contains(mediaType, "/")) {
			refuse(at+".media_type", "%q is no media type, as text/html is, in lower case and without parameters", r.MediaType)
		}
	}
	for uri, file := range o.GRDDL {
		if u, err := url.Parse(uri); err != nil || u.Scheme == "" {
			refuse("grddl."+uri, "%q is no absolute URI", uri)
		}
		if file == "" {
			refuse("grddl."+uri, "it names no file")
		}
	}
	for option, value := range map[string]int64{"max_input": int64(o.MaxInput), "max_output": int64(o.MaxOutput), "timeout": int64(o.Timeout)} {
		if value <= 0 {
			refuse(option, "must be more than 0")
		}
	}
	return errors.Join(errs...)
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "xslt",
		Single:  true,
		Summary: "gives documents of XML and HTML another form by stylesheets: RDF/XML that transform reads",
		Doc: "`rules = [{ root = \"{http://example.org/ns}berths\", stylesheet = \"berths.xsl\" }]`: the result takes the place of the body, and the media type of `xsl:output` that of the document, " +
			"else `application/rdf+xml`. What was found out about the document before stays. HTML is given to the stylesheet as XHTML. With `grddl`, a document that no rule fits is transformed by " +
			"the first stylesheet that it names for itself and that is listed there: nothing is fetched, and what is missing is counted (`grddl_unknown`) and logged once. " +
			"Stylesheets are of XSLT 3.0, and stand for 1.0 and 2.0; they read no other document, no environment and no URL, and are compiled before anything flows, so `webrace-run check` finds what is wrong with them, with file and line. " +
			"They import and include what lies in their own folder or below. A document that is not well-formed, or exceeds a limit of size or has more than 131,072 elements, attributes and texts a megabyte, passes with a graph that is not whole and says why. " +
			"One on which a stylesheet fails, or takes longer than `timeout`, fails. `transformed`, `malformed`, `exceeded_input`, `exceeded_output`, `exceeded_time` count documents; " +
			"`left_behind` is how many transformations are at work still though their time is over: while there are twice as many as workers, other documents wait. " +
			"Memory is not bounded in this process: of a stylesheet that you do not trust with what documents may hold, put the stage into a process of its own with `exec.max_memory`.",
		In:      pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs:   pipeline.NoParts, // of a body it makes use, but cache need not read those of documents that were not fetched anew
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document](), Doc: "every document, transformed if a stylesheet is for it, else as it came"}},
		Workers: 2,
	}, defaults(), newStage)
}

type stage struct {
	filestate.Files // of stylesheets, with what they import and include
	env             *pipeline.Env
	options         Options
	rules           []rule
	grddl           grddl
	runner          *runner
}

// rule is a Rule with its stylesheet.
type rule struct {
	Rule
	sheet *stylesheet
}

var (
	_ pipeline.Processor        = (*stage)(nil)
	_ pipeline.Opener           = (*stage)(nil)
	_ pipeline.Closer           = (*stage)(nil)
	_ pipeline.OutdatedReporter = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	return &stage{env: env, options: o, grddl: newGRDDL(env), runner: newRunner(env, time.Duration(o.Timeout))}, nil
}

// Open compiles the stylesheets.
func (s *stage) Open(ctx context.Context) error {
	var errs []error
	loaded := make(map[pipeline.File]*stylesheet)
	load := func(file pipeline.File, option string) *stylesheet {
		sheet, known := loaded[file]
		if !known {
			var err error
			if sheet, err = loadStylesheet(ctx, string(file), &s.Files); err != nil {
				errs = append(errs, &pipeline.OptionError{Option: option, Err: err})
				return nil
			}
			loaded[file] = sheet
		}
		return sheet
	}
	for i, r := range s.options.Rules {
		s.rules = append(s.rules, rule{r, load(r.Stylesheet, fmt.Sprintf("rules[%d].stylesheet", i))})
	}
	for _, uri := range slices.Sorted(maps.Keys(s.options.GRDDL)) {
		s.grddl.sheets[uri] = load(s.options.GRDDL[uri], "grddl."+uri)
	}
	return errors.Join(errs...)
}

// Close waits for transformations whose time is over.
func (s *stage) Close() error { return s.runner.close() }

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	if len(d.Body) == 0 || len(s.rules) == 0 && len(s.grddl.sheets) == 0 {
		return out.Emit(ctx, it)
	}
	in := newInput(d)
	sheet := s.sheetFor(in)
	if sheet == nil && !s.grddl.concerns(in) {
		return out.Emit(ctx, it)
	}
	if problem := s.unfit(d); problem != "" {
		if sheet == nil { // nobody asked for a transformation but the document
			return out.Emit(ctx, it)
		}
		return out.Emit(ctx, it.With(unread(d, problem)))
	}
	if err := s.env.Reserve(ctx, it, perByte*len(d.Body)); err != nil {
		return err
	}
	transformed, err := s.transformed(ctx, in, sheet)
	if err != nil {
		return err
	}
	return out.Emit(ctx, it.With(transformed))
}

// perByte is about how many bytes of memory the tree of a document takes for each that it has.
const perByte = 16

func (s *stage) sheetFor(in *input) *stylesheet {
	for _, r := range s.rules {
		if (r.MediaType == "" || r.MediaType == in.document.MediaType) && in.isMarkup() && (r.Root == "" || r.Root == in.root()) {
			return r.sheet
		}
	}
	return nil
}

// unfit returns why a document is not given to a stylesheet; empty if it is.
func (s *stage) unfit(d *webrace.Document) string {
	switch {
	case d.Truncated:
		return "the document was cut off by a limit of its size"
	case len(d.Body) > int(s.options.MaxInput):
		s.env.Counter("exceeded_input").Add(1)
		return fmt.Sprintf("the document has %d bytes, and is not transformed: max_input is %s", len(d.Body), s.options.MaxInput)
	}
	return ""
}

// outcome is what came of a document: the result of a stylesheet, or nothing if it names none that is known.
type outcome struct {
	sheet *stylesheet
	body  []byte
}

// transformed returns what a stylesheet makes of the document: the given one or, if that is nil, the one that the
// document names. Then only the document asks for it, and what cannot be read passes as it came.
func (s *stage) transformed(ctx context.Context, in *input, given *stylesheet) (*webrace.Document, error) {
	d := in.document
	work := in.copied()
	made, err := s.runner.run(ctx, func(ctx context.Context) (outcome, error) {
		tree, err := work.parse(ctx)
		if err != nil {
			return outcome{}, err
		}
		sheet := given
		if sheet == nil {
			if sheet = s.grddl.find(tree, work.url); sheet == nil {
				return outcome{}, nil
			}
		}
		body, err := sheet.transform(ctx, tree, int(s.options.MaxOutput))
		return outcome{sheet, body}, err
	})
	var malformed *malformedError
	switch {
	case given == nil && (errors.As(err, &malformed) || errors.Is(err, errNodes)), err == nil && made.sheet == nil:
		return d, nil
	case errors.Is(err, errNodes):
		s.env.Counter("exceeded_input").Add(1)
		return unread(d, err.Error()), nil
	case errors.As(err, &malformed):
		s.env.Counter("malformed").Add(1)
		return unread(d, malformed.Error()), nil
	case errors.Is(err, errTooLarge):
		s.env.Counter("exceeded_output").Add(1)
		return unread(d, fmt.Sprintf("%s: the result has more than %s: max_output", made.sheet.file, s.options.MaxOutput)), nil
	case errors.Is(err, errTime):
		s.env.Counter("exceeded_time").Add(1)
	}
	if err != nil && given != nil {
		return nil, fmt.Errorf("transform %s by %s: %w", d.URL, given.file, err)
	}
	if err != nil {
		return nil, fmt.Errorf("transform %s: %w", d.URL, err)
	}
	s.env.Counter("transformed").Add(1)
	return result(d, made), nil
}

// unread is a document that could not be given to a stylesheet: its graph tells why.
func unread(d *webrace.Document, problem string) *webrace.Document {
	said := *d
	said.Graph = &webrace.Graph{Problems: []string{problem}}
	return &said
}

// result is a document with the result of a stylesheet for its body. The header tells what that is: the charset that
// the server sent is not its own.
func result(d *webrace.Document, made outcome) *webrace.Document {
	said := *d
	said.Body, said.MediaType, said.Charset = made.body, made.sheet.mediaType, made.sheet.encoding
	said.Header = maps.Clone(d.Header)
	if said.Header != nil {
		said.Header["Content-Type"] = []string{mime.FormatMediaType(said.MediaType, map[string]string{"charset": said.Charset})}
	}
	return &said
}
