package xslt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lestrrat-go/helium"
	"github.com/lestrrat-go/helium/xslt3"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/stages/internal/filestate"
)

// stylesheet is a compiled stylesheet. Any number of goroutines may use it at once.
type stylesheet struct {
	file      string
	mediaType string // of its results
	encoding  string
	compiled  *xslt3.Stylesheet
}

// compileTime is how long a stylesheet may be compiled: it can compute then, too.
const compileTime = 10 * time.Second

// loadStylesheet compiles the stylesheet in a file, and notes the files that it is made of. An error names the file
// that it is about, and the line as far as that is known.
func loadStylesheet(ctx context.Context, file string, files *filestate.Files) (*stylesheet, error) {
	ctx, cancel := context.WithTimeout(ctx, compileTime)
	defer cancel()
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	text, err := files.Read(file)
	if err != nil {
		return nil, err
	}
	m := &modules{ctx: ctx, files: files, dir: filepath.Dir(path), shown: filepath.Dir(file)}
	main, err := m.parse(file, text)
	if err != nil {
		return nil, err
	}
	address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	compiled, err := xslt3.NewCompiler().BaseURI(address).URIResolver(m).Parser(stylesheetParser()).Compile(ctx, main)
	if err := cmp.Or(m.refused, err); err != nil {
		return nil, located(err, m.parsed)
	}
	return newStylesheet(file, compiled)
}

func newStylesheet(file string, compiled *xslt3.Stylesheet) (*stylesheet, error) {
	s := &stylesheet{file: file, mediaType: string(rdf.RDFXML), encoding: "utf-8", compiled: compiled}
	if o := compiled.DefaultOutputDef(); o != nil {
		if o.MediaType != "" {
			mediaType, _, err := mime.ParseMediaType(o.MediaType)
			if err != nil {
				return nil, fmt.Errorf("%s: xsl:output: media-type %q: %w", file, o.MediaType, err)
			}
			s.mediaType = mediaType
		}
		s.encoding = strings.ToLower(cmp.Or(o.Encoding, s.encoding))
	}
	return s, nil
}

func stylesheetParser() helium.Parser {
	return helium.NewParser().SubstituteEntities(true).SuppressErrors(true).SuppressWarnings(true)
}

// located adds where in the stylesheets the error of the compiler is, which quotes what it is about, but has no lines:
// at the first attribute with such a value, or the first element of such a name.
func located(err error, parsed []module) error {
	var refused *refusal
	if errors.As(err, &refused) {
		return err
	}
	for _, m := range parsed {
		for n := range helium.Descendants(m.tree) {
			if e, ok := n.(*helium.Element); ok && isAbout(err.Error(), e) {
				return fmt.Errorf("%s:%d: %w", m.file, e.Line(), err)
			}
		}
	}
	return fmt.Errorf("%s: %w", parsed[0].file, err)
}

func isAbout(message string, e *helium.Element) bool {
	for _, a := range e.Attributes() {
		if value := a.Value(); value != "" && strings.Contains(message, strconv.Quote(value)) {
			return true
		}
	}
	_, rest, named := strings.Cut(message, " "+e.Name())
	return named && strings.Contains(e.Name(), ":") && (rest == "" || strings.ContainsAny(rest[:1], " ,:"))
}

var errTooLarge = errors.New("the result is too large")

// transform returns what the stylesheet makes of a document, which it reads alone. An error is one of the stylesheet,
// or [errTooLarge].
func (s *stylesheet) transform(ctx context.Context, tree *helium.Document, most int) ([]byte, error) {
	w := &limitedWriter{most: most}
	transformation := s.compiled.Transform(tree).TraceWriter(io.Discard)
	result, err := transformation.Do(ctx)
	if err == nil {
		err = sortDeclarations(result)
	}
	if err == nil {
		err = xslt3.SerializeResult(w, result, transformation.ResolvedOutputDef())
	}
	switch {
	case w.exceeded:
		return nil, errTooLarge
	case ctx.Err() != nil: // which it may not have looked at
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	}
	return w.written.Bytes(), nil
}

// sortDeclarations puts the namespaces that elements declare in the order of their prefixes, so that the same result is
// written as the same bytes: the library has them in any order.
func sortDeclarations(result *helium.Document) error {
	return helium.Walk(result, helium.NodeWalkerFunc(func(n helium.Node) error {
		e, is := n.(*helium.Element)
		if !is || len(e.Namespaces()) < 2 {
			return nil
		}
		declared := e.Namespaces()
		slices.SortFunc(declared, func(a, b *helium.Namespace) int { return strings.Compare(a.Prefix(), b.Prefix()) })
		for _, ns := range declared {
			e.RemoveNamespaceByPrefix(ns.Prefix())
			if err := e.DeclareNamespace(ns.Prefix(), ns.URI()); err != nil {
				return err
			}
		}
		return nil
	}))
}

// limitedWriter takes as many bytes as a result may have.
type limitedWriter struct {
	written  bytes.Buffer
	most     int
	exceeded bool
}

func (w *limitedWriter) Write(b []byte) (int, error) {
	if w.exceeded = w.exceeded || w.written.Len()+len(b) > w.most; w.exceeded {
		return 0, errTooLarge
	}
	return w.written.Write(b)
}
